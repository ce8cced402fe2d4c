// Options of any family and spaces to search, set from text by the rows of the family.
#include <algorithm>

#include <sheaf/solvers/search_space.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/parameter_rows.hpp"
#include "family/family.hpp"

namespace sheaf {
namespace {

void check_kind(const Parameter<ModelOptions>& row, const ModelOptions& options) {
  if (row.kinds.empty() || options.kind().empty()) return;
  if (std::find(row.kinds.begin(), row.kinds.end(), options.kind()) != row.kinds.end()) return;
  fail_usage("{} is for the model{} {}, not {}", row.name, row.kinds.size() == 1 ? "" : "s",
             join_names(row.kinds, "and"), options.kind());
}

}  // namespace

ModelOptions::ModelOptions() : ModelOptions(model_kinds().front().options) {}

std::string_view ModelOptions::family_name() const { return family_->name(); }

const Parameter<ModelOptions>& find_parameter(const ModelOptions& options, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& row : parameters_of(options)) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  fail_unknown("parameter", name, known);
}

void set_parameter(ModelOptions& options, std::string_view name, std::string_view text) {
  const auto& row = find_parameter(options, name);
  check_kind(row, options);
  if (row.use == ParameterUse::search) fail_usage("{} is for searches, and one model is trained", row.name);
  row.set(options, text);
}

void set_parameter(ModelOptions& options, std::string_view name, std::vector<double> numbers) {
  const auto& row = find_parameter(options, name);
  check_kind(row, options);
  if (!row.vector) fail_usage("{} takes one value, not one for each row or feature", row.name);
  row.vector->set(options, std::move(numbers));
}

void set_parameter(SearchSpace& space, std::string_view name, std::string_view text) {
  const auto& row = find_parameter(space.options, name);
  check_kind(row, space.options);
  if (row.use == ParameterUse::fit) fail_usage("{} is for training one model, not for searches", row.name);
  if (!row.list) return row.set(space.options, text);
  auto& tried = space[row.name];
  if (!row.list->numbers) {
    for (const auto part : split_text(text, ','))
      if (!part.empty()) tried.names.emplace_back(part);
    return;
  }
  const auto more = row.list->numbers(text);
  tried.numbers.insert(tried.numbers.end(), more.begin(), more.end());
}

std::vector<double> engine::default_values(const ModelOptions& options, std::string_view parameter) {
  const auto& list = find_parameter(options, parameter).list;
  return list->numbers(list->default_text);
}

TriedValues& SearchSpace::operator[](std::string_view parameter) {
  const auto found = tried.find(parameter);
  return found != tried.end() ? found->second : tried[std::string(parameter)];
}

const std::vector<double>& SearchSpace::numbers(std::string_view parameter) const {
  static const std::vector<double> none;
  const auto found = tried.find(parameter);
  return found != tried.end() ? found->second.numbers : none;
}

const std::vector<std::string>& SearchSpace::names(std::string_view parameter) const {
  static const std::vector<std::string> none;
  const auto found = tried.find(parameter);
  return found != tried.end() ? found->second.names : none;
}

std::string SearchAxis::text(double value) const {
  if (value == absent) return {};
  return names.empty() ? fmt::format("{:.6g}", value) : names[static_cast<std::size_t>(value) - 1];
}

void ModelScores::drop_curves() {
  roc = {};
  precision_recall = {};
  recall = {};
  confusion = {};
  decisions = {};
  predicted = {};
}

}  // namespace sheaf
