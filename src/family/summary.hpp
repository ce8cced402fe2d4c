// Pieces of model summaries that families share.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/solvers/kernel_counts.hpp>

namespace sheaf {

/// "150 rows x 4 features, 3 classes"; counts of 0 are left out.
std::string shape_text(std::int64_t rows, std::int64_t features, std::size_t classes, std::size_t targets = 0);

/// How many kernel values sharing saved; empty if nothing was computed or shared.
std::string counts_text(const KernelCounts& counts);

}  // namespace sheaf
