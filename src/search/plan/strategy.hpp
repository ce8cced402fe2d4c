// Chooses the next points of a space to try, from the scores of those tried before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

  /// Points times splits that will have been tried at the end; 0: that depends on their scores. Before the first
  /// next().
  virtual std::int64_t trainings() const { return 0; }
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
/// The space must outlive it.
std::unique_ptr<PointStrategy> make_strategy(const Space& space, const StrategyOptions& options);

}  // namespace sheaf::engine
