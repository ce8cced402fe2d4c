// Counts that several selections on the same rows share: a pair that one criterion has counted is not counted again for
// the next.
#pragma once

#include <memory>

#include "information/ops.hpp"

namespace sheaf::information {

/// `ops` with a memory of sums or terms, of at most `most_bytes`; as it is where it counts whole columns.
std::unique_ptr<Ops> share_counts(std::unique_ptr<Ops> ops, const Problem& problem, std::int64_t most_bytes);

}  // namespace sheaf::information
