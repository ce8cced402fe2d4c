// Predictions from sorted lists of neighbours, for many k and kinds of votes in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/neighbors.hpp>

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
double vote_of(Vote vote, std::span<const double> distances, std::size_t n, std::int64_t k);

/// results: rules x columns; each class's share of the votes, or the mean number. `rows` and `distances` are a list of
/// neighbours, the nearest first, as long as the largest k at least.
void count_votes(const Voters& voters, std::span<const VoteRule> rules, std::span<const std::int32_t> rows,
                 std::span<const double> distances, std::span<double> results);

/// Classes from the lowest label on: numbers ascending, or words in the order of the alphabet.
std::vector<std::int32_t> label_order(std::span<const std::string> class_names);

/// The class of the largest value; the one of equals that comes first in `order`.
std::int32_t choose_class(std::span<const double> values, std::span<const std::int32_t> order);

}  // namespace sheaf::neighbors
