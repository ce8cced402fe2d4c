#include "data/hdf5/hdf5_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "core/parallel.hpp"

// libdeflate inflates a whole buffer in half of zlib's time.
#if SHEAF_DEFLATE
#include <libdeflate.h>
#elif SHEAF_GZIP
#include <zlib.h>
#endif

namespace sheaf {
namespace {

constexpr bool can_inflate = SHEAF_DEFLATE != 0 || SHEAF_GZIP != 0;

/// Whether exactly so many bytes came out.
bool inflate_chunk(const std::vector<char>& packed, std::vector<char>& to) {
#if SHEAF_DEFLATE
  using Inflater = std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;
  thread_local const Inflater inflater(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  return inflater && libdeflate_zlib_decompress(inflater.get(), packed.data(), packed.size(), to.data(), to.size(),
                                                nullptr) == LIBDEFLATE_SUCCESS;
#elif SHEAF_GZIP
  auto size = static_cast<uLongf>(to.size());
  const auto status = uncompress(reinterpret_cast<Bytef*>(to.data()), &size,
                                 reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  return status == Z_OK && size == to.size();
#else
  return packed.empty() && to.empty();
#endif
}

void unshuffle(const std::vector<char>& from, std::size_t element, std::vector<char>& to) {
  const auto count = from.size() / element;
  for (std::size_t byte = 0; byte < element; ++byte)
    for (std::size_t k = 0; k < count; ++k) to[k * element + byte] = from[byte * count + k];
}

template <class Number>
void convert_elements(ElementType type, const char* from, std::int64_t count, Number* to) {
  visit_element_type(type, [&]<class From>(std::type_identity<From>) {
    if (std::is_same_v<From, Number> && !type.swapped) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Number));
      return;
    }
    for (std::int64_t k = 0; k < count; ++k) to[k] = convert_element<Number>(load_element<From>(from, k, type.swapped));
  });
}

/// Memory of one thread.
struct Buffers {
  std::vector<char> stored, inflated, ordered;
};

/// The elements of a chunk in their order, also of those beyond the dataset's end; nullptr: it is damaged.
const char* open_chunk(const Hdf5Layout& layout, const FetchChunk& fetch, std::int64_t row, std::int64_t column,
                       Buffers& buffers) {
  if (!fetch(row, column, buffers.stored)) return nullptr;
  const auto bytes = static_cast<std::size_t>(layout.chunk_rows * layout.chunk_columns) * layout.type.bytes;
  const auto* plain = &buffers.stored;
  if (layout.deflated) {
    buffers.inflated.resize(bytes);
    if (!inflate_chunk(buffers.stored, buffers.inflated)) return nullptr;
    plain = &buffers.inflated;
  }
  if (plain->size() != bytes) return nullptr;
  if (!layout.shuffled) return plain->data();
  buffers.ordered.resize(bytes);
  unshuffle(*plain, layout.type.bytes, buffers.ordered);
  return buffers.ordered.data();
}

/// A dataset at one place of the file.
template <class Number>
void read_whole(const Reading& reading, const Hdf5Layout& layout, std::int64_t first, std::int64_t count, Number* to) {
  constexpr std::int64_t grain = std::int64_t{1} << 17;
  const auto width = static_cast<std::int64_t>(layout.type.bytes);
  parallel_for(reading.context, (count + grain - 1) / grain, [&](std::int64_t k) {
    const auto begin = k * grain;
    const auto some = std::min(grain, count - begin);
    const auto* from = layout.whole.data() + (first + begin) * width;
    convert_elements(layout.type, from, some, to + begin);
    let_go(reading, {from, from + some * width});
  });
}

}  // namespace

template <class Number>
bool can_read_pieces(const Hdf5Layout& layout) {
  const auto& type = layout.type;
  if (layout.rows == 0 || !type.is_number() || (layout.deflated && !can_inflate)) return false;
  if constexpr (std::is_floating_point_v<Number>) return type.kind != 'f' || type.bytes <= sizeof(Number);
  return type.kind == 'i' && type.bytes <= sizeof(Number);
}

template <class Number>
bool read_pieces(const Reading& reading, const Hdf5Layout& layout, const FetchChunk& fetch, std::int64_t first,
                 std::int64_t count, Number* to) {
  if (!layout.whole.empty()) {
    read_whole(reading, layout, first, count, to);
    return true;
  }
  const bool one_row = layout.rows == 1;
  const auto column_begin = one_row ? first : 0;
  const auto column_end = one_row ? first + count : layout.columns;
  const auto first_across = column_begin / layout.chunk_columns;
  const auto across = (column_end - 1) / layout.chunk_columns + 1 - first_across;
  const auto down = (layout.rows - 1) / layout.chunk_rows + 1;
  std::atomic<bool> sound = true;
  parallel_for(reading.context, across * down, [&](std::int64_t k) {
    if (!sound) return;
    thread_local Buffers buffers;
    const auto row = k / across * layout.chunk_rows;
    const auto column = (first_across + k % across) * layout.chunk_columns;
    const auto* from = open_chunk(layout, fetch, row, column, buffers);
    if (from == nullptr) {
      sound = false;
      return;
    }
    const auto begin = std::max(column, column_begin);
    const auto end = std::min(column + layout.chunk_columns, column_end);
    const auto rows = std::min(layout.chunk_rows, layout.rows - row);
    for (std::int64_t i = 0; i < rows; ++i)
      convert_elements(
          layout.type,
          from + (i * layout.chunk_columns + begin - column) * static_cast<std::int64_t>(layout.type.bytes),
          end - begin, to + (row + i) * layout.columns + begin - column_begin);
  });
  return sound;
}

template bool can_read_pieces<float>(const Hdf5Layout&);
template bool can_read_pieces<double>(const Hdf5Layout&);
template bool can_read_pieces<std::int32_t>(const Hdf5Layout&);
template bool can_read_pieces<std::int64_t>(const Hdf5Layout&);
template bool read_pieces(const Reading&, const Hdf5Layout&, const FetchChunk&, std::int64_t, std::int64_t, float*);
template bool read_pieces(const Reading&, const Hdf5Layout&, const FetchChunk&, std::int64_t, std::int64_t, double*);
template bool read_pieces(const Reading&, const Hdf5Layout&, const FetchChunk&, std::int64_t, std::int64_t,
                          std::int32_t*);
template bool read_pieces(const Reading&, const Hdf5Layout&, const FetchChunk&, std::int64_t, std::int64_t,
                          std::int64_t*);

}  // namespace sheaf
