#include "data/hdf5/hdf5_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "core/parallel.hpp"

// libdeflate inflates a whole buffer in half of zlib's time.
#if SHEAF_DEFLATE
#include <libdeflate.h>
#elif SHEAF_GZIP
#include <zlib.h>
#endif

namespace sheaf::hdf5 {
namespace {

[[noreturn]] void fail_damaged(const Reading& reading, const std::string& path) {
  fail("{}: '{}' cannot be read; the file is damaged", reading.name, path);
}

/// Whether exactly so many bytes came out.
bool inflate_chunk(std::string_view packed, std::span<char> to) {
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
  (void)packed, (void)to;
  throw NotKnown{};
#endif
}

/// LZF, as h5py writes it. A byte below 32: so many bytes and one more follow. Else: a copy of what came out before, of
/// at least 3 bytes, at most 8,192 back.
bool expand_lzf(std::string_view packed, std::span<char> to) {
  std::size_t in = 0, out = 0;
  while (in < packed.size()) {
    const auto control = static_cast<unsigned char>(packed[in++]);
    if (control < 32) {
      const std::size_t count = control + 1U;
      if (count > packed.size() - in || count > to.size() - out) return false;
      std::memcpy(to.data() + out, packed.data() + in, count);
      in += count;
      out += count;
      continue;
    }
    std::size_t count = (control >> 5U) + 2U;
    const std::size_t more = count == 9 ? 2 : 1;  // bytes that follow
    if (packed.size() - in < more) return false;
    if (more == 2) count += static_cast<unsigned char>(packed[in++]);
    const std::size_t back = ((control & 31U) << 8U | static_cast<unsigned char>(packed[in++])) + 1U;
    if (back > out || count > to.size() - out) return false;
    for (std::size_t k = 0; k < count; ++k) to[out + k] = to[out + k - back];
    out += count;
  }
  return out == to.size();
}

template <std::size_t width>
void unshuffle(const char* from, std::size_t count, char* to) {
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t byte = 0; byte < width; ++byte) to[k * width + byte] = from[byte * count + k];
}

void unshuffle(std::span<const char> from, std::size_t width, std::span<char> to) {
  const auto count = from.size() / width;
  if (width == 2) return unshuffle<2>(from.data(), count, to.data());
  if (width == 4) return unshuffle<4>(from.data(), count, to.data());
  if (width == 8) return unshuffle<8>(from.data(), count, to.data());
  for (std::size_t byte = 0; byte < width; ++byte)
    for (std::size_t k = 0; k < count; ++k) to[k * width + byte] = from[byte * count + k];
}

/// Memory of one thread.
struct Buffers {
  std::vector<char> one, other;
};

/// The elements of a chunk in their order, also of those beyond the array's end.
const char* open_chunk(const Reading& reading, const StoredArray& array, const std::string& path,
                       const StoredChunk& chunk, std::size_t bytes, Buffers& buffers) {
  auto plain = chunk.bytes;
  if (bytes / best_ratio > plain.size()) fail_damaged(reading, path);
  buffers.one.resize(bytes);
  buffers.other.resize(bytes);
  auto *to = &buffers.one, *spare = &buffers.other;
  for (auto k = array.filters.size(); k-- > 0;) {
    if ((chunk.left_out >> k & 1U) != 0) continue;
    if (array.filters[k] == Filter::shuffle && plain.size() == bytes)
      unshuffle(plain, array.type.bytes, *to);
    else if (!(array.filters[k] == Filter::deflate && inflate_chunk(plain, *to)) &&
             !(array.filters[k] == Filter::lzf && expand_lzf(plain, *to)))
      fail_damaged(reading, path);
    plain = {to->data(), bytes};
    std::swap(to, spare);
  }
  if (plain.size() != bytes) fail_damaged(reading, path);
  return plain.data();
}

/// An array at one place of the file.
void read_whole(const Reading& reading, const StoredArray& array, std::int64_t first, std::int64_t count,
                const TakeElements& take) {
  constexpr std::int64_t grain = std::int64_t{1} << 17;
  const auto width = static_cast<std::int64_t>(array.type.bytes);
  parallel_for(reading.context, (count + grain - 1) / grain, [&](std::int64_t k) {
    const auto begin = first + k * grain;
    const auto some = std::min(grain, first + count - begin);
    const auto* from = array.whole.data() + begin * width;
    take(begin, some, from);
    release_pages(reading, {from, from + some * width});
  });
}

/// Elements that were never written.
class Unwritten {
 public:
  explicit Unwritten(const StoredArray& array)
      : width_(static_cast<std::int64_t>(array.type.bytes)), few_(std::max<std::int64_t>(1, most_bytes / width_)) {
    const std::string zero(array.type.bytes, '\0');
    for (std::int64_t k = 0; k < few_; ++k) elements_ += array.fill.empty() ? std::string_view(zero) : array.fill;
  }
  void pass_numbers(std::int64_t first, std::int64_t count, const TakeElements& take) const {
    for (; count > 0; first += few_, count -= few_) take(first, std::min(count, few_), elements_.data());
  }

