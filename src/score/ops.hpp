// The verbs of scoring: what a search asks of a device to judge its models there, so that decision values never leave
// it. One object serves one truth on one device. Blocks of decision values are task-minor and live on that device:
// examples x (models * columns()), the columns of one model side by side. All verbs have finished when they return.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>

#include "score/tallies.hpp"

namespace sheaf::score {

/// The rows that some splits test, ascending, one list after another.
struct TestRows {
  std::vector<std::int64_t> begins{0};
  std::vector<std::int32_t> rows;

  std::int32_t count() const { return static_cast<std::int32_t>(begins.size()) - 1; }
  std::int64_t begin(std::int32_t test) const { return begins[static_cast<std::size_t>(test)]; }
  std::int64_t size(std::int32_t test) const { return begin(test + 1) - begin(test); }
  std::span<const std::int32_t> list(std::int32_t test) const {
    return std::span(rows).subspan(static_cast<std::size_t>(begin(test)), static_cast<std::size_t>(size(test)));
  }
  std::int64_t largest() const;
};

/// What decision values are compared with; whoever owns it must outlive the verbs.
struct Truth {
  std::int32_t classes = 0;              // 0: amounts
  std::int32_t positive = -1;            // two classes: that of the ROC curve
  std::span<const std::int32_t> labels;  // the class of each row
  std::span<const double> values;        // of each row
};

template <class T>
class ScoreOps {
 public:
  ScoreOps(Device device, const Truth& truth) : device_(device), truth_(truth) {}
  ScoreOps(const ScoreOps&) = delete;
  ScoreOps& operator=(const ScoreOps&) = delete;
  virtual ~ScoreOps() = default;

  Device device() const { return device_; }
  /// Decision values of a model: one for two classes, where it is positive speaking for class 0, and for amounts.
  std::int32_t columns() const { return truth_.classes > 2 ? truth_.classes : 1; }

  /// From now on, test k of a model is list k of `tests`.
  virtual void load_tests(TestRows tests) = 0;
  /// Bytes that the verbs take beside tables and blocks.
  virtual std::int64_t workspace() const = 0;

  // tests[m]: the test of model m.
  /// counts: models x count_bins(classes). losses, of each model or empty: the sum of -log(probability of the true
  /// class).
  virtual void count_classes(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<std::int64_t> counts,
                             std::span<double> losses) = 0;
  /// sums, of each model: squared distances from the amounts.
  virtual void sum_squares(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<double> sums) = 0;
  /// How each column orders the rows of its class against the others, with the pieces under `points` points of the ROC
  /// curve. Two classes: for the positive one.
  virtual void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::int32_t points,
                    std::span<Ranking> out) = 0;

 protected:
  const Truth& truth() const { return truth_; }
  /// The class whose rows a column ranks, and whether small values speak for it.
  std::int32_t class_of(std::int32_t column) const { return truth_.classes == 2 ? truth_.positive : column; }
  bool reversed() const { return truth_.classes == 2 && truth_.positive == 1; }

 private:
  Device device_;
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
