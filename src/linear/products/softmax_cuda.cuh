// Multinomial models on the GPU: a power of two of neighbouring threads, at most a warp, has one row of one task.
#pragma once

#include <cstdint>

#include "core/math.hpp"
#include "linear/products/elements_cuda.cuh"
#include "linear/products/softmax.hpp"

namespace sheaf::linear::gpu {

struct SoftmaxShape {
  std::int64_t rows;
  std::int32_t stride, classes, tasks;
  std::int32_t lanes;  // threads of a row and task, a power of two

  std::int64_t threads() const { return rows * tasks * lanes; }
};

/// Position of a thread. Threads behind the last row run too, for all of a warp take part in its shuffles.
struct SoftmaxPlace {
  std::int64_t row;
  std::int32_t task, lane;
  bool there;

  __device__ explicit SoftmaxPlace(const SoftmaxShape& shape) {
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t count = shape.rows * shape.tasks;
    const std::int64_t pair = thread >> (__ffs(shape.lanes) - 1);
    there = pair < count;
    const std::int64_t mine = there ? pair : count - 1;
    row = shape.tasks == 1 ? mine : mine / shape.tasks;  // dividing takes longer than the rest of a row
    task = static_cast<std::int32_t>(mine - row * shape.tasks);
    lane = static_cast<std::int32_t>(thread) & (shape.lanes - 1);
  }
  __device__ std::int64_t begin(const SoftmaxShape& shape) const { return row * shape.stride + task * shape.classes; }
};

template <class T>
__device__ T sum_lanes(T value, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
  return value;
}

/// The largest value and the first class that has it.
template <class T>
struct Largest {
  T value;
  std::int32_t at;
};
template <class T>
__device__ Largest<T> largest_of_lanes(Largest<T> mine, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    const T value = __shfl_xor_sync(0xffffffffU, mine.value, offset);
    const std::int32_t at = __shfl_xor_sync(0xffffffffU, mine.at, offset);
    if (value > mine.value || (value == mine.value && at < mine.at)) mine = {value, at};
  }
  return mine;
}

/// `decision(k)` for the classes of a row; every lane gets the largest.
template <class T, class Decision>
__device__ Largest<T> largest_decision(const SoftmaxShape& shape, std::int32_t lane, Decision decision) {
  Largest<T> mine{decision(lane < shape.classes ? lane : 0), lane < shape.classes ? lane : 0};
  for (std::int32_t k = lane + shape.lanes; k < shape.classes; k += shape.lanes)
    if (decision(k) > mine.value) mine = {decision(k), k};
  return largest_of_lanes(mine, shape.lanes);
}

template <class T>
__device__ T task_cost(const Tables<T>& tables, std::int64_t row, std::int32_t task) {
  const TaskColumn<T> column = tables.tasks[task];
  const T weight = tables.row_weights == nullptr
                       ? T(1)
                       : static_cast<T>(tables.row_weights[row * tables.weight_columns + column.rows]);
  return weight * column.positive;
}

/// losses[row][task]: 0 if the task is not wanted. A null pointer leaves that part out.
template <class T>
__global__ void softmax_rows(SoftmaxShape shape, Tables<T> tables, const T* z, const T* step,
                             const std::uint8_t* wanted, T* slopes, T* probabilities, T* losses) {
  const SoftmaxPlace place(shape);
  const std::int64_t at = place.begin(shape);
  const auto decision = [=](std::int32_t k) { return step == nullptr ? z[at + k] : z[at + k] + step[at + k]; };
  const T largest = largest_decision<T>(shape, place.lane, decision).value;
  const auto label =
      static_cast<std::int32_t>(tables.targets[place.row * tables.target_columns + tables.tasks[place.task].target]);
  T others = 0;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes)
    others += k == label ? T(0) : exp_nonpositive(decision(k) - largest);
  others = sum_lanes(others, shape.lanes);
  const T sum = others + exp_nonpositive(decision(label) - largest);
  const bool counts = wanted == nullptr || wanted[place.task] != 0;
  if (!place.there) return;
  const T cost = task_cost(tables, place.row, place.task);
  if (place.lane == 0)
    losses[place.row * shape.tasks + place.task] = counts ? cost * (std::log(sum) + largest - decision(label)) : T(0);
  if (!counts) return;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes) {
    const T p = exp_nonpositive(decision(k) - largest) / sum;
    if (probabilities != nullptr) probabilities[at + k] = p;
    if (slopes != nullptr) slopes[at + k] = k == label ? -cost * (others / sum) : cost * p;
  }
}

template <class T>
__global__ void softmax_curvature_rows(SoftmaxShape shape, Tables<T> tables, const T* probabilities,
                                       const std::uint8_t* wanted, T* q) {
  const SoftmaxPlace place(shape);
  const std::int64_t at = place.begin(shape);
  T mean = 0;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes) mean += probabilities[at + k] * q[at + k];
  mean = sum_lanes(mean, shape.lanes);
  if (!place.there || (wanted != nullptr && wanted[place.task] == 0)) return;
  const T cost = task_cost(tables, place.row, place.task);
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes)
    q[at + k] = cost * probabilities[at + k] * (q[at + k] - mean);
}

/// The diagonal for each element of a block; the first `columns` elements of a row belong to tasks.
template <class T>
__global__ void softmax_diagonal_elements(std::int32_t classes, std::int32_t columns, Tables<T> tables,
                                          T* probabilities, std::int64_t size, std::int32_t stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto column = static_cast<std::int32_t>(e % stride);
  if (e >= size || column >= columns) return;
  const T p = probabilities[e];
  probabilities[e] = task_cost(tables, e / stride, column / classes) * p * (1 - p);
}

template <class T>
__global__ void center_class_rows(SoftmaxShape shape, T* w) {
  const SoftmaxPlace place(shape);
  const std::int64_t at = place.begin(shape);
  T sum = 0;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes) sum += w[at + k];
  sum = sum_lanes(sum, shape.lanes);
  if (!place.there) return;
  const T mean = sum / static_cast<T>(shape.classes);
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes) w[at + k] -= mean;
}

template <class T>
__global__ void log_odds_rows(SoftmaxShape shape, T* z) {
  const SoftmaxPlace place(shape);
  const std::int64_t at = place.begin(shape);
  const Largest<T> best = largest_decision<T>(shape, place.lane, [=](std::int32_t k) { return z[at + k]; });
  T rest = 0;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes)
    rest += k == best.at ? T(0) : exp_nonpositive(z[at + k] - best.value);
  rest = sum_lanes(rest, shape.lanes);
  if (!place.there) return;
  for (std::int32_t k = place.lane; k < shape.classes; k += shape.lanes) {
    const T shifted = z[at + k] - best.value;
    z[at + k] = log_odds(shifted, exp_nonpositive(shifted), rest, k == best.at);
  }
}

template <class Functor, class T>
__global__ void predict_elements(T parameter, T* z, std::int64_t size) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < size) z[e] = Functor::prediction(z[e], parameter);
}

}  // namespace sheaf::linear::gpu
