// Dense products that OpenBLAS does best. Our own threads share the work and each calls OpenBLAS for its part; the
// number of threads that OpenBLAS has for the rest of the program is as before when a product returns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/parallel.hpp"

namespace sheaf::linear::cpu {

/// out = X b, or X' b, for a block of any number of tasks. The same bits for any number of threads.
template <class T>
void blas_product(const DenseMatrix<T>& x, bool transposed, BlockView<const T> b, BlockView<T> out, int threads);

/// The lower triangle of X'X over some rows is added to `out`, whose rows are `pitch` apart. The same bits for any
/// number of threads.
template <class T>
void add_blas_gram(const DenseMatrix<T>& x, Range rows, double* out, std::int64_t pitch, int threads);

/// The lower triangle of X' diag(d) X over some rows of X, all of them without `rows`, is added to `out`; d has a
/// number for each row of X, `stride` apart, none below 0. X has one more column of the bias, if that is not 0. The
/// same bits for any number of threads.
template <class T>
void add_weighted_gram(const Context& context, const DenseMatrix<T>& x, std::span<const std::int32_t> rows, T bias,
                       const T* d, std::int64_t stride, std::vector<double>& out);

/// Rows of a dense matrix that are made as they are needed: copy(range, to) writes some of them one after another.
template <class T>
struct CopiedRows {
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::function<void(Range range, T* to)> copy;
};
constexpr std::int64_t few_columns = 256;  // that add_narrow_gram() is fast for
/// X'X of few columns, width x width, is added to `out`. The same bits for any number of threads.
template <class T>
void add_narrow_gram(const Context& context, const CopiedRows<T>& rows, double* out);

/// The eigenvalues of a symmetric matrix, ascending; row k of `matrix` becomes the k-th eigenvector. By one thread, so
/// that the bits are always the same.
std::vector<double> eigen_decomposition(std::vector<double>& matrix, std::int64_t size);

/// Rows of fewer coordinates with given inner products G: G = Z Z', and G C = Z. Both are size x rank, in row-major
/// order.
struct RowCoordinates {
  std::int64_t rank = 0;
  std::vector<double> z, c;
};
/// By Cholesky's method with pivots (Higham 1990); rows that depend on others to rounding add no coordinate. `products`
/// is lost. By one thread, so that the bits are always the same.
RowCoordinates row_coordinates(std::vector<double>& products, std::int64_t size);

/// The inverse of the Cholesky factor of a symmetric matrix: a lower triangle in row-major order with zeros above.
/// Empty if the matrix is not positive definite; it is lost. The same bits for any number of threads.
std::vector<double> inverse_cholesky_factor(std::vector<double>& matrix, std::int64_t size, int threads);

}  // namespace sheaf::linear::cpu
