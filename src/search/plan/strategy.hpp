// Chooses the next points of a space to try, from the scores of those tried before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/search.hpp>

#include "family/space.hpp"

namespace sheaf::engine {

/// A point on the first `splits` splits of its level.
struct Trial {
  Point point;
  std::int32_t splits = 0;
};

class PointStrategy {
 public:
  PointStrategy() = default;
  PointStrategy(const PointStrategy&) = delete;
  PointStrategy& operator=(const PointStrategy&) = delete;
  virtual ~PointStrategy() = default;

  /// None: the search is over. No point is returned twice.
  virtual std::vector<Trial> next() = 0;
  /// Reports the score of a trial: larger is better, NaN is worst.
  virtual void learn(const Point& point, double score) = 0;
  /// The same, with the score on each of its splits, `score` being their mean.
  virtual void learn_splits(const Point& point, std::span<const double> /*splits*/, double score) {
    learn(point, score);
  }
};

struct StrategyOptions {
  Strategy strategy = Strategy::grid;  // not automatic
  std::int32_t trials = 0;
  std::int32_t splits = 1;  // of a level
  std::uint64_t seed = 0;
  bool extend = false;  // a grid is extended beyond its ends while scores rise there
  bool race = false;    // among several models: those that fall behind on few splits are dropped
};
/// Strategies of the candidates or, of a space without, of its one model; space and options must be decided.
std::vector<StrategyOptions> strategies_of(const SearchSpace& space, const SearchOptions& options, std::int32_t splits,
                                           std::uint64_t seed);
/// How many of so many points a level tries; 0: that depends on their scores.
std::int64_t tried_points(std::int64_t points, const StrategyOptions& options);
/// Points times splits that a level will have tried at the end, of models with so many points each; 0: that depends on
/// their scores.
std::int64_t trainings(std::span<const std::int64_t> points, std::span<const StrategyOptions> options);
/// The space must outlive it.
std::unique_ptr<PointStrategy> make_strategy(const Space& space, const StrategyOptions& options);

}  // namespace sheaf::engine
