// Local SVMs on one NVIDIA GPU: a block of threads takes a neighbourhood and its kernel values, each of its warps an
// SVM of another size.
#include "neighbors/local/svm.hpp"

#include <algorithm>

#include <sheaf/solvers/array.hpp>

#include "cuda/check.cuh"
#include "neighbors/local/gram_cuda.cuh"
#include "neighbors/local/smo.hpp"

namespace sheaf::neighbors {
namespace {

constexpr int lanes = 32;
constexpr int warps = 4;
constexpr int threads = warps * lanes;
constexpr unsigned whole_warp = 0xffffffff;
constexpr std::int64_t most_blocks = 2048;
constexpr std::int64_t memory_share = 4;  // memory of blocks may take this part, values of a chunk another

/// Kernel values of some rows where they stand.
struct Part {
  const double* matrix;
  const int* rows;
  std::int64_t stride;
  __device__ double operator()(int s, int t) const { return matrix[rows[s] * stride + rows[t]]; }
};

/// A team of one warp.
struct Warp {
  int lane;

  template <class Work>
  __device__ void each(int n, const Work& work) const {
    __syncwarp();
    for (int t = lane; t < n; t += lanes) work(t);
    __syncwarp();
  }
  template <class Visit>
  __device__ Choice choose(int n, const Visit& visit) const {
    Choice choice;
    __syncwarp();
    for (int t = lane; t < n; t += lanes) visit(t, choice);
    for (int step = lanes / 2; step > 0; step /= 2) {
      const double value = __shfl_xor_sync(whole_warp, choice.value, step);
      const int at = __shfl_xor_sync(whole_warp, choice.at, step);
      const double lowest = __shfl_xor_sync(whole_warp, choice.lowest, step);
      choice.offer(value, at);
      choice.offer_lowest(lowest);
    }
    return choice;
  }
  template <class Work>
  __device__ void once(const Work& work) const {
    __syncwarp();
    if (lane == 0) work();
    __syncwarp();
  }
  __device__ Part part(const double* matrix, std::int64_t stride, const int* rows, int /*n*/) const {
    return {matrix, rows, stride};
  }
};

struct View {
  const double* rows;
  const double* centres;
  const double* points;
  const std::int64_t* offsets;  // of the neighbourhoods of a chunk, from the chunk's first point on
  const std::int32_t* lists;
  const std::int64_t* ks;
  const double* gammas;
  std::int64_t columns, length, k;
  int k_count, gamma_count;
  bool linear;
  SvmSettings settings;

  __host__ __device__ std::int64_t values_of_point() const {
    return static_cast<std::int64_t>(k_count) * gamma_count * settings.cost_count * settings.class_count;
  }
};

/// Memory of a block: products and kernel values of the rows, and for each warp four vectors, places and counts.
struct BlockMemory {
  std::int64_t k;
  int classes;

