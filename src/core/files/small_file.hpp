// Files that are read whole. Streams of the standard library take a lack of memory for the end of a file.
#pragma once

#include <optional>
#include <string>

namespace sheaf {

/// The bytes of a file; nothing if it cannot be opened or read, or is a folder.
std::optional<std::string> small_file(const std::string& path);

}  // namespace sheaf
