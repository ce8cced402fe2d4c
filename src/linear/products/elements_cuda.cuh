// Element-by-element verbs and sums per task on the GPU. Sums are double, in two steps of fixed order.
#pragma once

#include <cstdint>

#include <sheaf/solvers/array.hpp>

#include "linear/losses/losses.hpp"
#include "linear/products/transform.hpp"

namespace sheaf::linear::gpu {

inline constexpr int sum_threads = 256;
inline constexpr int most_sum_blocks = 1024;

/// The chosen tasks, padded to the stride with tasks that cost nothing.
template <class T>
struct TaskColumn {
  std::int32_t rows, target;
  T positive, negative, loss_parameter;
};

/// Inputs of losses besides the decision values.
template <class T>
struct Tables {
  const float* row_weights;  // nullptr: all 1
  const T* targets;
  const TaskColumn<T>* tasks;
  std::int32_t weight_columns, target_columns;
};

/// Column transforms, and the one that each task uses.
template <class T>
struct Transforms {
  const T* shifts;  // features x count
  const T* factors;
  const std::int32_t* columns;  // of the chosen tasks, padded to the stride
  std::int64_t count;
  std::int64_t features;

  __device__ std::int64_t at(std::int64_t feature, int task) const { return feature * count + columns[task]; }
};

/// partial[block * pitch + t] = the sum of term(row, t) over the block's rows. A block is `across` columns wide and
/// sum_threads / across rows high; columns beyond it are taken in further passes.
template <class Term>
__device__ void sum_rows(std::int64_t rows, int stride, int across, double* partial, Term term, std::int64_t pitch) {
  __shared__ double shared[sum_threads];
  const int lane = threadIdx.x / across;
  const int lanes = sum_threads / across;
  for (int first = 0; first < stride; first += across) {
    const int t = first + threadIdx.x % across;
    double sum = 0;
    if (t < stride)
      for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * lanes + lane; i < rows;
           i += static_cast<std::int64_t>(gridDim.x) * lanes)
        sum += term(i, t);
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (lane == 0 && t < stride) {
      for (int l = 1; l < lanes; ++l) sum += shared[l * across + threadIdx.x];
      partial[static_cast<std::int64_t>(blockIdx.x) * pitch + t] = sum;
    }
    __syncthreads();
  }
}
template <class Term>
__device__ void sum_rows(std::int64_t rows, int stride, int across, double* partial, Term term) {
  sum_rows(rows, stride, across, partial, term, stride);
}

/// The blocks of one inner product.
template <class T>
struct DotOperands {
  const T *a, *b, *over;
  std::int64_t rows;
};
inline constexpr int most_dots = 96;  // that fit the parameters of one launch
template <class T>
struct DotList {
  DotOperands<T> products[most_dots];
};

/// partial[block][k][t]: a o b of the k-th product, divided by `over` if that is given. blockIdx.y is k.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    dot_rows(const __grid_constant__ DotList<T> list, int stride, int across, double* partial) {
  const DotOperands<T>& p = list.products[blockIdx.y];
  sum_rows(
      p.rows, stride, across, partial + static_cast<std::int64_t>(blockIdx.y) * stride,
      [&](std::int64_t i, int t) {
        const std::int64_t e = i * stride + t;
        const double term = static_cast<double>(p.a[e]) * static_cast<double>(p.b[e]);
        return p.over == nullptr ? term : term / static_cast<double>(p.over[e]);
      },
      static_cast<std::int64_t>(gridDim.y) * stride);
}

template <class T, int Most>
struct BlockList {
  const T* blocks[Most];
};

/// factors: of the first block for each column, then of the next.
template <class T, int Most>
__global__ void combine_blocks(const __grid_constant__ BlockList<T, Most> list, int count, const T* factors, T* out,
                               std::int64_t size, int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const int t = static_cast<int>(e % stride);
  T sum = 0;
  for (int k = 0; k < count; ++k) sum += factors[k * stride + t] * list.blocks[k][e];
  out[e] = sum;
}

template <class T>
__global__ void __launch_bounds__(sum_threads)
    sum_columns(const T* a, std::int64_t rows, int stride, int across, double* partial) {
  sum_rows(rows, stride, across, partial,
           [=](std::int64_t i, int t) { return static_cast<double>(a[i * stride + t]); });
}

