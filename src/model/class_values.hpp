// Decision values as each class sees them.
#pragma once

#include <vector>

#include <sheaf/model.hpp>

namespace sheaf {

/// One value for two classes, above 0 speaking for the first, and one a class for more: of pairs of classes, what all
/// of them say together of each class. Of a regression its predictions.
std::vector<double> class_values(const Model& model, const Predictions& predictions);

}  // namespace sheaf
