// Shared by prediction and cross-validation.
#pragma once

#include <span>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "kernel/model/plan.hpp"

namespace sheaf::kernel {

/// The probability of each class from the decision values of one row: pairwise coupling for one-vs-one, normalised
/// probabilities for one-vs-rest.
std::vector<double> class_probabilities(const SvmModel& model, std::span<const double> decisions,
                                        std::span<const Sides> sides);

}  // namespace sheaf::kernel
