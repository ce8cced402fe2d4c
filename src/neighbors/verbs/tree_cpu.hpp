// Searches of a tree of rows of few features on CPU cores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sheaf/context.hpp>

#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/tree_plan.hpp"

namespace sheaf::neighbors {

/// A tree of the rows of a pair.
class NeighborTree {
 public:
  NeighborTree() = default;
  NeighborTree(const NeighborTree&) = delete;
  NeighborTree& operator=(const NeighborTree&) = delete;
  virtual ~NeighborTree() = default;

  /// Whether the tree compares so few rows that it is faster than a filter, which compares all of them; measured on
  /// some queries, for the k nearest rows or those within a radius.
  virtual bool pays(const Allowed& allowed, std::int64_t queries, std::optional<std::int64_t> k,
                    double radius) const = 0;
  virtual void nearest(const Allowed& allowed, std::int64_t queries, std::int64_t k, std::span<std::int32_t> indices,
                       std::span<double> distances) const = 0;
  /// Rows within the radius, and perhaps some beyond it, in any order; a list for each query.
  virtual void within(const Allowed& allowed, double radius, std::vector<std::vector<Found>>& lists) const = 0;
};

/// The pair suits a tree (tree_plan.hpp) and must outlive it.
template <class Set, class S>
std::unique_ptr<NeighborTree> make_tree_for(const Context& context, const RowPair<S>& pair);

}  // namespace sheaf::neighbors
