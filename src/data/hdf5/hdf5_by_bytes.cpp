// HDF5 files from their bytes, without libhdf5.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/fail.hpp"
#include "data/hdf5/hdf5_heap.hpp"
#include "data/hdf5/hdf5_objects.hpp"
#include "data/hdf5/hdf5_pieces.hpp"
#include "data/hdf5/hdf5_reader.hpp"

namespace sheaf::hdf5 {
namespace {

class ByBytes : public Reader {
 public:
  explicit ByBytes(const Reading& from) : Reader(from), objects_(from.text, from.name), heap_(from.text) {}

  bool has(const std::string& path) override { return objects_.find(path).has_value(); }
  bool is_group(const std::string& path) override {
    const auto found = objects_.find(path);
    return found && objects_.is_group(*found);
  }
  std::vector<std::string> members(const std::string& group) override {
    const auto found = object(group);
    if (!objects_.is_group(found)) fail_path(group, "is no group");
    return objects_.members(found);
  }
  std::vector<std::int64_t> shape(const std::string& path) override { return array(path).shape; }
  std::int64_t count(const std::string& path) override { return hdf5::count(array(path)); }
  Elements elements(const std::string& path) override {
    const auto& type = array(path).type;
    switch (type.kind) {
      case Type::Kind::text:
      case Type::Kind::heap_text:
        return Elements::texts;
      case Type::Kind::truth:
        return Elements::truths;
      case Type::Kind::number:
        if (type.element.kind != 'f') return Elements::whole_numbers;
        return type.bytes <= sizeof(float) ? Elements::floats : Elements::doubles;
      case Type::Kind::other:
        break;
    }
    fail_path(path, "holds neither texts nor numbers of 1, 2, 4 or 8 bytes");
  }
  void numbers(const std::string& path, std::int64_t first, const Numbers& to) override {
    const auto& from = array(path);
    std::visit(
        [&](auto values) {
          const bool all = first == 0 && std::ssize(values) == hdf5::count(from);
          if (!all && (from.shape.size() != 1 || first + std::ssize(values) > from.shape[0]))
            fail_path(path, "is not as long as expected; the file is damaged");
          read_numbers(reading(), from, path, first, values);
        },
        to);
  }
  std::vector<std::string> texts(const std::string& path) override {
    const auto& from = array(path);
    check_reference(from.type);
    const auto size = hdf5::count(from);
    const auto bytes = from.type.bytes;
    check_memory(reading(), static_cast<double>(size) * static_cast<double>(bytes + sizeof(std::string)),
                 fmt::format("{} texts of '{}'", size, path));
    std::vector<char> all(static_cast<std::size_t>(size) * bytes);
    read_elements(reading(), from, path, 0, size, [&](std::int64_t first, std::int64_t some, const char* at) {
      std::copy_n(at, static_cast<std::size_t>(some) * bytes, all.data() + static_cast<std::size_t>(first) * bytes);
    });
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < all.size(); at += bytes) texts.push_back(text(from.type, all.data() + at, path));
    return texts;
  }
  bool has_attribute(const std::string& path, const std::string& name) override {
    const auto found = objects_.find(path);
    return found && objects_.attribute(*found, name).has_value();
  }
  std::string text_attribute(const std::string& path, const std::string& name) override {
    const auto [type, shape, bytes] = attribute(path, name);
    check_reference(type);
    const bool one = std::all_of(shape.begin(), shape.end(), [](auto size) { return size == 1; });
    if ((type.kind != Type::Kind::text && type.kind != Type::Kind::heap_text) || !one || bytes.size() < type.bytes)
      fail_not_one_text(path, name);
    return text(type, bytes.data(), path);
  }
  std::vector<std::int64_t> number_attribute(const std::string& path, const std::string& name) override {
    const auto [type, shape, bytes] = attribute(path, name);
    double count = 1;
    for (const auto size : shape) count *= static_cast<double>(size);
    if (type.kind != Type::Kind::number || type.element.kind == 'f' || count < 1 || count > longest_list ||
        static_cast<double>(bytes.size()) < count * static_cast<double>(type.bytes))
      fail_no_number_list(path, name);
    StoredArray array;
    array.type = type;
    array.shape = shape;
    array.whole = bytes;
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    read_numbers<std::int64_t>(reading(), array, path, 0, values);
    return values;
  }

 private:
  std::uint64_t object(const std::string& path) const {
    const auto found = objects_.find(path);
    if (!found) fail("{}: has no '{}'", reading().name, path);
    return *found;
  }
  const StoredArray& array(const std::string& path) {
    if (const auto known = arrays_.find(path); known != arrays_.end()) return known->second;
    const auto place = object(path);
    if (!objects_.is_array(place)) fail_path(path, "is no array");
    auto found = objects_.array(place);
    checked_count(path, found.shape, found.type.bytes, found.stored_bytes);
    return arrays_.emplace(path, std::move(found)).first->second;
  }
  Attribute attribute(const std::string& path, const std::string& name) const {
    auto found = objects_.attribute(object(path), name);
    if (!found) fail_no_attribute(path, name);
    return *found;
  }
  static void check_reference(const Type& type) {
    if (type.kind == Type::Kind::heap_text && type.bytes != HeapReference::stored_bytes) throw NotKnown{};
  }
  std::string text(const Type& type, const char* stored, const std::string& path) {
    return checked_text(path, type.kind == Type::Kind::heap_text ? heap_.find(HeapReference::load(stored))
                                                                 : std::string_view(stored, type.bytes));
  }

  Objects objects_;
  Hdf5Heap heap_;
  std::map<std::string, StoredArray> arrays_;  ///< those that were looked up
};

}  // namespace

std::unique_ptr<Reader> read_by_bytes(const Reading& reading) { return std::make_unique<ByBytes>(reading); }

}  // namespace sheaf::hdf5
