// Paths of elastic nets on few features, one model after another by one thread of a CPU, with products of features in
// place of passes over rows.
//
//   quadratic model at w0:   Q(w) = L(w0) - g'(w - w0) + (w - w0)'H(w - w0) / 2 + penalties of w
//
// with H the products of features under the second derivatives of the loss, centred if there is an intercept. A
// coordinate step on Q costs as many multiplications as there are features in work, whatever the number of rows
// (covariance updates: Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via
// coordinate descent, 2010, section 2.2). Rows are visited once a Newton step: decision values, slopes, X'u.
//
// Differences. H is kept from step to step and from alpha to alpha, scaled, for as long as second derivatives have
// changed so little that steps lead close enough; the gradient is always that of the present weights. Squares of few
// features visit no rows: the products of a fold are those of all rows less the ones that it holds out. Every model
// ends with a duality gap of all features.
//
// The weights of a softmax model of K classes are K features to each feature of the dataset: one quadratic model has
// all of them, with the products under the second derivatives that couple classes (covariance_classes.hpp). glmnet
// takes classes in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "linear/net/model/duality_gap.hpp"
#include "linear/net/model/gap_goal.hpp"
#include "linear/net/model/task.hpp"

namespace sheaf::linear {

/// How the training of one model ended.
struct CovarianceReport {
  RowSums rows;
  FeatureSums features;
  double gap = 0;
  double tolerance = 0;
  std::int32_t epochs = 0;  ///< passes over the features in work, and over the rows
};

/// The models of one path: each begins where the one before ended.
class CovariancePath {
 public:
  CovariancePath() = default;
  CovariancePath(const CovariancePath&) = delete;
  CovariancePath& operator=(const CovariancePath&) = delete;
  virtual ~CovariancePath() = default;

  virtual CovarianceReport solve(double alpha, const GapGoal& goal, std::int32_t max_epochs) = 0;
  /// One weight for each feature or, with several classes, for each feature in each class.
  virtual std::span<const double> weights() const = 0;
  /// One, or one a class; the intercepts of several classes sum to 0.
  virtual std::vector<double> intercepts() const = 0;
  /// x'w of all rows or, with several classes, of all rows in each class. Empty: training visits no rows, and
  /// CovarianceSolver::decide() has decision values.
  virtual std::span<const double> products() = 0;
};

/// Data shared by all paths of a dataset.
template <class T>
class CovarianceSolver {
 public:
  CovarianceSolver() = default;
  CovarianceSolver(const CovarianceSolver&) = delete;
  CovarianceSolver& operator=(const CovarianceSolver&) = delete;
  virtual ~CovarianceSolver() = default;

  /// Whether models of this loss and so many classes are better trained here than on working sets. `ridge`: most
  /// features have weights.
  virtual bool serves(Loss loss, std::int32_t classes, bool ridge, bool grouped) const = 0;
  /// `tasks` are those of all paths: products under the row weights that most have in common are computed once.
  virtual void share(Loss loss, std::span<const ModelTask<T>> tasks) = 0;
  /// `task` is that of the first class, `intercepts` are those without features.
  virtual std::unique_ptr<CovariancePath> path(Loss loss, const ModelTask<T>& task,
                                               std::span<const double> intercepts) const = 0;
  /// Decision values of a few models, one column each, for some rows.
  virtual void decide(std::span<const NetModel> models, std::span<const std::int32_t> rows, BlockView<T> out) const = 0;
};

template <class Set, class T>
std::unique_ptr<CovarianceSolver<T>> make_covariance_solver_for(const Dataset<T>& dataset, int threads);

}  // namespace sheaf::linear
