// Inner products of a few rows less a point, by one core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/matrix.hpp>

#include "core/simd.hpp"

namespace sheaf::neighbors {

class GramCpu {
 public:
  /// For up to `most` rows.
  GramCpu(std::int64_t most, std::int64_t columns)
      : columns_(columns),
        padded_((columns + width - 1) / width * width),
        stride_((most + together - 1) / together * together),
        differences_(static_cast<std::size_t>(stride_ * padded_), 0.0),
        values_(static_cast<std::size_t>(stride_ * stride_), 0.0) {}

  /// The lower triangle of the products of (row - point), for the rows of the list.
  void compute(const DenseMatrix<double>& rows, std::span<const std::int32_t> list, const double* point) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double* from = rows.values.data() + list[i] * columns_;
      double* to = differences_.data() + static_cast<std::int64_t>(i) * padded_;
      for (std::int64_t j = 0; j < columns_; ++j) to[j] = from[j] - point[j];
    }
    for (std::int64_t i = 0; i < std::ssize(list); i += together)
      for (std::int64_t j = 0; j <= i; j += together) put_block(i, j);
  }

  const double* values() const { return values_.data(); }
  std::int64_t stride() const { return stride_; }
  double at(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(i >= j ? i * stride_ + j : j * stride_ + i)];
  }
  /// Row i less the point.
  const double* difference(std::int64_t i) const { return differences_.data() + i * padded_; }

 private:
  static constexpr int width = native_vector_bytes / static_cast<int>(sizeof(double));
  using Lane = Lanes<double, width>;
  /// Rows and columns of the products that are summed side by side.
  static constexpr int together = 4;

  static double total(const Lane& lane) {
    double values[width];
    lane.store(values);
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
  }

  void put_block(std::int64_t i, std::int64_t j) {
    Lane sums[together][together];
    for (auto& row : sums)
      for (auto& sum : row) sum = Lane::zero();
    const double* a = differences_.data() + i * padded_;
    const double* b = differences_.data() + j * padded_;
    for (std::int64_t c = 0; c < padded_; c += width)
      for (int r = 0; r < together; ++r)
        for (int s = 0; s < together; ++s) sums[r][s].add_product(a + r * padded_ + c, b + s * padded_ + c);
    for (int r = 0; r < together; ++r)
      for (int s = 0; s < together; ++s)
        values_[static_cast<std::size_t>((i + r) * stride_ + j + s)] = total(sums[r][s]);
  }

  std::int64_t columns_, padded_, stride_;
  std::vector<double> differences_;  // rows x padded columns
  std::vector<double> values_;
};

}  // namespace sheaf::neighbors
