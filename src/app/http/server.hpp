// HTTP/1.1 over TCP: one thread for the network, a few for answers. Boost.Beast parses; it is seen by server.cpp alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "app/http/message.hpp"

namespace sheaf::app {

/// Limits of a client. A client beyond them is refused or dropped.
struct ServerLimits {
  std::uint32_t header_bytes = 16 * 1024;
  std::size_t connections = 200;           ///< beyond them, the one that has waited longest without a request is closed
  std::chrono::seconds first_request{10};  ///< for a whole header
  std::chrono::seconds idle{60};           ///< the same between requests
  std::chrono::seconds body_part{30};      ///< for each part of a body, and for a whole one that is kept in memory
  std::chrono::seconds write_part{30};     ///< for each part of an answer
  int threads = 4;                         ///< that answer
};

class Server {
 public:
  /// Listens. Port 0: any that is free. An address or port that cannot be had is an Error.
  Server(Site& site, const std::string& address, std::uint16_t port, const ServerLimits& limits = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const;
  /// Serves until `stop` is requested.
  void run(const std::stop_token& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf::app
