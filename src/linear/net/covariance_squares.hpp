// Squared losses of few features. With the products H = X'SX / S and p = X'Sy / S of all features, g = p - Hw and the
// loss (y'Sy / S - w'p - w'g) / 2 take the place of everything that visits rows.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linear/net/covariance_columns.hpp"
#include "linear/net/covariance_quadratic.hpp"
#include "linear/net/covariance_rows.hpp"

namespace sheaf::linear::covariance {

class KnownSquares {
 public:
  /// All features are members of the model, whose products are found.
  template <class T>
  void begin(const ColumnProducts<T>& x, const SharedProducts& shared, const ModelTask<T>& task, RowValues<T>& rows,
             MemberModel<T>& q, std::vector<double>& scratch) {
    const double total = task.total;
    double sum = 0;
    for (std::size_t i = 0; i < rows.targets.size(); ++i) sum += rows.weights[i] * rows.targets[i];
    fill_products(x, shared, rows.weights, total, q, scratch);
    mean_target_ = task.intercept ? sum / total : 0;
    squares_ = 0;
    for (std::size_t i = 0; i < rows.targets.size(); ++i) {
      const double away = rows.targets[i] - mean_target_;
      rows.residuals[i] = rows.weights[i] * away;
      squares_ += rows.residuals[i] * away;
    }
    squares_ /= total;
    pulls_.resize(q.size());
    x.multiply(q.members, rows.residuals.data(), pulls_.data());
    for (double& pull : pulls_) pull /= total;
  }
  /// The gradient, the intercept and the loss at these weights.
  template <class T>
  void refresh(std::span<const double> w, std::span<double> g, RowValues<T>& rows, const MemberModel<T>& q) {
    const std::size_t size = q.size();
    left_.assign(pulls_.begin(), pulls_.end());
    for (std::size_t b = 0; b < size; ++b) {
      const double weight = w[at(q.members[b])];
      if (weight == 0) continue;
      const double* row = q.matrix.get() + b * q.stride;
      for (std::size_t a = 0; a < size; ++a) left_[a] -= weight * row[a];
    }
    double with_pulls = 0, with_rest = 0;
    rows.intercepts[0] = mean_target_;
    for (std::size_t a = 0; a < size; ++a) {
      const double weight = w[at(q.members[a])];
      g[at(q.members[a])] = left_[a];
      with_pulls += weight * pulls_[a];
      with_rest += weight * left_[a];
      rows.intercepts[0] -= weight * q.means[a];
    }
    rows.loss = std::max(0.0, (squares_ - with_pulls - with_rest) / 2);
    explained_ = with_pulls;
  }
  /// What the weights do not explain of the targets' squares.
  double unexplained() const { return squares_ - explained_; }

 private:
  std::vector<double> pulls_;  // of the targets
  std::vector<double> left_;   // of them, at the present weights
  double mean_target_ = 0, squares_ = 0, explained_ = 0;
};

}  // namespace sheaf::linear::covariance
