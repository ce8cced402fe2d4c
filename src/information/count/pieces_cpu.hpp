// Pairs dealt to threads in pieces that are worth a thread's while, each thread with a worker of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"

namespace sheaf::information::cpu {

/// work(first, end, worker) over 0 .. count; there are as many workers as threads. It checks for a stop between pieces.
template <class Worker, class Work>
void over_pieces(const Context& context, std::span<Worker> workers, std::size_t count, std::int64_t piece,
                 std::int64_t steps_each, Work&& work) {
  const auto all = static_cast<std::int64_t>(count);
  const int team = team_for(static_cast<int>(workers.size()), all * steps_each);
  std::atomic<std::int64_t> next = 0;
  parallel_for(team, team, [&](std::int64_t thread) {
    for (std::int64_t first = next++ * piece; first < all; first = next++ * piece) {
      context.check_stop();
      work(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(all, first + piece)),
           workers[static_cast<std::size_t>(thread)]);
    }
  });
}

/// Pairs of so many rows in one piece.
inline std::int64_t piece_for(std::int64_t rows) {
  return std::clamp<std::int64_t>((1 << 14) / std::max<std::int64_t>(rows, 1), 1, 64);
}

/// work(k, worker) for each of them.
template <class Worker, class Work>
void over_pairs(const Context& context, std::span<Worker> workers, std::size_t count, std::int64_t rows, Work&& work) {
  over_pieces(context, workers, count, piece_for(rows), rows, [&](std::size_t begin, std::size_t end, Worker& worker) {
    for (std::size_t k = begin; k < end; ++k) work(k, worker);
  });
}

}  // namespace sheaf::information::cpu
