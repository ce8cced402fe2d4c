// Small systems of local models, written once for both backends.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace sheaf::neighbors {

inline constexpr double least_regular = 1e-12;
inline constexpr double hull_tolerance = 1e-10;
inline constexpr int hull_steps = 100000;

/// Factors the lower triangle of the k x k matrix `g` (row-major, `stride`) in place.
SHEAF_HOST_DEVICE inline void factor(double* g, std::int64_t k, std::int64_t stride) {
  for (std::int64_t j = 0; j < k; ++j) {
    double* row = g + j * stride;
    for (std::int64_t c = 0; c <= j; ++c) {
      const double* other = g + c * stride;
      double sum = row[c];
      for (std::int64_t m = 0; m < c; ++m) sum -= row[m] * other[m];
      row[c] = c < j ? sum / other[c] : sqrt(sum > 0 ? sum : 1e-300);
    }
  }
}

/// y of L y = 1, one after the other; take(i, sum of the first i + 1 squares) hears of each.
template <class Take>
SHEAF_HOST_DEVICE void solve_ones(const double* l, std::int64_t k, std::int64_t stride, double* y, const Take& take) {
  double squares = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    double sum = 1;
    for (std::int64_t m = 0; m < i; ++m) sum -= l[i * stride + m] * y[m];
    y[i] = sum / l[i * stride + i];
    squares += y[i] * y[i];
    take(i, squares);
  }
}

/// min a'G a over a >= 0, sum a = 1, by steps along the most violating pair; `a` and `slope` (G a) are memory for k
/// numbers each. Ends when the duality gap is below hull_tolerance of the value.
SHEAF_HOST_DEVICE inline double hull_cost(const double* g, std::int64_t k, std::int64_t stride, double lambda,
                                          double* a, double* slope) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return (i >= j ? g[i * stride + j] : g[j * stride + i]) + (i == j ? lambda : 0.0);
  };
  std::int64_t start = 0;
  for (std::int64_t i = 1; i < k; ++i)
    if (at(i, i) < at(start, start)) start = i;
  for (std::int64_t i = 0; i < k; ++i) {
    a[i] = i == start ? 1 : 0;
    slope[i] = at(i, start);
  }
  double value = at(start, start);
  for (int step = 0; step < hull_steps; ++step) {
    std::int64_t up = 0;
    std::int64_t down = -1;
    for (std::int64_t i = 0; i < k; ++i) {
      if (slope[i] < slope[up]) up = i;
      if (a[i] > 0 && (down < 0 || slope[i] > slope[down])) down = i;
    }
    value = 0;
    for (std::int64_t i = 0; i < k; ++i) value += a[i] * slope[i];
    if (2 * (value - slope[up]) <= hull_tolerance * value || up == down) break;
    const double curve = at(up, up) + at(down, down) - 2 * at(up, down);
    double move = curve > 0 ? (slope[down] - slope[up]) / curve : a[down];
    if (move >= a[down]) move = a[down];
    a[up] += move;
    a[down] = move == a[down] ? 0 : a[down] - move;
    for (std::int64_t i = 0; i < k; ++i) slope[i] += move * (at(i, up) - at(i, down));
  }
  return value;
}

}  // namespace sheaf::neighbors
