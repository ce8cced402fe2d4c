// Features on one scale, and weights from one scale to the other.
#pragma once

#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/matrix.hpp>
#include <sheaf/rescore.hpp>

namespace sheaf::rescore {

/// (x - shift) / scale of each feature.
struct Normaliser {
  std::vector<double> shift, scale;

  /// Weights of normalised features (the bias last) as weights of features as they are, and back.
  std::vector<double> raw(const std::vector<double>& w) const;
  std::vector<double> normalised(const std::vector<double>& raw) const;
};

/// Learns from all rows, and changes them. Constant features keep their scale.
template <class T>
Normaliser normalise(const Context& context, DenseMatrix<T>& x, FeatureScaling scaling);

}  // namespace sheaf::rescore
