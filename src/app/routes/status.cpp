// Version and folder; devices; the interface itself; the table of parameters.
#include <filesystem>

#include <sheaf/version.hpp>

#include "app/pages/page_files.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t devices_age = 10;  // seconds for which free memory is taken as it was

/// By another process: GPUs take memory of the process that looks at them.
Response devices(Services& services, Call&) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto when = std::chrono::duration_cast<std::chrono::seconds>(now).count() / devices_age;
  services.work.forget("devices " + std::to_string(when - 1));
  const auto result = services.work.run("devices " + std::to_string(when), {"devices", "--json"}, 5s);
  auto json = parse_json<Json>(result.out);
  return json_response({{"devices", json.is_object() && json.contains("devices") ? json["devices"] : Json::array()}});
}

std::uint64_t free_bytes(const std::string& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  return error ? 0 : static_cast<std::uint64_t>(space.available);
}

Response status(Services& services, Call&) {
  const auto free = free_bytes(services.folder.root());
  return json_response({{"version", SHEAF_VERSION},
                        {"folder", services.folder.root()},
                        {"read_only", services.options.read_only},
                        {"disk_free_bytes", free},
                        {"largest_upload_bytes", services.options.read_only ? 0 : free},
                        {"jobs_at_once", services.jobs.at_once()}});
}

Response openapi(Services&, Call&) {
  Response response;
  response.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
  response.constant = find_page_file("openapi.json")->bytes;
  return response;
}

Response parameters(Services& services, Call&) { return json_response(services.forms.json()); }

}  // namespace

std::vector<Route> status_routes() {
  return {{"GET", "/openapi.json", openapi},
          {"GET", "/status", status},
          {"GET", "/devices", devices},
          {"GET", "/parameters", parameters}};
}

}  // namespace sheaf::app
