// The Cholesky decomposition of a small symmetric matrix in CPU memory that may be singular: a row that depends on the
// rows before it is left out, and its solution is 0, as R's glm leaves out collinear features.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sheaf::linear {

class Cholesky {
 public:
  /// `matrix`: size x size. Rows are taken in this `order`. A row is left out if less than `tolerance` of its diagonal
  /// element is left.
  Cholesky(std::span<const double> matrix, std::vector<std::size_t> order, double tolerance)
      : order_(std::move(order)), lower_(matrix.size(), 0.0), left_out_(order_.size(), 0) {
    const std::size_t size = order_.size();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) at(i, j) = matrix[order_[i] * size + order_[j]];
      const double whole = at(i, i);
      for (std::size_t j = 0; j < i; ++j) {
        for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
        at(i, j) = left_out_[j] != 0 ? 0.0 : at(i, j) / at(j, j);
        at(i, i) -= at(i, j) * at(i, j);
      }
      left_out_[i] = at(i, i) > tolerance * whole ? 0 : 1;
      at(i, i) = left_out_[i] != 0 ? 1.0 : std::sqrt(at(i, i));
    }
  }

  std::size_t size() const { return order_.size(); }
  /// Whether a row of the matrix was left out.
  std::vector<std::uint8_t> left_out() const {
    std::vector<std::uint8_t> result(size(), 0);
    for (std::size_t i = 0; i < size(); ++i) result[order_[i]] = left_out_[i];
    return result;
  }
  /// x with matrix x = b.
  std::vector<double> solve(std::span<const double> b) const {
    std::vector<double> y(size());
    for (std::size_t i = 0; i < size(); ++i) {
      y[i] = left_out_[i] != 0 ? 0.0 : b[order_[i]];
      for (std::size_t k = 0; k < i && left_out_[i] == 0; ++k) y[i] -= at(i, k) * y[k];
      y[i] /= at(i, i);
    }
    for (std::size_t i = size(); i-- > 0;) {
      for (std::size_t k = i + 1; k < size(); ++k) y[i] -= left_out_[i] != 0 ? 0.0 : at(k, i) * y[k];
      y[i] /= at(i, i);
    }
    std::vector<double> x(size());
    for (std::size_t i = 0; i < size(); ++i) x[order_[i]] = y[i];
    return x;
  }
  /// The inverse, size x size; rows and columns that were left out are 0.
  std::vector<double> inverse() const {
    std::vector<double> result;
    for (std::size_t j = 0; j < size(); ++j) {
      std::vector<double> unit(size(), 0.0);
      unit[j] = 1;
      const auto row = solve(unit);
      result.insert(result.end(), row.begin(), row.end());
    }
    return result;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return lower_[i * order_.size() + j]; }
  double at(std::size_t i, std::size_t j) const { return lower_[i * order_.size() + j]; }

  std::vector<std::size_t> order_;
  std::vector<double> lower_;
  std::vector<std::uint8_t> left_out_;
};

}  // namespace sheaf::linear
