#include "linear/products/blas_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <cblas.h>

#include <sheaf/error.hpp>

#include "core/blas_threads.hpp"
#include "core/parallel.hpp"
#include "linear/products/products_cpu.hpp"

/// LAPACK, which OpenBLAS brings along and has no header for.
extern "C" {
void dsyevd_(const char* job, const char* part, const int* size, double* matrix, const int* stride, double* values,
             double* work, const int* work_size, int* whole, const int* whole_size, int* info);
void dpotrf_(const char* part, const int* size, double* matrix, const int* stride, int* info);
void dpstrf_(const char* part, const int* size, double* matrix, const int* stride, int* pivots, int* rank,
             const double* tolerance, double* work, int* info);
void dtrtri_(const char* part, const char* diagonal, const int* size, double* matrix, const int* stride, int* info);
}

namespace sheaf::linear::cpu {
namespace {

// c (m x n) = op(a) b for row-major operands. One column is a matrix-vector product, which OpenBLAS's gemm does badly.
void gemm(CBLAS_TRANSPOSE transpose, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, float* c) {
  const auto rows = static_cast<int>(transpose == CblasTrans ? k : m);
  const auto columns = static_cast<int>(transpose == CblasTrans ? m : k);
  const auto width = static_cast<int>(n);
  const auto stride = static_cast<int>(std::max<std::int64_t>(lda, 1));  // 0 of a matrix without columns
  if (n == 1)
    cblas_sgemv(CblasRowMajor, transpose, rows, columns, 1, a, stride, b, 1, 0, c, 1);
  else
    cblas_sgemm(CblasRowMajor, transpose, CblasNoTrans, static_cast<int>(m), width, static_cast<int>(k), 1, a, stride,
                b, width, 0, c, width);
}
void gemm(CBLAS_TRANSPOSE transpose, std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
          const double* b, double* c) {
  const auto rows = static_cast<int>(transpose == CblasTrans ? k : m);
  const auto columns = static_cast<int>(transpose == CblasTrans ? m : k);
  const auto width = static_cast<int>(n);
  const auto stride = static_cast<int>(std::max<std::int64_t>(lda, 1));  // 0 of a matrix without columns
  if (n == 1)
    cblas_dgemv(CblasRowMajor, transpose, rows, columns, 1, a, stride, b, 1, 0, c, 1);
  else
    cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, static_cast<int>(m), width, static_cast<int>(k), 1, a, stride,
                b, width, 0, c, width);
}

// c (m x n) = a' b for k rows of a row-major matrix, some of whose columns are a and some b.
void gemm_of_columns(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b, std::int64_t pitch,
                     float* c) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1,
              a, static_cast<int>(pitch), b, static_cast<int>(pitch), 0, c, static_cast<int>(n));
}
void gemm_of_columns(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
                     std::int64_t pitch, double* c) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1,
              a, static_cast<int>(pitch), b, static_cast<int>(pitch), 0, c, static_cast<int>(n));
}

// Parts are fixed by the shape alone. OpenBLAS packs its operands again for each part, so that none is small.
constexpr std::int64_t most_parts = 16;

/// out = X b, by parts of the rows.
template <class T>
void plain_product(const DenseMatrix<T>& x, BlockView<const T> b, BlockView<T> out, int threads) {
  const auto parts = std::clamp<std::int64_t>(x.rows / 128, 1, 4 * most_parts);
  parallel_for(threads, parts, [&](std::int64_t part) {
    const Range rows = part_of(x.rows, parts, part);
    gemm(CblasNoTrans, rows.end - rows.begin, out.stride, x.columns, x.values.data() + rows.begin * x.columns,
         x.columns, b.data, out.data + rows.begin * out.stride);
  });
}

/// out = X' b, by parts of the columns.
template <class T>
void by_columns(const DenseMatrix<T>& x, BlockView<const T> b, BlockView<T> out, std::int64_t parts, int threads) {
  parallel_for(threads, parts, [&](std::int64_t part) {
    const Range columns = part_of(x.columns, parts, part);
    gemm(CblasTrans, columns.end - columns.begin, out.stride, x.rows, x.values.data() + columns.begin, x.columns,
         b.data, out.data + columns.begin * out.stride);
  });
}

