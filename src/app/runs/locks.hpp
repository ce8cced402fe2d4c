// Which files are locked. A lock is never tried: a search that begins at that moment would find its journal locked.
#pragma once

#include <cstdint>
#include <map>

#include <sys/types.h>

namespace sheaf::app {

/// The inodes of files that a process of this machine has locked whole (flock), and its number.
std::map<std::uint64_t, pid_t> locked_inodes();

}  // namespace sheaf::app
