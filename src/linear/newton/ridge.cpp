// Ridge regression by one eigen decomposition, or Cholesky factor. With r the roots of the weights, S their sum, and X,
// y less their weighted means and times r, weights are (X'X + alpha I)^-1 X'y. The fit is H y, where
//
//     H = r r' / S + X (X'X + alpha I)^-1 X',
//
// and without row i its residual is that of the fit over 1 - H_ii. With X X' = U diag(l) U', where r is an eigenvector
// of the eigenvalue 0, weights are X'U diag(1 / (l + alpha)) U'y, residuals U diag(alpha / (l + alpha)) U'y, and
// 1 - H_ii = sum_k U_ik^2 alpha / (l_k + alpha) - r_i^2 / S. With X'X = V diag(l) V' and Z = X V, weights are
// V diag(1 / (l + alpha)) Z'y, residuals y - Z diag(1 / (l + alpha)) Z'y, and
// 1 - H_ii = 1 - r_i^2 / S - sum_j Z_ij^2 / (l_j + alpha). Without a penalty, eigenvalues that rounding makes of 0 do
// not count, which gives the shortest of all weights that fit best.
#include <sheaf/solvers/ridge.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/row_subset.hpp"
#include "linear/newton/row_space.hpp"
#include "linear/products/blas_cpu.hpp"
#include "linear/products/ops.hpp"

namespace sheaf {
namespace {

using linear::cpu::eigen_decomposition;

/// The rows of ridge regression, less means and times the roots of their weights.
template <class T>
class RidgeRows {
 public:
  RidgeRows(const Context& context, const Dataset<T>& dataset, std::span<const double> weights, bool intercept)
      : context_(context),
        dataset_(dataset),
        rows_(dataset.rows()),
        features_(dataset.features()),
        intercept_(intercept),
        roots_(static_cast<std::size_t>(rows_), 1.0),
        means_(static_cast<std::size_t>(features_), 0.0) {
    for (std::size_t i = 0; i < weights.size(); ++i) roots_[i] = std::sqrt(weights[i]);
    for (const double root : roots_) sum_ += root * root;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t features() const { return features_; }
  double root(std::int64_t row) const { return roots_[static_cast<std::size_t>(row)]; }
  double sum() const { return sum_; }  ///< of the weights
  /// Known after products() or gram().
  const std::vector<double>& means() const { return means_; }
  double own_share(std::int64_t row) const { return intercept_ ? root(row) * root(row) / sum_ : 0; }

  /// Takes its mean from a target, which is returned, and multiplies the rest by the roots.
  double centre_target(std::vector<double>& y) const {
    double mean = 0;
    for (std::size_t i = 0; i < y.size() && intercept_; ++i) mean += roots_[i] * roots_[i] * y[i];
    mean /= sum_;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y[i] - mean) * roots_[i];
    return mean;
  }

  /// X X'.
  std::vector<double> products() {
    centre();
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
        for_row_entries(dataset_.x, i, [&](std::int64_t j, double x) {
          by_means[static_cast<std::size_t>(i)] += means_[static_cast<std::size_t>(j)] * x;
        });
    }
    const auto rows = static_cast<std::size_t>(rows_);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < rows; ++k)
        products[i * rows + k] = (products[i * rows + k] - by_means[i] - by_means[k] + squares) * roots_[i] * roots_[k];
    return products;
  }

  /// X'X, and X'y for each target.
  std::vector<double> gram(const std::vector<std::vector<double>>& targets,
                           std::vector<std::vector<double>>& with_targets) {
    const auto features = static_cast<std::size_t>(features_);
    with_targets.assign(targets.size(), std::vector<double>(features, 0.0));
    const auto width = features_ + std::ssize(targets) + 1;
    const auto* dense = std::get_if<DenseMatrix<T>>(&dataset_.x);
    if (dense != nullptr && context_.device().is_cpu() && width <= linear::cpu::few_columns)
      return gram_at_once(*dense, targets, with_targets);
    centre();
    std::vector<double> gram(features * features, 0.0);
    for_parts([&](Range range, const Dataset<double>& part) {
      const auto products = linear::make_ops<double>(context_, part)->gram(context_);
      for (std::size_t k = 0; k < gram.size(); ++k) gram[k] += products[k];
      const auto& x = std::get<DenseMatrix<double>>(part.x);
      for (std::size_t t = 0; t < targets.size(); ++t)
        for (auto i = range.begin; i < range.end; ++i)
          for (std::size_t j = 0; j < features; ++j)
            with_targets[t][j] += x.values[(i - range.begin) * features_ + static_cast<std::int64_t>(j)] *
                                  targets[t][static_cast<std::size_t>(i)];
    });
    return gram;
  }

