// Folders of results, whoever made them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "app/routes/dataset_table.hpp"
#include "app/routes/datasets.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return text;
}

bool has_words(const Run& run, const std::string& query) {
  const auto text = lower(run.folder.path + " " + run.about->source + " " + run.about->model + " " + run.about->title);
  const auto words = lower(query);
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    if (end > at && text.find(words.substr(at, end - at)) == text.npos) return false;
    at = end + 1;
  }
  return true;
}

double modified(const Run& run) {
  return std::max({run.folder.settings.modified, run.folder.journal.modified, run.folder.results.modified,
                   run.job ? run.job->created : 0.0});
}

double seconds(const Run& run) {
  if (run.job && run.job->ended > 0) return run.job->ended - run.job->started;
  return modified(run) - run.folder.settings.modified;
}

/// Runs are sorted by a number or, if that is the same, a text.
struct SortKey {
  double number = 0;
  std::string text;
};

SortKey key_of(const Run& run, const std::string& by) {
  if (by == "kind") return {0, run.about->kind};
  if (by == "state") return {0, std::string(run.state)};
  if (by == "model") return {0, run.about->model};
  if (by == "value") return {run.about->value.value_or(-std::numeric_limits<double>::infinity()), {}};
  if (by == "seconds") return {seconds(run), {}};
  if (by == "modified") return {modified(run), {}};
  return {0, run.folder.path};  // name
}

void sort_runs(std::vector<Run>& runs, std::string by) {
  static const std::vector<std::string> known{"name", "kind", "state", "model", "value", "seconds", "modified"};
  const bool descending = by.starts_with('-');
  if (descending) by = by.substr(1);
  if (std::find(known.begin(), known.end(), by) == known.end())
    throw Refusal{400, "bad_request", fmt::format("'{}' is nothing that runs are sorted by", by), "sort"};
  std::vector<std::pair<SortKey, std::size_t>> keys;
  keys.reserve(runs.size());
  for (std::size_t k = 0; k < runs.size(); ++k) keys.emplace_back(key_of(runs[k], by), k);
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    const auto& [x, y] = descending ? std::pair(b.first, a.first) : std::pair(a.first, b.first);
    return x.number != y.number ? x.number < y.number : x.text < y.text;
  });
  std::vector<Run> sorted;
  sorted.reserve(runs.size());
  for (const auto& [key, k] : keys) sorted.push_back(std::move(runs[k]));
  runs = std::move(sorted);
}

Response list(Services& services, Call& call) {
  auto runs = services.runs.list();
  const auto query = call.text("query"), state = call.text("state"), kind = call.text("kind");
  std::erase_if(runs, [&](const Run& run) {
    return (!state.empty() && run.state != state) || (!kind.empty() && run.about->kind != kind) ||
           !has_words(run, query);
  });
  const auto by = call.text("sort");
  sort_runs(runs, by.empty() ? "-modified" : by);
  const auto from = call.number("from", 0, 0, std::numeric_limits<std::int64_t>::max() / 2);
  const auto count = call.number("count", 100, 1, 500);
  Json page = Json::array();
  for (auto k = from; k < std::min(from + count, static_cast<std::int64_t>(runs.size())); ++k)
    page.push_back(services.runs.json(runs[static_cast<std::size_t>(k)]));
  return json_response(
      {{"total", runs.size()}, {"from", from}, {"runs", std::move(page)}, {"truncated", services.runs.truncated()}});
}

bool is_table(std::string_view name) { return name.ends_with(".csv") || name.ends_with(".tsv"); }

std::string command_of(const Services& services, const Run& run) {
  if (run.job) return command_text(run.job->words);
  try {
    return text_at(parse_json<Json>(file_text(services.folder.find(run.folder.path + "/settings.json"))), "command");
  } catch (const Refusal&) {
    return {};
  }
}

Response one(Services& services, Call& call) {
  const auto run = services.runs.find(call.id());
  auto json = services.runs.json(run);
  json["files"] = Json::array();
  std::vector<std::pair<std::string, std::int64_t>> files;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(services.folder.root() + "/" + run.folder.path, ignored)) {
    const auto name = entry.path().filename().string();
    const auto facts = facts_of(entry.path().string());
    if (is_plain_path(name) && facts.there()) files.emplace_back(name, facts.bytes);
  }
  std::sort(files.begin(), files.end());
  for (const auto& [name, bytes] : files)
    json["files"].push_back({{"name", name}, {"bytes", bytes}, {"table", is_table(name)}});
  json["progress"] = run.state == "running" ? services.runs.progress_of(run) : Json();
  json["message"] = run.job ? run.job->message : std::string();
  json["command"] = command_of(services, run);
  return json_response(run.job ? services.forms.with_titles(std::move(json), run.job->task) : json);
}

/// A file in the folder of a run; names of folders below it are refused.
std::string file_in(const Services& services, const Run& run, const std::string& name) {
  if (!is_plain_path(name) || name.find('/') != name.npos)
    throw Refusal{404, "not_found", "there is no such file in the folder of the run"};
  return services.folder.find(run.folder.path + "/" + name);
}

Response results(Services& services, Call& call) {
  return file_response(call, file_in(services, services.runs.find(call.id()), "results.json"), "application/json", "");
}

Response settings(Services& services, Call& call) {
  return file_response(call, file_in(services, services.runs.find(call.id()), "settings.json"), "application/json", "");
}

