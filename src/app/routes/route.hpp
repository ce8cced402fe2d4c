// The answers of the server by address.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/http/json.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

struct Call {
  Request& request;
  std::vector<std::string> parts;  ///< what stands for {id} and the like, decoded
  std::vector<std::pair<std::string, std::string>> query;

  const std::string& id() const { return parts.front(); }
  /// Empty: it was not given.
  std::string text(std::string_view name) const;
  /// A 400 Refusal of what is no whole number within the limits.
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t low, std::int64_t high) const;
  Json object() const { return object_from(request.body); }
};

using Handler = std::function<Response(Services&, Call&)>;

struct Route {
  std::string_view method;
  std::string_view pattern;  ///< "/runs/{id}/results"; behind api/v1
  Handler handler;
  std::uint64_t body = 0;  ///< bytes that it may have
  bool changes = false;    ///< something on the disk: refused if the server only reads
  bool upload = false;     ///< the body goes to a file as it arrives
};

/// All of them, in the order of docs/api/openapi.json.
const std::vector<Route>& routes();

// One function for each group of addresses.
std::vector<Route> status_routes();
std::vector<Route> dataset_routes();
std::vector<Route> upload_routes();
std::vector<Route> design_routes();
std::vector<Route> job_routes();
std::vector<Route> run_routes();
std::vector<Route> event_routes();
std::vector<Route> predict_routes();
std::vector<Route> compare_routes();

/// Bodies that are JSON.
inline constexpr std::uint64_t json_bytes = std::uint64_t{4} << 20U;

/// The target of a path; nullptr: it has none. `methods`: those of the path, if another one was asked for.
struct Match {
  const Route* route = nullptr;
  std::vector<std::string> parts;
  std::string methods;
};
Match match(std::string_view method, std::string_view path);

/// A file, or the part that a Range header asks for. `name`: how it is called when it is saved; empty: it is shown.
Response file_response(const Call& call, const std::string& path, std::string_view type, const std::string& name);

}  // namespace sheaf::app