  __host__ __device__ std::int64_t doubles() const { return 2 * k * k + warps * 4 * k; }
  __host__ __device__ std::int64_t ints() const { return warps * (k + classes); }
};

/// Whether the rows of a list are of one class.
__device__ bool all_agree(const View& view, const std::int32_t* list) {
  int differ = 0;
  for (std::int64_t t = threadIdx.x; t < view.k; t += blockDim.x)
    differ |= view.settings.classes[list[t]] != view.settings.classes[list[0]] ? 1 : 0;
  return __syncthreads_or(differ) == 0;
}

/// Products of points with the rows, less the centre or, for an RBF kernel, squared distances: points x k.
__device__ void put_point_products(const View& view, const std::int32_t* list, const double* centre,
                                   const double* points, std::int64_t count, double* products) {
  for (std::int64_t n = threadIdx.x; n < count * view.k; n += blockDim.x) {
    const double* point = points + n / view.k * view.columns;
    const double* row = view.rows + list[n % view.k] * view.columns;
    double sum = 0;
    for (std::int64_t j = 0; j < view.columns; ++j)
      sum += view.linear ? (row[j] - centre[j]) * (point[j] - centre[j]) : (row[j] - point[j]) * (row[j] - point[j]);
    products[n] = sum;
  }
}

__device__ void put_kernels(const View& view, double gamma, const double* gram, double* matrix, std::int64_t count,
                            const double* products, double* point_kernels) {
  for (std::int64_t n = threadIdx.x; n < view.k * view.k; n += blockDim.x) {
    const std::int64_t i = n / view.k;
    const std::int64_t j = n % view.k;
    const double product = i >= j ? gram[i * view.k + j] : gram[j * view.k + i];
    matrix[n] = view.linear ? product : rbf_of_products(gamma, gram[i * view.k + i], gram[j * view.k + j], product);
  }
  for (std::int64_t n = threadIdx.x; n < count * view.k; n += blockDim.x)
    point_kernels[n] = view.linear ? products[n] : exp(-gamma * products[n]);
}

/// Blocks take neighbourhoods first .. last in turn. `products`, `kernels`: points x k; `values`, `wins`: points x
/// settings x classes.
__global__ void __launch_bounds__(threads)
    values_of_neighborhoods(const __grid_constant__ View view, std::int64_t first, std::int64_t last, double* memory,
                            int* places, double* products, double* kernels, double* values, int* wins,
                            unsigned long long* failed) {
  const BlockMemory size{view.k, view.settings.class_count};
  double* gram = memory + blockIdx.x * size.doubles();
  double* matrix = gram + view.k * view.k;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  double* vectors = matrix + view.k * view.k + warp * 4 * view.k;
  int* mine = places + blockIdx.x * size.ints() + warp * (view.k + size.classes);
  const SvmScratch scratch{
      mine + view.k, mine, {vectors, vectors + view.k, vectors + 2 * view.k, vectors + 3 * view.k}};
  const Warp team{static_cast<int>(threadIdx.x) % lanes};
  const std::int64_t each = view.values_of_point();
  const std::int64_t of_setting = static_cast<std::int64_t>(view.settings.cost_count) * view.settings.class_count;
  for (std::int64_t p = first + blockIdx.x; p < last; p += gridDim.x) {
    const std::int32_t* list = view.lists + p * view.length;
    const double* centre = view.centres + p * view.columns;
    const std::int64_t point = view.offsets[p] - view.offsets[first];
    const std::int64_t count = view.offsets[p + 1] - view.offsets[p];
    if (count == 0) continue;
    const bool agreed = all_agree(view, list);
    if (!agreed) {
      gpu::put_gram(view.rows, list, centre, view.columns, view.k, gram);
      put_point_products(view, list, centre, view.points + view.offsets[p] * view.columns, count,
                         products + point * view.k);
    }
    for (int g = 0; g < view.gamma_count; ++g) {
      __syncthreads();
      if (!agreed)
        put_kernels(view, view.gammas[g], gram, matrix, count, products + point * view.k, kernels + point * view.k);
      __syncthreads();
      const SvmKernels known{matrix, kernels + point * view.k, view.k, static_cast<int>(count)};
      for (int n = warp; n < view.k_count; n += warps) {
        const std::int64_t at = point * each + (static_cast<std::int64_t>(n) * view.gamma_count + g) * of_setting;
        const SvmOutput output{values + at, wins + at, each, view.settings.class_count};
        const int missed =
            decide_by_pairs(team, view.settings, list, static_cast<int>(view.ks[n]), known, scratch, output);
        if (team.lane == 0 && missed > 0) atomicAdd(failed, static_cast<unsigned long long>(missed));
      }
    }
    __syncthreads();
  }
}

/// The last neighbourhood of a chunk that begins with `first`: its points' values and kernels fit in `bytes`, but there
/// is one at least.
std::int64_t end_of_chunk(std::span<const std::int64_t> offsets, std::int64_t first, std::int64_t bytes_per_point,
                          std::int64_t bytes) {
  const auto most = offsets[static_cast<std::size_t>(first)] + std::max<std::int64_t>(bytes / bytes_per_point, 1);
  auto last = first + 1;
  while (last + 1 < std::ssize(offsets) && offsets[static_cast<std::size_t>(last + 1)] <= most) ++last;
  return last;
}

}  // namespace

std::int64_t local_svm_values_cuda(const Context& context, const LocalSvmProblem& problem, std::span<double> values) {
  const auto device = context.device();
  const cuda::Current current(device.index);
  const cuda::Stream stream;
  const auto rows = problem.rows.values.to(device);
  const auto centres = problem.centres.values.to(device);
  const bool same = &problem.centres == &problem.points;
  const auto points = same ? Array<double>() : problem.points.values.to(device);
  const auto offsets = Array<std::int64_t>::copy_of(problem.offsets, device);
  const auto lists = Array<std::int32_t>::copy_of(problem.lists, device);
  const auto classes = Array<std::int32_t>::copy_of(problem.classes, device);
  const auto weights = Array<float>::copy_of(problem.weights, device);
  const auto ks = Array<std::int64_t>::copy_of(problem.ks, device);
  const auto costs = Array<double>::copy_of(problem.costs, device);
  const auto gammas = Array<double>::copy_of(problem.gammas, device);
  const SvmSettings settings{classes.data(), weights.size() > 0 ? weights.data() : nullptr, problem.class_count,
                             costs.data(),   static_cast<int>(problem.costs.size()),        problem.tolerance};
  const View view{rows.data(),
                  centres.data(),
                  same ? centres.data() : points.data(),
                  offsets.data(),
                  lists.data(),
                  ks.data(),
                  gammas.data(),
                  problem.rows.columns,
                  problem.length,
                  problem.ks.back(),
                  static_cast<int>(problem.ks.size()),
                  static_cast<int>(problem.gammas.size()),
                  problem.kernel == LocalKernel::linear,
                  settings};
  const BlockMemory size{view.k, problem.class_count};
  const auto block_bytes = size.doubles() * std::int64_t{sizeof(double)} + size.ints() * std::int64_t{sizeof(int)};
  const auto blocks = std::clamp<std::int64_t>(
      std::min(context.memory() / memory_share / block_bytes, problem.centres.rows), 1, most_blocks);
  Array<double> memory(blocks * size.doubles(), device);
  Array<int> places(blocks * size.ints(), device);
  Array<unsigned long long> failed(1, device);
  cuda::check(cudaMemsetAsync(failed.data(), 0, sizeof(unsigned long long), stream), "clearing a counter");
  const auto each = view.values_of_point();
  const auto point_bytes =
      each * std::int64_t{sizeof(double) + sizeof(int)} + 2 * view.k * std::int64_t{sizeof(double)};
  for (std::int64_t first = 0; first < problem.centres.rows;) {
    context.check_stop();
    const auto last = end_of_chunk(problem.offsets, first, point_bytes, context.memory() / memory_share);
    const auto from = problem.offsets[static_cast<std::size_t>(first)];
    const auto count = problem.offsets[static_cast<std::size_t>(last)] - from;
    Array<double> products(2 * count * view.k, device);
    Array<double> found(count * each, device);
    Array<int> wins(count * each, device);
    const auto grid = static_cast<unsigned>(std::min(blocks, last - first));
    values_of_neighborhoods<<<grid, threads, 0, stream>>>(view, first, last, memory.data(), places.data(),
                                                          products.data(), products.data() + count * view.k,
                                                          found.data(), wins.data(), failed.data());
    cuda::check_launch("values_of_neighborhoods");
    cuda::check(
        cudaMemcpyAsync(values.data() + from * each, found.data(),
                        static_cast<std::size_t>(count * each) * sizeof(double), cudaMemcpyDeviceToHost, stream),
        "fetching values of local SVMs");
    stream.synchronize();
    first = last;
  }
  unsigned long long missed = 0;
  cuda::check(cudaMemcpyAsync(&missed, failed.data(), sizeof missed, cudaMemcpyDeviceToHost, stream),
              "fetching a counter");
  stream.synchronize();
  return static_cast<std::int64_t>(missed);
}

}  // namespace sheaf::neighbors
