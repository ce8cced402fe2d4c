// Estimated work to train linear models. The numbers of passes are those that the benchmarks print, rounded.
#pragma once

#include "family/family.hpp"

namespace sheaf::linear {

/// Decision values of a linear model.
inline double columns_of(const Target& target) {
  const bool classes = target.class_names.size() > 2 && target.looks_like_classes();  // numbers are known by name too
  return classes ? static_cast<double>(target.class_names.size()) : target.targets();
}

/// Passes over the matrix and its transpose, for each decision value.
inline WorkEstimate work_of_passes(const DataSummary& data, double passes) {
  return {2 * static_cast<double>(data.stored) * columns_of(data.target) * passes, static_cast<double>(data.bytes)};
}

}  // namespace sheaf::linear
