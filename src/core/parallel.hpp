// Loops over the cores that survive exceptions: the error of the lowest index is thrown, whichever thread met it.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

namespace sheaf {

/// Calls work(i) for i in 0 .. count-1, in any order, on up to `threads` threads. After an error, indices above the
/// failed one may be left out; the error of the lowest failing index is thrown.
template <class Work>
void parallel_for(int threads, std::int64_t count, Work&& work) {
  if (threads <= 1 || count <= 1) {  // not a team of one: OpenMP would start new threads for every loop inside
    for (std::int64_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::exception_ptr error;
  std::int64_t failed = count;
  std::mutex mutex;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < count; ++i) {
    try {
      bool skip = false;
      {
        const std::lock_guard lock(mutex);
        skip = i > failed;
      }
      if (!skip) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i < failed) {
        failed = i;
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Threads worth waking for `work` elementary steps: all, or this one alone, since a team costs microseconds to wake.
/// Never some of them: OpenMP ends the threads that the next team has no use for, and starts them anew later.
inline int team_for(int threads, std::int64_t work) {
  constexpr std::int64_t worth = 1 << 15;
  return work < worth ? 1 : threads;
}

/// A half-open range of indices.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Part `part` of `parts` nearly equal consecutive parts of 0 .. count.
inline Range part_of(std::int64_t count, std::int64_t parts, std::int64_t part) {
  const std::int64_t base = count / parts;
  const std::int64_t rest = count % parts;
  const std::int64_t begin = part * base + (part < rest ? part : rest);
  return {begin, begin + base + (part < rest ? 1 : 0)};
}

/// Calls work(range) over 0 .. count in chunks of at least `grain`.
template <class Work>
void parallel_ranges(int threads, std::int64_t count, std::int64_t grain, Work&& work) {
  const std::int64_t wanted = static_cast<std::int64_t>(threads) * 4;
  const std::int64_t most = grain > 0 ? (count + grain - 1) / grain : count;
  const std::int64_t parts = most < wanted ? most : wanted;
  parallel_for(threads, parts, [&](std::int64_t part) { work(part_of(count, parts, part)); });
}

}  // namespace sheaf
