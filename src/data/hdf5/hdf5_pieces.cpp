#include "data/hdf5/hdf5_pieces.hpp"

#include <atomic>

#include "core/parallel.hpp"

#if SHEAF_GZIP
#include <zlib.h>
#endif

namespace sheaf {
namespace {

/// Whether so many bytes came out.
bool inflate_piece(std::string_view packed, std::vector<char>& to) {
#if SHEAF_GZIP
  auto size = static_cast<uLongf>(to.size());
  const auto status = uncompress(reinterpret_cast<Bytef*>(to.data()), &size,
                                 reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  return status == Z_OK && size == to.size();
#else
  return packed.empty() && to.empty();
#endif
}

void unshuffle(std::string_view from, std::size_t element, std::vector<char>& to) {
  const auto count = from.size() / element;
  for (std::size_t byte = 0; byte < element; ++byte)
    for (std::size_t k = 0; k < count; ++k) to[k * element + byte] = from[byte * count + k];
}

/// Memory of one thread.
struct Buffers {
  std::vector<char> inflated, ordered;
};

template <class Number>
bool read_piece(const Hdf5Pieces& pieces, const Hdf5Pieces::Piece& piece, Buffers& buffers, Number* to) {
  const auto bytes = static_cast<std::size_t>(pieces.whole) * pieces.type.bytes;
  auto from = piece.bytes;
  if (pieces.deflated) {
    buffers.inflated.resize(bytes);
    if (!inflate_piece(from, buffers.inflated)) return false;
    from = {buffers.inflated.data(), bytes};
  }
  if (from.size() < static_cast<std::size_t>(piece.count) * pieces.type.bytes) return false;
  if (pieces.shuffled) {
    if (from.size() != bytes) return false;
    buffers.ordered.resize(bytes);
    unshuffle(from, pieces.type.bytes, buffers.ordered);
    from = {buffers.ordered.data(), bytes};
  }
  visit_element_type(pieces.type, [&]<class From>(std::type_identity<From>) {
    for (std::int64_t k = 0; k < piece.count; ++k)
      to[piece.first + k] = convert_element<Number>(load_element<From>(from.data(), k, pieces.type.swapped));
  });
  return true;
}

}  // namespace

template <class Number>
bool can_read_pieces(const Hdf5Pieces& pieces) {
  if (pieces.list.empty() || !pieces.type.is_number() || (pieces.deflated && SHEAF_GZIP == 0)) return false;
  if constexpr (std::is_floating_point_v<Number>) return pieces.type.kind != 'f' || pieces.type.bytes <= sizeof(Number);
  return pieces.type.kind == 'i' && pieces.type.bytes <= sizeof(Number);
}

template <class Number>
bool read_pieces(const Reading& reading, const Hdf5Pieces& pieces, Array<Number>& to) {
  std::atomic<bool> sound = true;
  auto* values = to.data();
  parallel_for(reading.context, std::ssize(pieces.list), [&](std::int64_t k) {
    thread_local Buffers buffers;
    const auto& piece = pieces.list[static_cast<std::size_t>(k)];
    if (!read_piece(pieces, piece, buffers, values)) sound = false;
    let_go(reading, {piece.bytes.data(), piece.bytes.data() + piece.bytes.size()});
  });
  return sound;
}

template bool can_read_pieces<float>(const Hdf5Pieces&);
template bool can_read_pieces<double>(const Hdf5Pieces&);
template bool can_read_pieces<std::int32_t>(const Hdf5Pieces&);
template bool can_read_pieces<std::int64_t>(const Hdf5Pieces&);
template bool read_pieces(const Reading&, const Hdf5Pieces&, Array<float>&);
template bool read_pieces(const Reading&, const Hdf5Pieces&, Array<double>&);
template bool read_pieces(const Reading&, const Hdf5Pieces&, Array<std::int32_t>&);
template bool read_pieces(const Reading&, const Hdf5Pieces&, Array<std::int64_t>&);

}  // namespace sheaf