/// The report has a script and styles of its own: it may use them, and nothing else, not even its address.
Response report(Services& services, Call& call) {
  auto response = file_response(call, file_in(services, services.runs.find(call.id()), "report.html"),
                                "text/html; charset=utf-8", "");
  response.headers.emplace_back("Content-Security-Policy",
                                "sandbox allow-scripts allow-downloads; default-src 'none'; script-src "
                                "'unsafe-inline'; style-src 'unsafe-inline'; "
                                "img-src data: blob:; frame-ancestors 'self'");
  return response;
}

Response log(Services& services, Call& call) {
  const auto run = services.runs.find(call.id());
  if (run.job && facts_of(services.jobs.log_of(run.job->id)).there())
    return file_response(call, services.jobs.log_of(run.job->id), "text/plain; charset=utf-8", "");
  Response response;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}};
  return response;
}

Response file(Services& services, Call& call) {
  const auto path = file_in(services, services.runs.find(call.id()), call.parts[1]);
  return file_response(call, path, "application/octet-stream", call.parts[1]);
}

Json cell(const std::string& text) {
  if (text.empty() || text == "NA") return nullptr;
  if (is_number(text)) {
    auto number = parse_json<Json>(text);
    if (number.is_number()) return number;
  }
  return text;
}

Response table(Services& services, Call& call) {
  const auto& name = call.parts[1];
  if (!is_table(name)) throw Refusal{404, "not_found", "there is no such table"};
  const auto from = call.number("from", 0, 0, std::int64_t{1} << 60);
  const auto count = call.number("count", 1000, 1, 20000);
  const auto index = services.tables.index_of(file_in(services, services.runs.find(call.id()), name));
  const auto page = index->read(from, count, 10s);
  Json rows = Json::array();
  for (const auto& record : page.records) {
    Json row = Json::array();
    for (const auto& text : split_record(record, index->delimiter())) row.push_back(cell(text));
    rows.push_back(std::move(row));
  }
  return json_response(
      {{"columns", index->columns()}, {"from", from}, {"total_rows", page.rows}, {"rows", std::move(rows)}});
}

/// The first rows of the dataset that the run was made from; an empty page if it is not in the folder any more.
Json first_rows(Services& services, const Run& run) {
  constexpr std::int64_t rows = 10, all_columns = std::int64_t{1} << 40;
  try {
    const auto source = services.folder.find(services.folder.relative(run.about->source));
    const auto relative = services.folder.relative(source);
    const auto [kind, format] = kind_and_format(relative);
    return table_page(services, {relative, kind, format, facts_of(source)}, {0, rows, 0, all_columns});
  } catch (const Refusal&) {
    return {{"state", "ready"}, {"columns", Json::array()}, {"rows", Json::array()}};
  }
}

/// The columns that the model of the run reads, with their values in the first rows of its dataset.
Response inputs(Services& services, Call& call) {
  const auto run = services.runs.find(call.id());
  const auto path = file_in(services, run, "model.txt");
  const auto model = services.folder.relative(path);
  const auto facts = facts_of(path);
  const auto found = services.work.run(fmt::format("inputs {} {} {}", model, facts.bytes, facts.modified),
                                       {"info", model, "--json"}, 2s);
  if (found.state == Work::State::running) return json_response({{"state", "running"}, {"seconds", found.seconds}});
  if (found.state == Work::State::failed) return json_response({{"state", "failed"}, {"message", found.message}});
  const auto about = parse_json<Json>(found.out);
  const auto page = first_rows(services, run);
  if (page["state"] == "running" && page["columns"].empty())
    return json_response({{"state", "running"}, {"seconds", found.seconds}});
  std::map<std::string, std::size_t> places;
  for (std::size_t c = 0; c < page["columns"].size(); ++c)
    places.try_emplace(page["columns"][c]["name"].get<std::string>(), c);
  Json columns = Json::array(), rows = Json::array();
  for (std::size_t r = 0; r < page["rows"].size(); ++r) rows.push_back(Json::array());
  for (const auto& input : about["inputs"]["columns"]) {
    const auto place = places.find(input["name"].get<std::string>());
    for (std::size_t r = 0; r < rows.size(); ++r)
      rows[r].push_back(place == places.end() ? Json("") : page["rows"][r][place->second]);
    columns.push_back({{"name", input["name"]},
                       {"kind", input["levels"].empty() ? "number" : "nominal"},
                       {"levels", input["levels"]},
                       {"example", rows.empty() ? Json("") : rows[0].back()}});
  }
  return json_response({{"state", "ready"},
                        {"label", about["label"]},
                        {"columns", std::move(columns)},
                        {"total_columns", about["inputs"]["total"]},
                        {"rows", std::move(rows)}});
}

}  // namespace

std::vector<Route> run_routes() {
  return {{"GET", "/runs", list},
          {"GET", "/runs/{id}", one},
          {"GET", "/runs/{id}/results", results},
          {"GET", "/runs/{id}/settings", settings},
          {"GET", "/runs/{id}/report", report},
          {"GET", "/runs/{id}/log", log},
          {"GET", "/runs/{id}/tables/{name}", table},
          {"GET", "/runs/{id}/files/{name}", file},
          {"GET", "/runs/{id}/inputs", inputs}};
}

}  // namespace sheaf::app
