// Kernels of elastic nets; see net_ops.hpp for what the verbs do.
#pragma once

#include <cstdint>

#include "linear/net/lane.hpp"
#include "linear/net/team_cuda.cuh"

namespace sheaf::linear::gpu {

inline constexpr int across_lanes = 32;
inline constexpr int along_rows = 8;
/// Features that one thread counts for the lists of working sets.
inline constexpr std::int64_t list_chunk = 128;

template <class T>
__global__ void transpose_dense(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  __shared__ T tile[32][33];
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.y) * 32 + threadIdx.x;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 32;
  for (int k = static_cast<int>(threadIdx.y); k < 32; k += static_cast<int>(blockDim.y))
    if (j < columns && row + k < rows) tile[k][threadIdx.x] = from[(row + k) * columns + j];
  __syncthreads();
  const std::int64_t i = row + threadIdx.x;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * 32;
  for (int k = static_cast<int>(threadIdx.y); k < 32; k += static_cast<int>(blockDim.y))
    if (i < rows && column + k < columns) to[(column + k) * rows + i] = tile[threadIdx.x][k];
}

/// One warp for each feature from `first` to `last` and column of row weights.
template <class T, class Columns>
__global__ void moments(Columns x, std::int64_t first, std::int64_t last, const float* weights,
                        std::int32_t weight_columns, const double* totals, T* means, T* variances) {
  const Warp warp;
  const std::int64_t at =
      first * weight_columns + (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (at >= last * weight_columns) return;
  const auto j = static_cast<std::int32_t>(at / weight_columns);
  const auto c = static_cast<std::int32_t>(at % weight_columns);
  const auto weight = [&](std::int32_t i) {
    return weights != nullptr ? static_cast<double>(weights[static_cast<std::int64_t>(i) * weight_columns + c]) : 1.0;
  };
  double sum = 0;
  double seen = 0;
  x.each(warp, j, [&](std::int32_t i, T value) {
    sum += weight(i) * static_cast<double>(value);
    seen += weight(i);
  });
  const double mean = warp.sum(sum) / totals[c];
  seen = warp.sum(seen);
  double squares = 0;
  x.each(warp, j, [&](std::int32_t i, T value) {
    const double away = static_cast<double>(value) - mean;
    squares += weight(i) * away * away;
  });
  squares = warp.sum(squares);
  if (warp.rank() > 0) return;
  means[at] = static_cast<T>(mean);
  variances[at] = static_cast<T>(variance_of(mean, squares, seen, totals[c]));
}

template <class T>
__global__ void normalise_features(LaneTask<T> task, std::int64_t features, T* means, std::int32_t means_stride,
                                   T* scales, std::int32_t scales_stride) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j < features) normalise(task, j, means[j * means_stride], scales[j * scales_stride]);
}

/// Blocks take stretches of features and 32 lanes each: partial[blockIdx.x * lanes + lane].
template <class T>
__global__ void judge_features(const LaneTask<T>* tasks, std::int32_t lanes, const T* g, const T* w,
                               std::int32_t stride, std::int64_t features, std::int64_t stretch, double bend,
                               FeatureSums* partial) {
  __shared__ FeatureSums sums[along_rows][across_lanes];
  const auto lane = static_cast<std::int32_t>(blockIdx.y * across_lanes + threadIdx.x);
  FeatureSums mine;
  if (lane < lanes) {
    const LaneTask<T> task = tasks[lane];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stretch;
    const std::int64_t end = first + stretch < features ? first + stretch : features;
    for (std::int64_t j = first + threadIdx.y; j < end; j += along_rows)
      mine.add(static_cast<double>(g[j * stride + lane]) / task.total, static_cast<double>(w[j * stride + lane]),
               task.penalty1(j), task.penalty2(j), static_cast<double>(task.curvature(j)) * bend);
  }
  sums[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.y > 0 || lane >= lanes) return;
  for (int k = 1; k < along_rows; ++k) mine.join(sums[k][threadIdx.x]);
  partial[static_cast<std::int64_t>(blockIdx.x) * lanes + lane] = mine;
}

