#include "app/routes/dataset_table.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/routes/datasets.hpp"
#include "core/hash/sha256.hpp"
#include "data/bytes/sink.hpp"
#include "data/bytes/text_source.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t most_unpacked = std::int64_t{256} << 20;
constexpr std::size_t rows_to_guess = 50;

bool is_compressed(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".xz") || path.ends_with(".zst");
}

/// A plain text table with the same rows; empty: it is being made.
std::string text_table(Services& services, const DataFile& file) {
  const auto path = services.folder.find(file.path);
  const bool text = file.format == "csv" || file.format == "arff";
  if (text && !is_compressed(path)) return path;
  const auto copy = fmt::format("{}/table-{}", services.options.state, sha256(work_key(file, {})).substr(0, 32));
  if (text) {
    if (!facts_of(copy).there())
      write_file(copy, TextSource(path, silent_progress(), {}, most_unpacked).text(), Links::replace);
    return copy;
  }
  const std::vector<std::string> words{"convert", file.path, copy + ".csv", "--quiet"};
  const auto result = services.work.run("table " + work_key(file, {}), words, 1s);
  if (result.state == Work::State::failed) throw Error(result.message);
  return result.state == Work::State::ready ? copy + ".csv" : std::string();
}

/// A row of a sparse ARFF file, "{3 1, 7 2}", as one field for each column.
std::vector<std::string> dense_fields(const std::string& record, std::size_t columns) {
  std::vector<std::string> fields(columns, "0");
  for (const auto& entry : split_record(std::string_view(record).substr(1, record.find('}') - 1), ',')) {
    const auto begin = std::min(entry.find_first_not_of(" \t"), entry.size());
    const auto blank = entry.find_first_of(" \t", begin);
    if (blank == std::string::npos) continue;
    const auto column = std::strtoull(entry.c_str() + begin, nullptr, 10);
    if (column < columns) fields[column] = entry.substr(entry.find_first_not_of(" \t", blank));
  }
  return fields;
}

std::vector<std::string> fields_of(const LineIndex& table, const std::string& record) {
  if (record.starts_with('{')) return dense_fields(record, table.columns().size());
  return split_record(record, table.delimiter());
}

std::string_view kind_of(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool numbers = true, dates = true;
  for (std::size_t r = 0; r < std::min(rows.size(), rows_to_guess); ++r) {
    const auto& text = column < rows[r].size() ? rows[r][column] : std::string();
    if (text.empty() || text == "NA" || text == "?" || text == "NaN") continue;
    numbers = numbers && is_number(text);
    dates = dates && is_date(text);
  }
  return numbers ? "number" : dates ? "date" : "text";
}

Json window_of(const LineIndex& table, const TableWindow& window, const LineIndex::Page& page) {
  std::vector<std::vector<std::string>> all;
  for (const auto& record : page.records) all.push_back(fields_of(table, record));
  const auto& names = table.columns();
  const auto first = std::min(static_cast<std::size_t>(window.first_column), names.size());
  const auto last = std::min(first + static_cast<std::size_t>(window.columns), names.size());
  Json columns = Json::array();
  for (auto c = first; c < last; ++c) columns.push_back({{"name", names[c]}, {"kind", kind_of(all, c)}});
  Json rows = Json::array();
  for (const auto& fields : all) {
    Json row = Json::array();
    for (auto c = first; c < last; ++c) row.push_back(c < fields.size() ? fields[c] : std::string());
    rows.push_back(std::move(row));
  }
  return {{"state", page.complete ? "ready" : "running"},
          {"columns", std::move(columns)},
          {"first_column", first},
          {"total_columns", names.size()},
          {"from", window.from},
          {"total_rows", page.complete ? Json(page.rows) : Json()},
          {"rows", std::move(rows)}};
}

Json empty_page(const char* state, const std::string& message) {
  return {{"state", state},     {"message", message}, {"columns", Json::array()}, {"first_column", 0},
          {"total_columns", 0}, {"from", 0},          {"total_rows", Json()},     {"rows", Json::array()}};
}

}  // namespace

Json table_page(Services& services, const DataFile& file, const TableWindow& window) {
  try {
    const auto path = text_table(services, file);
    if (path.empty()) return empty_page("running", "");
    const auto table = services.tables.index_of(path);
    return window_of(*table, window, table->read(window.from, window.count, 500ms));
  } catch (const Error& error) {
    return empty_page("failed", error.what());
  }
}

}  // namespace sheaf::app