/// out = X' b, by parts of the rows, whose sums are added in order.
template <class T>
void by_rows(const DenseMatrix<T>& x, BlockView<const T> b, BlockView<T> out, std::int64_t parts, int threads) {
  const std::int64_t size = x.columns * out.stride;
  Array<T> sums(parts * size);
  parallel_for(threads, parts, [&](std::int64_t part) {
    const Range rows = part_of(x.rows, parts, part);
    gemm(CblasTrans, x.columns, out.stride, rows.end - rows.begin, x.values.data() + rows.begin * x.columns, x.columns,
         b.data + rows.begin * b.stride, sums.data() + part * size);
  });
  add_parts(sums.data(), parts, size, out.data, threads);
}

}  // namespace

template <class T>
void blas_product(const DenseMatrix<T>& x, bool transposed, BlockView<const T> b, BlockView<T> out, int threads) {
  if ((transposed ? x.rows : x.columns) == 0) {  // BLAS leaves the result of a product of nothing as it is
    std::fill_n(out.data, out.rows * out.stride, T(0));
    return;
  }
  const BlasThreads blas(over_openmp() ? threads : 1);
  const int team = over_openmp() ? 1 : team_for(threads, x.rows * x.columns);
  if (!transposed) return plain_product(x, b, out, team);
  // Vectors go by rows always: OpenBLAS is slow with some columns of a matrix. Else whichever parts are more.
  const auto of_columns = std::clamp<std::int64_t>(x.columns / 256, 1, most_parts);
  const auto of_rows = std::clamp<std::int64_t>(x.rows / (b.stride > 1 ? 512 : 64), 1, most_parts);
  if (b.stride > 1 && of_columns >= of_rows)
    by_columns(x, b, out, of_columns, team);
  else
    by_rows(x, b, out, of_rows, team);
}

template <class T>
void add_blas_gram(const DenseMatrix<T>& x, Range rows, double* out, std::int64_t pitch, int threads) {
  constexpr std::int64_t height = 128;  // rows of `out` that one thread computes at once
  const std::int64_t parts = (x.columns + height - 1) / height;
  const BlasThreads blas(over_openmp() ? threads : 1);
  const int team = over_openmp() ? 1 : team_for(threads, (rows.end - rows.begin) * x.columns * height);
  parallel_for(team, parts, [&](std::int64_t part) {
    const Range mine{part * height, std::min((part + 1) * height, x.columns)};
    const T* from = x.values.data() + rows.begin * x.columns;
    Array<T> products((mine.end - mine.begin) * mine.end);
    gemm_of_columns(mine.end - mine.begin, mine.end, rows.end - rows.begin, from + mine.begin, from, x.columns,
                    products.data());
    for (std::int64_t j = mine.begin; j < mine.end; ++j)
      for (std::int64_t k = 0; k <= j; ++k)
        out[j * pitch + k] += static_cast<double>(products[(j - mine.begin) * mine.end + k]);
  });
}

namespace {

/// Rows of X with the bias, each times the root of its d.
template <class T>
class ScaledRows {
 public:
  ScaledRows(const DenseMatrix<T>& x, std::span<const std::int32_t> rows, T bias, const T* d, std::int64_t stride)
      : x_(x), rows_(rows), bias_(bias), d_(d), stride_(stride) {}
  std::int64_t count() const { return rows_.empty() ? x_.rows : std::ssize(rows_); }
  std::int64_t width() const { return x_.columns + (bias_ > 0 ? 1 : 0); }
  void copy(Range range, T* to) const {
    for (std::int64_t r = range.begin; r < range.end; ++r, to += width()) {
      const std::int64_t i = rows_.empty() ? r : rows_[static_cast<std::size_t>(r)];
      const T root = std::sqrt(std::max(d_[i * stride_], T(0)));
      const T* row = x_.values.data() + i * x_.columns;
      for (std::int64_t j = 0; j < x_.columns; ++j) to[j] = root * row[j];
      if (bias_ > 0) to[x_.columns] = root * bias_;
    }
  }

