// SVMs by plain loops in double: kernels, dual objectives and optimality, from the definitions and nothing
// of ours.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <sheaf/solvers/svm.hpp>

namespace sheaf::test {

using Rows = std::vector<std::vector<double>>;

template <class T>
Rows rows_of(const Dataset<T>& dataset) {
  Rows rows(static_cast<std::size_t>(dataset.rows()),
            std::vector<double>(static_cast<std::size_t>(dataset.features())));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        rows[i][j] = static_cast<double>(dense->values[row * dense->columns + static_cast<std::int64_t>(j)]);
    } else {
      const auto& sparse = std::get<SparseMatrix<T>>(dataset.x);
      for (std::int64_t k = sparse.offsets[row]; k < sparse.offsets[row + 1]; ++k)
        rows[i][static_cast<std::size_t>(sparse.indices[k])] = static_cast<double>(sparse.values[k]);
    }
  }
  return rows;
}

/// Row `second` of the training rows may be requested by number if the kernel is precomputed.
inline double kernel_of(const KernelParams& kernel, const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t second) {
  if (kernel.type == KernelType::precomputed) return a[second];
  double dot = 0;
  double distance = 0;
  for (std::size_t j = 0; j < std::max(a.size(), b.size()); ++j) {
    const double x = j < a.size() ? a[j] : 0;
    const double y = j < b.size() ? b[j] : 0;
    dot += x * y;
    distance += (x - y) * (x - y);
  }
  switch (kernel.type) {
    case KernelType::polynomial:
      return std::pow(kernel.gamma * dot + kernel.coef0, kernel.degree);
    case KernelType::rbf:
      return std::exp(-kernel.gamma * distance);
    case KernelType::sigmoid:
      return std::tanh(kernel.gamma * dot + kernel.coef0);
    default:
      return dot;
  }
}

struct SvmOptimality {
  double objective = 0;
  double violation = -std::numeric_limits<double>::infinity();
  double sum = 0;  ///< of y alpha
  double sum_positive = 0, sum_negative = 0;
  double outside = 0;             ///< how far an alpha lies outside its bounds
  double largest = 0;             ///< alpha
  std::vector<double> decisions;  ///< of all rows, with the SVM's rho
};

/// Optimality of an SVM on the problem of its task. Regression has two alphas a row, of which the smaller is 0.
inline SvmOptimality measure(const Rows& rows, const SvmSheaf& sheaf, const SvmTask& task, const KernelParams& kernel,
                             const SvmFit& fit) {
  const std::size_t n = rows.size();
  std::vector<double> coefficients(n, 0.0);
  const bool nu_svc = sheaf.kind == SvmKind::nu_svc;
  for (std::size_t k = 0; k < fit.svm.rows.size(); ++k)
    coefficients[static_cast<std::size_t>(fit.svm.rows[k])] = fit.svm.coefficients[k];
  SvmOptimality result;
  std::vector<double> g(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      if (coefficients[j] != 0) g[i] += coefficients[j] * kernel_of(kernel, rows[i], rows[j], j);
    result.decisions.push_back(g[i] - fit.svm.rho);
  }
  const bool regression = sheaf.kind == SvmKind::epsilon_svr || sheaf.kind == SvmKind::nu_svr;
  const bool grouped = nu_svc || sheaf.kind == SvmKind::nu_svr;
  double up[2];
  double low[2];
  std::fill_n(up, 2, -std::numeric_limits<double>::infinity());
  std::fill_n(low, 2, std::numeric_limits<double>::infinity());
  const auto add = [&](double sign, double bound, double alpha, double gradient) {
    if (bound == 0) return;
    result.outside = std::max({result.outside, -alpha, alpha - bound});
    result.largest = std::max(result.largest, alpha);
    (sign > 0 ? result.sum_positive : result.sum_negative) += alpha;
    const int group = grouped && sign < 0 ? 1 : 0;
    const double slack = 1e-9 * bound;  // nu_svc: bounds are scaled too
    const bool below = alpha < bound - slack;
    const bool above = alpha > slack;
    if (sign > 0 ? below : above) up[group] = std::max(up[group], -gradient);
    if (sign > 0 ? above : below) low[group] = std::min(low[group], -gradient);
  };
  for (std::size_t i = 0; i < n; ++i) {
    double weight = 1;
    if (!sheaf.row_weights.empty())
      weight = static_cast<double>(
          sheaf.row_weights[i * static_cast<std::size_t>(sheaf.weight_columns) + static_cast<std::size_t>(task.rows)]);
    result.objective += coefficients[i] * g[i] / 2;
    result.sum += coefficients[i];
    if (regression) {
      const double z = sheaf.values[i];
      const double tube = sheaf.kind == SvmKind::epsilon_svr ? task.epsilon : 0;
      const double bound = weight * task.cost_positive;
      // In a nu problem both alphas of a row may be positive; their difference is what an SVM keeps.
      add(1, bound, std::max(coefficients[i], 0.0), g[i] + tube - z);
      add(-1, bound, std::max(-coefficients[i], 0.0), g[i] - tube - z);
      result.objective += tube * std::abs(coefficients[i]) - z * coefficients[i];
    } else if (sheaf.kind == SvmKind::one_class) {
      add(1, weight, coefficients[i], g[i]);
    } else {
      const std::int32_t c = sheaf.classes[i];
      const double y = c == task.positive                                                 ? 1
                       : c >= 0 && (task.negative == SvmTask::rest || c == task.negative) ? -1
                                                                                          : 0;
      if (y == 0) {
        result.outside = std::max(result.outside, std::abs(coefficients[i]));
        continue;
      }
      const double bound = nu_svc ? weight / fit.margin : weight * (y > 0 ? task.cost_positive : task.cost_negative);
      if (!nu_svc) result.objective -= y * coefficients[i];
      add(y, bound, y * coefficients[i], g[i] - (nu_svc ? 0 : y));
    }
  }
  for (int group = 0; group < (grouped ? 2 : 1); ++group)
    result.violation = std::max(result.violation, up[group] - low[group]);
  if (nu_svc) result.violation *= fit.margin;  // the stopping rule applies to the problem before it is scaled
  return result;
}

}  // namespace sheaf::test
