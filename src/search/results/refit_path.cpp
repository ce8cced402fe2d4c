#include "search/results/refit_path.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::engine {
namespace {

constexpr std::size_t most_features = 100;  // of each decision value

/// The features with the largest effects on some decision value, ascending.
std::vector<std::int32_t> strongest(const Coefficients& weights, const std::vector<double>& deviations) {
  std::vector<std::int32_t> result;
  for (std::size_t c = 0; c < weights.columns.size(); ++c) {
    const auto effect = [&](std::int32_t j) {
      const double deviation = deviations.empty() ? 1 : deviations[static_cast<std::size_t>(j)];
      return std::abs(weights.weight(j, static_cast<std::int32_t>(c))) * deviation;
    };
    std::vector<std::int32_t> features;
    for (std::int32_t j = 0; j < std::ssize(weights.feature_names); ++j)
      if (effect(j) > 0) features.push_back(j);
    const auto count = std::min(most_features, features.size());
    std::partial_sort(features.begin(), features.begin() + static_cast<std::ptrdiff_t>(count), features.end(),
                      [&](auto a, auto b) { return std::pair(effect(b), a) < std::pair(effect(a), b); });
    result.insert(result.end(), features.begin(), features.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

void add_refit_path(const Context& context, const FamilySearch& search, SearchResult& result) {
  if (result.stack || result.options.path_split > 0) return;
  const auto weights = result.model->coefficients();
  if (!weights) return;
  const auto features = strongest(*weights, result.standard_deviations);
  if (features.empty()) return;
  const auto [model, point] = search.own_point(result.chosen());
  result.path = search.models()[static_cast<std::size_t>(model)]->refit_path(context, point, features);
}

}  // namespace sheaf::engine
