// Several models in one search: which points of which model are tried next.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "family/search.hpp"
#include "search/plan/strategy.hpp"

namespace sheaf::engine {

/// Models are tried one after the other, those of the least work first. Models that were named are tried in full. Of a
/// choice that was left to the data, the strategies of all models but the first one see two splits only. A model is
/// dropped, also between the rounds of its strategy, if its best point is worse there than the best point of all models
/// so far, on the same splits, by more than three standard errors of the difference between means over that many splits
/// and over all; the deviation of one split is that of the best point. Of a model that stays, the best quarter of its
/// points is tried on all splits.
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
  enum class Stage : std::uint8_t { begins, few, all, through };
  struct Runner {
    std::int32_t model = 0;
    std::unique_ptr<PointStrategy> strategy = nullptr;
    Stage stage = Stage::begins;                       // on how many splits its strategy is run
    std::map<Point, std::vector<double>> on_few = {};  // points that it tried on few splits, with their scores
    std::vector<double> best = {};  // scores of its best point, on as many splits as it has been tried on
    Outcome outcome = {};
  };

  std::vector<Trial> trials_of(Runner& runner);
  std::vector<Trial> best_on_few(const Runner& runner) const;
  std::vector<Trial> joined(const Runner& runner, const std::vector<Trial>& own, std::int32_t splits) const;
  bool falls_behind(std::span<const double> scores) const;
  void drop(Runner& runner);

  const FamilySearch& family_;
  std::int32_t splits_;
  bool drops_;
  std::vector<Runner> runners_;  // in the order of their work
  std::size_t now_ = 0;          // the one that runs
  std::vector<double> leader_;   // scores of the best point that was tried on all splits
};

}  // namespace sheaf::engine
