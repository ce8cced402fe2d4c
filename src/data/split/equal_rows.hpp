// Rows of a dataset that have the same features. A model trained on one of them has learnt the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

struct EqualRowSets {
  std::vector<std::int32_t> first;  ///< of each row the first one that equals it, perhaps itself; empty: all differ
  std::int64_t rows = 0;            ///< rows that equal another one
  /// Rows are equal because features have few values: many are, and half of the features distinguish far fewer of them
  /// than all do. Half of the features of a copied row are as good as all.
  bool few_values = false;
};

/// A missing value equals a missing one, 0 equals -0, and a zero that is stored equals one that is not.
template <class T>
EqualRowSets find_equal_rows(const Matrix<T>& x, int threads);

/// Numbers from 0 of sets that are joined if they share a row: groups (empty: none) and sets of equal rows.
std::vector<std::int32_t> join_groups(std::span<const std::int32_t> groups, const EqualRowSets& sets);

}  // namespace sheaf