 private:
  static constexpr std::int64_t most_bytes = 1 << 12;
  std::int64_t width_, few_;
  std::string elements_;
};

/// libhdf5 itself has some more filters; others would be programs of their own.
void check_filters(const Reading& reading, const StoredArray& array, const std::string& path) {
  constexpr bool can_inflate = SHEAF_DEFLATE != 0 || SHEAF_GZIP != 0;
  constexpr std::uint16_t last_of_libhdf5 = 6;
  for (const auto filter : array.filters) {
    if (filter == Filter::shuffle || filter == Filter::lzf || (filter == Filter::deflate && can_inflate)) continue;
    if (static_cast<std::uint16_t>(filter) <= last_of_libhdf5) throw NotKnown{};
    fail("{}: '{}' is compressed by the HDF5 filter {}, which is not read; write the file with gzip, lzf or without",
         reading.name, path, static_cast<std::uint16_t>(filter));
  }
}

template <class Number>
[[noreturn]] void fail_value(const Reading& reading, const std::string& path, double value) {
  fail("{}: '{}' holds {}; whole numbers from {} to {} are expected", reading.name, path, value,
       std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max());
}

/// Whether a whole number of type To can be the value.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else {
    const auto number = static_cast<double>(value);
    return number == std::floor(number) && number >= -9e15 && number <= 9e15 &&
           std::in_range<To>(static_cast<std::int64_t>(number));
  }
}

template <class Number>
void convert_elements(const Reading& reading, const std::string& path, ElementType type, const char* from,
                      std::int64_t count, Number* to) {
  visit_element_type(type, [&]<class From>(std::type_identity<From>) {
    if (std::is_same_v<From, Number> && !type.swapped) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Number));
      return;
    }
    bool all_fit = true;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto value = load_element<From>(from, k, type.swapped);
      if constexpr (std::is_integral_v<Number>) all_fit &= fits<Number>(value);
      to[k] = convert_element<Number>(value);
    }
    for (std::int64_t k = 0; k < count && !all_fit; ++k)
      if constexpr (std::is_integral_v<Number>)
        if (const auto value = load_element<From>(from, k, type.swapped); !fits<Number>(value))
          fail_value<Number>(reading, path, static_cast<double>(value));
  });
}

}  // namespace

void read_elements(const Reading& reading, const StoredArray& array, const std::string& path, std::int64_t first,
                   std::int64_t count, const TakeElements& take) {
  if (count == 0) return;
  if (!array.whole.empty()) return read_whole(reading, array, first, count, take);
  const Unwritten unwritten(array);
  if (array.chunk.empty()) return unwritten.pass_numbers(first, count, take);
  check_filters(reading, array, path);
  const bool one_row = array.shape.size() == 1;
  const auto rows = one_row ? 1 : array.shape[0], columns = array.shape.back();
  const auto chunk_rows = one_row ? 1 : array.chunk[0], chunk_columns = array.chunk.back();
  const auto column_begin = one_row ? first : 0;
  const auto column_end = one_row ? first + count : columns;
  const auto first_across = column_begin / chunk_columns;
  const auto across = (column_end - 1) / chunk_columns + 1 - first_across;
  const auto down = (rows - 1) / chunk_rows + 1;
  const auto width = static_cast<std::int64_t>(array.type.bytes);
  const auto bytes = static_cast<std::size_t>(chunk_rows * chunk_columns * width);
  parallel_for(reading.context, across * down, [&](std::int64_t k) {
    thread_local Buffers buffers;
    const auto row = k / across * chunk_rows;
    const auto column = (first_across + k % across) * chunk_columns;
    const auto begin = std::max(column, column_begin);
    const auto end = std::min(column + chunk_columns, column_end);
    const auto found = array.chunks.find({row, column});
    const bool is_there = found != array.chunks.end();
    const auto* from = is_there ? open_chunk(reading, array, path, found->second, bytes, buffers) : nullptr;
    for (std::int64_t i = 0; i < std::min(chunk_rows, rows - row); ++i) {
      const auto to = (row + i) * columns + begin;
      if (is_there)
        take(to, end - begin, from + (i * chunk_columns + begin - column) * width);
      else
        unwritten.pass_numbers(to, end - begin, take);
    }
    if (is_there)
      release_pages(reading, {found->second.bytes.data(), found->second.bytes.data() + found->second.bytes.size()});
  });
}

template <class Number>
void read_numbers(const Reading& reading, const StoredArray& array, const std::string& path, std::int64_t first,
                  std::span<Number> to) {
  read_elements(reading, array, path, first, std::ssize(to),
                [&](std::int64_t at, std::int64_t count, const char* from) {
                  convert_elements(reading, path, array.type.element, from, count, to.data() + (at - first));
                });
}

template void read_numbers(const Reading&, const StoredArray&, const std::string&, std::int64_t, std::span<float>);
template void read_numbers(const Reading&, const StoredArray&, const std::string&, std::int64_t, std::span<double>);
template void read_numbers(const Reading&, const StoredArray&, const std::string&, std::int64_t,
                           std::span<std::int32_t>);
template void read_numbers(const Reading&, const StoredArray&, const std::string&, std::int64_t,
                           std::span<std::int64_t>);

}  // namespace sheaf::hdf5
