// Headers, groups and attributes of HDF5 files. Arrays are in hdf5_array.cpp.
#include "data/hdf5/hdf5_objects.hpp"

#include "data/hdf5/hdf5_messages.hpp"

namespace sheaf::hdf5 {
namespace {

constexpr std::string_view magic = "\x89HDF\r\n\x1A\n";
constexpr std::size_t most_messages = 1 << 16;

std::string until_nul(std::string_view text) { return std::string(text.substr(0, text.find('\0'))); }

void skip_to_multiple_of_8(Bytes& from, std::size_t taken) { from.take((8 - taken % 8) % 8); }

}  // namespace

/// Version 0 and 1: magic, versions, sizes of places and lengths, numbers of trees, four places, and the entry of the
/// root group (the place of its name first). 2 and 3: magic, version, sizes, four places.
Objects::Objects(std::string_view bytes, std::string_view name) : file_{bytes, name} {
  auto from = file_.at(0);
  from.expect(magic);
  const auto version = from.byte();
  if (version > 3) from.damaged();
  is_later_ = version >= 2;
  if (version < 2) from.take(4);
  if (from.byte() != 8 || from.byte() != 8) from.damaged();
  from.take(version == 0 ? 9 : version == 1 ? 13 : 1);
  const auto base = from.number<std::uint64_t>();
  from.number<std::uint64_t>();
  const auto end = from.number<std::uint64_t>();
  if (base != 0) from.damaged();
  if (end > bytes.size()) fail("{}: cannot be read as an HDF5 file; it is cut short or damaged", name);
  if (version < 2) from.take(16);
  root_ = from.number<std::uint64_t>();
}

/// Version 1: its number, one byte, messages, references, bytes of messages. Each: type, bytes, flags, three bytes.
void Objects::read_version_1(std::uint64_t object, Messages& to) const {
  auto header = file_.at(object);
  header.expect(std::string_view("\1", 1));
  header.take(7);
  const auto size = header.number<std::uint32_t>();
  header.take(4);
  std::vector<Bytes> blocks{{file_.bytes, header.take(size), file_.name}};
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    auto block = blocks[k];
    constexpr std::size_t header_bytes = 8;
    while (block.left() >= header_bytes) {
      const auto type = block.number<std::uint16_t>(), bytes = block.number<std::uint16_t>();
      const auto flags = block.byte();
      block.take(3);
      Bytes content{file_.bytes, block.take(bytes), file_.name};
      if (to.size() > most_messages || blocks.size() > most_messages) block.damaged();
      to.push_back({type, (flags & 2U) != 0, content});
      if (type != message::continuation) continue;
      const auto place = content.number<std::uint64_t>();
      blocks.push_back(file_.at(place, content.number<std::uint64_t>()));
    }
  }
}

/// Version 2: OHDR, 2, flags, times, limits of attributes, bytes of messages. Each: type, bytes, flags, order. Four
/// bytes of a checksum are behind each block.
void Objects::read_version_2(std::uint64_t object, Messages& to) const {
  auto header = file_.at(object);
  header.expect("OHDR\2");
  const auto flags = header.byte();
  if ((flags & 0x20U) != 0) header.take(16);
  if ((flags & 0x10U) != 0) header.take(4);
  const auto size = header.number(std::size_t{1} << (flags & 3U));
  const bool ordered = (flags & 4U) != 0;
  const std::size_t header_bytes = ordered ? 6 : 4;
  std::vector<Bytes> blocks{{file_.bytes, header.take(size), file_.name}};
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    auto block = blocks[k];
    while (block.left() >= header_bytes) {
      const std::uint16_t type = block.byte();
      const auto bytes = block.number<std::uint16_t>();
      const auto message_flags = block.byte();
      if (ordered) block.take(2);
      Bytes content{file_.bytes, block.take(bytes), file_.name};
      if (to.size() > most_messages || blocks.size() > most_messages) block.damaged();
      to.push_back({type, (message_flags & 2U) != 0, content});
      if (type != message::continuation) continue;
      const auto place = content.number<std::uint64_t>();
      const auto length = content.number<std::uint64_t>();
      auto next = file_.at(place, length);
      next.expect("OCHK");
      if (next.left() < 4) next.damaged();
      blocks.emplace_back(file_.bytes, next.take(next.left() - 4), file_.name);
    }
  }
}

Objects::Messages Objects::messages(std::uint64_t object) const {
  Messages all;
  if (file_.at(object).number<std::uint8_t>() == 1)
    read_version_1(object, all);
  else
    read_version_2(object, all);
  return all;
}

std::optional<Bytes> Objects::content(const Messages& all, std::uint16_t type) const {
  for (const auto& one : all) {
    if (one.type != type) continue;
    if (one.shared) throw NotKnown{};
    return one.content;
  }
  return std::nullopt;
}

Bytes Objects::required(const Messages& all, std::uint16_t type) const {
  const auto found = content(all, type);
  if (!found)
    fail("{}: is damaged: an array of it has no {}", file_.name,
         type == message::type    ? "type"
         : type == message::space ? "shape"
                                  : "place");
  return *found;
}

