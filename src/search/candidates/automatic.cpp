#include "search/candidates/automatic.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "family/family.hpp"

namespace sheaf::engine {
namespace {

/// Whole numbers of 0 or more, some of them large: rows differ by their sums, and features by their largest values.
template <class T>
bool holds_counts(const Dataset<T>& dataset) {
  constexpr double large = 50;
  double largest = 0;
  const bool whole = std::visit(
      [&](const auto& x) {
        return std::all_of(x.values.begin(), x.values.end(), [&](T value) {
          largest = std::max(largest, static_cast<double>(value));
          return value >= 0 && value == std::floor(value);
        });
      },
      dataset.x);
  const bool nominal =
      std::any_of(dataset.levels.begin(), dataset.levels.end(), [](const auto& levels) { return !levels.empty(); });
  return whole && !nominal && largest >= large;
}

}  // namespace

template <class T>
std::vector<Candidate> automatic_candidates(const Dataset<T>& dataset, const SearchOptions& options) {
  const auto summary = summary_of(dataset, options.row_weights);
  std::vector<std::pair<int, std::string>> kinds;
  for (const auto* family : families())
    for (auto& kind : family->automatic_kinds(summary)) kinds.push_back(std::move(kind));
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto steps = options.pipeline;
  if (steps.choose_scale && has_scales(dataset)) {  // so that all models see the same features
    steps.scale = ScaleMethod::standard;
    steps.choose_scale = false;
  }
  const bool counts = steps.transforms.empty() && !has_scales(dataset) && holds_counts(dataset);
  std::vector<Candidate> candidates;
  for (const auto& [order, name] : kinds) {
    if (!counts || order == kinds.front().first) candidates.push_back({name, find_model_kind(name).options, steps});
    if (!counts) continue;
    Candidate logarithms{name + " log1p", find_model_kind(name).options, steps};
    logarithms.pipeline.transforms = {RowTransform::log1p};
    candidates.push_back(std::move(logarithms));
  }
  return candidates;
}

template std::vector<Candidate> automatic_candidates(const Dataset<float>&, const SearchOptions&);
template std::vector<Candidate> automatic_candidates(const Dataset<double>&, const SearchOptions&);

}  // namespace sheaf::engine
