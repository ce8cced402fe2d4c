// The bytes of an HDF5 file. Every read is checked: one outside of the file is an Error that names the place.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "core/fail.hpp"
#include "data/bytes/elements.hpp"

namespace sheaf::hdf5 {

/// The construct is valid, but not known here: libhdf5 may know it.
struct NotKnown {};

/// A place that stands for none.
constexpr std::uint64_t nowhere = UINT64_MAX;

/// Bytes of a file, or of a part of it, read one after the other. HDF5's own numbers have their lowest byte first.
class Bytes {
 public:
  Bytes(std::string_view file, std::string_view part, std::string_view name) : file_(file), rest_(part), name_(name) {}

  std::size_t left() const { return rest_.size(); }
  /// Its next bytes.
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) damaged();
    const auto bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  template <std::unsigned_integral Number>
  Number number() {
    return load_element<Number>(take(sizeof(Number)).data(), 0, std::endian::native == std::endian::big);
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  /// A number of `width` bytes, at most 8.
  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < width; ++k) value |= std::uint64_t{byte()} << (8 * k);
    return value;
  }
  void expect(std::string_view mark) {
    if (!rest_.starts_with(mark)) damaged();
    rest_.remove_prefix(mark.size());
  }
  [[noreturn]] void damaged() const {
    fail("{}: is damaged at byte {}; it cannot be read as an HDF5 file", name_, rest_.data() - file_.data());
  }

 private:
  std::string_view file_;
  std::string_view rest_;
  std::string_view name_;
};

/// A whole file.
struct FileBytes {
  std::string_view bytes;
  std::string_view name;

  /// From a place on, so many bytes or to the end of the file.
  Bytes at(std::uint64_t place, std::uint64_t count = nowhere) const {
    if (place > bytes.size() || (count != nowhere && count > bytes.size() - place))
      fail("{}: refers to byte {}, and it has {}; it is cut short or damaged", name, place, bytes.size());
    return {bytes, bytes.substr(place, count), name};
  }
};

}  // namespace sheaf::hdf5
