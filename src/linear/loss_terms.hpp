// The values that a loss functor returns for one row.
#pragma once

namespace sheaf::linear {

/// Value and derivatives of a loss for one row.
template <class T>
struct LossTerms {
  T value;
  T slope;
  T curvature;
};

}  // namespace sheaf::linear
