// Loops over the cores. Results do not depend on the number of threads, nor on which thread takes which index.
//
// The threads belong to the library (thread_pool.cpp). They help every thread in such a loop, so several host threads
// may call at once. A loop inside a loop runs on its own thread alone. Exceptions leave the loop: that of the lowest
// index, whichever thread threw it.
#pragma once

#include <algorithm>
#include <cstdint>

#include <sheaf/context.hpp>

namespace sheaf {

/// The work of a thread pool: a reference to a function of an index.
class IndexWork {
 public:
  template <class Work>
  explicit IndexWork(const Work& work) : work_(&work), call_(&call<Work>) {}
  void operator()(std::int64_t i) const { call_(work_, i); }

 private:
  /// Compiled once for any number of threads: if it were inlined, sums might be contracted or made vectors of in other
  /// ways, and bits would depend on the number of threads.
  template <class Work>
  [[gnu::noinline]] static void call(const void* object, std::int64_t i) {
    (*static_cast<const Work*>(object))(i);
  }

  const void* work_;
  void (*call_)(const void*, std::int64_t);
};

/// parallel_for() for at least two threads and two indices. The listener hears of progress while the caller waits.
void run_on_pool(int threads, std::int64_t count, IndexWork work, Progress& progress = silent_progress());

/// Calls work(i) for i in 0 .. count-1, in any order, on up to `threads` threads. After an error, indices above the
/// failed one may be left out; the error of the lowest failing index is thrown.
template <class Work>
void parallel_for(int threads, std::int64_t count, const Work& work) {
  const IndexWork call(work);
  if (threads > 1 && count > 1) return run_on_pool(threads, count, call);
  for (std::int64_t i = 0; i < count; ++i) call(i);
}

/// The same on the context's threads. Ends with Stopped soon after the context is asked to stop: no index is begun.
template <class Work>
void parallel_for(const Context& context, std::int64_t count, const Work& work) {
  const auto unless_stopped = [&](std::int64_t i) {
    context.check_stop();
    work(i);
  };
  const IndexWork call(unless_stopped);
  if (context.threads() > 1 && count > 1) return run_on_pool(context.threads(), count, call, context.progress());
  for (std::int64_t i = 0; i < count; ++i) call(i);
}

/// Threads worth waking for `work` elementary steps: all, or this one alone, since waking takes microseconds.
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

/// Calls work(range) over 0 .. count, one part for each thread: for elements that all cost the same.
template <class Work>
void parallel_parts(int threads, std::int64_t count, const Work& work) {
  const std::int64_t parts = std::min<std::int64_t>(threads, count);
  parallel_for(threads, parts, [&](std::int64_t part) { work(part_of(count, parts, part)); });
}

/// Parts of 0 .. count, each of at least `grain`, and so many for each thread at most.
inline std::int64_t parts_for(std::int64_t count, std::int64_t grain, int threads, int each) {
  const std::int64_t most = grain > 0 ? (count + grain - 1) / grain : count;
  return std::min(most, std::int64_t{each} * threads);
}

/// Calls work(range) over 0 .. count in chunks of at least `grain`.
template <class Work>
void parallel_ranges(int threads, std::int64_t count, std::int64_t grain, const Work& work) {
  const std::int64_t parts = parts_for(count, grain, threads, 4);
  parallel_for(threads, parts, [&](std::int64_t part) { work(part_of(count, parts, part)); });
}
/// The same on the context's threads, in smaller chunks: it checks for a stop between them.
template <class Work>
void parallel_ranges(const Context& context, std::int64_t count, std::int64_t grain, const Work& work) {
  const std::int64_t parts = parts_for(count, grain, context.threads(), 16);
  parallel_for(context, parts, [&](std::int64_t part) { work(part_of(count, parts, part)); });
}

/// memcpy by several cores: one alone is slower than the way to a GPU.
void parallel_copy(void* to, const void* from, std::int64_t bytes);

}  // namespace sheaf
