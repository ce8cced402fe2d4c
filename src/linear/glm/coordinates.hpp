// Coordinates in which a block of generalised linear models is well conditioned: w = B v with B B' near the inverse of
// the Hessian, c X'X / n + alpha with c the curvature of the loss in the model without features.
//   few features, one alpha        B = L^-T from c X'X / n + alpha = L L' (Cholesky); after some steps of a single
//   task,
//                                  one for each of its columns, from X'DX + alpha with the curvatures D where it is
//   few features, several alphas   B = V diag(c l + alpha)^-1/2 from X'X / n = V diag(l) V', which one decomposition
//                                  gives for all tasks, at twenty times the cost of the other
//   many features                  B = diag(c d + alpha)^-1/2 with the diagonal d of X'X / n
#pragma once

#include <span>
#include <vector>

#include "linear/glm/objective.hpp"

namespace sheaf::linear {

/// Whether features are made uncorrelated rather than scaled; `columns`: of all models of the block.
bool decorrelates(std::int64_t weights, std::int64_t examples, std::int64_t columns);

template <class T>
class Coordinates {
 public:
  /// For `tasks` of the sheaf, in the order of the blocks. `renews`: the solver calls renew() if it may.
  Coordinates(const Context& context, const Dataset<T>& dataset, const Objective<T>& objective,
              std::span<const std::int32_t> tasks, bool renews = false);

  /// w = B v.
  void to_weights(const Block<T>& v, Block<T>& w);
  /// v = B' g.
  void from_gradient(const Block<T>& g, Block<T>& v);
  /// Keeps these columns of all blocks alone.
  void keep(std::span<const std::int32_t> columns);
  /// Whether renew() is for this task, and worth its time.
  bool renewable() const { return renewable_; }
  /// The steps to take before, in coordinates that do not depend on the targets.
  int renew_after() const;
  /// Coordinates for where the task is now; `second`, the second derivatives there, is lost.
  void renew(const Context& context, Block<T>& second);

 private:
  /// X'X / n, or an estimate from some of the rows, for blocks of `columns` columns.
  std::vector<double> products_of_features(const Context& context, const Dataset<T>& dataset,
                                           std::int64_t columns) const;
  bool worth_renewing(const Context& context) const;
  /// Rows that a sum over all is estimated from: for some steps, or for all that are to come.
  std::int64_t few_rows() const;
  std::int64_t enough_rows(std::int64_t columns) const;
  std::vector<double> decompose(std::vector<double> matrix, int threads);
  std::vector<double> diagonal() const;
  void set_matrix(const std::vector<double>& matrix, int threads);

  const Objective<T>& objective_;
  LinearOps<T>& ops_;
  bool renewable_ = false;
  InverseFactors<T> renewed_;  // for each column; of size 0 before renew()
  DenseMatrix<T> matrix_;      // V' or L^-1, a row for each coordinate; no rows: the coordinates are scaled weights
  Block<T> scale_;             // the roots: weights x columns; no rows with L^-1
  Block<T> scaled_;            // scratch
};

}  // namespace sheaf::linear
