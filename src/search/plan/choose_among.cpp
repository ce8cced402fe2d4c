#include "search/plan/choose_among.hpp"

#include <algorithm>
#include <numeric>

namespace sheaf::engine {
namespace {

/// Larger is better.
double second_score(const FamilySearch& family, const SearchLevel& level, std::size_t p, std::size_t splits) {
  const auto metric = family.has_probabilities() ? Metric::log_loss : Metric::auc;
  std::vector<double> scores;
  for (std::size_t s = 0; s < splits; ++s) scores.push_back(level.models[p * splits + s].score(metric));
  const double mean = summarise(scores).mean;
  return info(metric).larger_is_better ? mean : -mean;
}

}  // namespace

Chosen choose_among(const FamilySearch& family, const SearchOptions& options, const std::vector<Point>& points,
                    const SearchLevel& level) {
  std::vector<std::size_t> order(level.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto splits = order.empty() ? 0 : level.models.size() / order.size();
  std::vector<std::vector<double>> keys;
  std::vector<ScoreSummary> summaries;
  for (const auto p : order) {
    std::vector<double> scores;
    double size = 0;
    for (std::size_t s = 0; s < splits; ++s) {
      scores.push_back(level.models[p * splits + s].score(*options.score));
      size += level.models[p * splits + s].size / static_cast<double>(splits);
    }
    summaries.push_back(summarise(scores));
    keys.push_back(family.complexity(points[static_cast<std::size_t>(level.points[p])], size));
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  std::vector<ScoreSummary> table;
  std::vector<double> second;
  table.reserve(order.size());
  for (const auto p : order) {
    table.push_back(summaries[p]);
    if (!family.labels().regression()) second.push_back(second_score(family, level, p, splits));
  }
  const auto chosen = choose(table, info(*options.score).larger_is_better, options.choice, second);
  return {order[chosen.best], order[chosen.chosen]};
}

}  // namespace sheaf::engine
