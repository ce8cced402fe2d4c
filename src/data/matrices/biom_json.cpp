// The member `data`, which is nearly all of a large table, is found without a parser and read entry by entry, twice:
// the first pass counts the entries of each sample, the second puts them there. Everything else is parsed as JSON.
#include "data/matrices/biom_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <nlohmann/json.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/matrices/annotations.hpp"
#include "data/text/json_text.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::json;

constexpr std::string_view biom_words = "Biological Observation Matrix";

bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Behind the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return std::min(at + 1, text.size());
}

/// Behind the value that begins at `at`: at the comma or bracket that ends it.
std::size_t skip_value(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    ++at;
  }
  return at;
}

/// The value of a member of the outermost object; empty: it has none. Of text that is no JSON, any answer.
std::string_view find_member(std::string_view text, std::string_view name) {
  const auto skip_space = [&](std::size_t& at) {
    while (at < text.size() && is_json_space(text[at])) ++at;
  };
  std::size_t at = 0;
  skip_space(at);
  while (++at < text.size()) {  // behind { or ,
    skip_space(at);
    if (at >= text.size() || text[at] != '"') return {};
    const auto end = skip_string(text, at);
    const auto key = text.substr(at + 1, end - std::min(end, at + 2));
    at = end;
    skip_space(at);
    if (at >= text.size() || text[at] != ':') return {};
    ++at;
    skip_space(at);
    const auto behind = skip_value(text, at);
    if (key == name) return text.substr(at, behind - at);
    at = behind;
  }
  return {};
}

/// A value of metadata as text: parts of a list are joined.
std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& part : value) text += (text.empty() ? "" : "; ") + text_of(part);
  return text;
}

/// Lists of numbers in a list: the entries of a sparse table, the rows of a dense one.
class Lists {
 public:
  Lists(const Reading& reading, std::string_view text) : reading_(reading), text_(text) {}

  /// Calls take(k, at) at the first number of each list, which must read it with number() and leave `at` at its end.
  template <class Take>
  std::int64_t for_each(const Take& take) const {
    const char* at = text_.data();
    expect(at, '[', "a list");
    std::int64_t lists = 0;
    if (peek(at) != ']')
      for (;; expect(at, ',', "a comma or the end of 'data'")) {
        expect(at, '[', "a list of numbers");
        take(lists++, at);
        expect(at, ']', "the end of the list");
        if (peek(at) == ']') break;
      }
    expect(at, ']', "the end of 'data'");
    return lists;
  }

  void comma(const char*& at) const { expect(at, ',', "one more number"); }

  /// A number; null is a missing value.
  template <class T>
  T number(const char*& at) const {
    constexpr std::string_view null = "null";
    if (peek(at) == 'n' && std::string_view(at, static_cast<std::size_t>(end() - at)).starts_with(null)) {
      at += null.size();
      return std::numeric_limits<T>::quiet_NaN();
    }
    const bool begins = at < end() && (*at == '-' || (*at >= '0' && *at <= '9'));
    const auto number = parse_number<T>(at, end());
    if (!begins || number.status != NumberStatus::ok) wrong(at, "a number of this precision");
    at = number.end;
    return number.value;
  }

  /// A place from 0, below `count`.
  std::int64_t place(const char*& at, std::int64_t count, std::string_view what) const {
    peek(at);
    const char* begin = at;
    std::int64_t value = 0;
    for (; at < end() && *at >= '0' && *at <= '9'; ++at) value = std::min(value * 10 + (*at - '0'), count);
    if (at == begin || value >= count) wrong(begin, fmt::format("{} from 0 to {}", what, count - 1));
    return value;
  }

 private:
  const char* end() const { return text_.data() + text_.size(); }
  char peek(const char*& at) const {
    while (at < end() && is_json_space(*at)) ++at;
    return at < end() ? *at : '\0';
  }
  void expect(const char*& at, char c, std::string_view what) const {
    if (peek(at) != c) wrong(at, what);
    ++at;
  }
  [[noreturn]] void wrong(const char* at, std::string_view expected) const {
    const auto rest = std::string_view(at, static_cast<std::size_t>(end() - at));
    fail_at(reading_, at,
            fmt::format("{} expected in 'data', found {}", expected, shown(rest.substr(0, rest.find_first_of(",] ")))));
  }

