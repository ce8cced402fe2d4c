// Numbers of HDF5 datasets by all threads: libhdf5 inflates and converts with one. It still finds the stored bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "data/bytes/elements.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

/// How a dataset of one dimension (a row) or two is stored: at one place of the file, or in chunks of one size, each
/// shuffled and deflated or not.
struct Hdf5Layout {
  ElementType type;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::string_view whole;  ///< the bytes of all elements, if they are at one place
  std::int64_t chunk_rows = 0;
  std::int64_t chunk_columns = 0;
  bool shuffled = false;  ///< in each chunk first bytes of all elements, then second ones ...
  bool deflated = false;
};

/// Gets the stored bytes of the chunk that begins at a row and a column. False: there is none, or it is damaged or not
/// stored as the layout says. Is called by several threads at once.
using FetchChunk = std::function<bool(std::int64_t row, std::int64_t column, std::vector<char>& to)>;

/// Whether elements of that layout can be read as Number in this way: no value may change.
template <class Number>
bool can_read_pieces(const Hdf5Layout& layout);
/// Reads `count` elements from the element `first` on; datasets of two dimensions are read as a whole. False: they are
/// not stored as the layout says, and `to` holds anything.
template <class Number>
bool read_pieces(const Reading& reading, const Hdf5Layout& layout, const FetchChunk& fetch, std::int64_t first,
                 std::int64_t count, Number* to);

}  // namespace sheaf
