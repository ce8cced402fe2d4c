// Ridge regression with each row left out. With r the roots of the weights, S their sum, and X, y less their weighted
// means and times r, the fit is H y, where
//
//     H = r r' / S + X (X'X + alpha I)^-1 X',
//
// and without row i its residual is that of the fit over 1 - H_ii. With X X' = U diag(l) U', where r is an eigenvector
// of the eigenvalue 0, residuals are U diag(alpha / (l + alpha)) U'y, and 1 - H_ii = sum_k U_ik^2 alpha / (l_k + alpha)
// - r_i^2 / S. With X'X = V diag(l) V' and Z = X V, they are y - Z diag(1 / (l + alpha)) Z'y and
// 1 - r_i^2 / S - sum_j Z_ij^2 / (l_j + alpha).
#include <sheaf/solvers/ridge.hpp>

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "linear/newton/row_space.hpp"
#include "linear/products/blas_cpu.hpp"
#include "linear/products/ops.hpp"

namespace sheaf {
namespace {

using linear::cpu::eigen_decomposition;

/// Calls take(feature, value) for the stored entries of a row.
template <class T, class Take>
void for_entries(const Matrix<T>& x, std::int64_t row, const Take& take) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) {
    for (std::int64_t j = 0; j < dense->columns; ++j)
      take(j, static_cast<double>(dense->values[row * dense->columns + j]));
    return;
  }
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  for (auto k = sparse.offsets[row]; k < sparse.offsets[row + 1]; ++k)
    take(std::int64_t{sparse.indices[k]}, static_cast<double>(sparse.values[k]));
}

template <class T>
class LeaveOneOut {
 public:
  LeaveOneOut(const Context& context, const Dataset<T>& dataset, std::span<const double> alphas,
              std::span<const double> weights, bool intercept)
      : context_(context),
        dataset_(dataset),
        alphas_(alphas),
        rows_(dataset.rows()),
        features_(dataset.features()),
        intercept_(intercept),
        roots_(static_cast<std::size_t>(rows_), 1.0),
        means_(static_cast<std::size_t>(features_), 0.0),
        y_(dataset.target.values.begin(), dataset.target.values.end()),
        predictions_(alphas.size() * static_cast<std::size_t>(rows_)) {
    for (std::size_t i = 0; i < weights.size(); ++i) roots_[i] = std::sqrt(weights[i]);
    for (const double root : roots_) sum_ += root * root;
    if (intercept_) centre();
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = (y_[i] - mean_) * roots_[i];
  }

  std::vector<double> run() {
    if (rows_ <= features_)
      by_rows();
    else
      by_features();
    return std::move(predictions_);
  }

