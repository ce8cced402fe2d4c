// Decision values of models of neighbours, for many parameters at once: what training, leaving one out and the search
// have in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/neighbors.hpp>

#include "data/labels.hpp"
#include "neighbors/model/votes.hpp"
#include "neighbors/verbs/ops.hpp"

namespace sheaf::neighbors {

/// A rule that knows only classes and Euclid's distance is refused for others.
void check_options(const KnnOptions& options, bool regression);

/// Decision values: queries x settings x columns.
struct Decisions {
  std::int64_t queries = 0;
  std::size_t settings = 0;
  std::size_t columns = 1;
  std::vector<double> values;

  std::span<const double> of(std::int64_t query, std::size_t setting) const {
    return std::span(values).subspan((static_cast<std::size_t>(query) * settings + setting) * columns, columns);
  }
  std::span<double> of(std::int64_t query, std::size_t setting) {
    return std::span(values).subspan((static_cast<std::size_t>(query) * settings + setting) * columns, columns);
  }
};

/// What rules say of lists of neighbours.
Decisions decide_by_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists);

struct LocalSetting {
  std::int64_t k = 1;
  double lambda = 1;
};
/// Costs of all classes, as numbers below 0, so that the largest decides. `rows` are the places of the training rows,
/// `queries` the rows to decide about; settings in any order. A class of fewer than k rows takes those it has; one
/// without rows costs more than every other.
template <class T, class Q>
Decisions decide_by_costs(const Context& context, const KnnOptions& options, std::span<const double> weights,
                          std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                          std::span<const std::int32_t> rows, const Matrix<Q>& queries);

}  // namespace sheaf::neighbors
