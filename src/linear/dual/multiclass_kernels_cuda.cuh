// Kernels of Crammer and Singer's multi-class SVM. A block of threads passes over the rows for one block of models. Its
// warps share the columns of weights, 32 to a warp, and the entries of a row; then each warp visits models, its lanes
// the classes of one model; then all add the steps to the weights.
#pragma once

#include <cstdint>

#include "linear/dual/multiclass.hpp"
#include "linear/dual/order.hpp"
#include "linear/dual/rows_cuda.cuh"

namespace sheaf::linear::dual::gpu {

constexpr int warp = 32;
constexpr int warps = 8;  // of a block of threads
constexpr std::uint32_t everyone = ~0U;

template <class T>
struct MultiClassBlock {
  T* w = nullptr;
  T* a = nullptr;
  const T* costs = nullptr;
  std::uint32_t* active = nullptr;  // see MultiClassLayout
  T* z = nullptr;                   // of one row: decision values, steps
  T* steps = nullptr;
};

template <class T>
__device__ T warp_sum(T value) {
  for (int offset = warp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(everyone, value, offset);
  return value;
}
template <class T>
__device__ T warp_max(T value) {
  for (int offset = warp / 2; offset > 0; offset /= 2) value = fmax(value, __shfl_xor_sync(everyone, value, offset));
  return value;
}

/// The columns and entries of a warp: warps of different teams take different entries of the same 32 columns.
struct WarpShare {
  int chunks;  // of 32 columns
  int teams;
  int at_once;  // chunks
  int chunk;    // the first one of this warp
  int team;

  __device__ explicit WarpShare(const MultiClassLayout& layout)
      : chunks(layout.stride / warp), teams(chunks >= warps ? 1 : warps / chunks), at_once(warps / teams) {
    chunk = static_cast<int>(threadIdx.y) % at_once;
    team = static_cast<int>(threadIdx.y) / at_once;
  }
};

/// z of row i in all columns.
template <class T, class Rows>
__device__ void multiply_row(const Rows& x, std::int64_t i, T bias, const MultiClassLayout& layout,
                             const WarpShare& share, const MultiClassBlock<T>& memory, T (*partial)[warp]) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int first = 0; first < share.chunks; first += share.at_once) {
    const int chunk = first + share.chunk;
    const bool mine = chunk < share.chunks && share.team < share.teams;
    const int column = chunk * warp + lane;
    T sum = 0;
    if (mine)
      for (std::int64_t k = x.begin(i) + share.team; k < x.end(i); k += share.teams)
        sum += x.values[k] * memory.w[x.index(i, k) * layout.stride + column];
    partial[threadIdx.y][lane] = sum;
    __syncthreads();
    if (mine && share.team == 0) {
      for (int team = 1; team < share.teams; ++team) sum += partial[threadIdx.y + team * share.at_once][lane];
      if (bias > 0) sum += bias * memory.w[x.columns * layout.stride + column];
      memory.z[column] = sum;
    }
    __syncthreads();
  }
}

template <class T, class Rows>
__device__ void add_row_steps(const Rows& x, std::int64_t i, T bias, const MultiClassLayout& layout,
                              const WarpShare& share, const MultiClassBlock<T>& memory) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int chunk = share.chunk; chunk < share.chunks && share.team < share.teams; chunk += share.at_once) {
    const int column = chunk * warp + lane;
    const T step = memory.steps[column];
    if (__any_sync(everyone, step != 0) == 0) continue;
    for (std::int64_t k = x.begin(i) + share.team; k < x.end(i); k += share.teams)
      memory.w[x.index(i, k) * layout.stride + column] += x.values[k] * step;
    if (bias > 0 && share.team == 0) memory.w[x.columns * layout.stride + column] += bias * step;
  }
}

