// Features after the transform of each split: the columns of a dataset through a shift and a factor, without a copy.
#pragma once

#include <cstdint>
#include <vector>

namespace sheaf {

/// (x - shift) * factor; a factor of 0: the feature is left out. Features x splits, those of a feature side by side.
struct ColumnTransforms {
  std::int32_t splits = 0;
  std::vector<double> shifts, factors;
};

}  // namespace sheaf
