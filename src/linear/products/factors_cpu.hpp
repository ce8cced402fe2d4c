// X' D X on CPU cores, and the inverses of its Cholesky factors, with D of each task.
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

/// Arguments of LinearOps::inverse_factors(), with all columns.
template <class T>
struct Curvatures {
  BlockView<const T> d;
  BlockView<const T> diagonal;
  double ridge;
  double share;
};

/// X' diag(d) X over these rows of sparse data: rows are copied, scaled, and multiplied with themselves.
template <class T>
void add_weighted_gram(const Context& context, const SparseMatrix<T>& x, std::span<const std::int32_t> rows, T bias,
                       const T* d, std::int64_t stride, std::vector<double>& out) {
  const std::int64_t size = x.columns + (bias > 0 ? 1 : 0);
  const std::int64_t count = rows.empty() ? x.rows : std::ssize(rows);
  SparseMatrix<T> scaled{count, x.columns, Array<std::int64_t>(count + 1), {}, {}};
  const auto row_of = [&](std::int64_t r) { return rows.empty() ? r : rows[static_cast<std::size_t>(r)]; };
  scaled.offsets[0] = 0;
  for (std::int64_t r = 0; r < count; ++r)
    scaled.offsets[r + 1] = scaled.offsets[r] + x.offsets[row_of(r) + 1] - x.offsets[row_of(r)];
  scaled.indices = Array<std::int32_t>(scaled.offsets[count]);
  scaled.values = Array<T>(scaled.offsets[count]);
  double* last = out.data() + x.columns * size;  // the bias's row
  for (std::int64_t r = 0; r < count; ++r) {
    const auto weight = std::max(static_cast<double>(d[row_of(r) * stride]), 0.0);
    const T root = static_cast<T>(std::sqrt(weight));
    for (std::int64_t k = 0; k < scaled.offsets[r + 1] - scaled.offsets[r]; ++k) {
      const std::int64_t from = x.offsets[row_of(r)] + k;
      scaled.indices[scaled.offsets[r] + k] = x.indices[from];
      scaled.values[scaled.offsets[r] + k] = root * x.values[from];
      if (bias > 0) last[x.indices[from]] += static_cast<double>(bias) * weight * static_cast<double>(x.values[from]);
    }
    if (bias > 0) last[x.columns] += static_cast<double>(bias) * static_cast<double>(bias) * weight;
  }
  add_gram(context, scaled, out, size);
}

template <class T>
InverseFactors<T> inverse_factors(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> rows,
                                  T bias, const Curvatures<T>& curvatures) {
  const std::int64_t size = dataset.features() + (bias > 0 ? 1 : 0);
  const std::int32_t count = curvatures.d.tasks;
  const double scale = static_cast<double>(dataset.rows()) / static_cast<double>(std::max<std::size_t>(1, rows.size()));
  InverseFactors<T> result{size, count, Array<T>(count * size * size)};
  for (std::int32_t column = 0; column < count; ++column) {
    std::vector<double> matrix(static_cast<std::size_t>(size * size), 0.0);
    std::visit(
        [&](const auto& x) {
          add_weighted_gram(context, x, rows, bias, curvatures.d.data + column, curvatures.d.stride, matrix);
        },
        dataset.x);
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