/// One model's visit of a row, by one warp: `found` is kept by its first lane.
template <class T>
__device__ void visit_model(const MultiClassLayout& layout, const MultiClassBlock<T>& memory, std::int64_t i,
                            std::int32_t m, std::int32_t y, T squares, bool gaps, FoundSums& found) {
  const int lane = static_cast<int>(threadIdx.x);
  const T cost = memory.costs[i * layout.models + m];
  const MultiClassRow<T> row{cost, MultiClassRow<T>::curvature(squares, cost)};
  const std::int64_t first = layout.column(m, 0);
  T* a = memory.a + i * layout.stride + first;
  const T* z = memory.z + first;
  std::uint32_t* words = memory.active + layout.word(i, m);
  const auto visits = [&](int k, int c) { return c < layout.classes && (words[k] >> lane & 1) != 0; };
  T largest = -HUGE_VAL;
  T growing = -HUGE_VAL;  // minus the smallest gradient of those that may grow
  T gap = 0;
  for (int k = 0; k < layout.words(); ++k) {
    const int c = warp * k + lane;
    if (!visits(k, c)) continue;
    const T g = row.gradient(z[c], c == y);
    largest = fmax(largest, g);
    if (!row.at_bound(a[c], c == y)) growing = fmax(growing, -g);
    gap += (a[c] - row.bound(c == y)) * g;
  }
  largest = warp_max(largest);
  const T smallest = -warp_max(growing);
  if (gaps) gap = warp_sum(gap);
  int before = 0;
  int kept = 0;
  T sum = 0;
  for (int k = 0; k < layout.words(); ++k) {
    const int c = warp * k + lane;
    const bool visited = visits(k, c);
    const T g = visited ? row.gradient(z[c], c == y) : T(0);
    const bool keep = visited && !(g < smallest && row.at_bound(a[c], c == y));
    const std::uint32_t bits = __ballot_sync(everyone, keep);
    before += __popc(__ballot_sync(everyone, visited));
    kept += __popc(bits);
    if (keep) sum += row.level(g, a[c], c == y);
    if (lane == 0) words[k] = bits;
    __syncwarp();
  }
  if (kept <= 1) {  // one class alone cannot move
    kept = 0;
    for (int k = lane; k < layout.words(); k += warp) words[k] = 0;
  }
  const T violation = largest - smallest;
  const bool moves = kept > 0 && violation > static_cast<T>(least_violation);
  if (lane == 0) {
    found.visits += 1;
    if (gaps) found.gap += static_cast<double>(gap + cost * largest);
    found.left_out += before - kept;
    if (moves) found.largest = fmax(found.largest, static_cast<double>(violation));
  }
  if (!moves) return;
  T b = 0;
  sum = warp_sum(sum);
  for (int above = kept, last = kept + 1; above > 0 && above < last;) {
    b = row.next_level(sum, above);
    last = above;
    above = 0;
    sum = 0;
    for (int k = 0; k < layout.words(); ++k) {
      const int c = warp * k + lane;
      const bool visited = visits(k, c);
      const T level = visited ? row.level(row.gradient(z[c], c == y), a[c], c == y) : T(0);
      const bool over = visited && level > b;
      if (over) sum += level;
      above += __popc(__ballot_sync(everyone, over));
    }
    sum = warp_sum(sum);
  }
  for (int k = 0; k < layout.words(); ++k) {
    const int c = warp * k + lane;
    if (!visits(k, c)) continue;
    const T next = row.best(row.gradient(z[c], c == y), a[c], c == y, b);
    const T step = next - a[c];
    if (!(fabs(step) > static_cast<T>(least_violation))) continue;
    a[c] = next;
    memory.steps[first + c] = step;
  }
}

/// `visited`, `found`: models of the blocks at work side by side.
template <class T, class Rows>
__global__ void __launch_bounds__(warp* warps)
    multiclass_pass_kernel(Rows x, const T* squares, T bias, const std::int32_t* classes, const std::int32_t* rows,
                           RowOrder order, bool gaps, MultiClassLayout layout, const MultiClassBlock<T>* blocks,
                           const std::int32_t* visited, FoundSums* found) {
  __shared__ T partial[warps][warp];
  const MultiClassBlock<T> memory = blocks[blockIdx.x];
  const WarpShare share(layout);
  const int thread = static_cast<int>(threadIdx.y) * warp + static_cast<int>(threadIdx.x);
  const std::int32_t* going = visited + static_cast<std::int64_t>(blockIdx.x) * layout.models;
  FoundSums* mine = found + static_cast<std::int64_t>(blockIdx.x) * layout.models;
  double shared = 0;
  for (std::uint64_t n = 0; n < order.rows; ++n) {
    const std::int64_t i = rows[order.at(n)];
    bool any = false;
    for (int k = thread; k < layout.models * layout.words(); k += warp * warps)
      any = any || (going[k / layout.words()] != 0 && memory.active[layout.word(i, 0) + k] != 0);
    if (__syncthreads_or(any ? 1 : 0) == 0) continue;
    shared += 1;
    multiply_row(x, i, bias, layout, share, memory, partial);
    for (int column = thread; column < layout.stride; column += warp * warps) memory.steps[column] = 0;
    __syncthreads();
    for (int m = static_cast<int>(threadIdx.y); m < layout.models; m += warps) {
      bool here = false;
      for (int k = 0; k < layout.words(); ++k) here = here || memory.active[layout.word(i, m) + k] != 0;
      if (here && going[m] != 0) visit_model(layout, memory, i, m, classes[i], squares[i], gaps, mine[m]);
    }
    __syncthreads();
    add_row_steps(x, i, bias, layout, share, memory);
    __syncthreads();
  }
  for (int m = thread; m < layout.models; m += warp * warps) mine[m].shared = shared;
}

