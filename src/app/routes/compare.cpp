// Several runs side by side.
#include <set>

#include <fmt/format.h>

#include "app/routes/datasets.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

/// The values of an object and of those in it, by their places: "options/folds".
void collect(const Json& json, const std::string& place, std::map<std::string, Json>& values) {
  if (!json.is_object()) {
    values[place] = json;
    return;
  }
  for (const auto& [name, value] : json.items()) collect(value, place.empty() ? name : place + "/" + name, values);
}

bool is_about_the_run(const std::string& place) {
  return place == "command" || place == "sheaf" || place == "journal" || place == "data/path";
}

/// Settings that are not the same everywhere.
Json differences(const std::vector<Json>& settings) {
  std::vector<std::map<std::string, Json>> values(settings.size());
  std::set<std::string> places;
  for (std::size_t k = 0; k < settings.size(); ++k) {
    collect(settings[k], "", values[k]);
    for (const auto& [place, value] : values[k])
      if (!is_about_the_run(place)) places.insert(place);
  }
  Json list = Json::array();
  for (const auto& place : places) {
    Json row = Json::array();
    for (auto& of : values) row.push_back(of.contains(place) ? of[place] : Json());
    if (std::adjacent_find(row.begin(), row.end(), std::not_equal_to<>()) != row.end())
      list.push_back({{"setting", place}, {"values", std::move(row)}});
  }
  return list;
}

Response compare(Services& services, Call& call) {
  const auto body = call.object();
  if (!body.contains("runs") || !body["runs"].is_array() || body["runs"].size() < 2 || body["runs"].size() > 10)
    throw Refusal{400, "bad_request", "runs is a list of two to ten ids", "runs"};
  std::vector<std::string> words{"compare"};
  std::string key = "compare";
  std::vector<Json> settings;
  Json runs = Json::array();
  for (const auto& id : body["runs"]) {
    const auto run = services.runs.find(id.is_string() ? id.get<std::string>() : "");
    words.push_back(run.folder.path.starts_with('-') ? "./" + run.folder.path : run.folder.path);
    key += fmt::format(" {} {} {}", run.folder.path, run.folder.results.modified, run.folder.results.bytes);
    settings.push_back(run.folder.settings.there()
                           ? parse_json<Json>(file_text(services.folder.find(run.folder.path + "/settings.json")))
                           : Json::object());
    runs.push_back(services.runs.json(run));
  }
  if (const auto score = text_at(body, "score"); !score.empty()) {
    words.push_back("--score=" + score);
    key += " " + score;
  }
  words.emplace_back("--json");
  const auto result = services.work.run(key, words, 20s);
  if (result.state != Work::State::ready)
    throw Refusal{400, "bad_request", result.message.empty() ? "the comparison takes too long" : result.message,
                  "runs"};
  return json_response(services.forms.with_titles({{"comparison", parse_json<Json>(result.out)},
                                                   {"runs", std::move(runs)},
                                                   {"differences", differences(settings)},
                                                   {"warnings", result.notes}}));
}

}  // namespace

std::vector<Route> compare_routes() {
  return {{.method = "POST", .pattern = "/compare", .handler = compare, .body = json_bytes}};
}

}  // namespace sheaf::app
