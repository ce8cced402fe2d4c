// Coordinates in which a block of generalised linear models is well conditioned: w = B v with B B' near the inverse of
// the Hessian. Where the features are few, B = V diag(c L + alpha)^-1/2 from X'X / n = V L V', which one decomposition
// gives for all tasks, whatever their penalties, classes and folds; c is the curvature of the loss in the model without
// features. Where they are many, the diagonal of X'X / n takes the place of L and there is no V.
#pragma once

#include <memory>
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

  /// w = B v. `v` is lost.
  void to_weights(Block<T>& v, Block<T>& w);
  /// v = B' g.
  void from_gradient(const Block<T>& g, Block<T>& v);
  /// Keeps these columns of all blocks alone.
  void keep(std::span<const std::int32_t> columns);

 private:
  /// For blocks of `columns` columns.
  void decompose(const Context& context, const Dataset<T>& dataset, std::int64_t columns,
                 std::vector<double>& spectrum);
  std::vector<double> diagonal() const;

  LinearOps<T>& ops_;
  Dataset<T> vectors_;                      // V, a row for each weight; none: the coordinates are scaled weights
  std::unique_ptr<LinearOps<T>> rotation_;  // products with V
  Block<T> scale_;                          // (c L + alpha)^-1/2: weights x columns
};

}  // namespace sheaf::linear