 private:
  void centre() {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double weight = roots_[static_cast<std::size_t>(i)] * roots_[static_cast<std::size_t>(i)];
      mean_ += weight * y_[static_cast<std::size_t>(i)];
      for_entries(dataset_.x, i, [&](std::int64_t j, double x) { means_[static_cast<std::size_t>(j)] += weight * x; });
    }
    mean_ /= sum_;
    for (double& mean : means_) mean /= sum_;
  }

  double own_share(std::int64_t row) const {
    const double root = roots_[static_cast<std::size_t>(row)];
    return intercept_ ? root * root / sum_ : 0;
  }

  /// `left`: 1 - H_ii.
  void keep(std::size_t alpha, std::int64_t row, double residual, double left) {
    const auto i = static_cast<std::size_t>(row);
    const double without = left > 0 ? residual / left : residual;
    predictions_[alpha * static_cast<std::size_t>(rows_) + i] = mean_ + (y_[i] - without) / roots_[i];
  }

  /// X X', less means and times roots.
  std::vector<double> products() const {
    Sheaf sheaf;
    const bool sparse = is_sparse(dataset_.x);
    if (intercept_ && !sparse) {
      sheaf.column_transforms = 1;
      sheaf.shifts.assign(means_.begin(), means_.end());
      sheaf.factors.assign(means_.size(), 1.0);
    }
    auto products = linear::row_products(context_, dataset_, sheaf, 0);
    std::vector<double> by_means(static_cast<std::size_t>(rows_), 0.0);
    double squares = 0;
    if (intercept_ && sparse) {
      for (const double mean : means_) squares += mean * mean;
      for (std::int64_t i = 0; i < rows_; ++i)
        for_entries(dataset_.x, i, [&](std::int64_t j, double x) {
          by_means[static_cast<std::size_t>(i)] += means_[static_cast<std::size_t>(j)] * x;
        });
    }
    const auto rows = static_cast<std::size_t>(rows_);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < rows; ++k)
        products[i * rows + k] = (products[i * rows + k] - by_means[i] - by_means[k] + squares) * roots_[i] * roots_[k];
    return products;
  }

  void by_rows() {
    auto vectors = products();
    auto values = eigen_decomposition(vectors, rows_);
    for (double& value : values) value = std::max(value, 0.0);
    const auto rows = static_cast<std::size_t>(rows_);
    std::vector<double> along(rows, 0.0);  // U'y
    for (std::size_t k = 0; k < rows; ++k)
      for (std::size_t i = 0; i < rows; ++i) along[k] += vectors[k * rows + i] * y_[i];
    parallel_for(context_, std::ssize(alphas_), [&](std::int64_t a) {
      const auto alpha = static_cast<std::size_t>(a);
      std::vector<double> residuals(rows, 0.0), left(rows, 0.0);
      for (std::size_t k = 0; k < rows; ++k) {
        const double share = alphas_[alpha] / (values[k] + alphas_[alpha]);
        const double* vector = vectors.data() + k * rows;
        for (std::size_t i = 0; i < rows; ++i) {
          residuals[i] += vector[i] * share * along[k];
          left[i] += vector[i] * vector[i] * share;
        }
      }
      for (std::int64_t i = 0; i < rows_; ++i) {
        const auto at = static_cast<std::size_t>(i);
        keep(alpha, i, residuals[at], left[at] - own_share(i));
      }
    });
  }

  /// Some rows, less means and times roots.
  Dataset<double> some_rows(Range range) const {
    DenseMatrix<double> x{range.end - range.begin, features_, Array<double>((range.end - range.begin) * features_)};
    parallel_ranges(context_, x.rows, 16, [&](Range part) {
      for (auto i = part.begin; i < part.end; ++i) {
        double* to = x.values.data() + i * features_;
        for (std::int64_t j = 0; j < features_; ++j) to[j] = -means_[static_cast<std::size_t>(j)];
        for_entries(dataset_.x, range.begin + i, [&](std::int64_t j, double value) { to[j] += value; });
        const double root = roots_[static_cast<std::size_t>(range.begin + i)];
        for (std::int64_t j = 0; j < features_; ++j) to[j] *= root;
      }
    });
    Dataset<double> some;
    some.x = std::move(x);
    return some;
  }

  template <class Work>
  void for_parts(const Work& work) const {
    constexpr std::int64_t values = std::int64_t{1} << 22;
    const auto step = std::max<std::int64_t>(values / std::max<std::int64_t>(features_, 1), 1);
    for (std::int64_t first = 0; first < rows_; first += step) {
      context_.check_stop();
      const Range range{first, std::min(first + step, rows_)};
      work(range, some_rows(range));
    }
  }

  void by_features() {
    const auto features = static_cast<std::size_t>(features_);
    std::vector<double> vectors(features * features, 0.0), with_y(features, 0.0);
    for_parts([&](Range range, const Dataset<double>& part) {
      const auto products = linear::make_ops<double>(context_, part)->gram(context_);
      for (std::size_t k = 0; k < vectors.size(); ++k) vectors[k] += products[k];
      const auto& x = std::get<DenseMatrix<double>>(part.x);
      for (auto i = range.begin; i < range.end; ++i)
        for (std::size_t j = 0; j < features; ++j)
          with_y[j] +=
              x.values[(i - range.begin) * features_ + static_cast<std::int64_t>(j)] * y_[static_cast<std::size_t>(i)];
    });
    auto values = eigen_decomposition(vectors, features_);
    for (double& value : values) value = std::max(value, 0.0);
    std::vector<double> along(features, 0.0);  // Z'y
    for (std::size_t k = 0; k < features; ++k)
      for (std::size_t j = 0; j < features; ++j) along[k] += vectors[k * features + j] * with_y[j];
    Block<double> basis(features_, static_cast<std::int32_t>(features_));
    for (std::size_t k = 0; k < features; ++k)
      for (std::size_t j = 0; j < features; ++j)
        basis(static_cast<std::int64_t>(j), static_cast<std::int32_t>(k)) = vectors[k * features + j];
    for_parts([&](Range range, const Dataset<double>& part) {
      const auto ops = linear::make_ops<double>(context_, part);
      const auto there = basis.to(ops->device());
      Block<double> product(part.rows(), basis.tasks(), ops->device());
      ops->multiply(there.view(), product.view());
      ops->synchronize();
      const auto z = product.to(Device::cpu());
      parallel_ranges(context_, part.rows(), 16, [&](Range some) {
        for (auto i = some.begin; i < some.end; ++i)
          keep_row(range.begin + i, std::span(&z(i, 0), features), values, along);
      });
    });
  }

  void keep_row(std::int64_t row, std::span<const double> z, const std::vector<double>& values,
                const std::vector<double>& along) {
    for (std::size_t a = 0; a < alphas_.size(); ++a) {
      double fit = 0, share = own_share(row);
      for (std::size_t k = 0; k < z.size(); ++k) {
        const double scaled = z[k] / (values[k] + alphas_[a]);
        fit += scaled * along[k];
        share += scaled * z[k];
      }
      keep(a, row, y_[static_cast<std::size_t>(row)] - fit, 1 - share);
    }
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  std::span<const double> alphas_;
  std::int64_t rows_, features_;
  bool intercept_;
  std::vector<double> roots_;  // of the weights
  std::vector<double> means_;  // of the features
  std::vector<double> y_;      // less its mean and times the roots
  double sum_ = 0;             // of the weights
  double mean_ = 0;            // of the target
  std::vector<double> predictions_;
};

}  // namespace

template <class T>
std::vector<double> ridge_leave_one_out(const Context& context, const Dataset<T>& dataset,
                                        std::span<const double> alphas, std::span<const double> weights,
                                        bool intercept) {
  if (std::ssize(dataset.target.values) != dataset.rows())
    fail_usage("leaving out rows of ridge regression needs a numeric target");
  if (!weights.empty() && std::ssize(weights) != dataset.rows())
    fail_usage("there are {} weights for {} rows", weights.size(), dataset.rows());
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (alphas.empty() || !std::all_of(alphas.begin(), alphas.end(), positive)) fail_usage("alphas are numbers above 0");
  if (!std::all_of(weights.begin(), weights.end(), positive)) fail_usage("weights of rows are numbers above 0");
  if (dataset.rows() < 2) fail_usage("of {} rows none can be left out; 2 or more are needed", dataset.rows());
  return LeaveOneOut<T>(context, dataset, alphas, weights, intercept).run();
}

template std::vector<double> ridge_leave_one_out(const Context&, const Dataset<float>&, std::span<const double>,
                                                 std::span<const double>, bool);
template std::vector<double> ridge_leave_one_out(const Context&, const Dataset<double>&, std::span<const double>,
                                                 std::span<const double>, bool);

}  // namespace sheaf
