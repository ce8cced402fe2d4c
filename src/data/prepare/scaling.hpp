// The rule of a scaling for one feature.
#pragma once

#include <cstdint>

#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/scaling.hpp>

namespace sheaf {

struct ScaleStep {
  double shift = 0;
  double factor = 1;
};

/// The scaling of feature j, from its summary; not for `robust`, which needs the values in order. A feature with
/// infinite values, or too large ones, is an Error.
template <class T>
ScaleStep scale_step(const Dataset<T>& dataset, std::int64_t j, const FeatureSummary& feature, ScaleMethod method);

}  // namespace sheaf