  /// X'c.
  std::vector<double> transposed(std::span<const double> c) const {
    std::vector<double> result(static_cast<std::size_t>(features_), 0.0);
    double sum = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double factor = c[static_cast<std::size_t>(i)] * root(i);
      sum += factor;
      for_row_entries(dataset_.x, i,
                      [&](std::int64_t j, double x) { result[static_cast<std::size_t>(j)] += factor * x; });
    }
    for (std::size_t j = 0; j < result.size(); ++j) result[j] -= sum * means_[j];
    return result;
  }

  /// work(range, these rows of X).
  template <class Work>
  void for_parts(const Work& work) const {
    // Cores read a part again while it is in their caches.
    const std::int64_t values = std::int64_t{1} << (context_.device().is_cpu() ? 18 : 22);
    const auto step = std::max<std::int64_t>(values / std::max<std::int64_t>(features_, 1), 1);
    for (std::int64_t first = 0; first < rows_; first += step) {
      context_.check_stop();
      const Range range{first, std::min(first + step, rows_)};
      work(range, some_rows(range));
    }
  }

 private:
  void centre() {
    if (!intercept_) return;
    std::fill(means_.begin(), means_.end(), 0.0);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double weight = root(i) * root(i);
      for_row_entries(dataset_.x, i,
                      [&](std::int64_t j, double x) { means_[static_cast<std::size_t>(j)] += weight * x; });
    }
    for (double& mean : means_) mean /= sum_;
  }

  /// gram() in one pass over the rows, the roots of their weights, which have the sums of the features, beside them.
  /// Products of features less the means of some rows lose no more to rounding than those less the means of all.
  std::vector<double> gram_at_once(const DenseMatrix<T>& x, const std::vector<std::vector<double>>& targets,
                                   std::vector<std::vector<double>>& with_targets) {
    const auto features = static_cast<std::size_t>(features_);
    const auto width = features + targets.size() + 1;
    if (intercept_) sample_means(x);
    const auto copy = [&](Range range, double* to) {
      for (auto i = range.begin; i < range.end; ++i, to += width) {
        const T* values = x.values.data() + i * features_;
        const double own = root(i);
        for (std::size_t j = 0; j < features; ++j) to[j] = (static_cast<double>(values[j]) - means_[j]) * own;
        for (std::size_t t = 0; t < targets.size(); ++t) to[features + t] = targets[t][static_cast<std::size_t>(i)];
        to[width - 1] = own;
      }
    };
    std::vector<double> all(width * width, 0.0);
    linear::cpu::add_narrow_gram<double>(context_, {rows_, static_cast<std::int64_t>(width), copy}, all.data());
    const double* sums = all.data() + (width - 1) * width;
    std::vector<double> gram(features * features);
    for (std::size_t j = 0; j < features; ++j) {
      const double off = intercept_ ? sums[j] / sum_ : 0;  // the mean less that of some rows
      for (std::size_t k = 0; k < features; ++k) gram[j * features + k] = all[j * width + k] - off * sums[k];
      for (std::size_t t = 0; t < targets.size(); ++t)
        with_targets[t][j] = all[(features + t) * width + j] - off * sums[features + t];
      means_[j] += off;
    }
    return gram;
  }
  void sample_means(const DenseMatrix<T>& x) {
    constexpr std::int64_t wanted = 256;  // rows
    const std::int64_t step = std::max<std::int64_t>(rows_ / wanted, 1);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows_; i += step, ++count)
      for (std::size_t j = 0; j < means_.size(); ++j)
        means_[j] += static_cast<double>(x.values[i * features_ + static_cast<std::int64_t>(j)]);
    for (double& mean : means_) mean /= static_cast<double>(count);
  }

  Dataset<double> some_rows(Range range) const {
    DenseMatrix<double> x{range.end - range.begin, features_, Array<double>((range.end - range.begin) * features_)};
    parallel_ranges(context_, x.rows, 16, [&](Range part) {
      for (auto i = part.begin; i < part.end; ++i) {
        double* to = x.values.data() + i * features_;
        for (std::int64_t j = 0; j < features_; ++j) to[j] = -means_[static_cast<std::size_t>(j)];
        for_row_entries(dataset_.x, range.begin + i, [&](std::int64_t j, double value) { to[j] += value; });
        for (std::int64_t j = 0; j < features_; ++j) to[j] *= root(range.begin + i);
      }
    });
    Dataset<double> some;
    some.x = std::move(x);
    return some;
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  std::int64_t rows_, features_;
  bool intercept_;
  std::vector<double> roots_;  // of the weights
  std::vector<double> means_;  // of the features
  double sum_ = 0;
};

/// V'b, one number for each eigenvector; vectors lie one after another.
std::vector<double> along_vectors(const std::vector<double>& vectors, std::span<const double> b) {
  std::vector<double> along(vectors.size() / std::max<std::size_t>(b.size(), 1), 0.0);
  for (std::size_t k = 0; k < along.size(); ++k)
    for (std::size_t i = 0; i < b.size(); ++i) along[k] += vectors[k * b.size() + i] * b[i];
  return along;
}

