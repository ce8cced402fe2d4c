// Rows sorted by class: each class then has its own small table of counts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information {

struct ClassOrder {
  std::vector<std::int64_t> places;  ///< of each row; within a class in the order of the dataset
  std::vector<std::int64_t> begins;  ///< of each class, a multiple of the unit
  std::vector<std::int64_t> ends;    ///< of each class; from there to the next begin is padding
  std::int64_t stride = 0;           ///< places in all
};

ClassOrder order_by_class(const Problem& problem, std::int64_t unit);

/// Writes the features of the range to `out`, `stride` places each; padding is left alone.
template <class Code>
void place_columns(const BinnedTable& table, const ClassOrder& order, Range features, int threads, Code* out);

}  // namespace sheaf::information
