// Kernels of elastic nets; ops.hpp describes the verbs.
#pragma once

#include <cstdint>

#include "cuda/team.cuh"
#include "linear/net/model/softmax_solver.hpp"
#include "linear/net/model/working_set.hpp"

namespace sheaf::linear::gpu {

using cuda::Crew;
using cuda::everybody;
using cuda::Warp;
using cuda::warp_sum;

inline constexpr int across_models = 32;
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

/// One warp for each feature from `first` to `last` and column of row weights. `deviations` may be null.
template <class T, class Columns>
__global__ void moments(Columns x, std::int64_t first, std::int64_t last, const float* weights,
                        std::int32_t weight_columns, const double* totals, T* means, T* variances, T* deviations) {
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
  if (deviations != nullptr) deviations[at] = std::sqrt(variances[at]);
}

template <class T>
__global__ void normalise_features(ModelTask<T> task, std::int64_t features, T* means, std::int32_t means_stride,
                                   T* scales, std::int32_t scales_stride) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j < features) normalise(task, j, means[j * means_stride], scales[j * scales_stride]);
}

/// Adds the sums of feature j. Its weights and products in the `group` neighbouring classes that share its penalty
/// begin at w and g.
template <class T>
__device__ void add_feature(FeatureSums& sums, const ModelTask<T>& task, std::int64_t j, const T* g, const T* w,
                            std::int32_t group) {
  const auto penalty = task.penalty(j);
  const double curvature = static_cast<double>(task.curvature(j)) * task.loss_curvature;
  const double first = static_cast<double>(*g) / task.total;
  if (group == 1 && task.limits != nullptr)
    return sums.add(first, static_cast<double>(*w), penalty, curvature, task.limits_of(j));
  if (group == 1) return sums.add(first, static_cast<double>(*w), penalty, curvature);
  if (task.limits != nullptr)
    return sums.add_row(
        group, [&](std::int32_t c) { return static_cast<double>(g[c]) / task.total; },
        [&](std::int32_t c) { return static_cast<double>(w[c]); }, penalty, curvature, task.limits_of(j));
  GroupSquares squares;
  for (std::int32_t c = 0; c < group; ++c)
    squares.add(static_cast<double>(g[c]) / task.total, static_cast<double>(w[c]), penalty.p2);
  sums.add(squares, penalty, curvature);
}

/// Blocks take parts of the features and 32 models (or parts of models, of `group` columns) each: partial[blockIdx.x *
/// models + model].
template <class T>
__global__ void sum_features(const ModelTask<T>* tasks, std::int32_t models, std::int32_t group, const T* g, const T* w,
                             std::int32_t stride, std::int64_t features, std::int64_t part_length,
                             FeatureSums* partial) {
  __shared__ FeatureSums sums[along_rows][across_models];
  const auto model = static_cast<std::int32_t>(blockIdx.y * across_models + threadIdx.x);
  FeatureSums mine;
  if (model < models) {
    const ModelTask<T> task = tasks[model * group];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * part_length;
    const std::int64_t end = first + part_length < features ? first + part_length : features;
    for (std::int64_t j = first + threadIdx.y; j < end; j += along_rows)
      add_feature(mine, task, j, g + j * stride + model * group, w + j * stride + model * group, group);
  }
  sums[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.y > 0 || model >= models) return;
  for (int k = 1; k < along_rows; ++k) mine.join(sums[k][threadIdx.x]);
  partial[static_cast<std::int64_t>(blockIdx.x) * models + model] = mine;
}

static __global__ void join_features(const FeatureSums* partial, int parts, std::int32_t models, FeatureSums* out) {
  const auto model = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (model >= models) return;
  FeatureSums all = partial[model];
  for (int part = 1; part < parts; ++part) all.join(partial[static_cast<std::int64_t>(part) * models + model]);
  out[model] = all;
}

/// One warp a model.
template <class Functor, class T>
__global__ void sum_dual_values(const ModelTask<T>* tasks, std::int32_t models, const T* u, std::int32_t stride,
                                const double* scales, double* out) {
  const auto model = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (model >= models) return;
  const ModelTask<T> task = tasks[model];
  double sum = 0;
  for (std::int64_t i = threadIdx.x & 31U; i < task.examples; i += 32)
    sum += dual_term<Functor>(task, i, scales[model] * static_cast<double>(u[i * stride + model]));
  sum = warp_sum(sum);
  if ((threadIdx.x & 31U) == 0) out[model] = sum / task.total;
}

inline constexpr std::int32_t cox_vectors = PartialLikelihood<OneThread, double>::vectors;

