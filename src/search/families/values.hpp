// Shared by the families' spaces and trainers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/labels.hpp"
#include "score/scorer.hpp"
#include "search/space.hpp"

namespace sheaf::engine {

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// The truth that decision values are compared with; the labels must outlive it.
inline score::Truth truth_of(const Labels& labels) {
  return {static_cast<std::int32_t>(labels.class_names.size()), labels.positive, labels.classes, labels.values};
}

/// An axis of ascending values above 0, which may be refined to fractions of their first step, and go as far beyond
/// their ends.
inline Refinement refinement_of(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const double step = std::log2(values[1] / values[0]);
  return {std::log2(values.front()) - 2 * step, std::log2(values.back()) + 2 * step, step};
}

}  // namespace sheaf::engine