template <class T>
class LeaveOneOut {
 public:
  LeaveOneOut(const Context& context, const Dataset<T>& dataset, std::span<const double> alphas,
              std::span<const double> weights, bool intercept)
      : context_(context),
        x_(context, dataset, weights, intercept),
        alphas_(alphas),
        y_(dataset.target.values.begin(), dataset.target.values.end()),
        predictions_(alphas.size() * y_.size()) {
    mean_ = x_.centre_target(y_);
  }

  std::vector<double> run() {
    if (x_.rows() <= x_.features())
      by_rows();
    else
      by_features();
    return std::move(predictions_);
  }

 private:
  /// `left`: 1 - H_ii.
  void keep(std::size_t alpha, std::int64_t row, double residual, double left) {
    const auto i = static_cast<std::size_t>(row);
    const double without = left > 0 ? residual / left : residual;
    predictions_[alpha * y_.size() + i] = mean_ + (y_[i] - without) / x_.root(row);
  }

  void by_rows() {
    auto vectors = x_.products();
    auto values = eigen_decomposition(vectors, x_.rows());
    for (double& value : values) value = std::max(value, 0.0);
    const auto rows = y_.size();
    const auto along = along_vectors(vectors, y_);
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
      for (std::int64_t i = 0; i < x_.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        keep(alpha, i, residuals[at], left[at] - x_.own_share(i));
      }
    });
  }

  void by_features() {
    const auto features = static_cast<std::size_t>(x_.features());
    std::vector<std::vector<double>> with_y;
    auto vectors = x_.gram({y_}, with_y);
    auto values = eigen_decomposition(vectors, x_.features());
    for (double& value : values) value = std::max(value, 0.0);
    const auto along = along_vectors(vectors, with_y.front());  // Z'y
    Block<double> basis(x_.features(), static_cast<std::int32_t>(features));
    for (std::size_t k = 0; k < features; ++k)
      for (std::size_t j = 0; j < features; ++j)
        basis(static_cast<std::int64_t>(j), static_cast<std::int32_t>(k)) = vectors[k * features + j];
    x_.for_parts([&](Range range, const Dataset<double>& part) {
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
      double fit = 0, share = x_.own_share(row);
      for (std::size_t k = 0; k < z.size(); ++k) {
        const double scaled = z[k] / (values[k] + alphas_[a]);
        fit += scaled * along[k];
        share += scaled * z[k];
      }
      keep(a, row, y_[static_cast<std::size_t>(row)] - fit, 1 - share);
    }
  }

  const Context& context_;
  RidgeRows<T> x_;
  std::span<const double> alphas_;
  std::vector<double> y_;  // less its mean and times the roots
  double mean_ = 0;        // of the target
  std::vector<double> predictions_;
};

/// 1 / (l + alpha) of each eigenvalue; without a penalty 0 for those that rounding makes of 0.
std::vector<double> inverses(const std::vector<double>& values, double alpha, std::int64_t size) {
  const double largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  const double nothing = alpha > 0 ? 0 : largest * static_cast<double>(size) * std::numeric_limits<double>::epsilon();
  std::vector<double> result;
  for (const double value : values) {
    const double sum = std::max(value, 0.0) + alpha;
    result.push_back(sum > nothing ? 1 / sum : 0);
  }
  return result;
}

/// Weights of many rows under a penalty, by a Cholesky factor; empty if there is none.
std::vector<std::vector<double>> factored_weights(const Context& context, std::vector<double> gram,
                                                  const std::vector<std::vector<double>>& sides, double alpha) {
  const std::size_t size = sides.front().size();
  for (std::size_t j = 0; j < size; ++j) gram[j * size + j] += alpha;
  const auto inverse = linear::cpu::inverse_cholesky_factor(gram, static_cast<std::int64_t>(size), context.threads());
  std::vector<std::vector<double>> result;
  for (std::size_t t = 0; t < sides.size() && !inverse.empty(); ++t) {
    auto& solved = result.emplace_back(size, 0.0);
    for (std::size_t j = 0; j < size; ++j) {
      const double* row = inverse.data() + j * size;
      const double along = std::inner_product(row, row + j + 1, sides[t].begin(), 0.0);
      for (std::size_t k = 0; k <= j; ++k) solved[k] += along * row[k];
    }
  }
  return result;
}

