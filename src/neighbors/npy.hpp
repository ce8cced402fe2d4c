// Headers of NumPy's files, version 1.0 of the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sheaf::neighbors {

/// `type` as NumPy spells it, with its quotes or brackets; `shape` without its parentheses: "3, 4" or "5,".
inline std::string npy_header(std::string_view type, std::string_view shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t before = 10;  // magic, version, length
  auto text = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", type, shape);
  text.append(alignment - (before + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() % 256);
  header += static_cast<char>(text.size() / 256);
  return header + text;
}

}  // namespace sheaf::neighbors
