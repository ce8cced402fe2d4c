#include "app/predictions/predictions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/hash/sha256.hpp"
#include "data/bytes/sink.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_kept = 200;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"\r\n") == text.npos ? text : quoted(text);
}

Json cell(const std::string& text) {
  if (text.empty()) return nullptr;
  if (!is_number(text)) return text;
  auto number = parse_json<Json>(text);
  return number.is_number() ? number : Json(text);
}

bool is_warning(const std::string& line) { return line.starts_with("sheaf: warning: "); }

/// Without the sort of the line and the file, which whoever asked has named or, for typed rows, has never seen.
std::string without_prefix(std::string line, const std::string& file) {
  for (const auto& prefix : {std::string("sheaf: warning: "), std::string("sheaf: note: "), file + ": "})
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  return line;
}

}  // namespace

std::string Predictions::keep_rows(const std::vector<std::string>& columns,
                                   const std::vector<std::vector<std::string>>& rows) {
  const auto line_of = [](std::vector<std::string> fields, std::string (*field_of)(const std::string&)) {
    std::transform(fields.begin(), fields.end(), fields.begin(), field_of);
    return fmt::format("{}\n", fmt::join(fields, ","));
  };
  auto text = line_of(columns, quoted);  // names may be numbers, which a reader takes for names in quotes alone
  for (const auto& row : rows) text += line_of(row, csv_field);
  const auto path = fmt::format("{}/typed-{}.csv", state_, sha256(text).substr(0, 32));
  write_file(path, text, Links::replace);
  return path;
}

std::string Predictions::start(const PredictionRequest& request, const std::string& key) {
  auto all = key;
  for (const auto& option : request.options) all += '\0' + option;
  const auto id = "p" + sha256(fmt::format("{} {} {} {} {}", request.model, request.input, request.explain,
                                           request.explain_count, all))
                            .substr(0, 24);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= most_kept) kept_.erase(kept_.begin());
  kept_.try_emplace(id, Kept{request});
  return id;
}

Predictions::Kept Predictions::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(id);
  if (found == kept_.end()) throw Refusal{404, "not_found", "there is no such prediction; ask for it again"};
  return found->second;
}

/// With probabilities or, if the model has none, without.
Work::Result Predictions::run(const std::string& id, std::chrono::milliseconds wait) {
  const auto kept = find(id);
  const auto& request = kept.request;
  std::vector<std::string> words{"predict",  request.input,       "--model-file", request.model,
                                 "--output", path_of(id, ".csv"), "--decisions",  "--json"};
  if (kept.probabilities) words.emplace_back("--probabilities");
  if (request.explain)
    words.insert(words.end(),
                 {"--explain", path_of(id, "-why.csv"), "--explain-count", std::to_string(request.explain_count)});
  words.insert(words.end(), request.options.begin(), request.options.end());
  auto result = work_.run(id + (kept.probabilities ? " with" : " without"), words, wait);
  if (result.state != Work::State::failed || !kept.probabilities ||
      result.message.find("probabil") == std::string::npos)
    return result;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(id); found != kept_.end()) found->second.probabilities = false;
  }
  return run(id, wait);
}

/// Objects by row: an explanation has several lines for each.
Json Predictions::explanations(const std::string& path, std::int64_t from, std::int64_t rows) {
  constexpr std::int64_t lines_at_once = 5000;
  Json list = Json::array();
  for (std::int64_t k = 0; k < rows; ++k) list.push_back(Json::array());
  const auto table = tables_.index_of(path);
  const auto& names = table->columns();
  for (std::int64_t line = 0;; line += lines_at_once) {
    const auto page = table->read(line, lines_at_once, 10s);
    for (const auto& record : page.records) {
      const auto fields = split_record(record, table->delimiter());
      const auto row = std::strtoll(fields.front().c_str(), nullptr, 10) - 1 - from;
      if (row >= rows) return list;
      if (row < 0) continue;
      Json object = Json::object();
      for (std::size_t c = 1; c < std::min(names.size(), fields.size()); ++c) object[names[c]] = cell(fields[c]);
      list[static_cast<std::size_t>(row)].push_back(std::move(object));
    }
    if (std::ssize(page.records) < lines_at_once) return list;
  }
}

Json Predictions::page(const std::string& id, std::int64_t from, std::int64_t count, std::chrono::milliseconds wait) {
  const auto result = run(id, wait);
  const auto kept = find(id);
  if (result.state == Work::State::running) return {{"id", id}, {"state", "running"}};
  if (result.state == Work::State::failed) return {{"id", id}, {"state", "failed"}, {"message", result.message}};
  const auto table = tables_.index_of(path_of(id, ".csv"));
  const auto page = table->read(from, count, 10s);
  Json rows = Json::array(), warnings = Json::array(), notes = Json::array();
  for (const auto& record : page.records) {
    Json row = Json::array();
    for (const auto& field : split_record(record, table->delimiter())) row.push_back(cell(field));
    rows.push_back(std::move(row));
  }
  for (const auto& line : result.notes)
    (is_warning(line) ? warnings : notes).push_back(without_prefix(line, kept.request.input));
  const auto shown = std::ssize(page.records);
  const auto scores = parse_json<Json>(result.out);
  const bool labelled = scores.is_object() && scores.contains("scores") && !scores["scores"].is_null();
  return {{"id", id},
          {"state", "ready"},
          {"model", kept.request.model},
          {"columns", table->columns()},
          {"from", from},
          {"total_rows", page.rows},
          {"rows", std::move(rows)},
          {"explanations", kept.request.explain ? explanations(path_of(id, "-why.csv"), from, shown) : Json::array()},
          {"scores", labelled ? scores : Json()},
          {"warnings", std::move(warnings)},
          {"notes", std::move(notes)}};
}

std::string Predictions::file_of(const std::string& id) {
  if (run(id, 0ms).state != Work::State::ready) throw Refusal{404, "not_found", "the predictions are not there yet"};
  return path_of(id, ".csv");
}

}  // namespace sheaf::app
