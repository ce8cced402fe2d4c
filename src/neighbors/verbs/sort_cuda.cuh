// Sorting of found rows by the threads of a block or of a warp.
#pragma once

#include <cstdint>

namespace sheaf::neighbors::gpu {

/// Sorts `size` distances, a power of two, and their rows: ascending, equal ones by row. Called by `threads` threads,
/// of which this is number `thread`; wait() waits for all of them, and has been called since the lists were written.
template <class Wait>
__device__ void sort_found(double* distances, std::int32_t* rows, int size, int thread, int threads, const Wait& wait) {
  for (int width = 2; width <= size; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      for (int i = thread; i < size / 2; i += threads) {
        const int low = 2 * i - (i & (step - 1));
        const int high = low + step;
        const double a = distances[low];
        const double b = distances[high];
        const bool after = a > b || (a == b && rows[low] > rows[high]);
        if (after != ((low & width) == 0)) continue;
        distances[low] = b;
        distances[high] = a;
        const std::int32_t row = rows[low];
        rows[low] = rows[high];
        rows[high] = row;
      }
      wait();
    }
}

}  // namespace sheaf::neighbors::gpu