/// Rows of each task, or those of them whose target is above 0.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    count_task_rows(Tables<T> tables, bool positive, std::int64_t rows, int stride, int across, double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    const TaskColumn<T> task = tables.tasks[t];
    const bool used = tables.row_weights == nullptr || tables.row_weights[i * tables.weight_columns + task.rows] > 0;
    const bool counts = !positive || tables.targets[i * tables.target_columns + task.target] > T(0);
    return used && counts ? 1.0 : 0.0;
  });
}

/// A null pointer for `step`, `slopes`, `curvatures` or `wanted` leaves that part out (wanted: all tasks are).
template <class Functor, class T>
__global__ void __launch_bounds__(sum_threads)
    loss_rows(const T* z, const T* step, const std::uint8_t* wanted, std::int64_t rows, int stride, int across,
              Tables<T> tables, T* slopes, T* curvatures, double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    if (wanted != nullptr && wanted[t] == 0) return 0.0;
    const std::int64_t e = i * stride + t;
    const TaskColumn<T> task = tables.tasks[t];
    const T y = tables.targets[i * tables.target_columns + task.target];
    const T weight = tables.row_weights == nullptr
                         ? T(1)
                         : static_cast<T>(tables.row_weights[i * tables.weight_columns + task.rows]);
    const T cost = weight * (y > 0 ? task.positive : task.negative);
    const auto terms = Functor::terms(step == nullptr ? z[e] : z[e] + step[e], y, task.loss_parameter);
    if (slopes != nullptr) slopes[e] = cost * terms.slope;
    if (curvatures != nullptr) curvatures[e] = cost * terms.curvature;
    return static_cast<double>(cost * terms.value);
  });
}

/// Rows of weights from `bias_row` on carry the ridge of the bias.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    curvature_rows(T bias_ridge, std::int64_t bias_row, const T* d, T* hd, std::int64_t rows, int stride, int across,
                   double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    const std::int64_t e = i * stride + t;
    const T value = hd[e] + (i < bias_row ? d[e] : bias_ridge * d[e]);
    hd[e] = value;
    return static_cast<double>(d[e]) * static_cast<double>(value);
  });
}

template <class T>
__global__ void __launch_bounds__(sum_threads)
    advance_rows(const T* alpha, const T* d, const T* hd, const T* inverse, T* s, T* r, std::int64_t rows, int stride,
                 int across, double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    const std::int64_t e = i * stride + t;
    s[e] += alpha[t] * d[e];
    const T residual = r[e] - alpha[t] * hd[e];
    r[e] = residual;
    return static_cast<double>(residual) * static_cast<double>(inverse[e] * residual);
  });
}

template <class T>
__global__ void __launch_bounds__(sum_threads)
    gradient_rows(const std::uint8_t* wanted, const T* hd, T* g, std::int64_t rows, int stride, int across,
                  double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    if (wanted != nullptr && wanted[t] == 0) return 0.0;
    const std::int64_t e = i * stride + t;
    g[e] = hd[e];
    return static_cast<double>(hd[e]) * static_cast<double>(hd[e]);
  });
}

template <class T>
__global__ void __launch_bounds__(sum_threads)
    direction_rows(const std::uint8_t* wanted, const T* g, const T* inverse, T* r, T* s, T* d, std::int64_t rows,
                   int stride, int across, double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    if (wanted != nullptr && wanted[t] == 0) return 0.0;
    const std::int64_t e = i * stride + t;
    const T direction = -inverse[e] * g[e];
    r[e] = -g[e];
    s[e] = T(0);
    d[e] = direction;
    return -static_cast<double>(g[e]) * static_cast<double>(direction);
  });
}

template <class T>
__global__ void __launch_bounds__(sum_threads)
    step_rows(const std::uint8_t* wanted, T bias_ridge, std::int64_t bias_row, const T* s, T* w, T* d,
              std::int64_t rows, int stride, int across, double* partial) {
  sum_rows(rows, stride, across, partial, [=](std::int64_t i, int t) {
    if (wanted != nullptr && wanted[t] == 0) return 0.0;
    const std::int64_t e = i * stride + t;
    const T weight = w[e] + s[e];
    w[e] = weight;
    d[e] = weight;
    const T ridge = i < bias_row ? T(1) : bias_ridge;
    return static_cast<double>(ridge * weight) * static_cast<double>(weight);
  });
}

/// factors: of the preconditioned residual for each column, then of the direction.
template <class T>
__global__ void redirect_elements(const T* factors, const T* inverse, const T* r, T* d, std::int64_t size, int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const int t = static_cast<int>(e % stride);
  d[e] = factors[t] * inverse[e] * r[e] + factors[stride + t] * d[e];
}

