#include "text/model_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 40;

std::string table_text(SummaryTable summary) {
  for (auto& row : summary.rows)
    for (auto& cell : row) cell = shortened(cell, name_width);
  if (summary.headed)
    for (auto& cell : summary.rows.front()) cell = dim(cell);
  auto text = fmt::format("\n{}\n", bold(summary.title));
  if (!summary.rows.empty()) text += table(summary.rows, summary.alignment, 2);
  if (!summary.note.empty()) text += fmt::format("  {}\n", summary.note);
  return text;
}

}  // namespace

std::string model_text(const Model& model, const std::string& source, std::int64_t rows) {
  const auto summary = model.trained().summary(rows);
  auto text = bold(source) + '\n';
  for (const auto& line : summary.lines) text += fmt::format("  {}\n", line);
  for (const auto& one : summary.tables) text += table_text(one);
  if (!summary.note.empty()) text += fmt::format("\n{}\n", summary.note);
  return text;
}

std::string model_json(const Model& model, const std::string& path, std::int64_t rows) {
  Json answer{{"model", path}};
  answer.update(Json::parse(model.trained().summary_json(rows)));
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sheaf::cli
