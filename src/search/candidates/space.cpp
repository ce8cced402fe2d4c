// Spaces of one model or of several.
#include <algorithm>

#include <sheaf/search.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {

SearchSpace::SearchSpace() = default;
SearchSpace::SearchSpace(ModelOptions model) : options(std::move(model)) {}
SearchSpace::SearchSpace(const SearchSpace& other) = default;
SearchSpace::SearchSpace(SearchSpace&& other) noexcept = default;
SearchSpace& SearchSpace::operator=(const SearchSpace& other) = default;
SearchSpace& SearchSpace::operator=(SearchSpace&& other) noexcept = default;
SearchSpace::~SearchSpace() = default;

SearchSpace space_of_models(std::string_view names, const PipelineOptions& pipeline) {
  SearchSpace space;
  if (names == automatic_model) {
    space.choose_candidates = true;
    return space;
  }
  const auto parts = split_text(names, ',');
  if (parts.size() == 1) return find_model_kind(names).options;
  for (const auto name : parts) {
    const auto same = [&](const Candidate& other) { return other.name == name; };
    if (std::any_of(space.candidates.begin(), space.candidates.end(), same))
      fail_usage("the model {} is named twice", name);
    space.candidates.push_back({std::string(name), find_model_kind(name).options, pipeline});
  }
  return space;
}

std::string default_model(const std::vector<std::string>& parameters) {
  if (parameters.empty()) return std::string(automatic_model);
  for (const auto& kind : model_kinds()) {
    const auto& rows = parameters_of(kind.options);
    const auto has = [&](const std::string& name) {
      return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
    };
    if (std::all_of(parameters.begin(), parameters.end(), has)) return kind.name;
  }
  return model_kinds().front().name;
}

}  // namespace sheaf
