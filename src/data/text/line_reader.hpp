// Reads Sheaf's own small text files: one thing a line, words separated by one space; errors name the place.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace sheaf {

/// Walks through the file line by line and word by word, and keeps its place for messages.
class LineReader {
 public:
  LineReader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  [[noreturn]] void fail_here(const std::string& message) const {
    throw ParseError({path_, line_, static_cast<std::int64_t>(position_) + 1}, message);
  }

  bool at_end() const { return rest_.empty(); }
  bool at_line_end() const { return position_ >= current_.size(); }

  void next_line(std::string_view expected) {
    ++line_;
    position_ = 0;
    if (rest_.empty()) fail_here(fmt::format("the file ends where {} was expected", expected));
    const auto end = rest_.find('\n');
    current_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (current_.ends_with('\r')) current_.remove_suffix(1);
  }

  /// Nothing may follow `last`.
  void end_file(const std::string& last) {
    if (at_end()) return;
    next_line("nothing");
    fail_here(fmt::format("expected the end of the file after {}", last));
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

  /// The first line: the kind of file, and its version.
  void version(std::string_view kind, std::string_view magic, int known) {
    next_line(fmt::format("a {} file", kind));
    if (word() != magic) fail_here(fmt::format("this is no {} file: it does not begin with {}", kind, magic));
    skip(magic);
    space("the version");
    const int found = number<int>("the version");
    if (found != known)
      fail_here(fmt::format("version {} of the file is not known to this program, only {}", found, known));
    skip(word());
    end_line();
  }

  /// A line of its own: KEY and how many there are.
  std::int64_t count(std::string_view of) {
    key(of);
    const auto value = number<std::int64_t>(fmt::format("the number of {}", of));
    if (value < 0) fail_here(fmt::format("expected the number of {}, not {}", of, value));
    skip(word());
    end_line();
    return value;
  }

  /// A line of its own: KEY and yes or no.
  bool yes_or_no(std::string_view name) {
    key(name);
    const bool yes = word() == "yes";
    if (!yes && word() != "no") fail_here(fmt::format("expected yes or no, not '{}'", word()));
    skip(word());
    end_line();
    return yes;
  }

  void end_file(std::int64_t features) {
    if (at_end()) return;
    next_line("nothing");
    fail_here(fmt::format("expected the end of the file after {}", counted(features, "feature")));
  }

 private:
  std::string path_;
  std::string_view rest_;
  std::string_view current_;
  std::int64_t line_ = 0;
  std::size_t position_ = 0;
};

}  // namespace sheaf
