// Generalised linear models of the recipes in tests/golden: weights of rows, exposures, families, classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/glm.hpp>

#include "golden.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {

inline constexpr double near_enough = 1e-6;

inline void expect_relative(double got, double wanted, const std::string& what, double magnitude = 0) {
  EXPECT_NEAR(got, wanted, near_enough * std::max({std::abs(wanted), magnitude, 1e-300})) << what;
}

inline std::vector<float> weights_of(const nlohmann::json& one, std::size_t rows) {
  std::vector<float> weights;
  for (std::size_t i = 1; i <= rows && one["weighted"]; ++i) weights.push_back(static_cast<float>(1 + i % 3));
  return weights;
}

inline std::vector<double> offsets_of(const nlohmann::json& one, std::size_t rows) {
  std::vector<double> offsets;
  for (std::size_t i = 1; i <= rows && one["exposed"]; ++i) offsets.push_back(std::log(static_cast<double>(1 + i % 4)));
  return offsets;
}

/// Offsets of each row and class, classes in the order of their first rows.
inline std::vector<double> class_offsets_of(const nlohmann::json& one, std::size_t rows, std::size_t classes) {
  std::vector<double> offsets;
  for (std::size_t i = 1; i <= rows && one["offset"]; ++i)
    for (std::size_t k = 1; k <= classes; ++k) offsets.push_back(std::log(static_cast<double>(1 + (i + 2 * k) % 5)));
  return offsets;
}

inline GlmOptions options_of(const std::string& family) {
  GlmOptions options;
  for (const auto& row : parameters<GlmOptions>()) {
    const auto space = family.find(' ');
    if (row.name == "family") row.set(options, family.substr(0, space));
    if (row.name == "link" && space != std::string::npos) row.set(options, family.substr(space + 1));
  }
  return options;
}

/// The numeric target as classes: how many of the limits it reaches.
inline Target classes_by(const nlohmann::json& limits, const std::vector<double>& values) {
  std::vector<double> labels;
  for (const double value : values)
    labels.push_back(static_cast<double>(std::count_if(
        limits.begin(), limits.end(), [&](const nlohmann::json& limit) { return value >= limit.get<double>(); })));
  return target_of(labels);
}

}  // namespace sheaf::test
