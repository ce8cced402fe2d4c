// Counts that the resamples of an ensemble share: a pair that one of them needs is counted for those after it in the
// same pass over the rows.
#pragma once

#include <memory>
#include <vector>

#include "information/count/ops.hpp"

namespace sheaf::information {

/// `ops` with a memory of at most `most_bytes`; unchanged if it cannot count several resamples at once. Rows are then
/// chosen by one of `resamples`, in their order; they must outlive the object.
std::unique_ptr<Ops> share_resamples(std::unique_ptr<Ops> ops, const Problem& problem,
                                     std::span<const std::vector<std::uint32_t>> resamples, std::int64_t most_bytes);

}  // namespace sheaf::information
