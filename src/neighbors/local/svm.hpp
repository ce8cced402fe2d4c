// The verb of local SVMs: train an SVM on each neighbourhood, for many sizes, costs and gammas at once, and decide
// about the points that belong to it.
//
// Kernels are those of rows less the neighbourhood's centre: a linear SVM with an intercept is the same wherever the
// origin is, and the products are as exact as those of small numbers. One matrix of them serves every smaller
// neighbourhood and every gamma.
#pragma once

#include <cstdint>
#include <span>

#include <sheaf/context.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/solvers/matrix.hpp>

namespace sheaf::neighbors {

/// Neighbourhoods of rows and the points that they decide about. All are dense, of the same columns; weights of
/// features are in their values.
struct LocalSvmProblem {
  const DenseMatrix<double>& rows;
  const DenseMatrix<double>& centres;  ///< one a neighbourhood
  const DenseMatrix<double>& points;   ///< may be the centres
  /// Neighbourhood p decides about the points offsets[p] .. offsets[p + 1].
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> lists;  ///< centres x length: the nearest rows of each
  std::int64_t length = 0;
  std::span<const std::int32_t> classes = {};  ///< of each row
  std::span<const float> weights = {};         ///< factor of each row's cost, above 0; empty: 1
  std::int32_t class_count = 0;
  std::span<const std::int64_t> ks = {};  ///< ascending, the last at most `length`
  std::span<const double> costs = {};     ///< ascending, above 0
  std::span<const double> gammas = {};    ///< of an RBF kernel; one of any value for a linear one
  LocalKernel kernel = LocalKernel::linear;
  double tolerance = 1e-3;

  std::size_t settings() const { return ks.size() * costs.size() * gammas.size(); }
};

/// values: points x ks x gammas x costs x classes, the largest wins; see predict_knn(). If all k rows are of one class,
/// that class wins. Returns the number of SVMs that did not converge.
std::int64_t local_svm_values(const Context& context, const LocalSvmProblem& problem, std::span<double> values);

// The backends, called by local_svm_values() only.
template <class Set>
std::int64_t local_svm_values_cpu(const Context& context, const LocalSvmProblem& problem, std::span<double> values);
std::int64_t local_svm_values_cuda(const Context& context, const LocalSvmProblem& problem, std::span<double> values);

}  // namespace sheaf::neighbors
