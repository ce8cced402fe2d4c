// Neighbours on their way from a GPU to the host: in pieces through pinned memory, while the GPU works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "core/parallel.hpp"
#include "cuda/check.cuh"
#include "cuda/staging.cuh"

namespace sheaf::neighbors::gpu {

template <class V>
void fetch(V* to, const V* from, std::int64_t count, cudaStream_t stream) {
  cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(V), cudaMemcpyDeviceToHost, stream),
              "fetching neighbours");
}

class Event {
 public:
  Event() { cuda::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) { cuda::check(cudaEventRecord(event_, stream), "marking an event"); }
  void hold(cudaStream_t stream) { cuda::check(cudaStreamWaitEvent(stream, event_), "waiting for an event"); }
  void wait() { cuda::check(cudaEventSynchronize(event_), "waiting for the GPU"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Neighbours of a block of queries on the GPU.
struct Results {
  Results(std::int64_t queries, std::int64_t k, Device device)
      : rows(queries * k, device), distances(queries * k, device), incomplete(queries, device) {}
  static std::int64_t bytes_per_query(std::int64_t k) { return k * 12 + 1; }
  /// Work on the stream leaves the results of so many queries, of all of them.
  void complete(std::int64_t queries, cudaStream_t stream) {
    cuda::check(cudaMemsetAsync(incomplete.data(), 0, static_cast<std::size_t>(queries), stream), "clearing marks");
    ready.record(stream);
  }
  Array<std::int32_t> rows;
  Array<double> distances;
  Array<std::uint8_t> incomplete;
  Event ready;
};

class ResultTransport {
 public:
  /// Calls begin(block, results) for blocks of `step` queries, which starts work that leaves their results and marks
  /// them as ready. The results of a block travel while the GPU works on the next one; the rest is as in take().
  template <class Begin, class PlaceOf>
  void in_blocks(const Context& context, Stage& stage, std::int64_t queries, std::int64_t step, std::int64_t k,
                 const Begin& begin, const PlaceOf& place_of, std::span<std::int32_t> indices,
                 std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto device = context.device();
    Results results[2] = {{step, k, device}, {step, k, device}};
    const auto block = [&](std::int64_t b) { return Range{b * step, std::min((b + 1) * step, queries)}; };
    const auto blocks = (queries + step - 1) / step;
    for (std::int64_t b = 0; b <= blocks; ++b) {
      if (b < blocks) begin(block(b), results[b % 2]);
      if (b == 0) continue;
      const auto done = block(b - 1);
      take(context, done, k, results[(b - 1) % 2], place_of, indices, distances, incomplete);
      stage.advance(done.end - done.begin);
    }
  }

 private:
  /// Puts the results of the queries of a block at place_of(query), and the places of queries without results into
  /// `incomplete`.
  template <class PlaceOf>
  void take(const Context& context, Range block, std::int64_t k, Results& results, const PlaceOf& place_of,
            std::span<std::int32_t> indices, std::span<double> distances, std::vector<std::int64_t>& incomplete) {
    const auto count = block.end - block.begin;
    const auto step = std::clamp<std::int64_t>(piece_bytes / Results::bytes_per_query(k), 1, count);
    const Piece pieces[2] = {piece_in(staging_[0], step, k), piece_in(staging_[1], step, k)};
    results.ready.hold(copies_);
    const auto begin = [&](std::int64_t first, int turn) {
      const auto some = std::min(step, count - first);
      fetch(pieces[turn].distances, results.distances.data() + first * k, some * k, copies_);
      fetch(pieces[turn].rows, results.rows.data() + first * k, some * k, copies_);
      fetch(pieces[turn].incomplete, results.incomplete.data() + first, some, copies_);
      arrived_[turn].record(copies_);
    };
    begin(0, 0);
    for (std::int64_t first = 0, turn = 0; first < count; first += step, turn = 1 - turn) {
      if (first + step < count) begin(first + step, static_cast<int>(1 - turn));
      arrived_[turn].wait();
      const Piece& piece = pieces[turn];
      const auto some = std::min(step, count - first);
      parallel_ranges(context.threads(), some, std::max<std::int64_t>(1, (std::int64_t{1} << 15) / k),
                      [&](Range range) {
                        for (auto q = range.begin; q < range.end; ++q) {
                          const auto to = place_of(block.begin + first + q) * k;
                          std::copy_n(piece.rows + q * k, k, indices.data() + to);
                          std::copy_n(piece.distances + q * k, k, distances.data() + to);
                        }
                      });
      for (std::int64_t q = 0; q < some; ++q)
        if (piece.incomplete[q] != 0) incomplete.push_back(place_of(block.begin + first + q));
    }
  }

  static constexpr std::int64_t piece_bytes = 1 << 22;

  /// Pinned memory for the results of some queries.
  struct Piece {
    double* distances;
    std::int32_t* rows;
    std::uint8_t* incomplete;
  };
  static Piece piece_in(cuda::Staging& staging, std::int64_t queries, std::int64_t k) {
    const auto all = queries * k;
    auto* memory = staging.room<double>(static_cast<std::size_t>(all + (all + 1) / 2 + queries / 8 + 1));
    auto* rows = reinterpret_cast<std::int32_t*>(memory + all);
    return {memory, rows, reinterpret_cast<std::uint8_t*>(rows + all)};
  }

  cuda::Stream copies_;
  cuda::Staging staging_[2];
  Event arrived_[2];
};

}  // namespace sheaf::neighbors::gpu
