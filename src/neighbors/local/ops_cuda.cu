// Local models on one NVIDIA GPU: a block of threads takes a query, its inner products and its systems.
#include "neighbors/local/ops.hpp"

#include <algorithm>

#include <sheaf/solvers/array.hpp>

#include "cuda/check.cuh"
#include "neighbors/local/gram_cuda.cuh"
#include "neighbors/local/solve.hpp"

namespace sheaf::neighbors {
namespace {

constexpr int threads = 128;
constexpr std::int64_t most_blocks = 1024;
constexpr std::int64_t memory_share = 4;

struct View {
  const double* rows;
  const double* queries;
  const std::int32_t* lists;
  const std::int64_t* ks;
  const double* lambdas;
  std::int64_t query_count, columns, length, k;
  int k_count, lambda_count;
  bool hull;
};

/// Doubles of memory that a block needs: the inner products, a factor, and two vectors for each setting.
std::int64_t scratch_size(std::int64_t k, std::int64_t settings) { return 2 * k * k + 2 * k * settings + k; }

/// Factors the lower triangle in place, column by column, all threads together.
__device__ void factor_together(double* g, std::int64_t k) {
  for (std::int64_t j = 0; j < k; ++j) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const double pivot = g[j * k + j];
      g[j * k + j] = sqrt(pivot > 0 ? pivot : 1e-300);
    }
    __syncthreads();
    for (std::int64_t i = j + 1 + threadIdx.x; i < k; i += blockDim.x) g[i * k + j] /= g[j * k + j];
    __syncthreads();
    for (std::int64_t i = j + 1 + threadIdx.x; i < k; i += blockDim.x)
      for (std::int64_t c = j + 1; c <= i; ++c) g[i * k + c] -= g[i * k + j] * g[c * k + j];
  }
  __syncthreads();
}

__device__ void hyperplanes(const View& view, const double* gram, double* factors, double* y, double least,
                            double* costs) {
  for (int l = 0; l < view.lambda_count; ++l) {
    const double lambda = fmax(view.lambdas[l], least);
    __syncthreads();
    for (std::int64_t e = threadIdx.x; e < view.k * view.k; e += blockDim.x)
      factors[e] = gram[e] + (e / view.k == e % view.k ? lambda : 0.0);
    factor_together(factors, view.k);
    if (threadIdx.x == 0) {
      int next = 0;
      solve_ones(factors, view.k, view.k, y, [&](std::int64_t i, double squares) {
        if (next < view.k_count && i + 1 == view.ks[next]) costs[next++ * view.lambda_count + l] = 1 / squares;
      });
    }
  }
}

__device__ void hulls(const View& view, const double* gram, double* vectors, double least, double* costs) {
  for (int setting = threadIdx.x; setting < view.k_count * view.lambda_count; setting += blockDim.x) {
    const double lambda = fmax(view.lambdas[setting % view.lambda_count], least);
    double* a = vectors + 2 * view.k * setting;
    costs[setting] = hull_cost(gram, view.ks[setting / view.lambda_count], view.k, lambda, a, a + view.k);
  }
}

__global__ void __launch_bounds__(threads)
    costs_of_queries(View view, double* scratch, std::int64_t each, double* costs) {
  const std::int64_t settings = static_cast<std::int64_t>(view.k_count) * view.lambda_count;
  double* gram = scratch + blockIdx.x * each;
  double* factors = gram + view.k * view.k;
  double* vectors = factors + view.k * view.k;
  for (std::int64_t q = blockIdx.x; q < view.query_count; q += gridDim.x) {
    __syncthreads();
    gpu::put_gram(view.rows, view.lists + q * view.length, view.queries + q * view.columns, view.columns, view.k, gram);
    __syncthreads();
    double trace = 0;
    for (std::int64_t i = 0; i < view.k; ++i) trace += gram[i * view.k + i];
    const double least = least_regular * (trace > 0 ? trace / static_cast<double>(view.k) : 1);
    if (view.hull)
      hulls(view, gram, vectors, least, costs + q * settings);
    else
      hyperplanes(view, gram, factors, vectors, least, costs + q * settings);
  }
}

}  // namespace

void local_costs_cuda(const Context& context, const LocalProblem& problem, std::span<double> costs) {
  if (costs.empty()) return;
  const auto device = context.device();
  const cuda::Current current(device.index);
  const cuda::Stream stream;
  const auto rows = problem.rows.values.to(device);
  const auto queries = problem.queries.values.to(device);
  const auto lists = Array<std::int32_t>::copy_of(problem.lists, device);
  const auto ks = Array<std::int64_t>::copy_of(problem.ks, device);
  const auto lambdas = Array<double>::copy_of(problem.lambdas, device);
  const View view{rows.data(),
                  queries.data(),
                  lists.data(),
                  ks.data(),
                  lambdas.data(),
                  problem.queries.rows,
                  problem.rows.columns,
                  problem.length,
                  problem.ks.back(),
                  static_cast<int>(problem.ks.size()),
                  static_cast<int>(problem.lambdas.size()),
                  problem.rule == LocalRule::convex_hull};
  const auto settings = static_cast<std::int64_t>(problem.ks.size() * problem.lambdas.size());
  const auto each = scratch_size(view.k, settings);
  const auto fitting = context.memory() / memory_share / (each * std::int64_t{sizeof(double)});
  const auto blocks = std::clamp<std::int64_t>(std::min(fitting, view.query_count), 1, most_blocks);
  Array<double> scratch(blocks * each, device);
  Array<double> found(static_cast<std::int64_t>(costs.size()), device);
  costs_of_queries<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(view, scratch.data(), each, found.data());
  cuda::check_launch("costs_of_queries");
  cuda::check(cudaMemcpyAsync(costs.data(), found.data(), costs.size_bytes(), cudaMemcpyDeviceToHost, stream),
              "fetching costs of local models");
  stream.synchronize();
}

}  // namespace sheaf::neighbors
