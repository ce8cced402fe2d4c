// Numbers of HDF5 datasets, read by all threads from where they stand in the file: libhdf5 reads with one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "data/bytes/elements.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

/// A dataset of one dimension in pieces (chunks), each shuffled and deflated or not.
struct Hdf5Pieces {
  struct Piece {
    std::int64_t first = 0;  ///< element
    std::int64_t count = 0;
    std::string_view bytes;
  };
  ElementType type;
  std::int64_t whole = 0;  ///< elements that are stored in a piece; the last one's may not all be used
  bool shuffled = false;   ///< first bytes of all elements, then second ones ...
  bool deflated = false;
  std::vector<Piece> list;
};

/// Whether elements of that type can be read as Number in this way: no value may change.
template <class Number>
bool can_read_pieces(const Hdf5Pieces& pieces);
/// False: a piece is damaged.
template <class Number>
bool read_pieces(const Reading& reading, const Hdf5Pieces& pieces, Array<Number>& to);

}  // namespace sheaf
