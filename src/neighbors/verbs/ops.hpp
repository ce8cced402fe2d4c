// The verbs of the neighbours: all operations of searches on a device. One object serves the rows of one pair of data
// and queries under one distance, on one device. Both backends filter with fast arithmetic whose error is bounded and
// decide by exact distances, so that they return the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/neighbors.hpp>

#include "core/parallel.hpp"
#include "neighbors/values/rows.hpp"

namespace sheaf::neighbors {

/// The pairs of rows that may be neighbours.
struct Eligible {
  std::span<const std::int32_t> queries;  ///< places of the queries among the pair's; empty: all
  std::span<const std::uint8_t> data;     ///< 1 for rows that may be neighbours; empty: all
  bool itself = false;                    ///< rows among themselves: a row may be its own neighbour
  /// Rows among themselves: a row's neighbours are of other folds. Empty: there are no folds.
  std::span<const std::int32_t> folds;
};

class NeighborOps {
 public:
  NeighborOps() = default;
  NeighborOps(const NeighborOps&) = delete;
  NeighborOps& operator=(const NeighborOps&) = delete;
  virtual ~NeighborOps() = default;

  /// The k nearest eligible rows of each query, of which there must be k. Both outputs are queries x k.
  virtual void nearest(const Eligible& eligible, std::int64_t k, std::span<std::int32_t> indices,
                       std::span<double> distances) = 0;
  /// The eligible rows within the radius.
  virtual RadiusLists within(const Eligible& eligible, double radius) = 0;
  /// out[(i - queries.begin) * columns + (j - rows.begin)] of the distance matrix.
  virtual void distances(Range queries, Range rows, std::span<double> out) = 0;
};

/// The backend of the context's device; the pair must outlive it.
std::unique_ptr<NeighborOps> make_ops(const Context& context, const AnyRowPair& pair);

// The backends, called by make_ops() only.
template <class Set, class S>
std::unique_ptr<NeighborOps> make_cpu_ops_for(const Context& context, const RowPair<S>& pair);
template <class S>
std::unique_ptr<NeighborOps> make_cuda_ops(const Context& context, const RowPair<S>& pair);

}  // namespace sheaf::neighbors
