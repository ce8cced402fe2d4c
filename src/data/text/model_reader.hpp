// Walks through a model file word by word and keeps its place for messages.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"

namespace sheaf {

class ModelReader {
 public:
  static constexpr bool reading = true;

  ModelReader(std::string name, std::string_view text) : name_(std::move(name)), text_(text) {}

  [[noreturn]] void fail_here(std::string_view message) const {
    throw ParseError({name_, line_, static_cast<std::int64_t>(at_ - line_begin_) + 1}, message);
  }
  [[noreturn]] void fail_expected(std::string_view expected) const {
    const auto found = peek();
    fail_here(fmt::format("expected {}, not {}", expected, found.empty() ? what_ends() : fmt::format("'{}'", found)));
  }

  bool at_end() const { return at_ == text_.size(); }
  bool at_line_end() const { return at_end() || text_[at_] == '\n' || (text_[at_] == '\r' && ends_line(at_ + 1)); }

  /// Blanks within the line.
  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void next_line() {
    if (!at_end() && text_[at_] == '\r') ++at_;
    if (at_end()) return;
    ++at_;
    ++line_;
    line_begin_ = at_;
  }
  /// Blanks and line ends.
  void skip_space() {
    for (skip_blanks(); !at_end() && at_line_end(); skip_blanks()) next_line();
  }

  /// The word that stands here, up to a blank or line end.
  std::string_view peek() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  void take(std::string_view word) { at_ += word.size(); }

  /// The next word of this line must be `word`.
  void keyword(std::string_view word) {
    skip_blanks();
    if (peek() != word) fail_expected(fmt::format("'{}'", word));
    take(word);
  }

  /// The next word of this line must be a finite number.
  template <class Number>
  Number number(std::string_view expected) {
    skip_blanks();
    auto word = peek();
    const auto text = word.starts_with('+') ? word.substr(1) : word;
    Number value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    bool good = result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
    if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
    if (!good) fail_expected(expected);
    take(word);
    return value;
  }

  /// A number of things, of which there are at least `least`. Rows and columns fit 32 bits.
  std::int64_t count(std::string_view expected, std::int64_t least) {
    skip_blanks();
    const auto before = *this;
    const auto value = number<std::int64_t>(expected);
    if (value < least || value > std::numeric_limits<std::int32_t>::max())
      before.fail_expected(fmt::format("{}, {} or more", expected, least));
    return value;
  }

  /// `count` things, of which each takes a byte or more, are to follow. Checked before memory is taken for them.
  void check_room(std::int64_t count) const {
    if (count > static_cast<std::int64_t>(text_.size() - at_))
      fail_here(fmt::format("{} entries are to follow, more than the rest of the file can hold", count));
  }
  /// How often a letter stands in the next `lines` lines that are not empty.
  std::int64_t count_in_lines(char letter, std::int64_t lines) const {
    std::int64_t found = 0;
    for (std::size_t at = at_; lines > 0 && at < text_.size(); ++at) {
      const auto line = text_.substr(at, text_.find('\n', at) - at);
      found += std::count(line.begin(), line.end(), letter);
      at += line.size();
      if (!std::all_of(line.begin(), line.end(), is_space)) --lines;
    }
    return found;
  }
  /// Features that have no line of their own take memory all the same.
  void check_features(std::int64_t features) const {
    constexpr std::int64_t most = std::int64_t{1} << 27;
    if (features > most)
      fail_here(fmt::format("{}, or weights of them, are more than a model may have, {}", counted(features, "feature"),
                            most));
  }

  void end_line() {
    skip_blanks();
    if (!at_line_end()) fail_expected("the end of the line");
    next_line();
  }

  // The functions that describe a file of our own; ModelWriter has them too.

  template <class Number>
  void value(Number& value, std::string_view expected, double least = 0) {
    skip_blanks();
    const auto before = *this;
    value = number<Number>(expected);
    if (static_cast<double>(value) < least) before.fail_expected(expected);
  }
  /// One of `names`; `chosen` becomes its position.
  template <class Choice>
  void choice(Choice& chosen, std::span<const std::string> names) {
    skip_blanks();
    const auto word = peek();
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) fail_expected(join_names(names, "or"));
    take(word);
    chosen = static_cast<Choice>(found - names.begin());
  }
  /// The rest of the line.
  void name(std::string& name, std::string_view expected) { name = escaped_rest(expected); }
  /// A line "key count"; check(count) returns the error of the count, or nothing.
  template <class Check>
  void count(std::string_view key, std::int64_t& count, const Check& check) {
    keyword(key);
    skip_blanks();
    const auto before = *this;
    count = this->count(fmt::format("the number of {}", key), 0);
    if (const std::string wrong = check(count); !wrong.empty()) before.fail_here(wrong);
    end_line();
  }

  /// The first line of Sheaf's own files: the kind of file, and its version, from 1 to `version`.
  void heading(std::string_view magic, int version) {
    keyword(magic);
    skip_blanks();
    const auto before = *this;
    const int found = number<int>("the version of the file");
    if (found < 1 || found > version)
      before.fail_here(fmt::format("version {} of the file is not known to this program, which reads {}", found,
                                   version == 1 ? "version 1" : fmt::format("versions 1 to {}", version)));
    end_line();
  }

  /// One blank, then the rest of the line with \\ \n \r for backslash and line ends.
  std::string escaped_rest(std::string_view expected) {
    if (at_end() || text_[at_] != ' ') fail_expected(fmt::format("a blank and {}", expected));
    ++at_;
    std::string result;
    for (; !at_line_end(); ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      const auto code = text_.substr(at_, 2);
      if (code != "\\\\" && code != "\\n" && code != "\\r") fail_here(R"(expected \\, \n or \r, not a lone backslash)");
      result += code == "\\n" ? '\n' : code == "\\r" ? '\r' : '\\';
      ++at_;
    }
    return result;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  bool ends_line(std::size_t at) const { return at == text_.size() || text_[at] == '\n'; }
  std::string what_ends() const { return at_end() ? "the end of the file" : "the end of the line"; }

  std::string name_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace sheaf
