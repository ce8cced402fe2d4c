// Timing shared by the benchmarks: the best of several rounds, each long enough to measure.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace sheaf::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor seconds of this process so far, all threads together: what a shared machine cannot blur.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Seconds of one call: run(repeats) performs the work `repeats` times and returns when it is done.
template <class Run>
double seconds_of(Run&& run, double at_least = 0.05, int rounds = 5) {
  run(1);
  int repeats = 1;
  double elapsed = 0;
  while (true) {
    const double start = now();
    run(repeats);
    elapsed = now() - start;
    if (elapsed >= at_least / 2 || repeats > (1 << 20)) break;
    repeats *= 2;
  }
  double best = elapsed / repeats;
  for (int r = 1; r < rounds; ++r) {
    const double start = now();
    run(repeats);
    best = std::min(best, (now() - start) / repeats);
  }
  return best;
}

}  // namespace sheaf::bench
