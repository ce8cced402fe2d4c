// Scores of models by their decision values on the rows that they did not see, computed where the values are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/scores.hpp>

#include "score/ops.hpp"

namespace sheaf::score {

template <class T>
class Scorer {
 public:
  Scorer(const Context& context, const Truth& truth, bool probabilities);

  std::int32_t positive() const { return truth_.positive; }
  /// From now on, test k of a model is list k of `tests`.
  void load_tests(TestRows tests);
  /// Bytes that judging takes on the device beside the decision values.
  std::int64_t workspace() const { return ops_->workspace(); }
  /// `z`: decision values of all rows on the device, each model's side by side; tests[m]: that of model m.
  std::vector<Scores> score(BlockView<const T> z, std::span<const std::int32_t> tests,
                            BlockView<const std::int32_t> predicted = {});

 private:
  void score_classes(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models);
  void score_ranks(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models);
  void score_amounts(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models);

  Truth truth_;
  int threads_;
  bool probabilities_;
  std::unique_ptr<ScoreOps<T>> ops_;
  std::vector<double> sizes_;    // of each test
  std::vector<double> spreads_;  // amounts: squared distances from their mean, of each test
};

}  // namespace sheaf::score
