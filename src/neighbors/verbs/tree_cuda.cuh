// A tree of dense rows of few features on a GPU (tree_plan.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "cuda/check.cuh"
#include "neighbors/verbs/exact_cuda.cuh"
#include "neighbors/verbs/found.hpp"
#include "neighbors/verbs/results_cuda.cuh"
#include "neighbors/verbs/tree_plan.hpp"

namespace sheaf::neighbors::gpu {

template <class S>
struct TreeView;

/// Queries and the rows that may be their neighbours.
template <class S>
struct TreeQuestion {
  RowsView<S> from;
  Allowed allowed;
  std::int64_t queries = 0;
  bool all = false;  ///< the queries are the rows: they are searched in the order of the tree
  std::int64_t k = 0;
};

template <class S>
class DeviceTree {
 public:
  /// Whether the tree and its making have room, and a warp the lists of k rows.
  static bool fits(const RowPair<S>& pair, std::int64_t k, std::int64_t bytes);

  /// The pair's rows on the GPU are `data`; stream and rows must outlive it.
  DeviceTree(const RowPair<S>& pair, const RowsView<S>& data, Device device, const cuda::Stream& stream);

  /// Queries on which pays() measures.
  static constexpr std::int64_t asked = 256;
  /// Whether the tree compares so few rows that it is faster than a filter. There are at least `asked` queries.
  bool pays(const TreeQuestion<S>& question);
  /// Starts the search of a block of the queries.
  void nearest(const TreeQuestion<S>& question, Range block, Results& results);
  /// The place of query number i in the order of the search.
  std::int64_t place(const TreeQuestion<S>& question, std::int64_t i) const {
    return question.all ? std::int64_t{host_order_[static_cast<std::size_t>(i)]} : i;
  }

 private:
  struct Launch;
  TreeView<S> view();
  void divide(const RowsView<S>& data);
  void make_boxes(const RowsView<S>& data);
  void launch(const TreeQuestion<S>& question, const Launch& what);

  DistanceOptions distance_;
  Device device_;
  const cuda::Stream& stream_;
  TreeShape shape_;
  std::int64_t columns_;
  Array<std::int32_t> order_;  // rows, leaf after leaf
  Array<S> values_, boxes_;
  Array<unsigned long long> compared_;
  std::vector<std::int32_t> host_order_;
};

}  // namespace sheaf::neighbors::gpu
