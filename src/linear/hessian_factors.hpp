// The whole Hessian of models of few features, estimated from some of the rows: a preconditioner that makes the scales
// of the features, and how they go together, irrelevant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/products/ops.hpp"

namespace sheaf::linear {

/// Share of the largest curvature below which a direction counts as flat: smaller curvatures may be rounding.
template <class T>
constexpr double smallest_share = sizeof(T) == sizeof(float) ? 1e-7 : 1e-10;

/// Evenly spread, at most `most` of them.
std::vector<std::int32_t> spread_rows(std::int64_t rows, std::int64_t most);

/// Rows that are enough to estimate a Hessian from, for some steps; their copy takes little memory.
template <class T>
std::int64_t few_hessian_rows(std::int64_t rows, std::int64_t weights);
/// Rows of which a copy takes little memory.
template <class T>
std::int64_t affordable_hessian_rows(std::int64_t weights);

/// L^-1 for each column of the curvatures `d`, with LL' = X' diag(d) X + ridge. Directions that are flat up to rounding
/// count as a little steep: by more, until the matrices are positive definite.
template <class T>
InverseFactors<T> factorise_hessians(const Context& context, LinearOps<T>& ops, std::span<const std::int32_t> rows,
                                     const Block<T>& d, double ridge);

/// M^-1 = L^-T L^-1 of each column of a block.
template <class T>
class HessianFactors {
 public:
  HessianFactors(LinearOps<T>& ops, std::int32_t columns);

  /// The factors of these columns, from curvatures of them alone.
  void set(const Context& context, std::span<const std::int32_t> columns, const Block<T>& curvatures, double ridge);
  /// out = M^-1 v.
  void solve(const Block<T>& v, Block<T>& out);
  /// Keeps these columns alone.
  void keep(std::span<const std::int32_t> columns);

 private:
  void copy(const InverseFactors<T>& from, std::int64_t column, InverseFactors<T>& to, std::int64_t place) const;

  LinearOps<T>& ops_;
  std::vector<std::int32_t> rows_;
  InverseFactors<T> factors_;
  Block<T> half_;  // L^-1 v
};

}  // namespace sheaf::linear
