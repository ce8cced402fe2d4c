// Rows that are larger than a device: pieces of rows are compared with pieces of queries, and their lists are merged
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "neighbors/verbs/ops.hpp"

namespace sheaf::neighbors {

/// The backend for one piece of rows and one of queries, which outlive it.
template <class S>
using MakeOps = std::function<std::unique_ptr<NeighborOps>(const RowPair<S>& pair)>;

/// Whether data and queries take so much of `bytes` that their derived arrays have no room.
template <class S>
bool needs_pieces(const RowPair<S>& pair, std::int64_t bytes);

/// Works on pieces that take a quarter of `bytes`, those of queries half of that, but are of one row at least. The pair
/// must outlive it. Results do not depend on the pieces.
template <class S>
std::unique_ptr<NeighborOps> make_piece_ops(const Context& context, const RowPair<S>& pair, std::int64_t bytes,
                                            MakeOps<S> make);

}  // namespace sheaf::neighbors