  const Reading& reading_;
  std::string_view text_;
};

/// Everything but the values.
class About {
 public:
  About(const Reading& reading, std::string_view data) : reading_(reading) {
    constexpr double bytes_for_one = 16;  // of the tree, for one of the text
    const auto before = static_cast<std::size_t>(data.data() - reading.text.data());
    check_memory(reading, static_cast<double>(reading.text.size() - data.size()) * (bytes_for_one + 1),
                 "names and metadata of a BIOM table as JSON");
    std::string rest(reading.text.substr(0, before));
    if (!data.empty()) rest += "null";
    rest += reading.text.substr(before + data.size());
    table_ = parse_json<Json>(rest);
    if (table_.is_discarded() || !table_.is_object())
      fail("{}: is no JSON; a BIOM table (1.0: JSON, 2.1: HDF5) is expected", reading.name);
    const auto& shape = member("shape");
    if (!shape.is_array() || shape.size() != 2) fail("{}: its 'shape' must be two numbers", reading_.name);
    features = size(shape[0]);
    samples = size(shape[1]);
    check_shape(reading_, samples, features);
  }

  std::string kind() const { return text_of(member("matrix_type")); }

  std::vector<std::string> ids(const char* axis, std::int64_t count) const {
    const auto& list = member(axis);
    if (!list.is_array() || static_cast<std::int64_t>(list.size()) != count)
      fail("{}: '{}' has {}, and the shape says {}", reading_.name, axis, counted(list.size(), "entry"), count);
    std::vector<std::string> result;
    for (const auto& one : list) {
      if (!one.is_object() || !one.contains("id")) fail("{}: an entry of '{}' has no id", reading_.name, axis);
      result.push_back(text_of(one["id"]));
    }
    return result;
  }

  /// Calls take(name, texts) for each kind of metadata of an axis; a text is empty if it is not there.
  template <class Take>
  void for_metadata(const char* axis, const Take& take) const {
    std::vector<std::string> names;
    const auto& list = member(axis);
    const auto of = [](const Json& entry) {
      const auto found = entry.find("metadata");
      return found == entry.end() || !found->is_object() ? nullptr : &*found;
    };
    for (const auto& entry : list)
      if (const auto* metadata = of(entry))
        for (const auto& [name, value] : metadata->items())
          if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    for (const auto& name : names) {
      std::vector<std::string> texts;
      for (const auto& entry : list) {
        const auto* metadata = of(entry);
        texts.push_back(metadata != nullptr && metadata->contains(name) ? text_of((*metadata)[name]) : std::string());
      }
      take(name, std::move(texts));
    }
  }

  std::int64_t features = 0;
  std::int64_t samples = 0;

 private:
  const Json& member(const char* name) const {
    const auto found = table_.find(name);
    if (found == table_.end()) fail("{}: has no '{}', which every BIOM table has", reading_.name, name);
    return *found;
  }
  std::int64_t size(const Json& value) const {
    if (!value.is_number_integer())
      fail("{}: a whole number expected in 'shape', found {}", reading_.name, shown(value.dump()));
    return value.get<std::int64_t>();
  }

  const Reading& reading_;
  Json table_;
};

/// Calls take(sample, feature, at) for each entry, at the comma before its value.
template <class Take>
void for_entries(const Lists& lists, const About& about, const Take& take) {
  lists.for_each([&](std::int64_t, const char*& at) {
    const auto feature = lists.place(at, about.features, "an observation");
    lists.comma(at);
    const auto sample = lists.place(at, about.samples, "a sample");
    lists.comma(at);
    take(sample, feature, at);
  });
}