/// For each target its weights.
template <class T>
std::vector<std::vector<double>> ridge_weights(const Context& context, RidgeRows<T>& x,
                                               const std::vector<std::vector<double>>& targets, double alpha) {
  const bool by_rows = x.rows() <= x.features();
  std::vector<std::vector<double>> sides = targets;  // y, or X'y
  auto vectors = by_rows ? x.products() : x.gram(targets, sides);
  std::vector<std::vector<double>> result;
  if (!by_rows && alpha > 0) result = factored_weights(context, vectors, sides, alpha);
  if (!result.empty()) return result;
  const auto values = eigen_decomposition(vectors, by_rows ? x.rows() : x.features());
  const auto factors = inverses(values, alpha, std::max(x.rows(), x.features()));
  for (const auto& side : sides) {
    const auto along = along_vectors(vectors, side);
    std::vector<double> solved(side.size(), 0.0);
    for (std::size_t k = 0; k < along.size(); ++k)
      for (std::size_t i = 0; i < solved.size(); ++i)
        solved[i] += vectors[k * solved.size() + i] * factors[k] * along[k];
    result.push_back(by_rows ? x.transposed(solved) : std::move(solved));
  }
  return result;
}

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

void check_ridge(const Target& target, std::int64_t rows, std::span<const double> weights) {
  if (std::ssize(target.values) != rows) fail_usage("ridge regression needs a numeric target");
  if (!weights.empty() && std::ssize(weights) != rows)
    fail_usage("there are {} weights for {}", weights.size(), counted(rows, "row"));
  if (!std::all_of(weights.begin(), weights.end(), is_positive)) fail_usage("weights of rows are numbers above 0");
}

}  // namespace

template <class T>
std::vector<double> ridge_leave_one_out(const Context& context, const Dataset<T>& dataset,
                                        std::span<const double> alphas, std::span<const double> weights,
                                        bool intercept) {
  check_ridge(dataset.target, dataset.rows(), weights);
  if (alphas.empty() || !std::all_of(alphas.begin(), alphas.end(), is_positive))
    fail_usage("alphas are numbers above 0");
  if (dataset.rows() < 2) fail_usage("of {} rows none can be left out; 2 or more are needed", dataset.rows());
  return LeaveOneOut<T>(context, dataset, alphas, weights, intercept).run();
}

template <class T>
LinearModel train_ridge(const Context& context, const Dataset<T>& dataset, double alpha,
                        std::span<const double> weights, bool intercept) {
  check_ridge(dataset.target, dataset.rows(), weights);
  if (!(alpha >= 0) || !std::isfinite(alpha)) fail_usage("alpha is {}; a number of 0 or more is expected", alpha);
  RidgeRows<T> x(context, dataset, weights, intercept);
  std::vector<std::vector<double>> targets{dataset.target.values};
  for (const auto& column : dataset.target.further) targets.push_back(column.values);
  std::vector<double> means;
  for (auto& target : targets) means.push_back(x.centre_target(target));
  const auto found = ridge_weights(context, x, targets, alpha);
  LinearModel model;
  model.solver = net_solver(Loss::squared, false).name;
  if (targets.size() > 1) model.target_names.push_back(dataset.target.name);
  for (const auto& column : dataset.target.further) model.target_names.push_back(column.name);
  model.features = dataset.features();
  model.feature_names = dataset.feature_names;
  model.columns = static_cast<std::int32_t>(targets.size());
  model.bias = intercept ? 1 : 0;
  for (std::size_t j = 0; j < x.means().size(); ++j)
    for (std::size_t t = 0; t < found.size(); ++t) {
      model.weights.push_back(found[t][j]);
      means[t] -= found[t][j] * x.means()[j];
    }
  if (intercept) model.weights.insert(model.weights.end(), means.begin(), means.end());
  auto& net = model.net.emplace();
  net.alpha = alpha / x.sum();
  net.grouped = targets.size() > 1;
  NetFit fit;
  fit.epochs = 1;
  fit.converged = true;
  net.fits.assign(targets.size(), fit);
  return model;
}

template <class T>
bool prefers_train_ridge(const Dataset<T>& dataset, double alpha) {
  constexpr std::int64_t few_features = 256;  // a product of each with each costs less than steps over the rows
  constexpr std::int64_t few_rows = 200, few_values = 20'000;
  if (alpha == 0 || !dataset.target.further.empty()) return true;
  if (!is_sparse(dataset.x) && dataset.features() <= few_features) return true;
  const bool small = dataset.rows() <= few_rows && dataset.rows() * dataset.features() <= few_values;
  return small && std::is_same_v<T, double>;
}

#define SHEAF_RIDGE(T)                                                                                         \
  template std::vector<double> ridge_leave_one_out(const Context&, const Dataset<T>&, std::span<const double>, \
                                                   std::span<const double>, bool);                             \
  template LinearModel train_ridge(const Context&, const Dataset<T>&, double, std::span<const double>, bool);  \
  template bool prefers_train_ridge(const Dataset<T>&, double);
SHEAF_RIDGE(float)
SHEAF_RIDGE(double)
#undef SHEAF_RIDGE

}  // namespace sheaf
