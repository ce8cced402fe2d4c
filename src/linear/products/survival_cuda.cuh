// Cox models on the GPU: a block of threads has one task.
#pragma once

#include <cstdint>

#include "cuda/team.cuh"
#include "linear/products/elements_cuda.cuh"
#include "statistics/partial_likelihood.hpp"

namespace sheaf::linear::gpu {

inline constexpr int risk_threads = 256;
inline constexpr std::int32_t risk_vectors = PartialLikelihood<OneThread, double>::vectors;

/// All tasks of a block of columns, from task `first` on, each with `risk_vectors` vectors of memory.
template <class T>
struct RiskTasks {
  RiskSets<T> sets;  // under the first column of row weights
  Tables<T> tables;
  std::int32_t first;
  double* memory;

  __device__ std::int32_t task() const { return first + static_cast<std::int32_t>(blockIdx.x); }
  __device__ RiskSets<T> own_sets() const {
    RiskSets<T> own = sets;
    own.shares += tables.tasks[task()].rows;
    if (own.fractions != nullptr) own.fractions += tables.tasks[task()].rows;
    return own;
  }
  __device__ double weight(std::int64_t row) const {
    if (tables.row_weights == nullptr) return 1;
    return tables.row_weights[row * tables.weight_columns + tables.tasks[task()].rows];
  }
  __device__ double cost() const { return tables.tasks[task()].positive; }
  __device__ double* own_memory() const {
    return memory + static_cast<std::int64_t>(blockIdx.x) * sets.rows * risk_vectors;
  }
};

template <class T>
__global__ void __launch_bounds__(risk_threads)
    partial_likelihoods(RiskTasks<T> tasks, const T* z, const T* step, std::int32_t stride, const std::uint8_t* wanted,
                        double* values, T* slopes, T* exponentials) {
  __shared__ double sums[32];
  const cuda::Crew<risk_threads> team{sums, nullptr};
  const std::int32_t t = tasks.task();
  if (wanted != nullptr && wanted[t] == 0) {
    if (threadIdx.x == 0) values[t] = 0;
    return;
  }
  const RiskSets<T> sets = tasks.own_sets();
  PartialLikelihood<cuda::Crew<risk_threads>, T> likelihood(team, sets, tasks.own_memory());
  const double loss = likelihood.load(
      [&](std::int64_t i) {
        const std::int64_t at = i * stride + t;
        return static_cast<double>(z[at]) + (step != nullptr ? static_cast<double>(step[at]) : 0.0);
      },
      [&](std::int64_t i) { return tasks.weight(i); });
  if (threadIdx.x == 0) values[t] = tasks.cost() * loss;
  for (std::int64_t k = team.rank(); k < sets.rows; k += team.size()) {
    const std::int64_t i = sets.order[k];
    const double events = sets.share(k) > 0 ? tasks.weight(i) : 0.0;
    if (slopes != nullptr) slopes[i * stride + t] = static_cast<T>(tasks.cost() * (likelihood.expected(k) - events));
    if (exponentials != nullptr) exponentials[i * stride + t] = static_cast<T>(likelihood.exponential(k));
  }
}

template <class T>
__global__ void __launch_bounds__(risk_threads)
    partial_curvatures(RiskTasks<T> tasks, const T* exponentials, std::int32_t stride, T* q) {
  __shared__ double sums[32];
  const cuda::Crew<risk_threads> team{sums, nullptr};
  const std::int32_t t = tasks.task();
  const RiskSets<T> sets = tasks.own_sets();
  PartialLikelihood<cuda::Crew<risk_threads>, T> likelihood(team, sets, tasks.own_memory());
  likelihood.load_exponentials(
      [&](std::int64_t k) { return static_cast<double>(exponentials[sets.order[k] * stride + t]); });
  likelihood.multiply([&](std::int64_t i) { return q[i * stride + t]; },
                      [&](std::int64_t i, double value) { q[i * stride + t] = static_cast<T>(tasks.cost() * value); });
}

}  // namespace sheaf::linear::gpu
