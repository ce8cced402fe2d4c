// Arrays of HDF5 files: where their elements are.
#include <algorithm>

#include "data/hdf5/hdf5_messages.hpp"

namespace sheaf::hdf5 {
namespace {

double elements_of(const std::vector<std::int64_t>& shape) {
  double elements = 1;
  for (const auto size : shape) elements *= static_cast<double>(size);
  return elements;
}

}  // namespace

/// A tree (TREE, 1, level, entries, two places) of chunks. Before each place of a node or a chunk are its stored bytes,
/// the filters that were left out, and its first element.
void Objects::read_chunks(std::uint64_t root, StoredArray& array) const {
  Visits visits(file_);
  std::vector<std::uint64_t> nodes{root};
  while (!nodes.empty()) {
    auto from = file_.at(nodes.back());
    nodes.pop_back();
    visits.next(from);
    from.expect(std::string_view("TREE\1", 5));
    const auto level = from.byte();
    const auto entries = from.number<std::uint16_t>();
    from.take(16);
    for (int k = 0; k < entries; ++k) {
      const auto bytes = from.number<std::uint32_t>(), left_out = from.number<std::uint32_t>();
      ChunkPlace place{0, 0};
      for (std::size_t d = 0; d < array.shape.size(); ++d) {
        const auto first = from.number<std::uint64_t>();
        if (first > INT64_MAX || first % static_cast<std::uint64_t>(array.chunk[d]) != 0) from.damaged();
        (d + 1 == array.shape.size() ? place.second : place.first) = static_cast<std::int64_t>(first);
      }
      from.take(8);
      const auto at = from.number<std::uint64_t>();
      if (level > 0) {
        nodes.push_back(at);
        continue;
      }
      array.chunks.insert_or_assign(place, StoredChunk{file_.at(at, bytes).take(bytes), left_out});
      array.stored_bytes += bytes;
    }
  }
}

/// Version 3: its number, kind (0 in the header, 1 at one place, 2 in chunks), then bytes and elements, or place and
/// bytes, or dimensions and one more, the tree, the sizes of chunks, and the bytes of an element.
void Objects::read_layout(const Messages& all, StoredArray& array) const {
  auto from = required(all, message::layout);
  const auto version = from.byte(), kind = from.byte();
  if (is_later_ && version == 4 && kind > 1) throw NotKnown{};
  if (version != 3 && version != 4) from.damaged();
  const auto bytes = elements_of(array.shape) * static_cast<double>(array.type.bytes);
  const auto use_whole = [&](std::string_view whole) {
    if (static_cast<double>(whole.size()) < bytes) from.damaged();
    array.whole = whole.substr(0, static_cast<std::size_t>(bytes));
    array.stored_bytes = std::ssize(whole);
  };
  if (kind == 0) {
    use_whole(from.take(from.number<std::uint16_t>()));
  } else if (kind == 1) {
    const auto place = from.number<std::uint64_t>();
    const auto size = from.number<std::uint64_t>();
    if (place != nowhere) use_whole(file_.at(place, size).take(size));
  } else if (kind == 2) {
    const auto dimensions = from.byte();
    const auto tree = from.number<std::uint64_t>();
    if (array.shape.empty() || dimensions != array.shape.size() + 1) from.damaged();
    if (array.shape.size() > 2) throw NotKnown{};
    constexpr double most_bytes = 1U << 31U;
    double chunk_bytes = 1;
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
      array.chunk.push_back(from.number<std::uint32_t>());
      if (array.chunk.back() == 0) from.damaged();
      chunk_bytes *= static_cast<double>(array.chunk.back());
    }
    if (from.number<std::uint32_t>() != array.type.bytes) from.damaged();
    if (chunk_bytes * static_cast<double>(array.type.bytes) > most_bytes) from.damaged();
    if (tree != nowhere) read_chunks(tree, array);
  } else {
    from.damaged();
  }
}

StoredArray Objects::array(std::uint64_t object) const {
  const auto all = messages(object);
  constexpr std::uint16_t other_files = 0x07;
  if (content(all, other_files)) throw NotKnown{};
  StoredArray array;
  array.type = read_type(required(all, message::type));
  array.shape = read_shape(required(all, message::space));
  if (const auto filters = content(all, message::filters)) array.filters = read_filters(*filters);
  if (const auto fill = content(all, message::fill))
    array.fill = read_fill(*fill);
  else if (const auto old = content(all, message::old_fill))
    array.fill = read_old_fill(*old);
  if (array.fill.size() != array.type.bytes) array.fill = {};
  read_layout(all, array);
  return array;
}

std::int64_t count(const StoredArray& array) { return static_cast<std::int64_t>(elements_of(array.shape)); }

}  // namespace sheaf::hdf5
