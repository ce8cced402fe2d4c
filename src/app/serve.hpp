// `sheaf app`: a server for a folder. Called by the program's front end alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/forms/forms.hpp"
#include "app/http/server.hpp"

namespace sheaf::app {

struct ServeOptions {
  std::string folder = ".";
  std::string program;  ///< the path of this program
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string prefix;              ///< "/user/anna/sheaf"
  std::vector<std::string> hosts;  ///< names of this server beside those of the loopback interface
  std::optional<Certificate> certificate;
  int jobs_at_once = 1;
  bool read_only = false;
};

/// Serves until `stop` is requested. `begun` is called once with the address, its token included.
void serve(const ServeOptions& options, Commands commands, const std::stop_token& stop,
           const std::function<void(const std::string& address)>& begun);

}  // namespace sheaf::app