/// All classes of the rows that models with a flag train on.
template <class T>
__global__ void multiclass_take_back_kernel(MultiClassLayout layout, std::int64_t rows, const std::int32_t* flags,
                                            MultiClassBlock<T> memory) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // row and model
  if (at >= rows * layout.models || flags[at % layout.models] == 0 || memory.costs[at] == 0) return;
  for (int k = 0; k < layout.words(); ++k) memory.active[at * layout.words() + k] = layout.all(k);
}

/// Part blockIdx.x of the rows, then of the weights, of each model. Decision values go to the columns from columns[m]
/// on of `decisions`, if there are any.
template <class T, class Rows>
__global__ void __launch_bounds__(warp* warps)
    multiclass_measure_kernel(Rows x, std::int64_t rows, T bias, const std::int32_t* classes, MultiClassLayout layout,
                              MultiClassBlock<T> memory, const std::int32_t* columns, T* decisions, std::int32_t stride,
                              PartialMeasure* out) {
  using Row = MultiClassRow<double>;
  __shared__ PartialMeasure sums[warps];
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.y;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
  const std::int64_t weights = x.columns + (bias > 0 ? 1 : 0);
  for (int m = 0; m < layout.models; ++m) {
    const T* w = memory.w + layout.column(m, 0);
    PartialMeasure sum{0, 0, 0};
    for (std::int64_t i = first; i < rows; i += step) {
      const std::int32_t y = classes[i];
      const auto cost = static_cast<double>(memory.costs[i * layout.models + m]);
      double largest = -HUGE_VAL;
      double own = 0;
      double product = 0;
      for (int c = lane; c < layout.classes; c += warp) {
        T z = 0;
        for (std::int64_t k = x.begin(i); k < x.end(i); ++k) z += x.values[k] * w[x.index(i, k) * layout.stride + c];
        if (bias > 0) z += bias * w[x.columns * layout.stride + c];
        if (decisions != nullptr && columns[m] >= 0) decisions[i * stride + columns[m] + c] = z;
        const double g = Row::gradient(static_cast<double>(z), c == y);
        largest = fmax(largest, g);
        if (c == y) own = static_cast<double>(z);
        product += static_cast<double>(memory.a[i * layout.stride + layout.column(m, c)]) * g;
      }
      const double loss = cost * (warp_max(largest) - warp_sum(own));
      sum.losses += cost > 0 ? loss : 0;
      sum.gap += cost > 0 ? loss + warp_sum(product) : 0;
    }
    double squares = 0;
    for (std::int64_t j = first; j < weights; j += step)
      for (int c = lane; c < layout.classes; c += warp) {
        const auto value = static_cast<double>(w[j * layout.stride + c]);
        squares += value * value;
      }
    sum.squares = warp_sum(squares);
    __syncthreads();
    if (lane == 0) sums[threadIdx.y] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || lane > 0) continue;
    for (int k = 1; k < warps; ++k) {
      sum.squares += sums[k].squares;
      sum.losses += sums[k].losses;
      sum.gap += sums[k].gap;
    }
    out[static_cast<std::int64_t>(blockIdx.x) * layout.models + m] = sum;
  }
}

}  // namespace sheaf::linear::dual::gpu
