// Messages in the headers of HDF5 objects, by their numbers in the format, and how their contents are read.
#pragma once

#include "data/hdf5/hdf5_objects.hpp"

namespace sheaf::hdf5 {

namespace message {
constexpr std::uint16_t space = 0x01, link_info = 0x02, type = 0x03, old_fill = 0x04, fill = 0x05, link = 0x06,
                        layout = 0x08, filters = 0x0B, attribute = 0x0C, continuation = 0x10, symbols = 0x11,
                        attribute_info = 0x15;
}  // namespace message

Type read_type(Bytes from);
std::vector<std::int64_t> read_shape(Bytes from);
std::vector<Filter> read_filters(Bytes from);
/// The element that stands for those that were not written; empty: zero.
std::string_view read_fill(Bytes from);
std::string_view read_old_fill(Bytes from);

/// The nodes of a tree or the blocks of a header, so that a damaged file cannot lead in circles.
class Visits {
 public:
  explicit Visits(const FileBytes& file) : most_(file.bytes.size() / 16) {}
  void next(const Bytes& at) {
    if (++made_ > most_) at.damaged();
  }

 private:
  std::size_t made_ = 0;
  std::size_t most_;
};

}  // namespace sheaf::hdf5