/// The first pass reads the values too, so that the first defect of the file is the one that is reported.
template <class T>
SparseMatrix<T> read_sparse(const Reading& reading, const Lists& lists, const About& about) {
  auto offsets = Array<std::int64_t>::zeros(about.samples + 1);
  for_entries(lists, about, [&](std::int64_t sample, std::int64_t, const char*& at) {
    lists.template number<T>(at);
    ++offsets[sample + 1];
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  const auto count = offsets[about.samples];
  check_memory(reading, sparse_bytes<T>(2 * about.samples, count),
               fmt::format("{} of a table", counted(count, "entry")));
  auto next = Array<std::int64_t>::copy_of(std::as_const(offsets).span());
  Array<std::int32_t> indices(count);
  Array<T> values(count);
  for_entries(lists, about, [&](std::int64_t sample, std::int64_t feature, const char*& at) {
    const auto to = next[sample]++;
    if (to >= offsets[sample + 1]) fail_changed(reading);
    indices[to] = static_cast<std::int32_t>(feature);
    values[to] = lists.template number<T>(at);
  });
  return make_sparse<T>(reading, CompressedArrays<T>{about.samples, about.features, std::move(offsets),
                                                     std::move(indices), std::move(values), false});
}

template <class T>
DenseMatrix<T> read_dense(const Reading& reading, const Lists& lists, const About& about) {
  check_memory(reading, dense_bytes(about.samples, about.features, sizeof(T)),
               fmt::format("{} of {}", counted(about.samples, "row"), counted(about.features, "feature")));
  DenseMatrix<T> x{about.samples, about.features, Array<T>::zeros(about.samples * about.features)};
  const auto rows = lists.for_each([&](std::int64_t j, const char*& at) {
    if (j == about.features)
      fail_at(reading, at, fmt::format("'data' has more rows than the {} that the shape says", about.features));
    for (std::int64_t i = 0; i < about.samples; ++i) {
      if (i > 0) lists.comma(at);
      x.values[i * about.features + j] = lists.template number<T>(at);
    }
  });
  if (rows != about.features)
    fail("{}: 'data' has {}, and the shape says {}", reading.name, counted(rows, "row"), about.features);
  return x;
}

}  // namespace

bool is_biom_json(std::string_view bytes) {
  constexpr std::size_t looked_at = 1 << 16;
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '{') return false;
  const auto holds = [](std::string_view part) { return part.find(biom_words) != std::string_view::npos; };
  return holds(bytes.substr(0, looked_at)) || holds(bytes.substr(bytes.size() - std::min(bytes.size(), looked_at)));
}

template <class T>
MatrixFile<T> read_biom_json(const Reading& reading) {
  auto data = find_member(reading.text, "data");
  if (data.data() == nullptr) data = reading.text.substr(reading.text.size());
  const About about(reading, data);
  MatrixFile<T> file;
  auto& dataset = file.dataset;
  dataset.feature_names = feature_names_of(reading, about.ids("rows", about.features), dataset.notes);
  dataset.row_names = row_names_of(reading, about.ids("columns", about.samples));
  if (data.empty()) fail("{}: has no 'data', which every BIOM table has", reading.name);
  const Lists lists(reading, data);
  const auto kind = about.kind();
  if (kind == "sparse")
    dataset.x = read_sparse<T>(reading, lists, about);
  else if (kind == "dense")
    dataset.x = read_dense<T>(reading, lists, about);
  else
    fail("{}: its 'matrix_type' is {}; sparse or dense is expected", reading.name, shown(kind));
  about.for_metadata("rows", [&](const std::string& name, std::vector<std::string> texts) {
    annotate(reading, name, std::move(texts), dataset);
  });
  about.for_metadata("columns", [&](const std::string& name, std::vector<std::string> texts) {
    file.table.columns.push_back({name, [texts = std::move(texts)] { return texts; }});
  });
  return file;
}

template MatrixFile<float> read_biom_json(const Reading&);
template MatrixFile<double> read_biom_json(const Reading&);

}  // namespace sheaf
