#include "data/matrices/npy.hpp"

#include <charconv>
#include <limits>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

/// The header: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }
class NpyHeader {
 public:
  NpyHeader(const Reading& reading, const std::string& what, std::string_view text)
      : reading_(reading), what_(what), text_(text) {}

  void read(NpyArray& array) {
    expect('{');
    while (!take('}')) {
      const auto key = quoted();
      expect(':');
      if (key == "descr")
        array.descr = descr();
      else if (key == "fortran_order")
        array.fortran = truth();
      else if (key == "shape")
        shape(array);
      else
        fail_header(fmt::format("has the unknown key {}", shown(key)));
      ++keys_;
      if (!take(',') && !at_end('}')) fail_header("lacks a comma");
    }
    if (keys_ != 3) fail_header("must have descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void fail_header(std::string_view problem) const {
    fail("{}: the header of {} {}: {}", reading_.name, what_, problem, shown(text_));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool at_end(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!at_end(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_header(fmt::format("lacks '{}'", c));
  }
  std::string_view quoted() {
    expect('\'');
    const auto end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail_header("has a quote that is never closed");
    const auto result = text_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }
  std::string descr() {
    if (at_end('['))
      fail("{}: {} is a record array; numbers of one type are expected: save its columns as one matrix", reading_.name,
           what_);
    return std::string(quoted());
  }
  bool truth() {
    skip();
    for (const auto& [word, value] :
         {std::pair(std::string_view("True"), true), std::pair(std::string_view("False"), false)})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    fail_header("must say True or False for fortran_order");
  }
  void shape(NpyArray& array) {
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t size = 0;
      const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (problem != std::errc() || size < 0) fail_header("has a shape that is no list of sizes");
      at_ = static_cast<std::size_t>(end - text_.data());
      take('L');  // Python 2
      array.shape.push_back(size);
      if (!take(',') && !at_end(')')) fail_header("has a shape that is no list of sizes");
    }
  }

  const Reading& reading_;
  const std::string& what_;
  std::string_view text_;
  std::size_t at_ = 0;
  int keys_ = 0;
};

void find_type(const Reading& reading, NpyArray& array) {
  const auto& descr = array.descr;
  std::uint64_t size = 0;
  const bool known =
      descr.size() >= 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos &&
      std::from_chars(descr.data() + 2, descr.data() + descr.size(), size).ptr == descr.data() + descr.size();
  const bool little = std::endian::native == std::endian::little;
  array.type = {known ? descr[1] : '?', size, known && descr[0] == (little ? '>' : '<')};
  if (descr == "|O")
    fail("{}: {} holds pickled Python objects, which are not read; save numbers: numpy.asarray(x, dtype=float)",
         reading.name, array.what);
  if (array.type.kind == 'U') array.type.bytes = size > (1U << 20U) ? 0 : size * 4;
  const bool text = array.is_text() && size <= (1U << 20U);
  if (!known || !(array.type.is_number() || text))
    fail(
        "{}: {} has elements of type '{}'; integers, floating point numbers of 2, 4 or 8 bytes, truth values or texts "
        "are expected",
        reading.name, array.what, descr);
}

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
    text += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12U);
    text += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    text += static_cast<char>(0xF0U | (code >> 18U & 7U));
    text += static_cast<char>(0x80U | (code >> 12U & 0x3FU));
    text += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::string text_at(const NpyArray& array, std::int64_t k) {
  const auto bytes = static_cast<std::int64_t>(array.type.bytes);
  const char* begin = array.data.data() + k * bytes;
  std::string text;
  if (array.type.kind == 'S') {
    text.assign(begin, array.type.bytes);
  } else {
    for (std::int64_t c = 0; c < bytes / 4; ++c)
      append_utf8(text, load_element<std::uint32_t>(begin, c, array.type.swapped));
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace

std::int64_t NpyArray::elements() const {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;  // parse_npy() has checked it
  return count;
}

std::string NpyArray::shape_text() const {
  std::string text;
  for (const auto size : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", size);
  return text.empty() ? "a single value" : text;
}

bool is_npy(std::string_view bytes) { return bytes.starts_with(npy_magic); }

NpyArray parse_npy(const Reading& reading, std::string_view bytes, std::string what) {
  if (!is_npy(bytes))
    fail("{}: {} is no array of NumPy: it begins with {}, and \\x93NUMPY is expected", reading.name, what,
         shown(bytes.substr(0, npy_magic.size())));
  const auto cut = [&] { fail("{}: {} is cut short in its header", reading.name, what); };
  if (bytes.size() < 10) cut();
  const auto major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    fail("{}: {} is of version {} of NumPy's format; versions 1 to 3 are read", reading.name, what, major);
  const bool little = std::endian::native == std::endian::little;
  const std::size_t begin = major == 1 ? 10 : 12;
  if (bytes.size() < begin) cut();
  const std::size_t length = major == 1 ? load_element<std::uint16_t>(bytes.data() + 8, 0, !little)
                                        : load_element<std::uint32_t>(bytes.data() + 8, 0, !little);
  if (bytes.size() - begin < length) cut();
  NpyArray array;
  array.what = std::move(what);
  NpyHeader(reading, array.what, bytes.substr(begin, length)).read(array);
  find_type(reading, array);
  array.data = bytes.substr(begin + length);
  std::int64_t need = static_cast<std::int64_t>(array.type.bytes);
  bool fits = true;
  for (const auto size : array.shape) fits = fits && !__builtin_mul_overflow(need, size, &need);
  if (!fits || need > static_cast<std::int64_t>(array.data.size()))
    fail("{}: {} is declared as {} elements of {}, and {} bytes follow; the file is cut short or damaged", reading.name,
         array.what, array.shape_text(), counted(array.type.bytes, "byte"), array.data.size());
  array.data = array.data.substr(0, static_cast<std::size_t>(need));
  return array;
}

template <class T>
DenseMatrix<T> dense_of(const Reading& reading, const NpyArray& array, bool transpose) {
  if (!array.type.is_number()) fail("{}: {} holds texts; a matrix of numbers is expected", reading.name, array.what);
  if (array.shape.empty() || array.shape.size() > 2)
    fail("{}: {} has {} dimensions ({}); one or two are expected, rows x features: x.reshape(len(x), -1)", reading.name,
         array.what, array.shape.size(), array.shape_text());
  std::int64_t rows = array.shape[0];
  std::int64_t columns = array.shape.size() == 2 ? array.shape[1] : 1;
  const bool by_columns = (array.fortran && array.shape.size() == 2) != transpose;
  if (transpose) std::swap(rows, columns);
  check_shape(reading, rows, columns);
  check_memory(reading, dense_bytes(rows, columns, sizeof(T)),
               fmt::format("{} of {}", counted(rows, "row"), counted(columns, "feature")));
  DenseMatrix<T> x{rows, columns, Array<T>(rows * columns)};
  constexpr std::int64_t block = 64;
  const char* data = array.data.data();
  visit_element_type(array.type, [&]<class From>(std::type_identity<From>) {
    parallel_for(reading.context, (rows + block - 1) / block, [&](std::int64_t part) {
      const auto first = part * block;
      const auto end = std::min(first + block, rows);
      if (!by_columns) {
        for (auto k = first * columns; k < end * columns; ++k)
          x.values[k] = convert_element<T>(load_element<From>(data, k, array.type.swapped));
        release_pages(reading, {data + first * columns * static_cast<std::int64_t>(sizeof(From)),
                                data + end * columns * static_cast<std::int64_t>(sizeof(From))});
        return;
      }
      for (std::int64_t j = 0; j < columns; ++j)
        for (auto i = first; i < end; ++i)
          x.values[i * columns + j] = convert_element<T>(load_element<From>(data, j * rows + i, array.type.swapped));
    });
  });
  return x;
}

std::vector<std::string> texts_of(const Reading&, const NpyArray& array) {
  std::vector<std::string> texts;
  const auto count = array.elements();
  texts.reserve(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    if (array.is_text()) {
      texts.push_back(text_at(array, k));
      continue;
    }
    texts.push_back(visit_element_type(array.type, [&]<class From>(std::type_identity<From>) {
      const auto value = load_element<From>(array.data.data(), k, array.type.swapped);
      if constexpr (std::is_same_v<From, Half>) {
        const auto number = static_cast<double>(value);
        return std::isnan(number) ? std::string() : fmt::format("{}", number);
      } else if constexpr (std::is_floating_point_v<From>) {
        return std::isnan(value) ? std::string() : fmt::format("{}", value);
      } else {
        return fmt::format("{}", +value);
      }
    }));
  }
  return texts;
}

template <class To>
Array<To> elements_of(const Reading& reading, const NpyArray& array) {
  if (!array.type.is_number()) fail("{}: {} holds texts; numbers are expected", reading.name, array.what);
  const auto count = array.elements();
  check_memory(reading, static_cast<double>(count) * sizeof(To), fmt::format("{} elements of {}", count, array.what));
  Array<To> result(count);
  visit_element_type(array.type, [&]<class From>(std::type_identity<From>) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto value = load_element<From>(array.data.data(), k, array.type.swapped);
      if constexpr (std::is_integral_v<To>) {
        bool fits = false;
        if constexpr (std::is_integral_v<From>) fits = std::in_range<To>(value);
        if (!fits) fail("{}: element {} of {} is no whole number of a possible size", reading.name, k + 1, array.what);
      }
      result[k] = convert_element<To>(value);
    }
  });
  return result;
}

std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const auto size : shape) sizes += fmt::format("{}{}", size, shape.size() == 1 ? "," : "");
  if (shape.size() == 2) sizes = fmt::format("{}, {}", shape[0], shape[1]);
  auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  constexpr std::size_t alignment = 64;
  constexpr std::size_t fixed = 10;
  text.append((alignment - (fixed + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  std::string header(npy_magic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

template <class T>
Dataset<T> read_npy(const Reading& reading) {
  const auto array = parse_npy(reading, reading.text, "the array");
  MatrixFile<T> file;
  file.dataset.x = dense_of<T>(reading, array, reading.options.transpose);
  return finish_dataset(reading, std::move(file));
}

template DenseMatrix<float> dense_of(const Reading&, const NpyArray&, bool);
template DenseMatrix<double> dense_of(const Reading&, const NpyArray&, bool);
template Array<float> elements_of(const Reading&, const NpyArray&);
template Array<double> elements_of(const Reading&, const NpyArray&);
template Array<std::int32_t> elements_of(const Reading&, const NpyArray&);
template Array<std::int64_t> elements_of(const Reading&, const NpyArray&);
template Dataset<float> read_npy(const Reading&);
template Dataset<double> read_npy(const Reading&);

}  // namespace sheaf
