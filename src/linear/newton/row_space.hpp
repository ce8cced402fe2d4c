// Wide data in fewer coordinates. A linear model whose penalty is w'w / 2 depends on the rows through their inner
// products alone: its weights are a sum of rows. So features may be replaced by any coordinates in which the rows have
// the same inner products; those of the Cholesky factor of X X' are at most as many as the rows (Hastie, Tibshirani
// 2004). Objectives, gradients and decision values do not change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <sheaf/solvers/linear.hpp>

namespace sheaf::linear {

template <class T>
struct RowSpace {
  Dataset<T> rows;              ///< as many as before, in new coordinates; only x is set
  DenseMatrix<T> coefficients;  ///< rows x coordinates: a unit step along a coordinate is this sum of the old rows
};

/// X X' (rows x rows) of the features after a column transform of the sheaf, if it has any. Sparse data must not be
/// shifted.
template <class T>
std::vector<double> row_products(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                 std::int32_t column);

/// In a row space steps cost so little that models are trained further, to have scores that do not depend on when
/// training stopped.
template <class T>
NewtonParams in_row_space(NewtonParams params);

/// Whether training `tasks` models in a row space that is made for them takes clearly less time than on the features.
/// Not with the rule `gradient`: if it stops early, it depends on the coordinates.
template <class T>
bool row_space_pays(const Dataset<T>& dataset, StopRule stop, double tasks);

/// Row spaces of a dataset as the column transforms of a sheaf show it. They are kept: those of other sheaves with the
/// same transforms are the same.
template <class T>
class RowSpaces {
 public:
  /// The dataset must outlive it.
  explicit RowSpaces(const Dataset<T>& dataset) : dataset_(dataset) {}

  /// Whether all transforms of the sheaf can be applied: those of sparse data must not shift.
  bool take(const Sheaf& sheaf) const;
  /// `column`: of the column transforms, if there are any.
  const RowSpace<T>& of(const Context& context, const Sheaf& sheaf, std::int32_t column);

 private:
  const Dataset<T>& dataset_;
  std::map<std::uint64_t, std::unique_ptr<const RowSpace<T>>> spaces_;  // by their transforms' hash
};

/// The sheaf of these tasks on the features as they are.
Sheaf without_transforms(const Sheaf& sheaf, std::vector<Task> tasks);

/// newton(), by way of the row space if that pays: training then continues on the features, so that the stopping rule
/// is met on them.
template <class T>
Fits<T> newton_by_row_space(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                            const NewtonParams& params);

}  // namespace sheaf::linear
