// Small files as text.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace sheaf::app {

/// Empty if it cannot be read.
inline std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace sheaf::app
