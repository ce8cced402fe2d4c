// How long work takes on either device, roughly: used to choose an automatic device. The rates are those of products
// with sparse data, which move more than they multiply; dense ones are faster on both.
#pragma once

#include <sheaf/solvers/device.hpp>

namespace sheaf {

inline constexpr double core_operations_per_second = 1.5e9;
inline constexpr double gpu_operations_per_second = 5e11;
inline constexpr double gpu_start_seconds = 0.35;    // driver, context, libraries
inline constexpr double gpu_bytes_per_second = 6e9;  // from memory that is not pinned

inline double cpu_seconds(const WorkEstimate& work, int threads) {
  return work.operations / (core_operations_per_second * threads);
}

inline double gpu_seconds(const WorkEstimate& work) {
  return gpu_start_seconds + work.data_bytes / gpu_bytes_per_second + work.operations / gpu_operations_per_second;
}

}  // namespace sheaf
