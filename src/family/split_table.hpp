// The training and test rows of some splits of a search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "score/scorer.hpp"

namespace sheaf::engine {

struct SplitTable {
  std::vector<std::int32_t> splits;  // numbers in the plan, ascending
  std::vector<float> weights;        // rows x splits, those of a row side by side
  std::vector<double> class_counts;  // splits x classes: rows that train, as often as they are drawn
  score::TestRows tests;
  /// Each test row is predicted by all rows but itself: splits are parts of the rows, and all rows train.
  bool leave_one_out_in_folds = false;

  /// How often each row is drawn for the training of each split, rows x splits. `row_weights`: the caller's, part of
  /// the weights; empty: 1.
  std::vector<float> draws(std::span<const float> row_weights) const;
  /// The training rows of a table with one split, each as often as it is drawn.
  std::vector<std::int32_t> training_rows(std::span<const float> row_weights) const;
};

/// How many splits there are.
struct SplitCounts {
  std::int32_t all = 0;       // of all levels of a nested search, and the outer ones
  std::int32_t of_level = 0;  // of one level
};

}  // namespace sheaf::engine
