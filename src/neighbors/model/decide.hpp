// Decision values of models of neighbours, for many parameters at once; shared by training, leave-one-out and the
// search
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/neighbors.hpp>

#include "data/labels.hpp"
#include "neighbors/verbs/ops.hpp"
#include "neighbors/votes/votes.hpp"

namespace sheaf::neighbors {

/// A rule for classes and Euclidean distance only is an Error for others.
void check_options(const KnnOptions& options, bool regression);

/// Decision values in CPU memory: queries x settings x columns.
struct Decisions {
  std::int64_t queries = 0;
  std::size_t settings = 0;
  std::size_t columns = 1;
  Array<double> values;
  std::int64_t unconverged = 0;  ///< SVMs that did not reach their tolerance

  std::span<const double> of(std::int64_t query, std::size_t setting) const {
    return values.span().subspan((static_cast<std::size_t>(query) * settings + setting) * columns, columns);
  }
  std::span<double> of(std::int64_t query, std::size_t setting) {
    return values.span().subspan((static_cast<std::size_t>(query) * settings + setting) * columns, columns);
  }
};

/// Rows to decide about: those named, or all.
template <class Q>
struct Asked {
  const Matrix<Q>& x;
  std::span<const std::int32_t> rows;

  std::int64_t count() const { return rows.empty() ? sheaf::rows(x) : std::ssize(rows); }
};

/// Predictions of voting rules from lists of neighbours.
Decisions decide_by_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists);

struct LocalSetting {
  std::int64_t k = 1;
  double lambda = 1;  ///< hyperplanes and hulls
  double cost = 1;    ///< SVMs
  double gamma = 1;   ///< SVMs with an RBF kernel
};
/// Costs of all classes, as numbers below 0, so that the largest decides. `rows` are the places of the training rows;
/// settings in any order. A class of fewer than k rows takes those it has; one
/// without rows costs more than every other.
template <class T, class Q>
Decisions decide_by_costs(const Context& context, const KnnOptions& options, std::span<const double> weights,
                          std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                          std::span<const std::int32_t> rows, const Asked<Q>& queries);

/// That of the options, or 1 / features.
double gamma_of(const KnnOptions& options, std::int64_t features);

/// The training rows of local SVMs.
struct SvmRows {
  std::span<const std::int32_t> rows;     ///< their places in the dataset
  std::span<const float> row_weights;     ///< of each row of the dataset; empty: 1
  std::span<const std::int32_t> centres;  ///< falk_svm: of each training row, if they are known already; else none
};
/// Values of all classes by SVMs; the largest wins. If there are fewer than k rows, all are taken.
template <class T, class Q>
Decisions decide_by_svms(const Context& context, const KnnOptions& options, std::span<const double> weights,
                         std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                         const SvmRows& training, const Asked<Q>& queries);

/// falk_svm: the centre of each of the rows, by their places among them.
template <class T>
std::vector<std::int32_t> learn_centres(const Context& context, const KnnOptions& options,
                                        std::span<const double> weights, const Dataset<T>& dataset,
                                        std::span<const std::int32_t> rows);

/// Dense rows times the square roots of the weights: Euclid's distance between them is the weighted one.
template <class T>
Dataset<double> weighted_rows(const Context& context, const Matrix<T>& x, std::span<const std::int32_t> places,
                              std::span<const double> weights, const std::string& source);
template <class T>
Dataset<double> weighted_rows(const Context& context, const Matrix<T>& x, std::span<const double> weights,
                              const std::string& source);

/// The k nearest of dense rows; of themselves if there are no queries, each being its own neighbour.
NeighborLists nearest_rows(const Context& context, const Dataset<double>& rows, const Dataset<double>* queries,
                           std::int64_t k);

}  // namespace sheaf::neighbors
