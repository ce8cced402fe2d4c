// The values of an options struct as JSON, from its parameter rows.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <sheaf/solvers/parameters.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf {

/// A number, a list or a word; null if nothing is given.
inline nlohmann::ordered_json value_json(ParameterType type, const std::string& text) {
  using Json = nlohmann::ordered_json;
  const bool list =
      type == ParameterType::texts || type == ParameterType::numbers || type == ParameterType::whole_numbers;
  if (text.empty()) return list ? Json::array() : Json();
  if (type == ParameterType::number || type == ParameterType::whole_number) return Json::parse(text, nullptr, false);
  if (!list) return text;
  Json values = Json::array();
  for (const auto part : split_text(text, ','))
    values.push_back(type == ParameterType::texts ? Json(part) : Json::parse(part, nullptr, false));
  return values;
}

/// The name of a row with _ for -.
inline std::string json_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Under the names of the rows with _ for -; without those in `but`.
template <class Options>
nlohmann::ordered_json parameters_json(const Options& options, std::initializer_list<std::string_view> but = {}) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& row : parameters<Options>()) {
    if (std::find(but.begin(), but.end(), row.name) != but.end()) continue;
    json[json_name(row.name)] = value_json(row.type, row.get(options));
  }
  return json;
}

}  // namespace sheaf
