// The one-class SVM as a hinge SVM of one class: min over a of w'w / 2, with w = sum of a x, 0 <= a_i <= s_i and the
// a_i summing up to A = nu * (sum of s) (Chou, Lin, Lin 2020 have this dual).
//
// With a penalised bias of value B, the hinge SVM whose rows are all of class +1 has at the cost 1 / t the dual
// min of w'w / 2 + B^2 / 2 (sum of a)^2 - t (sum of a), up to a factor, with the same bounds. Its sum of a is
// continuous and grows with t; where it is A, w is that of the one-class SVM. So t is searched for, sixteen costs side
// by side in one block of the dual solver, and between the two nearest of them variables are mixed so that they sum up
// to A. The bias determines the sum. rho is then the best one for w, a quantile of the decision values, and the duality
// gap is known exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/solvers/linear.hpp>

#include "core/fail.hpp"
#include "data/checks/row_weights.hpp"
#include "data/row_subset.hpp"
#include "linear/model/problem.hpp"

namespace sheaf {
namespace {

constexpr std::int32_t costs_at_once = 16;
constexpr int most_rounds = 8;

/// Weights of features and the sum of the dual variables they come from.
struct Solution {
  double sum = 0;
  std::vector<double> w;
};

template <class T>
class OneClass {
 public:
  OneClass(const Context& context, const Dataset<T>& dataset, const OneClassOptions& options,
           std::span<const float> row_weights)
      : context_(context), dataset_(dataset), options_(options) {
    sheaf_.examples = dataset.rows();
    sheaf_.targets.assign(static_cast<std::size_t>(dataset.rows()), 1.0);
    sheaf_.row_weights.assign(row_weights.begin(), row_weights.end());
    double total = 0;
    double squares = 0;
    std::visit(
        [&](const auto& x) {
          for (std::int64_t i = 0; i < x.rows; ++i) {
            total += weight(i);
            for_row_entries(x, i, [&](std::int64_t, double value) { squares += weight(i) * value * value; });
          }
        },
        dataset.x);
    if (!(total > 0)) fail("{}: there are no rows to train on", dataset.source);
    wanted_ = options.nu * total;
    bias_ = squares > 0 ? std::sqrt(squares / total) : 1;
    dual_.loss = Loss::hinge;
    dual_.stop = StopRule::suboptimality;
    dual_.bias = bias_;
    dual_.max_iterations = options.max_iterations;
    low_ = {0, std::vector<double>(static_cast<std::size_t>(dataset.features()), 0.0)};
    high_ = all_at_their_bounds(total);
  }

  LinearModel run() {
    fit_.gradient_norm = std::numeric_limits<double>::infinity();
    mix();
    // The nearer the levels are to each other, the nearer their solutions must be to the optima.
    dual_.tolerance = options_.tolerance;
    for (int round = 0; round < most_rounds && !fit_.converged; ++round, dual_.tolerance /= costs_at_once)
      narrow(round);
    LinearModel model;
    model.solver = "ONECLASS_SVM";
    model.class_names = {"1", "-1"};
    model.features = dataset_.features();
    model.bias = 1;
    model.weights = std::move(w_);
    model.weights.push_back(-rho_);
    model.feature_names = dataset_.feature_names;
    model.fits = {fit_};
    return model;
  }

 private:
  double weight(std::int64_t i) const {
    return sheaf_.row_weights.empty() ? 1.0 : static_cast<double>(sheaf_.row_weights[static_cast<std::size_t>(i)]);
  }
  /// The level t at this rho: rho plus the bias's share of the decision values.
  double level(double rho) const { return rho + bias_ * bias_ * wanted_; }

  /// The solution at a level from which on nothing changes.
  Solution all_at_their_bounds(double total) {
    Solution solution{total, std::vector<double>(static_cast<std::size_t>(dataset_.features()), 0.0)};
    std::visit(
        [&](const auto& x) {
          for (std::int64_t i = 0; i < x.rows; ++i)
            for_row_entries(x, i, [&](std::int64_t j, double value) {
              solution.w[static_cast<std::size_t>(j)] += weight(i) * value;
            });
        },
        dataset_.x);
    const auto z = decisions(solution.w);
    const double most = z.empty() ? 0 : *std::max_element(z.begin(), z.end());
    low_level_ = level(0);
    high_level_ = std::max(most, 0.0) + bias_ * bias_ * total;
    return solution;
  }

