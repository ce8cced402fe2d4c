// How many kernel values SVMs computed, and how many they would have computed without sharing.
#pragma once

#include <cstdint>

namespace sheaf {

struct KernelCounts {
  std::int64_t computed = 0;  ///< kernel values computed
  std::int64_t unshared = 0;  ///< had every task its own cache of the same size, over the rows of its own problem
};

}  // namespace sheaf
