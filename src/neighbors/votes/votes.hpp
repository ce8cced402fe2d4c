// Predictions from sorted lists of neighbours, for many k and kinds of votes in one pass, and the classes that decision
// values choose: verbs of both devices.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/solvers/array.hpp>

#include "core/host_device.hpp"

namespace sheaf::neighbors {

/// Labels and weights of the rows that vote.
struct Voters {
  std::int32_t classes = 0;              ///< 0: regression
  std::span<const std::int32_t> labels;  ///< the class of each row
  std::span<const double> values;        ///< regression: the number of each row
  std::span<const float> weights;        ///< factor of a row's vote; empty: 1

  std::size_t columns() const { return classes > 0 ? static_cast<std::size_t>(classes) : 1; }
};

struct VoteRule {
  std::int64_t k = 1;
  Vote vote = Vote::uniform;
};

/// The vote of neighbour n of the k nearest, before it is multiplied by the weight of its row. `distances` are those of
/// the nearest, ascending.
SHEAF_HOST_DEVICE inline double vote_of(Vote vote, const double* distances, std::int64_t n, std::int64_t k) {
  if (vote == Vote::uniform) return 1;
  if (vote == Vote::inverse_distance) {
    if (distances[0] == 0) return distances[n] == 0 ? 1 : 0;
    return 1 / distances[n];
  }
  const double last = distances[k - 1];
  const double t = last > 0 ? distances[n] / last : 0;
  return std::exp(-t * t / 2);
}

/// results: rules x columns; each class's share of the votes, or the mean number. `rows` and `distances` are a list of
/// neighbours, the nearest first, as long as the largest k at least.
void count_votes(const Voters& voters, std::span<const VoteRule> rules, std::span<const std::int32_t> rows,
                 std::span<const double> distances, std::span<double> results);
/// The same of all queries: queries x rules x columns, on the context's device.
Array<double> count_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists);

/// Classes from the lowest label on: numbers ascending, or words in the order of the alphabet.
std::vector<std::int32_t> label_order(std::span<const std::string> class_names);

/// The class of the largest of some values; the one of equals that comes first in `order`.
struct OrderedChoice {
  const std::int32_t* order;  ///< the classes
  std::int32_t classes;       ///< 0: a regression, which chooses none

  SHEAF_HOST_DEVICE std::int32_t operator()(const double* values) const {
    std::int32_t chosen = order[0];
    for (std::int32_t c = 1; c < classes; ++c)
      if (values[order[c]] > values[chosen]) chosen = order[c];
    return chosen;
  }
  /// Numbers of a row that scores take: one for each of three classes or more.
  SHEAF_HOST_DEVICE std::int32_t columns() const { return classes > 2 ? classes : 1; }
  SHEAF_HOST_DEVICE void put(const double* values, double* z, std::int32_t* predicted) const {
    if (classes > 0) *predicted = (*this)(values);
    if (classes == 2) z[0] = values[0] - values[1];  // above 0 favours the first class
    for (std::int32_t c = 0; c < columns() && classes != 2; ++c) z[c] = values[c];
  }
};

/// The decisions of models about some rows. All memory is that of the context's device.
struct Decided {
  const double* values;                ///< queries x models x max(classes, 1)
  std::span<const std::int32_t> rows;  ///< of the blocks, for each query
  BlockView<double> z;                 ///< rows x (models * columns)
  BlockView<std::int32_t> predicted;   ///< rows x models; a regression: no columns
};
/// Writes decision values and classes where scores read them. `order` has all classes.
void choose_classes(const Context& context, std::span<const std::int32_t> order, const Decided& decided);

// The backends, called by the two above only.
Array<double> count_votes_cuda(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                               const NeighborLists& lists);
void choose_classes_cuda(const Context& context, std::span<const std::int32_t> order, const Decided& decided);

}  // namespace sheaf::neighbors
