// The size of a search before it begins.
#include <sheaf/search.hpp>

#include "family/family.hpp"
#include "search/plan/strategy.hpp"

namespace sheaf {
namespace engine {

std::vector<StrategyOptions> strategies_of(const SearchSpace& space, const SearchOptions& options, std::int32_t splits,
                                           std::uint64_t seed) {
  if (space.candidates.empty()) return {{options.strategy, options.trials, splits, seed, options.extend}};
  std::vector<StrategyOptions> strategies;
  for (const auto& candidate : space.candidates)
    strategies.push_back({candidate.strategy, options.trials, splits, seed, candidate.extend, space.choose_candidates});
  return strategies;
}

}  // namespace engine

SearchPlan search_plan(std::int64_t rows, const SearchSpace& space, const SearchOptions& options) {
  const bool each_row = options.split == SplitKind::leave_one_out && !options.leave_one_out_in_folds;
  SearchPlan plan;
  plan.splits = options.splits ? options.splits->count() : each_row ? static_cast<std::int32_t>(rows) : options.folds;
  std::vector<std::int64_t> points;
  for (const auto& candidate : space.candidates)
    points.push_back(candidate.space.options.family().points(candidate.space));
  if (points.empty()) points.push_back(space.options.family().points(space));
  const auto strategies = engine::strategies_of(space, options, plan.splits, 0);
  const auto of_level = engine::trainings(points, strategies);
  if (of_level == 0) return plan;
  for (std::size_t k = 0; k < points.size(); ++k) plan.points += engine::tried_points(points[k], strategies[k]);
  plan.models =
      of_level * (options.outer + (options.full ? 1 : 0)) + options.outer + (options.full && options.refit ? 1 : 0);
  return plan;
}

}  // namespace sheaf
