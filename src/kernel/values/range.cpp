#include "kernel/values/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf::kernel {
namespace {

constexpr double sums = 16;  // of a few such values: differences from offsets, |x|^2 + |y|^2 - 2 x'y
constexpr std::int64_t row_grain = 256;

template <class T>
std::span<const T> row_of(const DenseMatrix<T>& x, std::int64_t i) {
  return x.values.span().subspan(static_cast<std::size_t>(i * x.columns), static_cast<std::size_t>(x.columns));
}
template <class T>
std::span<const T> row_of(const SparseMatrix<T>& x, std::int64_t i) {
  return x.values.span().subspan(static_cast<std::size_t>(x.offsets[i]),
                                 static_cast<std::size_t>(x.offsets[i + 1] - x.offsets[i]));
}
template <class T>
std::int64_t column_of(const DenseMatrix<T>& /*x*/, std::int64_t /*row*/, std::int64_t entry) {
  return entry;
}
template <class T>
std::int64_t column_of(const SparseMatrix<T>& x, std::int64_t row, std::int64_t entry) {
  return x.indices[x.offsets[row] + entry];
}

template <class T>
double square_of(std::span<const T> row) {
  double sum = 0;
  for (const T value : row) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// Whether values of rows of such squared norms are numbers, whatever their angle.
bool fit(const KernelParams& kernel, double square, double other) {
  constexpr double most = std::numeric_limits<double>::max() / sums;
  constexpr double most_kept = std::numeric_limits<float>::max() / sums;
  const double product = std::sqrt(square) * std::sqrt(other);
  switch (kernel.type) {
    case KernelType::linear:
      return product <= most_kept;
    case KernelType::polynomial:
      return std::pow(std::abs(kernel.gamma) * product + std::abs(kernel.coef0), kernel.degree) <= most_kept;
    case KernelType::sigmoid:
      return product <= most && std::abs(kernel.gamma) * product <= most;
    default:
      return square + other <= most && kernel.gamma * (square + other) <= most;
  }
}

template <class Rows>
std::vector<double> squares_of(const Rows& x, std::span<const std::int32_t> rows, int threads) {
  const auto count = rows.empty() ? x.rows : std::ssize(rows);
  std::vector<double> squares(static_cast<std::size_t>(count));
  parallel_ranges(threads, count, row_grain, [&](Range range) {
    for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k)
      squares[k] = square_of(row_of(x, rows.empty() ? static_cast<std::int64_t>(k) : rows[k]));
  });
  return squares;
}

template <class T, class Rows>
[[noreturn]] void fail_row(const Dataset<T>& dataset, const Rows& x, std::int64_t row, const KernelParams& kernel) {
  const auto values = row_of(x, row);
  const auto largest =
      std::max_element(values.begin(), values.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
  fail(
      "{}: row {}, feature {} is {}; values of the {} overflow: scale the features (--scale standard), or mark values "
      "that stand for missing ones as such",
      dataset.source, row + 1, dataset.feature_name(column_of(x, row, largest - values.begin())), *largest,
      kernel_function(kernel.type).title);
}

/// The kernel is in the file.
template <class T, class Rows>
void check_precomputed(const Dataset<T>& dataset, const Rows& x, std::span<const std::int32_t> rows) {
  constexpr double most = std::numeric_limits<float>::max() / sums;
  const auto count = rows.empty() ? x.rows : std::ssize(rows);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto row = rows.empty() ? k : rows[static_cast<std::size_t>(k)];
    const auto values = row_of(x, row);
    for (std::size_t e = 0; e < values.size(); ++e)
      if (!(std::abs(static_cast<double>(values[e])) <= most))
        fail("{}: row {}, column {} is {}; kernel values of at most {:.2g} are expected", dataset.source, row + 1,
             column_of(x, row, static_cast<std::int64_t>(e)) + 1, values[e], most);
  }
}

}  // namespace

template <class T>
double largest_square(const Matrix<T>& x, int threads) {
  return std::visit(
      [&](const auto& matrix) {
        const auto squares = squares_of(matrix, {}, threads);
        return squares.empty() ? 0.0 : *std::max_element(squares.begin(), squares.end());
      },
      x);
}

template <class T>
void check_kernel_values(const Dataset<T>& dataset, std::span<const std::int32_t> rows, const KernelParams& kernel,
                         double other_square, int threads) {
  std::visit(
      [&](const auto& x) {
        if (kernel.type == KernelType::precomputed) return check_precomputed(dataset, x, rows);
        const auto squares = squares_of(x, rows, threads);
        const auto largest = std::max_element(squares.begin(), squares.end());
        if (largest == squares.end() || fit(kernel, *largest, other_square < 0 ? *largest : other_square)) return;
        const auto place = largest - squares.begin();
        fail_row(dataset, x, rows.empty() ? place : rows[static_cast<std::size_t>(place)], kernel);
      },
      dataset.x);
}

template double largest_square(const Matrix<float>&, int);
template double largest_square(const Matrix<double>&, int);
template void check_kernel_values(const Dataset<float>&, std::span<const std::int32_t>, const KernelParams&, double,
                                  int);
template void check_kernel_values(const Dataset<double>&, std::span<const std::int32_t>, const KernelParams&, double,
                                  int);

}  // namespace sheaf::kernel
