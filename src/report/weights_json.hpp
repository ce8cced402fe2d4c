// The largest weights of a model in JSON, with the annotations of their features.
#pragma once

#include <nlohmann/json.hpp>

#include <sheaf/solvers/trained_model.hpp>

#include "report/annotation_columns.hpp"

namespace sheaf::report {

/// The name of a class or target; null if a decision value has none.
inline nlohmann::ordered_json column_json(const std::string& name) {
  return name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
}

/// For each decision value `class` and `weights`.
inline nlohmann::ordered_json largest_weights_json(const Coefficients& of, const Annotations& annotations) {
  constexpr std::size_t most = 100;
  auto list = nlohmann::ordered_json::array();
  for (std::int32_t c = 0; c < static_cast<std::int32_t>(of.columns.size()); ++c) {
    auto weights = nlohmann::ordered_json::array();
    for (const auto j : of.largest(c, most)) {
      const auto& name = of.feature_names[static_cast<std::size_t>(j)];
      weights.push_back({{"position", j + 1}, {"name", name}, {"weight", of.weight(j, c)}});
      add_annotations(annotations, name, weights.back());
    }
    list.push_back({{"class", column_json(of.columns[static_cast<std::size_t>(c)])}, {"weights", std::move(weights)}});
  }
  return list;
}

}  // namespace sheaf::report
