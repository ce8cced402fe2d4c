// Splits by time: a window of moments is tested, and rows before it are trained on.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <sheaf/solvers/splits.hpp>

namespace sheaf {

class TimeWindows {
 public:
  /// `times` as in make_splits(). Too few moments are a UsageError.
  TimeWindows(std::int64_t rows, std::span<const std::int32_t> times, const SplitOptions& options);

  /// Rows to train on and to test, both ascending. Rows of groups that are tested are not trained on.
  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> rows_of(std::int32_t split,
                                                                          std::span<const std::int32_t> groups) const;

 private:
  std::vector<std::int32_t> moments_;  // of each row, from 0 without gaps
  std::int64_t count_;                 // of moments
  std::int64_t splits_, test_size_, window_, gap_;
};

}  // namespace sheaf
