// Inverse Cholesky factors of X' D X on CPU cores, with D of each task. Some rows at a time are copied and scaled, so
// that X'X of the copies is what is wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <cblas.h>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

#include "core/blas_threads.hpp"
#include "linear/products/gram_cpu.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear::cpu {

/// What LinearOps::inverse_factors() takes, of all columns.
template <class T>
struct Curvatures {
  BlockView<const T> d;
  BlockView<const T> diagonal;
  double ridge;
  double share;
};

/// Row i of X is multiplied by `root`, and root times the result is added to `sums`.
template <class T>
void scale_row(DenseMatrix<T>& x, std::int64_t i, double root, double* sums) {
  T* row = x.values.data() + i * x.columns;
  for (std::int64_t j = 0; j < x.columns; ++j) {
    row[j] = static_cast<T>(root) * row[j];
    sums[j] += root * static_cast<double>(row[j]);
  }
}
template <class T>
void scale_row(SparseMatrix<T>& x, std::int64_t i, double root, double* sums) {
  for (std::int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
    x.values[e] = static_cast<T>(root) * x.values[e];
    sums[x.indices[e]] += root * static_cast<double>(x.values[e]);
  }
}

/// The lower triangle of X' diag(d) X over these rows, d being a column of the block; with the bias, where it is not 0.
template <class T>
std::vector<double> weighted_gram(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> rows,
                                  T bias, BlockView<const T> d, std::int32_t column) {
  constexpr std::size_t rows_at_once = 4096;
  const std::int64_t features = dataset.features();
  const std::int64_t size = features + (bias > 0 ? 1 : 0);
  std::vector<double> result(static_cast<std::size_t>(size * size), 0.0);
  std::vector<double> sums(static_cast<std::size_t>(features) + 1, 0.0);  // the bias's row, but for the bias
  for (std::size_t first = 0; first < rows.size(); first += rows_at_once) {
    const auto some = rows.subspan(first, std::min(rows_at_once, rows.size() - first));
    auto part = take_rows(dataset, some, context.threads());
    std::visit(
        [&](auto& x) {
          for (std::int64_t i = 0; i < x.rows; ++i) {
            const auto weight = static_cast<double>(d.data[some[static_cast<std::size_t>(i)] * d.stride + column]);
            scale_row(x, i, std::sqrt(std::max(weight, 0.0)), sums.data());
            sums.back() += weight;
          }
          add_gram(context, x, result, size);
        },
        part.x);
  }
  if (size == features) return result;
  sums.back() *= static_cast<double>(bias);
  for (std::int64_t j = 0; j < size; ++j)
    result[static_cast<std::size_t>(features * size + j)] =
        static_cast<double>(bias) * sums[static_cast<std::size_t>(j)];
  return result;
}

template <class T>
InverseFactors<T> inverse_factors(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> rows,
                                  T bias, const Curvatures<T>& curvatures) {
  const std::int64_t size = dataset.features() + (bias > 0 ? 1 : 0);
  const std::int32_t count = curvatures.d.tasks;
  const double scale = static_cast<double>(dataset.rows()) / static_cast<double>(std::max<std::size_t>(1, rows.size()));
  InverseFactors<T> result{size, count, Array<T>(count * size * size)};
  for (std::int32_t column = 0; column < count; ++column) {
    auto matrix = weighted_gram(context, dataset, rows, bias, curvatures.d, column);
    for (double& element : matrix) element *= scale;
    double largest = 0;
    const auto own = [&](std::int64_t j) -> double& { return matrix[static_cast<std::size_t>(j * (size + 1))]; };
    for (std::int64_t j = 0; j < size; ++j) {
      const auto whole = static_cast<double>(curvatures.diagonal.data[j * curvatures.diagonal.stride + column]);
      own(j) = std::max(own(j), whole);
      largest = std::max(largest, own(j));
    }
    for (std::int64_t j = 0; j < size; ++j) own(j) += curvatures.ridge + curvatures.share * largest;
    const auto inverse = inverse_cholesky_factor(matrix, size, context.threads());
    if (inverse.empty()) return {};
    std::transform(inverse.begin(), inverse.end(), result.by_rows.data() + column * size * size,
                   [](double element) { return static_cast<T>(element); });
  }
  return result;
}

inline void multiply_triangle(CBLAS_TRANSPOSE transpose, int size, const float* matrix, float* x) {
  cblas_strmv(CblasRowMajor, CblasLower, transpose, CblasNonUnit, size, matrix, size, x, 1);
}
inline void multiply_triangle(CBLAS_TRANSPOSE transpose, int size, const double* matrix, double* x) {
  cblas_dtrmv(CblasRowMajor, CblasLower, transpose, CblasNonUnit, size, matrix, size, x, 1);
}

template <class T>
void multiply_by_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v, BlockView<T> w,
                      int threads) {
  const std::int64_t size = factors.size;
  const BlasThreads blas(1);
  const int team = over_openmp() ? 1 : team_for(threads, size * size * v.tasks / 2);
  parallel_for(team, v.tasks, [&](std::int64_t t) {
    std::vector<T> x(static_cast<std::size_t>(size));
    for (std::int64_t j = 0; j < size; ++j) x[static_cast<std::size_t>(j)] = v.data[j * v.stride + t];
    multiply_triangle(transposed ? CblasTrans : CblasNoTrans, static_cast<int>(size),
                      factors.by_rows.data() + t % factors.count * size * size, x.data());
    for (std::int64_t j = 0; j < size; ++j) w.data[j * w.stride + t] = x[static_cast<std::size_t>(j)];
  });
}

}  // namespace sheaf::linear::cpu
