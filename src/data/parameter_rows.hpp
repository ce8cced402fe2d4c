// Makers of parameter rows: each reads a row's default from a fresh options struct and checks values as it sets them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include <sheaf/solvers/parameters.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"

namespace sheaf {

/// Both ends belong to the range.
template <class T>
struct Limits {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

template <class T>
std::string describe(const Limits<T>& limits) {
  if (limits.high == std::numeric_limits<T>::max()) return fmt::format("{} or more", limits.low);
  if (std::is_floating_point_v<T> && limits.low == std::numeric_limits<T>::lowest())
    return fmt::format("{} or less", limits.high);
  return fmt::format("{} to {}", limits.low, limits.high);
}

template <class T>
T parse_number(std::string_view name, std::string_view text, const Limits<T>& limits) {
  T number{};
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const char* kind = std::is_integral_v<T> ? "whole number" : "number";
  if (result.ec == std::errc::invalid_argument || result.ptr != end)
    fail_usage("{} takes a {}, {}, not '{}'", name, kind, describe(limits), text);
  const bool within = result.ec == std::errc() && number >= limits.low && number <= limits.high;
  if (!within) fail_usage("{} is out of range: {} given, {} expected", name, text, describe(limits));
  return number;
}

/// Above 0.
inline double parse_positive(std::string_view name, std::string_view text) {
  const auto value = parse_number<double>(name, text, {0, std::numeric_limits<double>::max()});
  if (value == 0) fail_usage("{} must be more than 0", name);
  return value;
}

inline std::vector<std::string_view> split_text(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(between);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Options>
std::string default_of(const Parameter<Options>& row, const std::string& automatic) {
  return automatic.empty() ? row.get(Options{}) : automatic;
}

/// `automatic`, if not empty, describes the default value in words ("all cores").
template <class Options, class T>
Parameter<Options> number_row(std::string name, T Options::*member, Limits<T> limits, std::string help,
                              const std::string& automatic = {}) {
  Parameter<Options> row{name, "N", std::move(help), {}, {}, {}};
  row.set = [name, member, limits](Options& options, std::string_view value) {
    options.*member = parse_number(name, value, limits);
  };
  row.get = [member](const Options& options) { return fmt::format("{}", options.*member); };
  row.type = std::is_integral_v<T> ? ParameterType::whole_number : ParameterType::number;
  row.low = static_cast<double>(limits.low);
  row.high = static_cast<double>(limits.high);
  row.default_text = default_of(row, automatic);
  return row;
}

/// The same of a number that may be left open.
template <class Options>
Parameter<Options> open_number_row(std::string name, std::optional<double> Options::*member, Limits<double> limits,
                                   std::string help, std::string automatic) {
  Parameter<Options> row{name, "N", std::move(help), std::move(automatic), {}, {}};
  row.set = [name, member, limits](Options& options, std::string_view value) {
    options.*member = parse_number(name, value, limits);
  };
  row.get = [member](const Options& options) {
    return options.*member ? fmt::format("{}", *(options.*member)) : std::string();
  };
  row.type = ParameterType::number;
  row.low = limits.low;
  row.high = limits.high;
  return row;
}

/// A number above 0 and at most `high`.
template <class Options>
Parameter<Options> positive_row(const std::string& name, double Options::*member, std::string help,
                                const std::string& automatic = {}, double high = std::numeric_limits<double>::max()) {
  auto row = number_row<Options, double>(name, member, {0, high}, std::move(help), automatic);
  row.set = [name, member, high](Options& options, std::string_view text) {
    const double value = parse_positive(name, text);
    if (value > high) fail_usage("{} is out of range: {} given, above 0 and at most {} expected", name, text, high);
    options.*member = value;
  };
  return row;
}

/// The same, left open: `automatic` says what it is then.
template <class Options>
Parameter<Options> open_positive_row(const std::string& name, std::optional<double> Options::*member, std::string help,
                                     std::string automatic) {
  auto row = open_number_row<Options>(name, member, {0, std::numeric_limits<double>::max()}, std::move(help),
                                      std::move(automatic));
  row.set = [name, member](Options& options, std::string_view text) { options.*member = parse_positive(name, text); };
  return row;
}

template <class Options>
Parameter<Options> text_row(std::string name, std::string value, std::string Options::*member, std::string help,
                            const std::string& automatic = {}) {
  Parameter<Options> row{std::move(name), std::move(value), std::move(help), {}, {}, {}};
  row.set = [member](Options& options, std::string_view given) { options.*member = given; };
  row.get = [member](const Options& options) { return options.*member; };
  row.default_text = default_of(row, automatic);
  return row;
}

/// Comma-separated; may be given several times.
template <class Options>
Parameter<Options> list_row(std::string name, std::string value, std::vector<std::string> Options::*member,
                            std::string help) {
  Parameter<Options> row{std::move(name), std::move(value), std::move(help), {}, {}, {}};
  row.set = [member](Options& options, std::string_view given) {
    for (const auto part : split_text(given, ','))
      if (!part.empty()) (options.*member).emplace_back(part);
  };
  row.get = [member](const Options& options) { return fmt::format("{}", fmt::join(options.*member, ",")); };
  row.type = ParameterType::texts;
  return row;
}

template <class Options>
Parameter<Options> name_row(std::string name, std::string Options::*member, std::vector<std::string> known,
                            std::string help) {
  auto set = [name, member, known](Options& options, std::string_view given) {
    if (std::find(known.begin(), known.end(), given) == known.end()) fail_unknown(name, given, known);
    options.*member = given;
  };
  return {std::move(name),
          "NAME",
          std::move(help),
          Options{}.*member,
          std::move(known),
          std::move(set),
          [member](const Options& options) { return options.*member; },
          ParameterType::name};
}

template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

template <class Value>
std::string name_of(const Choices<Value>& choices, Value value) {
  for (const auto& [name, known] : choices)
    if (known == value) return name;
  return {};
}

template <class Options, class Value>
Parameter<Options> choice_row(std::string name, Value Options::*member, Choices<Value> choices, std::string help) {
  Parameter<Options> row{name, "NAME", std::move(help), {}, {}, {}};
  for (const auto& [known, value] : choices) row.choices.push_back(known);
  row.set = [name = std::move(name), member, choices, known = row.choices](Options& options, std::string_view given) {
    for (const auto& [text, value] : choices)
      if (text == given) {
        options.*member = value;
        return;
      }
    fail_unknown(name, given, known);
  };
  row.get = [member, choices](const Options& options) { return name_of(choices, options.*member); };
  row.type = ParameterType::name;
  row.default_text = default_of(row, {});
  return row;
}

template <class Options>
Parameter<Options> yes_no_row(std::string name, bool Options::*member, std::string help) {
  auto row = choice_row<Options, bool>(std::move(name), member, {{"yes", true}, {"no", false}}, std::move(help));
  row.type = ParameterType::yes_no;
  return row;
}

/// The same of a choice that may be left open.
template <class Options, class Value>
Parameter<Options> open_choice_row(std::string name, std::optional<Value> Options::*member,
                                   const Choices<Value>& choices, std::string help, std::string automatic) {
  struct Closed {
    Value value{};
  };
  const auto closed = choice_row<Closed, Value>(name, &Closed::value, choices, {});
  Parameter<Options> row{std::move(name), "NAME", std::move(help), std::move(automatic), closed.choices, {}};
  row.set = [member, set = closed.set](Options& options, std::string_view text) {
    Closed one;
    set(one, text);
    options.*member = one.value;
  };
  row.get = [member, choices](const Options& options) {
    return options.*member ? name_of(choices, *(options.*member)) : std::string();
  };
  row.type = ParameterType::name;
  return row;
}

/// The same row, of which a search tries several numbers that `numbers` reads. `what`: "costs C".
template <class Options>
Parameter<Options> searched(Parameter<Options> row, std::string_view what, std::string automatic,
                            std::function<std::vector<double>(std::string_view)> numbers, std::string value = "LIST") {
  row.list = ParameterList{std::move(value), std::string(what), std::move(automatic), std::move(numbers)};
  return row;
}
/// The same of several names.
template <class Options>
Parameter<Options> searched(Parameter<Options> row, std::string_view what, std::string automatic = {}) {
  row.list = ParameterList{"NAMES", std::string(what), std::move(automatic)};
  return row;
}
/// Numbers as a list or as a range; above 0 unless `numbers` reads others.
template <class Options>
Parameter<Options> searched_range(Parameter<Options> row, std::string_view what, std::string automatic,
                                  std::function<std::vector<double>(std::string_view)> numbers = {}) {
  const auto name = row.name;
  if (!numbers) numbers = [name](std::string_view text) { return parse_numbers(text, name); };
  return searched(std::move(row),
                  fmt::format("{} to try: numbers A,B,C, or LOW:HIGH:COUNT in equal steps of the logarithm", what),
                  std::move(automatic), std::move(numbers), "LIST|RANGE");
}
/// Reads numbers within limits, separated by commas.
template <class Number>
std::function<std::vector<double>(std::string_view)> list_reader(std::string name, Limits<Number> limits) {
  return [name = std::move(name), limits](std::string_view text) {
    std::vector<double> list;
    for (const auto part : split_text(text, ','))
      list.push_back(static_cast<double>(parse_number<Number>(name, part, limits)));
    return list;
  };
}

template <class Options>
Parameter<Options> used_in(ParameterUse use, Parameter<Options> row) {
  row.use = use;
  return row;
}
template <class Options>
Parameter<Options> only_for(std::vector<std::string> kinds, Parameter<Options> row) {
  row.kinds = std::move(kinds);
  return row;
}

/// A number for each row, else for each feature.
template <class Options>
Parameter<Options> vector_row(std::string name, std::string help, ParameterVector<Options> vector) {
  Parameter<Options> row{std::move(name), "FILE", std::move(help), {}, {}, {}};
  row.set = [name = row.name, per_row = vector.per_row](Options&, std::string_view) {
    fail_usage("{} takes a number for each {}", name, per_row ? "row" : "feature");
  };
  row.get = [](const Options&) { return std::string(); };
  row.type = ParameterType::numbers;
  row.vector = std::move(vector);
  return row;
}

/// NAME=WEIGHT or balanced, into the members class_weights and balanced.
template <class Options>
Parameter<Options> class_weight_row(std::string help) {
  Parameter<Options> row{"class-weight", "NAME=W", std::move(help), "1", {}, {}};
  row.set = [](Options& options, std::string_view text) {
    if (text == "balanced") {
      options.balanced = true;
      return;
    }
    const auto equals = text.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      fail_usage("class-weight takes NAME=WEIGHT or balanced, not '{}'", text);
    options.class_weights.emplace_back(text.substr(0, equals), parse_positive("class-weight", text.substr(equals + 1)));
  };
  row.get = [](const Options& options) {
    std::string text = options.balanced ? "balanced" : "";
    for (const auto& [name, weight] : options.class_weights)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, weight);
    return text;
  };
  return row;
}

}  // namespace sheaf
