// Files that can be learnt from: their list, their profile, their rows.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/routes/dataset_table.hpp"
#include "app/routes/datasets.hpp"
#include "app/routes/route.hpp"
#include "core/files/small_file.hpp"
#include "data/bytes/sink.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

/// Reading options that are kept, by the paths of datasets.
std::string reading_file(const Services& services) { return services.options.state + "/reading.json"; }

Json all_readings(const Services& services) {
  auto json = parse_json<Json>(small_file(reading_file(services)).value_or(""));
  return json.is_object() ? json : Json::object();
}

Response list(Services& services, Call&) {
  const auto listing = services.lister.list();
  Json list = Json::array();
  const auto readings = all_readings(services);
  for (const auto& file : listing->data) list.push_back(dataset_json(services, file, readings));
  return json_response({{"datasets", std::move(list)}, {"truncated", listing->truncated}});
}

Response one(Services& services, Call& call) {
  return json_response(dataset_json(services, find_dataset(services, call.id()), all_readings(services)));
}

Response keep_reading(Services& services, Call& call) {
  const auto file = find_dataset(services, call.id());
  const auto settings = call.object();
  reading_words(services, file, settings);  // what is wrong with them is refused
  const std::lock_guard lock(services.reading_mutex);
  auto all = all_readings(services);
  all[file.path] = settings;
  write_file(reading_file(services), text_of(all) + "\n", Links::replace);
  return json_response(dataset_json(services, file, all));
}

/// Files that sheaf uploads or generates itself may be removed; files of the user are left alone.
Response remove(Services& services, Call& call) {
  const auto file = find_dataset(services, call.id());
  if (!file.path.starts_with("uploads/") && !file.path.starts_with("demonstration/"))
    throw Refusal{403, "forbidden", "only files that were uploaded here can be removed here"};
  std::error_code error;
  std::filesystem::remove(services.folder.find(file.path), error);
  if (error) throw Refusal{500, "failed", fmt::format("{}: cannot be removed: {}", file.path, error.message())};
  services.lister.forget();
  Response response;
  response.status = 204;
  return response;
}

/// Reading options of the address, else those that were kept.
Json asked_reading(Services& services, const Call& call, const DataFile& file) {
  if (call.query.empty()) {
    const auto all = all_readings(services);
    return all.contains(file.path) ? all[file.path] : Json::object();
  }
  Json settings = Json::object();
  for (const auto& [name, value] : call.query) settings[name] = value;
  return settings;
}

Response profile(Services& services, Call& call) {
  const auto file = find_dataset(services, call.id());
  const auto words = reading_words(services, file, asked_reading(services, call, file));
  const auto result = services.work.run(work_key(file, words), words, 1s);
  if (result.state == Work::State::running) return json_response({{"state", "running"}, {"seconds", result.seconds}});
  if (result.state == Work::State::failed)
    return json_response(services.forms.with_titles({{"state", "failed"}, {"message", result.message}}));
  auto found = parse_json<Json>(result.out);
  if (found.is_object() && found.contains("rows") && found.contains("features"))
    services.sizes.keep(file, {found["rows"].get<std::int64_t>(), found["features"].get<std::int64_t>()});
  return json_response(
      services.forms.with_titles({{"state", "ready"}, {"profile", std::move(found)}, {"notes", result.notes}}));
}

Response rows(Services& services, Call& call) {
  const auto file = find_dataset(services, call.id());
  return json_response(table_page(services, file,
                                  {.from = call.number("from", 0, 0, std::int64_t{1} << 60),
                                   .count = call.number("count", 100, 1, 1000),
                                   .first_column = call.number("first_column", 0, 0, std::int64_t{1} << 40),
                                   .columns = call.number("columns", 100, 1, 500)}));
}

Response file(Services& services, Call& call) {
  const auto found = find_dataset(services, call.id());
  return file_response(call, services.folder.find(found.path), "application/octet-stream",
                       found.path.substr(found.path.rfind('/') + 1));
}

}  // namespace

DataFile find_dataset(Services& services, const std::string& id) {
  const auto path = services.folder.find_by_id(id);
  const auto relative = services.folder.relative(path);
  const auto [kind, format] = kind_and_format(relative);
  DataFile file{relative, kind, format, facts_of(path)};
  if (kind.empty() || !file.facts.there()) throw Refusal{404, "not_found", "there is no dataset of that id"};
  return file;
}

std::string work_key(const DataFile& file, const std::vector<std::string>& words) {
  std::string key = fmt::format("{} {} {} {}", file.path, file.facts.bytes, file.facts.modified, file.facts.inode);
  for (const auto& word : words) key += '\0' + word;
  return key;
}

std::vector<std::string> reading_words(Services& services, const DataFile& file, const Json& settings) {
  Json body{{"task", "search"}, {"settings", settings}};
  auto design = read_design(services.forms, services.folder, body, {file.path}, {});
  const auto& sections = services.forms.sections(find_task("search"));
  for (const auto& [option, texts] : design.given)
    if (std::none_of(sections.begin(), sections.end(), [&, given = option](const FormSection& section) {
          return section.title == "Reading" && given >= section.options.data() &&
                 given < section.options.data() + section.options.size();
        }))
      design.errors.push_back({option->name, fmt::format("{} is not about reading", option->name)});
  if (!design.errors.empty())
    throw Refusal{400, "bad_request", design.errors.front().message, design.errors.front().field};
  auto words = words_of(design);
  words.front() = "info";
  words.emplace_back("--json");
  return words;
}

Json dataset_json(Services& services, const DataFile& file, const Json& readings) {
  Json rows, features;
  const auto known = services.sizes.find(file);
  if (known) {
    rows = known->first;
    features = known->second;
  }
  return {{"id", Folder::id_of(file.path)},
          {"path", file.path},
          {"name", file.path.substr(file.path.rfind('/') + 1)},
          {"kind", file.kind},
          {"format", file.format},
          {"bytes", file.facts.bytes},
          {"modified", file.facts.modified},
          {"rows", std::move(rows)},
          {"features", std::move(features)},
          {"reading", readings.contains(file.path) ? readings[file.path] : Json::object()}};
}

std::vector<Route> dataset_routes() {
  return {{"GET", "/datasets", list},
          {"GET", "/datasets/{id}", one},
          {.method = "DELETE", .pattern = "/datasets/{id}", .handler = remove, .changes = true},
          {.method = "PUT",
           .pattern = "/datasets/{id}/reading",
           .handler = keep_reading,
           .body = json_bytes,
           .changes = true},
          {"GET", "/datasets/{id}/profile", profile},
          {"GET", "/datasets/{id}/rows", rows},
          {"GET", "/datasets/{id}/file", file}};
}

}  // namespace sheaf::app
