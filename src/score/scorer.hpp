// Scores of models by their decision values on the rows that they did not see, computed where the values are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/scores.hpp>

#include "score/metrics.hpp"
#include "score/ops.hpp"
#include "score/test_rows.hpp"

namespace sheaf::score {

template <class T>
class Scorer {
 public:
  /// The rows of `truth` must outlive it and not move. `probabilities`: the models have those of logistic regression.
  /// `wanted`: the metrics to score, empty: all that suit; quantities that none of them needs are not computed.
  Scorer(const Context& context, const Truth& truth, bool probabilities, std::span<const Metric> wanted = {});

  /// From now on, scores come with the decision values and the predicted classes of their test rows. Before tests are
  /// loaded.
  void keep_decisions() { keep_decisions_ = true; }
  /// From now on, test k of a model is list k of `tests`.
  void load_tests(TestRows tests);
  /// Bytes that scoring takes on the device besides the decision values.
  std::int64_t workspace() const { return ops_->workspace(); }
  /// `z`: decision values of all rows on the device, each model's side by side (see ops.hpp); tests[m]: that of model
  /// m. `predicted`, rows x models on the device: class numbers, for models whose choice is not the largest column.
  std::vector<Scores> score(BlockView<const T> z, std::span<const std::int32_t> tests,
                            BlockView<const std::int32_t> predicted = {});

 private:
  bool needs(Need need) const { return (needs_ & static_cast<unsigned>(need)) != 0; }
  void count_classes(BlockView<const T> z, BlockView<const std::int32_t> predicted, std::span<const std::int32_t> tests,
                     std::span<Statistics> models, std::span<Scores> scores);
  void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Ranking> rankings,
            std::span<Statistics> models, std::span<Scores> scores);
  /// The scores of several targets are means over them.
  void score_errors(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Statistics> models,
                    std::span<Scores> scores);
  void sum_survival(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Statistics> models);
  void copy_decisions(BlockView<const T> z, BlockView<const std::int32_t> predicted,
                      std::span<const std::int32_t> tests, std::span<Scores> scores) const;

  Context context_;
  Truth truth_;
  std::vector<Metric> wanted_;
  unsigned needs_ = 0;
  std::unique_ptr<ScoreOps<T>> ops_;
  bool by_probability_ = false;  // rankings of three classes or more
  bool keep_decisions_ = false;
  TestRows kept_tests_;          // where decision values are kept
  std::vector<double> sizes_;    // of each test
  std::vector<double> spreads_;  // regression: squared distances of each target from its mean, tests x targets
};

}  // namespace sheaf::score