template <class T>
__global__ void invert_elements(T share, T bias_ridge, std::int64_t bias_begins, T* h, std::int64_t size) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < size) h[e] = 1 / (1 - share + share * ((e < bias_begins ? T(1) : bias_ridge) + h[e]));
}

/// factors: alpha for each column, then beta.
template <class T>
__global__ void combine_elements(const T* factors, const T* a, T* b, std::int64_t size, int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const int t = static_cast<int>(e % stride);
  const T beta = factors[stride + t];
  const T kept = beta == T(0) ? T(0) : beta * b[e];  // what stands in b may be no number yet
  b[e] = factors[t] * a[e] + kept;
}

template <class T>
__global__ void multiply_pairs(const T* a, const T* b, const std::uint8_t* wanted, T* c, std::int64_t size,
                               int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size || (wanted != nullptr && wanted[e % stride] == 0)) return;
  c[e] = a[e] * b[e];
}

template <class T>
__global__ void keep_columns(const T* from, int from_stride, const std::int32_t* keep, int kept, T* to, int to_stride,
                             std::int64_t size) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const int t = static_cast<int>(e % to_stride);
  to[e] = t < kept ? from[e / to_stride * from_stride + keep[t]] : T(0);
}

template <class T>
__global__ void place_columns(const T* from, int from_stride, const std::int32_t* at, int count, T* to, int to_stride,
                              std::int64_t size) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const std::int64_t i = e / count;
  const int t = static_cast<int>(e % count);
  to[i * to_stride + at[t]] = from[i * from_stride + t];
}

/// z[i][t] += bias * w[t], the weights of the bias being one row.
template <class T>
__global__ void add_bias(T bias, const T* w, T* z, std::int64_t size, int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < size) z[e] += bias * w[e % stride];
}

/// raw = factor o w, and the sums of shift o raw.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    raw_weight_rows(Transforms<T> transforms, const T* w, T* raw, int stride, int across, double* partial) {
  sum_rows(transforms.features, stride, across, partial, [=](std::int64_t j, int t) {
    const std::int64_t e = j * stride + t;
    const std::int64_t at = transforms.at(j, t);
    const T value = transforms.factors[at] * w[e];
    raw[e] = value;
    return static_cast<double>(transforms.shifts[at]) * static_cast<double>(value);
  });
}

/// Transforms without shifts: weights are multiplied by the factors, and the bias is copied.
/// `own`, the weights of the bias, is null if models have none.
template <class T>
__global__ void raw_unshifted(Transforms<T> transforms, const T* w, const T* own, T* raw, std::int64_t size,
                              int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const std::int64_t j = e / stride;
  const int t = static_cast<int>(e % stride);
  if (j < transforms.features)
    raw[e] = transforms.factors[transforms.at(j, t)] * w[e];
  else
    raw[e] = own != nullptr ? own[t] : T(0);
}

/// `own` may be null: models have no bias.
template <class T>
__global__ void raw_bias(const double* shifted, double bias, const T* own, T* raw, int stride) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < stride) raw[t] = static_cast<T>((own != nullptr ? static_cast<double>(own[t]) : 0.0) - shifted[t] / bias);
}

template <class T>
__global__ void transform_gradients(Transforms<T> transforms, T bias, const T* raw, T* g, std::int64_t size,
                                    int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const std::int64_t j = e / stride;
  const int t = static_cast<int>(e % stride);
  if (j >= transforms.features) {
    g[e] = raw[e];
    return;
  }
  const std::int64_t at = transforms.at(j, t);
  g[e] = transforms.factors[at] * (raw[e] - transforms.shifts[at] * raw[transforms.features * stride + t] / bias);
}

/// `sums` may be null: nothing is shifted.
template <class T>
__global__ void transform_squares(Transforms<T> transforms, T bias, const T* squares, const T* sums, T* h,
                                  std::int64_t size, int stride) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= size) return;
  const std::int64_t j = e / stride;
  const int t = static_cast<int>(e % stride);
  if (j >= transforms.features) {
    h[e] = squares[e];
    return;
  }
  const std::int64_t at = transforms.at(j, t);
  const T sum = sums != nullptr ? sums[e] : T(0);
  const T total = sums != nullptr ? sums[transforms.features * stride + t] / bias : T(0);
  h[e] = transformed_square(squares[e], sum, total, transforms.shifts[at], transforms.factors[at]);
}

template <class T>
__global__ void scale_sums(const double* sums, double factor, T* out, int stride) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < stride) out[t] = static_cast<T>(factor * sums[t]);
}

}  // namespace sheaf::linear::gpu
