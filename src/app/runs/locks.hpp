// Which files are locked. A lock is never tried: a search that begins at that moment would find its journal locked.
#pragma once

#include <cstdint>
#include <set>

namespace sheaf::app {

/// The inodes of files that a process of this machine has locked whole (flock).
std::set<std::uint64_t> locked_inodes();

}  // namespace sheaf::app
