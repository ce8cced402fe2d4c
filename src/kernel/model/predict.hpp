// What prediction and cross-validation share.
#pragma once

#include <span>
#include <vector>

#include <sheaf/svm_model.hpp>

#include "kernel/model/plan.hpp"

namespace sheaf::kernel {

/// Of each class, from the decision values of one row: pairs coupled, or each class's own divided by their sum.
std::vector<double> class_probabilities(const SvmModel& model, std::span<const double> decisions,
                                        std::span<const Sides> sides);

}  // namespace sheaf::kernel
