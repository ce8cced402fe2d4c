// Makers of parameter rows: each reads a row's default from a fresh options struct and checks values as it sets them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/parameters.hpp>

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

/// `automatic`, where not empty, says in words what the default value stands for ("all cores").
template <class Options, class T>
Parameter<Options> number_row(std::string name, T Options::*member, Limits<T> limits, std::string help,
                              const std::string& automatic = {}) {
  std::string text = automatic.empty() ? fmt::format("{}", Options{}.*member) : automatic;
  auto set = [name, member, limits](Options& options, std::string_view value) {
    options.*member = parse_number(name, value, limits);
  };
  return {std::move(name), "N", std::move(help), std::move(text), {}, std::move(set)};
}

template <class Options>
Parameter<Options> text_row(std::string name, std::string value, std::string Options::*member, std::string help,
                            const std::string& automatic = {}) {
  std::string text = automatic.empty() ? Options{}.*member : automatic;
  auto set = [member](Options& options, std::string_view given) { options.*member = given; };
  return {std::move(name), std::move(value), std::move(help), std::move(text), {}, std::move(set)};
}

/// Comma-separated; may be given several times.
template <class Options>
Parameter<Options> list_row(std::string name, std::string value, std::vector<std::string> Options::*member,
                            std::string help) {
  auto set = [member](Options& options, std::string_view given) {
    while (!given.empty()) {
      const auto comma = given.find(',');
      if (comma != 0) (options.*member).emplace_back(given.substr(0, comma));
      given.remove_prefix(comma == std::string_view::npos ? given.size() : comma + 1);
    }
  };
  return {std::move(name), std::move(value), std::move(help), {}, {}, std::move(set)};
}

template <class Options>
Parameter<Options> name_row(std::string name, std::string Options::*member, std::vector<std::string> known,
                            std::string help) {
  auto set = [name, member, known](Options& options, std::string_view given) {
    if (std::find(known.begin(), known.end(), given) == known.end()) fail_unknown(name, given, known);
    options.*member = given;
  };
  return {std::move(name), "NAME", std::move(help), Options{}.*member, std::move(known), std::move(set)};
}

template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

template <class Options, class Value>
Parameter<Options> choice_row(std::string name, Value Options::*member, Choices<Value> choices, std::string help) {
  Parameter<Options> row{name, "NAME", std::move(help), {}, {}, {}};
  for (const auto& [known, value] : choices) {
    row.choices.push_back(known);
    if (value == Options{}.*member) row.default_text = known;
  }
  row.set = [name = std::move(name), member, choices = std::move(choices), known = row.choices](
                Options& options, std::string_view given) {
    for (const auto& [text, value] : choices)
      if (text == given) {
        options.*member = value;
        return;
      }
    fail_unknown(name, given, known);
  };
  return row;
}

}  // namespace sheaf
