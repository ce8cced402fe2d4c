// The verb of local models: the distance of a query from the hyperplane or hull of its nearest rows.
//
// With V = [v_1 .. v_K] the nearest rows of a class, and G = (V - q1')'(V - q1') + lambda I, the cost is
//   hyperplane    min over sum a = 1 of a'G a = 1 / (1'G^-1 1)               (Vincent and Bengio 2001; Yang and Kecman
//   2008) convex hull   min over sum a = 1, a >= 0 of a'G a                        (Vincent and Bengio 2001)
// One Cholesky factor L of G serves every smaller K: with L y = 1, 1'G_K^-1 1 is the sum of the first K squares of y.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <sheaf/context.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/solvers/matrix.hpp>

namespace sheaf::neighbors {

/// One class, and the queries that are compared with it. Rows and queries are dense, of the same columns; weights of
/// features are in their values.
struct LocalProblem {
  const DenseMatrix<double>& rows;
  const DenseMatrix<double>& queries;
  std::span<const std::int32_t> lists;  ///< queries x length: the nearest rows of each query
  std::int64_t length = 0;
  std::span<const std::int64_t> ks;  ///< ascending, the last at most `length`
  std::span<const double> lambdas;
  LocalRule rule = LocalRule::hyperplane;
};

/// costs: queries x ks x lambdas. A lambda of 0 is replaced by the value that keeps G regular, 1e-12 of its mean
/// diagonal element.
void local_costs(const Context& context, const LocalProblem& problem, std::span<double> costs);

// The backends, called by local_costs() only.
template <class Set>
void local_costs_cpu(const Context& context, const LocalProblem& problem, std::span<double> costs);
void local_costs_cuda(const Context& context, const LocalProblem& problem, std::span<double> costs);

}  // namespace sheaf::neighbors
