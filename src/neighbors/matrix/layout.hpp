// The positions of rows in the file of a distance matrix.
#pragma once

#include <cstdint>
#include <string>

#include "core/hash/sha256.hpp"
#include "core/parallel.hpp"

namespace sheaf::neighbors {

constexpr std::int64_t matrix_value_bytes = sizeof(double);
constexpr std::int64_t most_block_bytes = std::int64_t{64} << 20;  // beyond it, writing and computing gain nothing

struct MatrixLayout {
  std::int64_t rows, columns;
  bool upper;
  std::string header = {};

  /// Values before row i.
  std::int64_t before(std::int64_t i) const { return upper ? i * columns - i * (i + 1) / 2 : i * columns; }
  std::int64_t first_column(std::int64_t i) const { return upper ? i + 1 : 0; }
  std::int64_t offset(std::int64_t i) const { return std::ssize(header) + before(i) * matrix_value_bytes; }
  std::int64_t bytes_of(Range block) const { return offset(block.end) - offset(block.begin); }
  std::int64_t bytes() const { return offset(rows); }
};

/// The checksum of a block of values.
inline std::string check_of_block(const double* values, std::int64_t bytes) {
  constexpr std::size_t digits = 16;
  return sha256({reinterpret_cast<const char*>(values), static_cast<std::size_t>(bytes)}).substr(0, digits);
}

}  // namespace sheaf::neighbors
