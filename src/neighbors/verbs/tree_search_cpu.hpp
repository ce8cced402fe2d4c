// Queries of a tree of rows (tree_cpu.hpp), decided by exact distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "neighbors/verbs/exact_cpu.hpp"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/tree_cpu.hpp"

namespace sheaf::neighbors::cpu {

template <class S>
class TreeSearch {
 public:
  /// Memory of one thread.
  struct Scratch {
    explicit Scratch(std::int64_t columns) : query(static_cast<std::size_t>(columns)) {}
    std::vector<double> query, distances = {};
    std::vector<Found> found = {};
    ExactDistances::Scratch exact = {};
  };

  static bool takes(const RowPair<S>& pair) {
    return tree_unit(pair.distance) && !is_sparse(pair.data.x) && pair.columns() <= Tree<S>::most_columns &&
           pair.rows() >= Tree<S>::fewest_rows;
  }

  /// The pair and its distances must outlive it.
  TreeSearch(const Context& context, const RowPair<S>& pair, const ExactDistances& exact)
      : context_(context), pair_(pair), exact_(exact), tree_(context, pair, *tree_unit(pair.distance)) {}

  /// Whether the tree compares so few rows that it is faster than a filter, which compares all of them; measured on
  /// some queries, for the k nearest rows or those within a radius.
  bool pays(const Allowed& allowed, std::int64_t queries, std::optional<std::int64_t> k, double radius) const {
    constexpr std::int64_t asked = 32;
    constexpr std::int64_t slower = 12;  // a row of the tree relative to one of the filter
    if (queries < asked) return false;
    Scratch scratch(pair_.columns());
    std::int64_t compared = 0;
    for (std::int64_t q = 0; q < asked; ++q) {
      const auto place = q * queries / asked;
      compared += k ? nearest(allowed, place, *k, scratch) : within(allowed, place, radius, scratch);
    }
    return compared * slower < asked * pair_.rows();
  }

  /// Leaves the k nearest rows in scratch.found, as a heap. Returns the number of rows that were compared.
  std::int64_t nearest(const Allowed& allowed, std::int64_t place, std::int64_t k, Scratch& scratch) const {
    auto& found = scratch.found;
    constexpr double none = std::numeric_limits<double>::infinity();
    return visit(allowed, place, none, scratch, [&](const Found& one) {
      const bool full = std::ssize(found) == k;
      if ((full && !(one < found.front())) || !allowed(place, one.row))
        return full ? tree_.limit(found.front().distance) : none;
      if (full) {
        std::pop_heap(found.begin(), found.end());
        found.back() = one;
      } else {
        found.push_back(one);
      }
      std::push_heap(found.begin(), found.end());
      return std::ssize(found) == k ? tree_.limit(found.front().distance) : none;
    });
  }

  /// Leaves the rows within the radius in scratch.found, and perhaps some beyond it.
  std::int64_t within(const Allowed& allowed, std::int64_t place, double radius, Scratch& scratch) const {
    const double limit = tree_.limit(radius);
    return visit(allowed, place, limit, scratch, [&](const Found& one) {
      if (allowed(place, one.row)) scratch.found.push_back(one);
      return limit;
    });
  }

  /// Calls work(place, scratch) for all queries, rows among themselves in the order of the tree.
  template <class Work>
  void for_queries(const Allowed& allowed, std::int64_t queries, const Work& work) const {
    const bool in_order = pair_.self && allowed.queries == nullptr;
    Stage stage(context_.progress(), "finding neighbours", queries, context_.stop());
    parallel_ranges(context_, queries, 64, [&](Range range) {
      Scratch scratch(pair_.columns());
      for (auto i = range.begin; i < range.end; ++i)
        work(in_order ? tree_.order()[static_cast<std::size_t>(i)] : i, scratch);
      stage.advance(range.end - range.begin);
    });
  }

 private:
  /// Calls take(row and distance), which returns the limit from then on.
  template <class Take>
  std::int64_t visit(const Allowed& allowed, std::int64_t place, double limit, Scratch& scratch,
                     const Take& take) const {
    const auto query = allowed.query(place);
    write_row(pair_.from(), query, scratch.query.data());
    scratch.found.clear();
    return tree_.visit(scratch.query.data(), limit, [&](std::span<const std::int32_t> rows) {
      scratch.distances.resize(rows.size());
      exact_.to_rows(query, rows, scratch.distances.data(), scratch.exact);
      for (std::size_t r = 0; r < rows.size(); ++r) limit = take(Found{scratch.distances[r], rows[r]});
      return limit;
    });
  }

  Context context_;
  const RowPair<S>& pair_;
  const ExactDistances& exact_;
  Tree<S> tree_;
};

}  // namespace sheaf::neighbors::cpu
