// The file of a scaling: a version line, three lines of heading, then one line for each feature.
//
//     sheaf-scaling 1
//     method 01
//     features 2
//     names yes
//     0 0.5 height
//     -1.5 2 width of the leaf
//
// Numbers are the shortest that read back the same. A name is the rest of its line after one space, with \\ \n \r for
// backslash and line ends.
#include <charconv>
#include <cmath>

#include <sheaf/io.hpp>
#include <sheaf/scaling.hpp>

#include "core/escape.hpp"
#include "data/text_source.hpp"

namespace sheaf {
namespace {

constexpr std::string_view magic = "sheaf-scaling";
constexpr int version = 1;

/// Walks through the file line by line and word by word, and knows where it stands.
class Reader {
 public:
  Reader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  [[noreturn]] void fail_here(const std::string& message) const {
    throw ParseError({path_, line_, static_cast<std::int64_t>(position_) + 1}, message);
  }

  bool at_end() const { return rest_.empty(); }

  void next_line(std::string_view expected) {
    ++line_;
    position_ = 0;
    if (rest_.empty()) fail_here(fmt::format("the file ends where {} was expected", expected));
    const auto end = rest_.find('\n');
    current_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (current_.ends_with('\r')) current_.remove_suffix(1);
  }

  /// The text up to the next space, which is left standing.
  std::string_view word() { return current_.substr(position_, current_.find(' ', position_) - position_); }
  void skip(std::string_view text) { position_ += text.size(); }

  void space(std::string_view expected) {
    if (position_ >= current_.size() || current_[position_] != ' ')
      fail_here(fmt::format("expected a space and {}", expected));
    ++position_;
  }

  void key(std::string_view expected) {
    next_line(fmt::format("'{}'", expected));
    if (word() != expected) fail_here(fmt::format("expected '{}', not '{}'", expected, word()));
    skip(expected);
    space("its value");
  }

  template <class Number>
  Number number(std::string_view expected) {
    Number value{};
    const auto text = word();
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || text.empty())
      fail_here(fmt::format("expected {}, not '{}'", expected, text));
    return value;
  }

  double finite(std::string_view expected) {
    const auto value = number<double>(expected);
    if (!std::isfinite(value)) fail_here(fmt::format("expected {}, not '{}'", expected, word()));
    return value;
  }

  std::string escaped_rest() {
    std::string name;
    for (; position_ < current_.size(); ++position_) {
      if (current_[position_] != '\\') {
        name += current_[position_];
        continue;
      }
      const auto code = current_.substr(position_, 2);
      if (code != "\\\\" && code != "\\n" && code != "\\r") fail_here(R"(expected \\, \n or \r, not a lone backslash)");
      name += code == "\\n" ? '\n' : code == "\\r" ? '\r' : '\\';
      ++position_;
    }
    return name;
  }

  void end_line() {
    if (position_ < current_.size()) fail_here(fmt::format("unexpected '{}'", current_.substr(position_)));
  }

 private:
  std::string path_;
  std::string_view rest_;
  std::string_view current_;
  std::int64_t line_ = 0;
  std::size_t position_ = 0;
};

void read_version(Reader& reader) {
  reader.next_line("a scaling file");
  if (reader.word() != magic)
    reader.fail_here(fmt::format("this is no scaling file: it does not begin with {}", magic));
  reader.skip(magic);
  reader.space("the version");
  const int found = reader.number<int>("the version");
  if (found != version)
    reader.fail_here(fmt::format("version {} of the file is not known to this program, only {}", found, version));
  reader.skip(reader.word());
  reader.end_line();
}

ScaleMethod read_method(Reader& reader) {
  reader.key("method");
  try {
    const auto method = parse_scale_method(reader.word());
    reader.skip(reader.word());
    reader.end_line();
    return method;
  } catch (const UsageError& error) {
    reader.fail_here(error.what());
  }
}

std::int64_t read_count(Reader& reader) {
  reader.key("features");
  const auto count = reader.number<std::int64_t>("the number of features");
  if (count < 0) reader.fail_here(fmt::format("expected the number of features, not {}", count));
  reader.skip(reader.word());
  reader.end_line();
  return count;
}

bool read_named(Reader& reader) {
  reader.key("names");
  const bool named = reader.word() == "yes";
  if (!named && reader.word() != "no") reader.fail_here(fmt::format("expected yes or no, not '{}'", reader.word()));
  reader.skip(reader.word());
  reader.end_line();
  return named;
}

void read_feature(Reader& reader, bool named, Scaling& scaling) {
  reader.next_line(fmt::format("feature {}", scaling.features() + 1));
  scaling.shift.push_back(reader.finite("a number, the shift"));
  reader.skip(reader.word());
  reader.space("the factor");
  scaling.factor.push_back(reader.finite("a number, the factor"));
  if (scaling.factor.back() == 0) reader.fail_here("a factor of 0 would lose the feature");
  reader.skip(reader.word());
  if (named) {
    reader.space("the name");
    scaling.feature_names.push_back(reader.escaped_rest());
  }
  reader.end_line();
}

}  // namespace

void save_scaling(const Scaling& scaling, const std::string& path) {
  const bool named = !scaling.feature_names.empty();
  std::string text = fmt::format("{} {}\nmethod {}\nfeatures {}\nnames {}\n", magic, version, to_string(scaling.method),
                                 scaling.features(), named ? "yes" : "no");
  for (std::size_t j = 0; j < scaling.shift.size(); ++j) {
    text += fmt::format("{} {}", scaling.shift[j], scaling.factor[j]);
    if (named) text += ' ' + escape_line(scaling.feature_names[j]);
    text += '\n';
  }
  write_text_file(path, text);
}

Scaling load_scaling(const std::string& path) {
  const TextSource source(path, silent_progress());
  Reader reader(path, source.text());
  Scaling scaling;
  read_version(reader);
  scaling.method = read_method(reader);
  const auto count = read_count(reader);
  const bool named = read_named(reader);
  while (scaling.features() < count) read_feature(reader, named, scaling);
  if (!reader.at_end()) {
    reader.next_line("nothing");
    reader.fail_here(fmt::format("expected the end of the file after {} features", count));
  }
  return scaling;
}

}  // namespace sheaf