static __global__ void join_features(const FeatureSums* partial, int parts, std::int32_t lanes, FeatureSums* out) {
  const auto lane = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (lane >= lanes) return;
  FeatureSums all = partial[lane];
  for (int part = 1; part < parts; ++part) all.join(partial[static_cast<std::int64_t>(part) * lanes + lane]);
  out[lane] = all;
}

/// One warp a lane.
template <class T>
__global__ void lane_entropies(const LaneTask<T>* tasks, std::int32_t lanes, const T* u, std::int32_t stride,
                               const double* scales, double* out) {
  const auto lane = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (lane >= lanes) return;
  const LaneTask<T> task = tasks[lane];
  double sum = 0;
  for (std::int64_t i = threadIdx.x & 31U; i < task.examples; i += 32) {
    const auto s = static_cast<double>(task.weight(i));
    if (s > 0) sum += s * entropy_of(scales[lane] * fabs(static_cast<double>(u[i * stride + lane])) / s);
  }
  sum = warp_sum(sum);
  if ((threadIdx.x & 31U) == 0) out[lane] = sum / task.total;
}

/// What a lane's choice needs on the device.
struct Choice {
  std::int32_t lane;
  std::int32_t count;
  double scale;
  double radius;
};

/// The blocks that choices look at.
template <class T>
struct ChoiceView {
  const LaneTask<T>* tasks;
  const Choice* choices;
  std::int32_t count;
  const T* g;
  const T* w;
  std::int32_t stride;
  std::int64_t features;

  __device__ int bucket(const LaneTask<T>& task, const Choice& choice, std::int64_t j) const {
    const std::int64_t at = j * stride + choice.lane;
    return bucket_in_lane(task, j, static_cast<double>(g[at]), static_cast<double>(w[at]), choice.scale, choice.radius);
  }
};

template <class T>
__global__ void count_buckets(ChoiceView<T> view, std::int64_t stretch, std::int32_t* counts) {
  extern __shared__ std::int32_t here[];  // across_lanes x ratio_buckets
  const int threads = across_lanes * along_rows;
  const int me = static_cast<int>(threadIdx.y) * across_lanes + static_cast<int>(threadIdx.x);
  for (int k = me; k < across_lanes * ratio_buckets; k += threads) here[k] = 0;
  __syncthreads();
  const auto c = static_cast<std::int32_t>(blockIdx.y * across_lanes + threadIdx.x);
  if (c < view.count) {
    const Choice choice = view.choices[c];
    const LaneTask<T> task = view.tasks[choice.lane];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stretch;
    const std::int64_t end = first + stretch < view.features ? first + stretch : view.features;
    for (std::int64_t j = first + threadIdx.y; j < end; j += along_rows)
      if (const int bucket = view.bucket(task, choice, j); bucket >= 0)
        atomicAdd(&here[static_cast<int>(threadIdx.x) * ratio_buckets + bucket], 1);
  }
  __syncthreads();
  for (int k = me; k < across_lanes * ratio_buckets; k += threads) {
    const auto owner = static_cast<std::int32_t>(blockIdx.y * across_lanes + k / ratio_buckets);
    if (owner < view.count && here[k] != 0)
      atomicAdd(&counts[static_cast<std::int64_t>(owner) * ratio_buckets + k % ratio_buckets], here[k]);
  }
}

static __global__ void find_lowest(const std::int32_t* counts, const Choice* choices, std::int32_t count, int* lowest) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c < count) lowest[c] = lowest_bucket(counts + static_cast<std::int64_t>(c) * ratio_buckets, choices[c].count);
}

