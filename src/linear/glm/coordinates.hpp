// Coordinates in which a block of generalised linear models is well conditioned: w = B v with B B' near the inverse of
// the Hessian, c X'X / n + alpha with c the curvature of the loss in the model without features.
//   few features, one alpha        B = L^-T from c X'X / n + alpha = L L' (Cholesky)
//   few features, several alphas   B = V diag(c l + alpha)^-1/2 from X'X / n = V diag(l) V', which one decomposition
//                                  gives for all tasks, at twenty times the cost of the other
//   many features                  B = diag(c d + alpha)^-1/2 with the diagonal d of X'X / n
#pragma once

#include <span>
#include <vector>

#include "linear/glm/objective.hpp"

namespace sheaf::linear {

template <class T>
class Coordinates {
 public:
  /// For `tasks` of the sheaf, in the order of the blocks.
  Coordinates(const Context& context, const Dataset<T>& dataset, const Objective<T>& objective,
              std::span<const std::int32_t> tasks);

  /// w = B v.
  void to_weights(const Block<T>& v, Block<T>& w);
  /// v = B' g.
  void from_gradient(const Block<T>& g, Block<T>& v);
  /// Keeps these columns of all blocks alone.
  void keep(std::span<const std::int32_t> columns);

 private:
  /// X'X / n, or an estimate from some of the rows, for blocks of `columns` columns.
  std::vector<double> products_of_features(const Context& context, const Dataset<T>& dataset,
                                           std::int64_t columns) const;
  void factorise(const std::vector<double>& matrix, double curvature, double alpha, int threads);
  std::vector<double> decompose(std::vector<double> matrix, int threads);
  std::vector<double> diagonal() const;
  void set_matrix(const std::vector<double>& matrix, int threads);

  LinearOps<T>& ops_;
  DenseMatrix<T> matrix_;  // V' or L^-1, a row for each coordinate; no rows: the coordinates are scaled weights
  Block<T> scale_;         // the roots: weights x columns; no rows with L^-1
  Block<T> scaled_;        // scratch
};

}  // namespace sheaf::linear
