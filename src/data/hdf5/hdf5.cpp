#include "data/hdf5/hdf5.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/fail.hpp"
#include "data/hdf5/hdf5_bytes.hpp"
#include "data/hdf5/hdf5_reader.hpp"

namespace sheaf {

using hdf5::Elements;
using hdf5::Reader;

bool is_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1A\n"); }

struct Hdf5File::Readers {
  std::unique_ptr<Reader> by_bytes;    ///< nothing: libhdf5 alone can read the file
  std::unique_ptr<Reader> by_library;  ///< once it is needed

  explicit Readers(const Reading& reading) {
    try {
      by_bytes = hdf5::read_by_bytes(reading);
    } catch (const hdf5::NotKnown&) {
    }
  }
};

/// The reader of bytes; libhdf5 takes over at the first construct that it does not know.
template <class Question>
auto Hdf5File::ask(const Question& question) const {
  auto& [by_bytes, by_library] = *readers_;
  if (by_bytes) try {
      return question(*by_bytes);
    } catch (const hdf5::NotKnown&) {
    }
  if (!by_library) by_library = hdf5::read_by_library(reading_);
  return question(*by_library);
}

Hdf5File::Hdf5File(const Reading& reading) : reading_(reading) {
  if (!is_hdf5(reading.text))
    fail("{}: is no HDF5 file: it begins with {}, and \\x89HDF is expected", reading.name,
         shown(reading.text.substr(0, 8)));
  readers_ = std::make_unique<Readers>(reading);
}

Hdf5File::~Hdf5File() = default;

bool Hdf5File::has(const std::string& path) const {
  return ask([&](Reader& reader) { return reader.has(path); });
}

bool Hdf5File::is_group(const std::string& path) const {
  return ask([&](Reader& reader) { return reader.is_group(path); });
}

std::vector<std::string> Hdf5File::members(const std::string& group) const {
  return ask([&](Reader& reader) { return reader.members(group); });
}

std::vector<std::int64_t> Hdf5File::shape(const std::string& dataset) const {
  return ask([&](Reader& reader) { return reader.shape(dataset); });
}

std::int64_t Hdf5File::count(const std::string& dataset) const {
  return ask([&](Reader& reader) { return reader.count(dataset); });
}

bool Hdf5File::is_text(const std::string& dataset) const {
  return ask([&](Reader& reader) { return reader.elements(dataset) == Elements::texts; });
}

template <class Number>
void Hdf5File::numbers(const std::string& dataset, std::int64_t first, std::span<Number> to) const {
  ask([&](Reader& reader) {
    if (reader.elements(dataset) == Elements::texts) fail("{}: '{}' holds no numbers", reading_.name, dataset);
    reader.numbers(dataset, first, to);
  });
}

template <class Number>
Array<Number> Hdf5File::numbers(const std::string& dataset) const {
  const auto size = count(dataset);
  check_memory(reading_, static_cast<double>(size) * sizeof(Number), fmt::format("{} numbers of '{}'", size, dataset));
  Array<Number> values(size);
  numbers(dataset, 0, values.span());
  return values;
}

template <class Number, class Text>
std::vector<std::string> Hdf5File::number_texts(const std::string& dataset, const Text& text) const {
  std::vector<std::string> texts;
  for (const auto value : numbers<Number>(dataset)) texts.push_back(value != value ? std::string() : text(value));
  return texts;
}

std::vector<std::string> Hdf5File::texts(const std::string& dataset) const {
  constexpr auto shortest = [](auto value) { return fmt::format("{}", value); };
  switch (ask([&](Reader& reader) { return reader.elements(dataset); })) {
    case Elements::truths:
      return number_texts<std::int64_t>(dataset, [](auto value) { return value != 0 ? "True" : "False"; });
    case Elements::whole_numbers:
      return number_texts<std::int64_t>(dataset, shortest);
    case Elements::floats:
      return number_texts<float>(dataset, shortest);
    case Elements::doubles:
      return number_texts<double>(dataset, shortest);
    case Elements::texts:
      break;
  }
  return ask([&](Reader& reader) { return reader.texts(dataset); });
}

bool Hdf5File::has_attribute(const std::string& path, const std::string& name) const {
  return ask([&](Reader& reader) { return reader.has_attribute(path, name); });
}

std::string Hdf5File::text_attribute(const std::string& path, const std::string& name) const {
  return ask([&](Reader& reader) { return reader.text_attribute(path, name); });
}

std::vector<std::int64_t> Hdf5File::number_attribute(const std::string& path, const std::string& name) const {
  return ask([&](Reader& reader) { return reader.number_attribute(path, name); });
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