/// Without a list: how many features of each chunk are chosen; with one: puts them there, from `places` on.
template <class T>
__global__ void list_features(ChoiceView<T> view, const int* lowest, std::int64_t chunks, std::int32_t* places,
                              std::int32_t* list) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= chunks * view.count) return;
  const std::int64_t chunk = at / view.count;
  const auto c = static_cast<std::int32_t>(at % view.count);
  const Choice choice = view.choices[c];
  const LaneTask<T> task = view.tasks[choice.lane];
  const std::int64_t end = (chunk + 1) * list_chunk < view.features ? (chunk + 1) * list_chunk : view.features;
  std::int32_t place = list != nullptr ? places[at] : 0;
  for (std::int64_t j = chunk * list_chunk; j < end; ++j) {
    if (view.bucket(task, choice, j) < lowest[c]) continue;
    if (list != nullptr) list[place] = static_cast<std::int32_t>(j);
    ++place;
  }
  if (list == nullptr) places[at] = place;
}

/// Counts of the chunks of each choice become the places before them; `sizes` their sums.
static __global__ void add_chunks(std::int32_t* places, std::int64_t chunks, std::int32_t count, std::int32_t* sizes) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= count) return;
  std::int32_t sum = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int32_t here = places[chunk * count + c];
    places[chunk * count + c] = sum;
    sum += here;
  }
  sizes[c] = sum;
}

static __global__ void move_places(std::int32_t* places, std::int64_t chunks, std::int32_t count,
                                   const std::int32_t* offsets) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < chunks * count) places[at] += offsets[at % count];
}

/// What a lane is asked to do, and where its working set and memory are.
struct Job {
  std::int32_t lane;
  std::int32_t size;  // of the working set
  std::int64_t list;  // where its list begins
  double intercept;
  double tolerance;
  LaneRules rules;
};

template <class T>
struct JobMemory {
  const LaneTask<T>* tasks;
  const Job* jobs;
  const std::int32_t* lists;
  T* over_features;  // lane_feature_vectors for each entry of the lists
  ColumnPlace* places;
  std::int32_t* active;
  T* over_rows;  // lane_row_vectors for each job
  std::int64_t examples;
  bool shared;  // q and s live in shared memory
  T* w;
  T* z;
  T* u;
  std::int32_t stride;
  LaneReport* reports;
  const volatile int* stop;
};

/// One block a job. `Team` is made from the shared memory for sums.
template <bool Logistic, class Team, int Threads, class T, class Columns>
__global__ void __launch_bounds__(Threads) solve_lanes(Columns x, JobMemory<T> memory) {
  extern __shared__ double on_chip[];
  __shared__ double sums[32];
  const Job job = memory.jobs[blockIdx.x];
  const LaneTask<T> task = memory.tasks[job.lane];
  Team team = [&] {
    if constexpr (Threads > 32)
      return Team{sums, memory.stop};
    else
      return Team{memory.stop};
  }();
  LaneRows<T> rows =
      lane_rows(memory.over_rows + static_cast<std::int64_t>(blockIdx.x) * lane_row_vectors(Logistic) * memory.examples,
                memory.examples, Logistic);
  if (memory.shared) {
    rows.q = reinterpret_cast<T*>(on_chip);
    rows.s = rows.q + memory.examples;
  }
  const LaneFeatures<T> features =
      lane_features(memory.lists + job.list, job.size, memory.over_features + job.list * lane_feature_vectors,
                    memory.places + job.list, memory.active + job.list);
  LaneSolver<Logistic, Team, T, Columns> solver(team, x, task, rows, features, job.rules);
  const LaneReport report = solver.run(memory.w + job.lane, memory.z + job.lane, memory.u + job.lane, memory.stride,
                                       job.intercept, job.tolerance);
  if (threadIdx.x == 0) memory.reports[blockIdx.x] = report;
}

template <class T>
__global__ void gather_column(const T* block, std::int32_t stride, std::int32_t lane, std::int64_t rows, T* out) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j < rows) out[j] = block[j * stride + lane];
}

template <class T>
__global__ void add_intercepts(const T* z, std::int32_t z_stride, const std::int32_t* lanes, const double* intercepts,
                               std::int32_t count, std::int64_t rows, T* out, std::int32_t stride) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= rows * count) return;
  const std::int64_t i = at / count;
  const std::int64_t t = at % count;
  out[i * stride + t] = z[i * z_stride + lanes[t]] + static_cast<T>(intercepts[t]);
}

}  // namespace sheaf::linear::gpu
