// The verbs of scoring: counts of models on their test rows on a device, so that decision values never leave
// it. One object serves one truth on one device. Blocks of decision values are task-minor and live on that device:
// rows x (models * columns()), the columns of one model side by side. All verbs have finished when they return, and
// check the context's stop token on their way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>

#include "score/statistics.hpp"
#include "score/test_rows.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::score {

/// Output of count_classes() for each model; an empty list: not requested.
struct ClassStatistics {
  std::span<std::int64_t> counts;            // models x count_bins(classes)
  std::span<std::int64_t> true_ranks;        // models x true_rank_bins; three classes or more
  std::span<ProbabilitySums> probabilities;  // of each model
};

template <class T>
class ScoreOps {
 public:
  ScoreOps(const Context& context, const Truth& truth) : context_(context), truth_(truth) {}
  ScoreOps(const ScoreOps&) = delete;
  ScoreOps& operator=(const ScoreOps&) = delete;
  virtual ~ScoreOps() = default;

  Device device() const { return context_.device(); }
  /// Decision values of a model: one for two classes, above 0 for class 0, and for each target.
  std::int32_t columns() const { return truth_.classes > 2 ? truth_.classes : truth_.targets; }

  /// From now on, test k of a model is list k of `tests`.
  virtual void load_tests(TestRows tests) = 0;
  /// Bytes that the verbs take besides the rows and blocks.
  virtual std::int64_t workspace() const = 0;

  // tests[m]: the test of model m.
  /// `predicted`: rows x models class numbers on the device; without, the class of the largest column is predicted.
  virtual void count_classes(BlockView<const T> z, BlockView<const std::int32_t> predicted,
                             std::span<const std::int32_t> tests, const ClassStatistics& out) = 0;
  /// Each column by itself: tests[c] and sums[c] are those of column c of z, which predicts target c % targets.
  virtual void sum_errors(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<ErrorSums> sums) = 0;
  /// Sums of survival models, whose values are logarithms of hazards.
  virtual void sum_survival(BlockView<const T> z, std::span<const std::int32_t> tests,
                            std::span<SurvivalSums> sums) = 0;
  /// How each column orders the rows of its class against the others, with `points` points of the curves. Two classes:
  /// for the positive one. `by_probability`, three classes or more: by the classes' probabilities in place of the
  /// decision values, which order them otherwise, since probabilities depend on those of the other classes.
  virtual void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::int32_t points, bool by_probability,
                    std::span<Ranking> out) = 0;

 protected:
  const Context& context() const { return context_; }
  /// Weights of rows, two columns a test: 1 for those trained on and tested, and for those trained on.
  std::vector<float> survival_weights(const TestRows& tests) const {
    const auto rows = truth_.values.size();
    const auto count = static_cast<std::size_t>(tests.count());
    std::vector<float> weights(rows * count * 2, 0.0F);
    for (std::size_t k = 0; k < tests.trained.size(); ++k) weights[2 * k] = weights[2 * k + 1] = tests.trained[k];
    for (std::size_t t = 0; t < count; ++t)
      for (const auto row : tests.list(static_cast<std::int32_t>(t)))
        weights[(static_cast<std::size_t>(row) * count + t) * 2] = 1;
    return weights;
  }
  /// Risk sets under these weights.
  RiskTables survival_risks(std::span<const float> weights, const TestRows& tests) const {
    const std::vector<double> events(truth_.events.begin(), truth_.events.end());
    return make_risk_tables(truth_.risk_times(), events, weights, 2 * tests.count(), false);
  }
  const Truth& truth() const { return truth_; }
  /// The class whose rows a column ranks, and whether small values favour it.
  std::int32_t class_of(std::int32_t column) const { return truth_.classes == 2 ? truth_.positive : column; }
  bool reversed() const { return truth_.classes == 2 && truth_.positive == 1; }

 private:
  Context context_;
  Truth truth_;
};

/// The backend of the context's device. Brings the truth there.
template <class T>
std::unique_ptr<ScoreOps<T>> make_score_ops(const Context& context, const Truth& truth);

// The backends, for make_score_ops alone.
template <class T>
std::unique_ptr<ScoreOps<T>> make_cpu_score_ops(const Context& context, const Truth& truth);
template <class Set, class T>
std::unique_ptr<ScoreOps<T>> make_cpu_score_ops_for(const Context& context, const Truth& truth);
template <class T>
std::unique_ptr<ScoreOps<T>> make_cuda_score_ops(const Context& context, const Truth& truth);

}  // namespace sheaf::score
