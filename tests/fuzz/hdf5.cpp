// HDF5 files whose content is wrong: BIOM 2.1, AnnData, 10x. libhdf5 reads the bytes of such a file, and is not safe
// against every damage of them; what is fuzzed by check_hdf5 is everything behind it. The input describes a file, one
// member a line, and libhdf5 writes that file:
//
//     format h5ad             the format to read: biom, h5ad or 10x
//     layer NAME              the layer to read (h5ad)
//     group PATH
//     ints|longs|reals|texts PATH [COLUMNS] value value ...     COLUMNS: "x3", an array of two dimensions
//     word PATH NAME value    an attribute that is a text
//     shape PATH NAME value value ...     one that is a list of whole numbers
//
// Lines that cannot be written are passed over. check_hdf5_file takes the bytes of a file, as they are read without
// libhdf5.
#include <charconv>
#include <filesystem>
#include <sstream>

#include "data/hdf5/hdf5.hpp"
#include "data/hdf5/hdf5_heap.hpp"
#include "data/hdf5/hdf5_pieces.hpp"
#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"

namespace sheaf::fuzz {
namespace {

using Words = std::vector<std::string>;

template <class Number>
std::vector<Number> numbers_of(const Words& words, std::size_t first) {
  std::vector<Number> numbers;
  for (std::size_t k = first; k < words.size(); ++k) {
    Number value{};
    std::from_chars(words[k].data(), words[k].data() + words[k].size(), value);
    numbers.push_back(value);
  }
  return numbers;
}

/// The shape of so many values; empty: one dimension.
std::vector<std::int64_t> shape_of(const Words& words, std::size_t& first) {
  if (words.size() <= first || words[first].size() < 2 || words[first][0] != 'x') return {};
  std::int64_t columns = 0;
  std::from_chars(words[first].data() + 1, words[first].data() + words[first].size(), columns);
  ++first;
  const auto values = static_cast<std::int64_t>(words.size() - first);
  if (columns < 1 || values % columns != 0) return {};
  return {values / columns, columns};
}

void write_line(Hdf5Writer& file, const Words& words) {
  if (words.size() < 2) return;
  const auto& [kind, path] = std::tie(words[0], words[1]);
  if (kind == "group") file.group(path);
  if (kind == "word" && words.size() == 4) file.attribute(path, words[2], words[3]);
  if (kind == "shape" && words.size() > 3) file.attribute(path, words[2], numbers_of<std::int64_t>(words, 3));
  std::size_t first = 2;
  const auto shape = shape_of(words, first);
  if (kind == "ints") file.numbers<std::int32_t>(path, numbers_of<std::int32_t>(words, first), shape);
  if (kind == "longs") file.numbers<std::int64_t>(path, numbers_of<std::int64_t>(words, first), shape);
  if (kind == "reals") file.numbers<double>(path, numbers_of<double>(words, first), shape);
  if (kind == "texts") file.texts(path, Words(words.begin() + static_cast<std::ptrdiff_t>(first), words.end()), shape);
}

/// The bytes of the file that `input` describes. What it says of the reading goes into `options`.
std::string written(std::string_view input, ReadOptions& options) {
  const auto path = Scratch::folder() + "/described.h5";
  Hdf5Writer file(path);
  std::istringstream lines{std::string(input)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    Words words;
    for (std::string word; in >> word;) words.push_back(std::move(word));
    if (words.size() == 2 && words[0] == "format" && (words[1] == "biom" || words[1] == "10x"))
      options.format = words[1];
    if (words.size() == 2 && words[0] == "layer") options.layer = words[1];
    if (words.size() == 2 && words[0] == "label") options.label = words[1];
    if (words.size() == 2 && words[0] == "group-by") options.group = words[1];
    try {
      write_line(file, words);
    } catch (const Error&) {
    }
  }
  file.finish();
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  return bytes;
}

}  // namespace

void check_hdf5(std::string_view input) {
  constexpr std::size_t most = 1 << 14;
  if (input.size() > most || input.find('\0') != std::string_view::npos) return;
  auto options = varied_options("h5ad", input);
  options.header = Header::automatic;
  options.group.clear();
  options.label.clear();
  options.ignore.clear();
  std::string bytes;
  try {
    bytes = written(input, options);
  } catch (const Error&) {  // this build has no libhdf5
    return;
  }
  check_reading<double>(bytes, options);
  check_reading<float>(bytes, options);
}

namespace {

using hdf5::Objects;
using hdf5::Type;

void check_array(const Reading& reading, const Objects& objects, std::uint64_t object, const std::string& path) {
  const auto array = objects.array(object);
  constexpr double most_bytes = 1 << 20;
  double bytes = static_cast<double>(array.type.bytes);
  for (const auto size : array.shape) bytes *= static_cast<double>(size);
  if (bytes > most_bytes || static_cast<double>(array.type.bytes) > most_bytes) return;
  const auto elements = count(array);
  Hdf5Heap heap(reading.text);
  read_elements(reading, array, path, 0, elements, [&](std::int64_t first, std::int64_t some, const char* from) {
    expect(first >= 0 && some >= 0 && first + some <= elements, "elements are inside the array");
    if (array.type.kind == Type::Kind::heap_text && array.type.bytes == HeapReference::stored_bytes)
      heap.find(HeapReference::load(from));
  });
  if (array.type.kind != Type::Kind::number) return;
  std::vector<double> values(static_cast<std::size_t>(elements));
  read_numbers<double>(reading, array, path, 0, values);
}

void check_object(const Reading& reading, const Objects& objects, const std::string& path, int depth) {
  const auto object = objects.find(path);
  expect(object.has_value(), "members are found");
  for (const auto* name : {"_index", "encoding-type", "shape"}) objects.attribute(*object, name);
  if (objects.is_array(*object)) check_array(reading, objects, *object, path);
  constexpr int deepest = 4;
  if (!objects.is_group(*object) || depth > deepest) return;
  constexpr std::size_t most_members = 64;
  auto names = objects.members(*object);
  names.resize(std::min(names.size(), most_members));
  for (const auto& name : names)
    if (!name.empty() && name.find('/') == std::string::npos) try {
        check_object(reading, objects, path + "/" + name, depth + 1);
      } catch (const Error&) {
      } catch (const hdf5::NotKnown&) {
      }
}

}  // namespace

void check_hdf5_file(std::string_view input) {
  const auto context = context_of(1);
  const std::string name = "file";
  const ReadOptions options;
  const Reading reading{context, input, name, options};
  try {
    check_object(reading, Objects(input, name), "", 0);
  } catch (const Error&) {
  } catch (const hdf5::NotKnown&) {
  }
}

}  // namespace sheaf::fuzz