/// A tree (TREE, 0, level, entries, two places, then a place of a name before and behind each place of a node) whose
/// leaves lead to SNOD, 1, one byte, entries: place of the name, object, kind, 20 bytes.
void Objects::read_symbols(std::uint64_t node, std::uint64_t names, Members& to) const {
  auto heap = file_.at(names);
  heap.expect(std::string_view("HEAP\0", 5));
  heap.take(3);
  const auto heap_bytes = heap.number<std::uint64_t>();
  heap.take(8);
  const auto texts = file_.at(heap.number<std::uint64_t>(), heap_bytes).take(heap_bytes);
  Visits visits(file_);
  std::vector<std::uint64_t> nodes{node};
  while (!nodes.empty()) {
    auto from = file_.at(nodes.back());
    nodes.pop_back();
    visits.next(from);
    const auto mark = from.take(4);
    if (mark == "TREE") {
      if (from.byte() != 0) from.damaged();
      from.byte();
      const auto entries = from.number<std::uint16_t>();
      from.take(24);
      for (int k = 0; k < entries; ++k) {
        nodes.push_back(from.number<std::uint64_t>());
        from.take(8);
      }
      continue;
    }
    if (mark != "SNOD") from.damaged();
    from.take(2);
    for (auto left = from.number<std::uint16_t>(); left > 0; --left) {
      const auto name = from.number<std::uint64_t>();
      const auto object = from.number<std::uint64_t>();
      const auto kind = from.number<std::uint32_t>();
      from.take(20);
      constexpr std::uint32_t soft_link = 2;
      if (kind == soft_link) continue;
      if (name >= texts.size()) from.damaged();
      to.emplace(until_nul(texts.substr(name)), object);
    }
  }
}

const Objects::Members& Objects::group(std::uint64_t object) const {
  if (const auto found = groups_.find(object); found != groups_.end()) return found->second;
  Members members;
  const auto all = messages(object);
  if (auto symbols = content(all, message::symbols)) {
    const auto tree = symbols->number<std::uint64_t>();
    read_symbols(tree, symbols->number<std::uint64_t>(), members);
  }
  if (auto info = content(all, message::link_info)) {
    info->byte();
    if ((info->byte() & 1U) != 0) info->take(8);
    if (info->number<std::uint64_t>() != nowhere) throw NotKnown{};
  }
  for (auto [type, shared, link] : all) {
    if (type != message::link) continue;
    if (shared || link.byte() != 1) link.damaged();
    const auto flags = link.byte();
    if ((flags & 8U) != 0 && link.byte() != 0) continue;  // a soft link
    if ((flags & 4U) != 0) link.take(8);
    if ((flags & 16U) != 0) link.take(1);
    const auto name = link.take(link.number(std::size_t{1} << (flags & 3U)));
    members.emplace(std::string(name), link.number<std::uint64_t>());
  }
  return groups_.emplace(object, std::move(members)).first->second;
}

std::optional<std::uint64_t> Objects::find(const std::string& path) const {
  auto object = root_;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) {
      if (!is_group(object)) return std::nullopt;
      const auto& members = group(object);
      const auto found = members.find(path.substr(at, end - at));
      if (found == members.end()) return std::nullopt;
      object = found->second;
    }
    at = end + 1;
  }
  return object;
}

bool Objects::is_group(std::uint64_t object) const {
  for (const auto& one : messages(object))
    if (one.type == message::symbols || one.type == message::link_info) return true;
  return false;
}

bool Objects::is_array(std::uint64_t object) const {
  for (const auto& one : messages(object))
    if (one.type == message::layout) return true;
  return false;
}

std::vector<std::string> Objects::members(std::uint64_t object) const {
  std::vector<std::string> names;
  for (const auto& [name, place] : group(object)) names.push_back(name);
  return names;
}

/// Version 1: 1, one byte, bytes of name, type and shape, each padded; 2 and 3 have flags and no padding, and 3 has the
/// name's character set.
std::optional<Attribute> Objects::attribute(std::uint64_t object, const std::string& name) const {
  const auto all = messages(object);
  for (auto [type, shared, from] : all) {
    if (type == message::attribute_info) {
      from.byte();
      if ((from.byte() & 1U) != 0) from.take(2);
      if (from.number<std::uint64_t>() != nowhere) throw NotKnown{};
    }
    if (type != message::attribute) continue;
    const auto version = from.byte();
    if (shared) throw NotKnown{};
    if (version < 1 || version > 3) from.damaged();
    const auto flags = from.byte();
    const auto name_bytes = from.number<std::uint16_t>(), type_bytes = from.number<std::uint16_t>(),
               shape_bytes = from.number<std::uint16_t>();
    if (version == 3) from.byte();
    const auto part = [version, &stored = from](std::size_t bytes) {
      const auto taken = stored.take(bytes);
      if (version == 1) skip_to_multiple_of_8(stored, bytes);
      return taken;
    };
    const bool is_it = until_nul(part(name_bytes)) == name;
    const Bytes stored_type{file_.bytes, part(type_bytes), file_.name};
    const Bytes stored_shape{file_.bytes, part(shape_bytes), file_.name};
    if (!is_it) continue;
    if (version > 1 && (flags & 3U) != 0) throw NotKnown{};
    return Attribute{read_type(stored_type), read_shape(stored_shape), from.take(from.left())};
  }
  return std::nullopt;
}

}  // namespace sheaf::hdf5
