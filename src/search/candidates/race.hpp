// Several models in one search: which points of which model are tried next.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "family/search.hpp"
#include "search/plan/strategy.hpp"

namespace sheaf::engine {

/// Models are tried one after the other, those of the least work first. From the second on, a model is first tried on
/// two splits. It is dropped if its best point is worse there than the best point of all models so far, on the same
/// splits, by more than three standard errors of the difference between means over that many splits and over all; the
/// deviation of one split is that of the best point. Points of a model that is not dropped are dropped by the same
/// rule, and between the rounds of its own strategy the model is.
class Race : public PointStrategy {
 public:
  /// How far a model came.
  struct Outcome {
    std::int32_t points = 0;         // that were tried
    std::int32_t dropped_after = 0;  // splits; 0: it was not dropped
    double dropped_score = 0;        // its best mean over those splits, larger being better
  };

  /// `options` and `work`: of each of the family's models. The family must outlive it.
  Race(const FamilySearch& family, const std::vector<StrategyOptions>& options, std::span<const double> work);

  std::vector<Trial> next() override;
  void learn(const Point& point, double score) override;
  void learn_splits(const Point& point, std::span<const double> splits, double score) override;

  std::vector<Outcome> outcomes() const;

 private:
  struct Runner {
    std::int32_t model = 0;
    std::unique_ptr<PointStrategy> strategy = nullptr;
    std::vector<Trial> first = {};        // its first trials, while it is tried on few splits
    bool tried = false;                   // on few splits
    std::map<Point, double> behind = {};  // points of those that are tried on no more, and their scores
    std::vector<double> best = {};        // scores of its best point, on as many splits as it has been tried on
    Outcome outcome = {};
  };

  std::vector<Trial> trials_of(Runner& runner);
  std::vector<Trial> joined(const Runner& runner, const std::vector<Trial>& own, std::int32_t splits) const;
  bool falls_behind(std::span<const double> scores) const;
  void drop(Runner& runner);

  const FamilySearch& family_;
  std::int32_t splits_;
  std::vector<Runner> runners_;  // in the order of their work
  std::size_t now_ = 0;          // the one that runs
  std::vector<double> leader_;   // scores of the best point that was tried on all splits
};

}  // namespace sheaf::engine
