#include "data/hdf5/hdf5.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/fail.hpp"
#include "data/hdf5/hdf5_by_library.hpp"
#include "data/hdf5/hdf5_heap.hpp"
#include "data/hdf5/hdf5_objects.hpp"
#include "data/hdf5/hdf5_pieces.hpp"

namespace sheaf {

using hdf5::NotKnown;
using hdf5::Objects;
using hdf5::StoredArray;
using hdf5::Type;

bool is_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1A\n"); }

struct Hdf5File::Parts {
  const Reading& reading;
  std::optional<Objects> objects;  ///< nothing: libhdf5 alone can read it
  Hdf5Heap heap;
  std::unique_ptr<Hdf5ByLibrary> library;  ///< once it is needed

  std::map<std::string, StoredArray> arrays;  ///< those that were looked up

  explicit Parts(const Reading& from) : reading(from), heap(from.text) {
    try {
      objects.emplace(reading.text, reading.name);
    } catch (const NotKnown&) {
    }
  }
  /// What read(objects) returns; by_library(library) if it meets what is not known here.
  template <class Read, class ByLibrary>
  auto read(const Read& read_objects, const ByLibrary& by_library) {
    if (objects) try {
        return read_objects(*objects);
      } catch (const NotKnown&) {
      }
    if (library == nullptr) library = std::make_unique<Hdf5ByLibrary>(reading);
    return by_library(*library);
  }
  [[noreturn]] void fail_path(const std::string& path, std::string_view problem) const {
    fail("{}: '{}' {}", reading.name, path, problem);
  }
  std::uint64_t object(const Objects& from, const std::string& path) const {
    const auto found = from.find(path);
    if (!found) fail("{}: has no '{}'", reading.name, path);
    return *found;
  }
  const StoredArray& array(const Objects& from, const std::string& path) {
    if (const auto known = arrays.find(path); known != arrays.end()) return known->second;
    const auto place = object(from, path);
    if (!from.is_array(place)) fail_path(path, "is no array");
    auto found = from.array(place);
    if (!is_possible(found)) {
      double elements = 1;
      for (const auto size : found.shape) elements *= static_cast<double>(size);
      fail_path(path, fmt::format("declares {:.0f} elements, more than its {} stored bytes can hold", elements,
                                  found.stored_bytes));
    }
    return arrays.emplace(path, std::move(found)).first->second;
  }
  const StoredArray& numbers(const Objects& from, const std::string& path) {
    const auto& found = array(from, path);
    if (found.type.kind != Type::Kind::number && found.type.kind != Type::Kind::truth)
      fail_path(path, "holds no numbers of 1, 2, 4 or 8 bytes");
    return found;
  }
  std::string text(const Type& type, const char* stored, const std::string& path) {
    std::optional<std::string_view> found(std::in_place, stored, type.bytes);
    if (type.kind == Type::Kind::heap_text) found = heap.find(HeapReference::load(stored));
    if (!found) fail_path(path, "holds a text that is not where it should be in the file; the file is damaged");
    return std::string(found->substr(0, found->find('\0')));
  }
  void check_type(const Type& type) const {
    if (type.kind == Type::Kind::heap_text && type.bytes != HeapReference::stored_bytes) throw NotKnown{};
  }
  std::vector<std::string> texts(const StoredArray& array, const std::string& path) {
    check_type(array.type);
    const auto size = hdf5::count(array);
    const auto bytes = array.type.bytes;
    check_memory(reading, static_cast<double>(size) * static_cast<double>(bytes + sizeof(std::string)),
                 fmt::format("{} texts of '{}'", size, path));
    std::vector<char> all(static_cast<std::size_t>(size) * bytes);
    read_elements(reading, array, path, 0, size, [&](std::int64_t first, std::int64_t some, const char* from) {
      std::copy_n(from, static_cast<std::size_t>(some) * bytes, all.data() + static_cast<std::size_t>(first) * bytes);
    });
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < all.size(); at += bytes) texts.push_back(text(array.type, all.data() + at, path));
    return texts;
  }
  template <class Number>
  Array<Number> all_numbers(const StoredArray& array, const std::string& path) const {
    const auto size = hdf5::count(array);
    check_memory(reading, static_cast<double>(size) * sizeof(Number), fmt::format("{} numbers of '{}'", size, path));
    Array<Number> values(size);
    read_numbers(reading, array, path, 0, values.span());
    return values;
  }
  template <class Number>
  std::vector<std::string> number_texts(const StoredArray& array, const std::string& path) const {
    std::vector<std::string> texts;
    for (const auto value : all_numbers<Number>(array, path)) {
      if (array.type.kind == Type::Kind::truth)
        texts.emplace_back(value != 0 ? "True" : "False");
      else
        texts.push_back(value != value ? "" : fmt::format("{}", value));
    }
    return texts;
  }
};

Hdf5File::Hdf5File(const Reading& reading) : reading_(reading) {
  if (!is_hdf5(reading.text))
    fail("{}: is no HDF5 file: it begins with {}, and \\x89HDF is expected", reading.name,
         shown(reading.text.substr(0, 8)));
  parts_ = std::make_unique<Parts>(reading);
}

Hdf5File::~Hdf5File() = default;

bool Hdf5File::has(const std::string& path) const {
  return parts_->read([&](const Objects& from) { return from.find(path).has_value(); },
                      [&](const Hdf5ByLibrary& library) { return library.has(path); });
}

bool Hdf5File::is_group(const std::string& path) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto found = from.find(path);
        return found && from.is_group(*found);
      },
      [&](const Hdf5ByLibrary& library) { return library.is_group(path); });
}

std::vector<std::string> Hdf5File::members(const std::string& group) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto found = parts_->object(from, group);
        if (!from.is_group(found)) parts_->fail_path(group, "is no group");
        return from.members(found);
      },
      [&](const Hdf5ByLibrary& library) { return library.members(group); });
}

