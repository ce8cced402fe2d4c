// Progress of the training of one model, for the caller's display.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::linear {

/// The part of one model's progress_per_model units that is not reported yet.
class FitProgress {
 public:
  /// Solvers stop once a measure (gap, gradient norm) is at most `goal`; they bring it down by factors, so that its
  /// logarithm measures their progress. Returns the units that have come since the last call.
  std::int64_t approach(double measure, double goal) {
    if (!(measure > 0) || !(goal > 0) || !std::isfinite(measure)) return 0;
    start_ = std::max(start_, measure);
    if (!(start_ > goal)) return 0;
    const double share = std::clamp(std::log(start_ / measure) / std::log(start_ / goal), 0.0, 1.0);
    return report(static_cast<std::int64_t>(share * static_cast<double>(progress_per_model)));
  }
  /// The model is trained: the units that are left.
  std::int64_t finish() { return report(progress_per_model); }

 private:
  std::int64_t report(std::int64_t units) {
    return std::max<std::int64_t>(0, units - std::exchange(reported_, std::max(units, reported_)));
  }

  double start_ = 0;  // the largest measure so far
  std::int64_t reported_ = 0;
};

}  // namespace sheaf::linear