/// One block a model.
template <class T>
__global__ void __launch_bounds__(256)
    cox_dual_values(const ModelTask<T>* tasks, double* memory, std::int64_t rows, const T* z, const T* u,
                    std::int32_t stride, const double* scales, double* out) {
  __shared__ double sums[32];
  const Crew<256> team{sums, nullptr};
  const ModelTask<T> task = tasks[blockIdx.x];
  const double value = cox_dual_value(team, task, memory + blockIdx.x * rows * cox_vectors, z + blockIdx.x,
                                      u + blockIdx.x, stride, scales[blockIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

/// The blocks that choices look at.
template <class T>
struct ChoiceView {
  const ModelTask<T>* tasks;
  const FeatureChoice* choices;
  std::int32_t count;
  const T* g;
  const T* w;
  std::int32_t stride;
  std::int64_t features;
  std::int32_t classes;
  std::int32_t group;  // how many of them share penalties

  /// The bucket of a feature; with several classes, whose tasks differ in their targets alone, the highest.
  __device__ int bucket(const ModelTask<T>& task, const FeatureChoice& choice, std::int64_t j) const {
    int highest = -1;
    for (std::int64_t at = j * stride + choice.model, end = at + classes; at < end; at += group) {
      const int own =
          feature_bucket(task, j, pull_length(task, j, g + at, group), length(w + at), choice.scale, choice.radius);
      if (own > highest) highest = own;
    }
    return highest;
  }
  __device__ double length(const T* numbers) const {
    if (group == 1) return static_cast<double>(*numbers);
    double squares = 0;
    for (std::int32_t c = 0; c < group; ++c)
      squares += static_cast<double>(numbers[c]) * static_cast<double>(numbers[c]);
    return std::sqrt(squares);
  }
};

template <class T>
__global__ void count_buckets(ChoiceView<T> view, std::int64_t part_length, std::int32_t* counts) {
  extern __shared__ std::int32_t here[];  // across_models x ratio_buckets
  const int threads = across_models * along_rows;
  const int me = static_cast<int>(threadIdx.y) * across_models + static_cast<int>(threadIdx.x);
  for (int k = me; k < across_models * ratio_buckets; k += threads) here[k] = 0;
  __syncthreads();
  const auto c = static_cast<std::int32_t>(blockIdx.y * across_models + threadIdx.x);
  if (c < view.count) {
    const FeatureChoice choice = view.choices[c];
    const ModelTask<T> task = view.tasks[choice.model];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * part_length;
    const std::int64_t end = first + part_length < view.features ? first + part_length : view.features;
    for (std::int64_t j = first + threadIdx.y; j < end; j += along_rows)
      if (const int bucket = view.bucket(task, choice, j); bucket >= 0)
        atomicAdd(&here[static_cast<int>(threadIdx.x) * ratio_buckets + bucket], 1);
  }
  __syncthreads();
  for (int k = me; k < across_models * ratio_buckets; k += threads) {
    const auto owner = static_cast<std::int32_t>(blockIdx.y * across_models + k / ratio_buckets);
    if (owner < view.count && here[k] != 0)
      atomicAdd(&counts[static_cast<std::int64_t>(owner) * ratio_buckets + k % ratio_buckets], here[k]);
  }
}

static __global__ void find_lowest(const std::int32_t* counts, const FeatureChoice* choices, std::int32_t count,
                                   int* lowest) {
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
  const FeatureChoice choice = view.choices[c];
  const ModelTask<T> task = view.tasks[choice.model];
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

/// The task of a model, and the places of its working set and memory.
struct Job {
  SolveOrder order;
  std::int32_t size;    // of the working set
  std::int64_t list;    // where its list begins
  std::int64_t system;  // where its room for systems begins
};

/// Weights of a working set that are solved for at once, at most.
SHEAF_HOST_DEVICE inline std::int32_t system_weights(std::int64_t size) {
  return static_cast<std::int32_t>(size < SystemRoom::largest ? size : SystemRoom::largest);
}

template <class T>
struct JobMemory {
  const ModelTask<T>* tasks;
  const Job* jobs;
  const std::int32_t* lists;
  T* over_features;  // feature_vectors() of SolverValue for each entry of the lists
  ColumnPlace* places;
  std::int32_t* active;
  T* over_rows;  // likewise row_vectors() for each job
  double* systems;
  std::int64_t examples;
  bool shared;  // q and s live in shared memory
  T* w;
  T* z;
  T* u;
  std::int32_t stride;
  std::int32_t classes;
  double* intercepts;
  double* numbers;  // class_numbers a column
  SolveReport* reports;
  const volatile int* stop;
};

/// Passes alone do not get round the corners of losses with a width (decision 68).
template <class Functor>
inline constexpr bool needs_systems = has_width<Functor>;

/// One block a job. `Team` is made from the shared memory for sums.
template <class Functor, class Team, int Threads, class T, class Columns>
__global__ void __launch_bounds__(Threads) solve_models(Columns x, JobMemory<T> memory) {
  extern __shared__ double on_chip[];
  __shared__ double sums[32];
  const Job job = memory.jobs[blockIdx.x];
  const ModelTask<T> task = memory.tasks[job.order.model];
  const auto threads = [&] {
    if constexpr (Threads > 32)
      return Team{sums, memory.stop};
    else
      return Team{memory.stop};
  }();
  const auto team = [&] {
    if constexpr (needs_systems<Functor>)
      return WithRoom<Team>{threads, {memory.systems + job.system, system_weights(job.size)}};
    else
      return threads;
  }();
  using V = SolverValue<Functor, T>;
  V* over_rows = reinterpret_cast<V*>(memory.over_rows);
  V* over_features = reinterpret_cast<V*>(memory.over_features);
  RowVectors<V> rows = make_row_vectors<Functor>(
      over_rows + static_cast<std::int64_t>(blockIdx.x) * row_vectors<Functor>(memory.classes) * memory.examples,
      memory.examples, memory.classes);
  if (memory.shared) {
    rows.q = reinterpret_cast<V*>(on_chip);
    rows.s = rows.q + memory.examples;
  }
  const WorkingSet<V> features =
      make_working_set(memory.lists + job.list, job.size, over_features + job.list * feature_vectors(memory.classes),
                       memory.places + job.list, memory.active + job.list, memory.classes);
  const SolveReport report = solve_any<Functor>(team, x, task, rows, features, job.order, memory.classes, memory.w,
                                                memory.z, memory.u, memory.stride, memory.intercepts, memory.numbers);
  if (threadIdx.x == 0) memory.reports[blockIdx.x] = report;
}

}  // namespace sheaf::linear::gpu