  std::vector<double> decisions(const std::vector<double>& w) const {
    std::vector<double> z(static_cast<std::size_t>(dataset_.rows()), 0.0);
    std::visit(
        [&](const auto& x) {
          for (std::int64_t i = 0; i < x.rows; ++i)
            for_row_entries(x, i, [&](std::int64_t j, double value) {
              z[static_cast<std::size_t>(i)] += value * w[static_cast<std::size_t>(j)];
            });
        },
        dataset_.x);
    return z;
  }

  /// Solves for levels between the nearest two so far; the first time they are spread by factors, since the highest is
  /// far above most solutions.
  void narrow(int round) {
    std::vector<double> levels;
    for (std::int32_t k = 1; k <= costs_at_once; ++k) {
      const double share = round == 0 ? std::exp2(2.0 * (k - costs_at_once)) : k / (costs_at_once + 1.0);
      levels.push_back(low_level_ + share * (high_level_ - low_level_));
    }
    sheaf_.tasks.clear();
    for (const double t : levels) sheaf_.tasks.push_back({0, 0, 1 / t, 1 / t});
    const auto fits = dual_descent(context_, dataset_, sheaf_, dual_);
    for (std::int32_t k = 0; k < costs_at_once; ++k) {
      const double t = levels[static_cast<std::size_t>(k)];
      fit_.iterations += fits.tasks[static_cast<std::size_t>(k)].iterations;
      const double sum = t * static_cast<double>(fits.weights(dataset_.features(), k)) / bias_;
      take(sum <= wanted_, t, sum, fits, k);
    }
    mix();
  }

  /// The solution of level t takes the place of the nearest one on its side if it is nearer.
  void take(bool below, double t, double sum, const Fits<T>& fits, std::int32_t k) {
    Solution& solution = below ? low_ : high_;
    double& nearest = below ? low_level_ : high_level_;
    if (below ? t <= nearest : t >= nearest) return;
    nearest = t;
    solution.sum = sum;
    for (std::size_t j = 0; j < solution.w.size(); ++j)
      solution.w[j] = t * static_cast<double>(fits.weights(static_cast<std::int64_t>(j), k));
  }

  /// w at which the variables sum up to the wanted total, its best rho, and the gap; kept if the gap is the smallest so
  /// far.
  void mix() {
    const double range = high_.sum - low_.sum;
    const double share = range > 0 ? std::clamp((wanted_ - low_.sum) / range, 0.0, 1.0) : 1.0;
    std::vector<double> w(high_.w.size());
    double squares = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] = low_.w[j] + share * (high_.w[j] - low_.w[j]);
      squares += w[j] * w[j];
    }
    const auto z = decisions(w);
    const double rho = quantile(z);
    double primal = squares / 2 - wanted_ * rho;
    for (std::size_t i = 0; i < z.size(); ++i)
      primal += weight(static_cast<std::int64_t>(i)) * std::max(0.0, rho - z[i]);
    const double gap = std::max(primal + squares / 2, 0.0);
    if (gap >= fit_.gradient_norm) return;
    w_ = std::move(w);
    rho_ = rho;
    fit_.objective = primal;
    fit_.gradient_norm = gap;
    fit_.tolerance = options_.tolerance * squares / 2;
    fit_.converged = gap <= fit_.tolerance;
  }

  /// The decision value up to which rows of the wanted weight lie.
  double quantile(const std::vector<double>& z) const {
    std::vector<std::size_t> order(z.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return z[a] < z[b]; });
    double below = 0;
    for (const std::size_t i : order) {
      below += weight(static_cast<std::int64_t>(i));
      if (below >= wanted_) return z[i];
    }
    return order.empty() ? 0 : z[order.back()];
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  const OneClassOptions& options_;
  Sheaf sheaf_;
  DualParams dual_;
  double wanted_ = 0;  // what the variables sum up to
  double bias_ = 1;
  Solution low_, high_;  // their sums are at most and at least what is wanted
  double low_level_ = 0, high_level_ = 0;
  std::vector<double> w_;
  double rho_ = 0;
  TaskFit fit_;
};

}  // namespace

template <class T>
LinearModel train_one_class(const Context& context, const Dataset<T>& dataset, const OneClassOptions& options,
                            std::span<const float> row_weights) {
  if (!(options.nu > 0 && options.nu <= 1)) fail_usage("nu is {}; it must be above 0 and at most 1", options.nu);
  if (!(options.tolerance > 0)) fail_usage("the tolerance must be above 0");
  check_row_weights(row_weights, dataset.rows());
  return OneClass<T>(context, dataset, options, row_weights).run();
}

template LinearModel train_one_class(const Context&, const Dataset<float>&, const OneClassOptions&,
                                     std::span<const float>);
template LinearModel train_one_class(const Context&, const Dataset<double>&, const OneClassOptions&,
                                     std::span<const float>);

}  // namespace sheaf