 private:
  const DenseMatrix<T>& x_;
  std::span<const std::int32_t> rows_;
  T bias_;
  const T* d_;
  std::int64_t stride_;
};

}  // namespace

template <class T>
void add_narrow_gram(const Context& context, const CopiedRows<T>& rows, double* out) {
  constexpr std::int64_t height = 256;  // rows that are copied at once
  const std::int64_t size = rows.width * rows.width;
  const auto parts = std::clamp<std::int64_t>(rows.count / (8 * height), 1, 64);
  Array<double> sums(parts * size);
  const BlasThreads blas(1);
  const int team = over_openmp() ? 1 : team_for(context.threads(), rows.count * size);
  parallel_for(team, parts, [&](std::int64_t part) {
    const Range mine = part_of(rows.count, parts, part);
    Array<T> copies(height * rows.width);
    Array<T> products(size);
    double* sum = sums.data() + part * size;
    std::fill_n(sum, size, 0.0);
    for (std::int64_t first = mine.begin; first < mine.end; first += height) {
      const Range some{first, std::min(first + height, mine.end)};
      rows.copy(some, copies.data());
      gemm_of_columns(rows.width, rows.width, some.end - some.begin, copies.data(), copies.data(), rows.width,
                      products.data());
      for (std::int64_t e = 0; e < size; ++e) sum[e] += static_cast<double>(products[e]);
    }
  });
  for (std::int64_t e = 0; e < sums.size(); ++e) out[e % size] += sums[e];
}

template <class T>
void add_weighted_gram(const Context& context, const DenseMatrix<T>& x, std::span<const std::int32_t> rows, T bias,
                       const T* d, std::int64_t stride, std::vector<double>& out) {
  constexpr std::int64_t height = 4096;
  const ScaledRows<T> scaled(x, rows, bias, d, stride);
  if (scaled.width() <= few_columns)
    return add_narrow_gram<T>(
        context, {scaled.count(), scaled.width(), [&](Range range, T* to) { scaled.copy(range, to); }}, out.data());
  DenseMatrix<T> copies{0, scaled.width(), Array<T>(std::min(height, scaled.count()) * scaled.width())};
  for (std::int64_t first = 0; first < scaled.count(); first += height) {
    context.check_stop();
    copies.rows = std::min(height, scaled.count() - first);
    parallel_parts(team_for(context.threads(), copies.rows * copies.columns), copies.rows, [&](Range range) {
      scaled.copy({first + range.begin, first + range.end}, copies.values.data() + range.begin * copies.columns);
    });
    add_blas_gram(copies, {0, copies.rows}, out.data(), copies.columns, context.threads());
  }
}

std::vector<double> eigen_decomposition(std::vector<double>& matrix, std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size));
  if (size == 0) return values;
  const BlasThreads blas(1);
  const auto order = static_cast<int>(size);
  const int ask = -1;
  int info = 0;
  int whole_wanted = 0;
  double work_wanted = 0;
  dsyevd_("V", "L", &order, matrix.data(), &order, values.data(), &work_wanted, &ask, &whole_wanted, &ask, &info);
  const auto work_size = static_cast<int>(work_wanted);
  std::vector<double> work(static_cast<std::size_t>(work_size));
  std::vector<int> whole(static_cast<std::size_t>(whole_wanted));
  if (info == 0)
    dsyevd_("V", "L", &order, matrix.data(), &order, values.data(), work.data(), &work_size, whole.data(),
            &whole_wanted, &info);
  if (info != 0) throw Error("the eigenvalues of the features' products were not found; are all features finite?");
  return values;
}