std::vector<std::int64_t> Hdf5File::shape(const std::string& dataset) const {
  return parts_->read([&](const Objects& from) { return parts_->array(from, dataset).shape; },
                      [&](const Hdf5ByLibrary& library) { return library.shape(dataset); });
}

std::int64_t Hdf5File::count(const std::string& dataset) const {
  return parts_->read([&](const Objects& from) { return hdf5::count(parts_->array(from, dataset)); },
                      [&](const Hdf5ByLibrary& library) { return library.count(dataset); });
}

template <class Number>
Array<Number> Hdf5File::numbers(const std::string& dataset) const {
  return parts_->read(
      [&](const Objects& from) { return parts_->all_numbers<Number>(parts_->numbers(from, dataset), dataset); },
      [&](const Hdf5ByLibrary& library) { return library.numbers<Number>(dataset); });
}

template <class Number>
void Hdf5File::numbers(const std::string& dataset, std::int64_t first, std::span<Number> to) const {
  parts_->read(
      [&](const Objects& from) {
        const auto& array = parts_->numbers(from, dataset);
        if (array.shape.size() != 1 || first + std::ssize(to) > array.shape[0])
          parts_->fail_path(dataset, "is not as long as expected; the file is damaged");
        read_numbers(reading_, array, dataset, first, to);
      },
      [&](const Hdf5ByLibrary& library) { library.numbers(dataset, first, to); });
}

bool Hdf5File::is_text(const std::string& dataset) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto kind = parts_->array(from, dataset).type.kind;
        return kind == Type::Kind::text || kind == Type::Kind::heap_text;
      },
      [&](const Hdf5ByLibrary& library) { return library.is_text(dataset); });
}

std::vector<std::string> Hdf5File::texts(const std::string& dataset) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto& array = parts_->array(from, dataset);
        if (array.type.kind == Type::Kind::text || array.type.kind == Type::Kind::heap_text)
          return parts_->texts(array, dataset);
        const auto& numbers = parts_->numbers(from, dataset);
        if (numbers.type.element.kind != 'f') return parts_->number_texts<std::int64_t>(numbers, dataset);
        if (numbers.type.bytes <= sizeof(float)) return parts_->number_texts<float>(numbers, dataset);
        return parts_->number_texts<double>(numbers, dataset);
      },
      [&](const Hdf5ByLibrary& library) { return library.texts(dataset); });
}

bool Hdf5File::has_attribute(const std::string& path, const std::string& name) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto found = from.find(path);
        return found && from.attribute(*found, name).has_value();
      },
      [&](const Hdf5ByLibrary& library) { return library.has_attribute(path, name); });
}

std::string Hdf5File::text_attribute(const std::string& path, const std::string& name) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto attribute = from.attribute(parts_->object(from, path), name);
        if (!attribute) parts_->fail_path(path, fmt::format("has no attribute '{}'", name));
        const auto& [type, shape, bytes] = *attribute;
        parts_->check_type(type);
        const bool one = std::all_of(shape.begin(), shape.end(), [](auto size) { return size == 1; });
        if ((type.kind != Type::Kind::text && type.kind != Type::Kind::heap_text) || !one || bytes.size() < type.bytes)
          parts_->fail_path(path, fmt::format("has the attribute '{}', which is not one text", name));
        return parts_->text(type, bytes.data(), path);
      },
      [&](const Hdf5ByLibrary& library) { return library.text_attribute(path, name); });
}

std::vector<std::int64_t> Hdf5File::number_attribute(const std::string& path, const std::string& name) const {
  return parts_->read(
      [&](const Objects& from) {
        const auto attribute = from.attribute(parts_->object(from, path), name);
        if (!attribute) parts_->fail_path(path, fmt::format("has no attribute '{}'", name));
        const auto& [type, shape, bytes] = *attribute;
        constexpr double most = 16;
        double count = 1;
        for (const auto size : shape) count *= static_cast<double>(size);
        if (type.kind != Type::Kind::number || type.element.kind == 'f' || count < 1 || count > most ||
            static_cast<double>(bytes.size()) < count * static_cast<double>(type.bytes))
          parts_->fail_path(path, fmt::format("has the attribute '{}', which is no list of whole numbers", name));
        StoredArray array;
        array.type = type;
        array.shape = shape;
        array.whole = bytes;
        std::vector<std::int64_t> values(static_cast<std::size_t>(count));
        read_numbers<std::int64_t>(reading_, array, path, 0, values);
        return values;
      },
      [&](const Hdf5ByLibrary& library) { return library.number_attribute(path, name); });
}

bool hdf5_has(std::string_view bytes, std::initializer_list<std::string_view> paths) {
  if (!is_hdf5(bytes)) return false;
  const Context context;
  const std::string name = "file";
  const ReadOptions options;
  const Reading reading{context, bytes, name, options};
  try {
    const Hdf5File file(reading);
    return std::all_of(paths.begin(), paths.end(), [&](auto path) { return file.has(std::string(path)); });
  } catch (const Error&) {
    return false;
  }
}

template void Hdf5File::numbers(const std::string&, std::int64_t, std::span<float>) const;
template void Hdf5File::numbers(const std::string&, std::int64_t, std::span<double>) const;
template void Hdf5File::numbers(const std::string&, std::int64_t, std::span<std::int32_t>) const;
template Array<float> Hdf5File::numbers(const std::string&) const;
template Array<double> Hdf5File::numbers(const std::string&) const;
template Array<std::int32_t> Hdf5File::numbers(const std::string&) const;
template Array<std::int64_t> Hdf5File::numbers(const std::string&) const;

}  // namespace sheaf
