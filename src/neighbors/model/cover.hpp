// Rows around which local SVMs are trained, so that every row is near one of them (FaLK-SVM, Segata and Blanzieri
// 2010).
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/neighbors.hpp>

namespace sheaf::neighbors {

/// How many of its nearest rows a centre with an SVM of k rows covers: half of them, so that no row is decided by an
/// SVM at whose edge it is.
std::int64_t covered_by(std::int64_t k);

/// The centre of each row, from lists of the rows' nearest among themselves. In the order of the rows, one that no
/// centre covers becomes a centre. A row belongs to the centre in whose list it comes first, of equals to the earlier
/// one; a centre belongs to itself.
std::vector<std::int32_t> choose_centres(const NeighborLists& lists, std::int64_t covered);

}  // namespace sheaf::neighbors