RowCoordinates row_coordinates(std::vector<double>& products, std::int64_t size) {
  RowCoordinates result;
  if (size == 0) return result;
  const BlasThreads blas(1);
  const auto order = static_cast<int>(size);
  const auto n = static_cast<std::size_t>(size);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, products[i * n + i]);
  const double tolerance = largest * static_cast<double>(size) * std::numeric_limits<double>::epsilon();
  std::vector<int> pivots(n);
  std::vector<double> work(2 * n);
  int rank = 0;
  int info = 0;
  dpstrf_("U", &order, products.data(), &order, pivots.data(), &rank, &tolerance, work.data(), &info);
  if (info < 0) throw Error("the products of the rows were not factorised; are all features finite?");
  if (!(largest > 0)) rank = 0;
  result.rank = rank;
  const auto width = static_cast<std::size_t>(rank);
  result.z.assign(n * width, 0.0);
  result.c.assign(n * width, 0.0);
  const auto row = [&](std::size_t i) { return static_cast<std::size_t>(pivots[i] - 1) * width; };
  // U by columns is the lower triangle U' by rows.
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&products[i * n], std::min(i + 1, width), &result.z[row(i)]);
  if (rank > 0) dtrtri_("U", "N", &rank, products.data(), &order, &info);
  for (std::size_t j = 0; j < width; ++j)
    for (std::size_t i = 0; i <= j; ++i) result.c[row(i) + j] = products[j * n + i];
  return result;
}

std::vector<double> inverse_cholesky_factor(std::vector<double>& matrix, std::int64_t size, int threads) {
  constexpr std::int64_t width = 64;  // of the blocks that the matrix is worked through in
  const BlasThreads blas(over_openmp() ? threads : 1);
  const int team = over_openmp() ? 1 : threads;
  const std::int64_t blocks = (size + width - 1) / width;
  const auto stride = static_cast<int>(size);
  const auto at = [&](std::int64_t i, std::int64_t j) { return matrix.data() + i * width * size + j * width; };
  const auto height = [&](std::int64_t i) { return static_cast<int>(std::min(width, size - i * width)); };
  for (std::int64_t k = 0; k < blocks; ++k) {
    int info = 0;
    const int order = height(k);
    dpotrf_("U", &order, at(k, k), &stride, &info);  // a lower triangle by rows is LAPACK's upper one, by columns
    if (info != 0) return {};
    parallel_for(team, blocks - k - 1, [&](std::int64_t below) {
      const std::int64_t i = k + 1 + below;
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, height(i), order, 1, at(k, k),
                  stride, at(i, k), stride);
    });
    parallel_for(team, blocks - k - 1, [&](std::int64_t below) {
      const std::int64_t i = k + 1 + below;
      const auto columns = static_cast<int>(std::min((i + 1) * width, size) - (k + 1) * width);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, height(i), columns, order, -1, at(i, k), stride,
                  at(k + 1, k), stride, 1, at(i, k + 1), stride);
    });
  }
  // Some columns of the identity at a time become those of the inverse; they begin with the rows of their own block.
  std::vector<double> inverse(matrix.size(), 0.0);
  parallel_for(team, blocks, [&](std::int64_t k) {
    double* columns = inverse.data() + k * width * size + k * width;
    for (std::int64_t j = 0; j < height(k); ++j) columns[j * size + j] = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(size - k * width),
                height(k), 1, at(k, k), stride, columns, stride);
  });
  return inverse;
}

template void blas_product(const DenseMatrix<float>&, bool, BlockView<const float>, BlockView<float>, int);
template void blas_product(const DenseMatrix<double>&, bool, BlockView<const double>, BlockView<double>, int);
template void add_weighted_gram(const Context&, const DenseMatrix<float>&, std::span<const std::int32_t>, float,
                                const float*, std::int64_t, std::vector<double>&);
template void add_weighted_gram(const Context&, const DenseMatrix<double>&, std::span<const std::int32_t>, double,
                                const double*, std::int64_t, std::vector<double>&);
template void add_narrow_gram(const Context&, const CopiedRows<float>&, double*);
template void add_narrow_gram(const Context&, const CopiedRows<double>&, double*);
template void add_blas_gram(const DenseMatrix<float>&, Range, double*, std::int64_t, int);
template void add_blas_gram(const DenseMatrix<double>&, Range, double*, std::int64_t, int);

}  // namespace sheaf::linear::cpu
