// Sheaf's own model file, of any family: readable, exact, with names.
//
//     sheaf-model 2
//     family linear
//     classes 3
//     class setosa
//     class versicolor
//     class virginica
//     features 4
//     ...                            what the family keeps
//     checksum 0123456789abcdef      of all lines before; files of version 1 have none
//
// A file has the lowest version that can hold the model, so that earlier programs read all they can: version 3 is that
// of models with annotations of features, version 2 that of all others.
//
// A family describes its lines once, as a template over the file: a ModelReader reads them, a ModelWriter writes them.
// Numbers have as few digits as read back the same number; names have \\ \n \r for backslash and line ends.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/names.hpp"
#include "data/bytes/sink.hpp"
#include "data/text/escape.hpp"
#include "data/text/model_reader.hpp"

namespace sheaf {

inline constexpr std::string_view model_file_magic = "sheaf-model";
inline constexpr int model_file_version = 3;   ///< the largest that is read
inline constexpr int plain_model_version = 2;  ///< of models without annotations

/// Numbers that no reader of model files takes are not written either.
inline void require_finite(double number) {
  if (!std::isfinite(number))
    fail("the model holds the number {}, so that it can not be written: features or targets are too large; scale them",
         number);
}

/// The counterpart of ModelReader: its functions write the lines that those of the reader read.
class ModelWriter {
 public:
  static constexpr bool reading = false;

  explicit ModelWriter(Sink& to) : to_(to) {}

  void keyword(std::string_view word) {
    if (!text_.empty() && text_.back() != '\n') text_ += ' ';
    text_ += word;
  }
  template <class Number>
  void value(Number value, std::string_view /*expected*/, double /*least*/ = 0) {
    if constexpr (std::is_floating_point_v<Number>) require_finite(value);
    keyword({});
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  template <class Choice>
  void choice(Choice chosen, std::span<const std::string> names) {
    keyword(names[static_cast<std::size_t>(chosen)]);
  }
  void name(std::string_view name, std::string_view /*expected*/) { text_ += ' ' + escape_line(name); }
  void count(std::string_view key, std::int64_t count, const auto& /*check*/) {
    keyword(key);
    text_ += fmt::format(" {}", count);
    end_line();
  }
  void end_line() {
    text_ += '\n';
    constexpr std::size_t most_kept = 1 << 20;
    if (text_.size() > most_kept) flush();
  }
  /// Needed at the end.
  void flush() {
    to_.write(text_);
    text_.clear();
  }

  /// The line that is being written, and perhaps some before it.
  std::string& text() { return text_; }

 private:
  Sink& to_;
  std::string text_;
};

/// A line "key value".
template <class File, class Number>
void number_line(File& file, std::string_view key, Number& value,
                 double least = std::numeric_limits<double>::lowest()) {
  file.keyword(key);
  file.value(value, least == 0 ? "a number, 0 or more" : "a number", least);
  file.end_line();
}

template <class File, class Choice>
void choice_line(File& file, std::string_view key, Choice& chosen, std::span<const std::string> names) {
  file.keyword(key);
  file.choice(chosen, names);
  file.end_line();
}

/// `count` lines "key name".
template <class File, class Names>
void name_lines(File& file, std::string_view key, Names& names, std::int64_t count) {
  if constexpr (File::reading) {
    file.check_room(count);
    names.resize(static_cast<std::size_t>(count));
  }
  for (auto& name : names) {
    file.keyword(key);
    file.name(name, "a name");
    file.end_line();
  }
}

/// A line of `count` numbers, missing if there are none.
template <class File, class Numbers>
void optional_numbers(File& file, std::string_view key, Numbers& numbers, std::size_t count) {
  if constexpr (File::reading) {
    if (file.peek() != key) return;
    file.check_room(static_cast<std::int64_t>(count));
    numbers.resize(count);
  }
  if (numbers.empty()) return;
  file.keyword(key);
  for (auto& number : numbers) file.value(number, "a number", std::numeric_limits<double>::lowest());
  file.end_line();
}

/// For counts that need no check.
inline std::string any_count(std::int64_t /*count*/) { return {}; }

/// The lines that all families begin with, behind the first two.
template <class File, class Model>
void describe_classes_and_features(File& file, Model& model) {
  auto count = static_cast<std::int64_t>(model.class_names.size());
  file.count("classes", count, any_count);
  name_lines(file, "class", model.class_names, count);
  file.count("features", model.features, any_count);
  if constexpr (File::reading) file.check_features(model.features);
}

/// The family that the first two lines name: one of `known`.
std::string read_model_family(ModelReader& reader, std::span<const std::string> known);
/// A whole file: the first two lines, then the lines of `write`, then the checksum.
void write_model_file(Sink& to, std::string_view family, int version, const std::function<void(ModelWriter&)>& write);
/// The file without its last line, the checksum. A file that was cut off or changed since it was written is a
/// ParseError; files of other versions are returned as they are.
std::string_view without_checksum(std::string_view text, const std::string& name);

}  // namespace sheaf
