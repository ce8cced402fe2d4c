// Probabilities from decision values beyond the sigmoid of a pair (core/sigmoid.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "statistics/sigmoid.hpp"

namespace sheaf::kernel {

/// The class probabilities that agree best with those of all pairs: r[i * classes + j] is the probability of i given
/// that it is i or j. Wu, Lin and Weng (2004), second method.
std::vector<double> couple(std::span<const double> pairs, std::size_t classes);

/// The scale of the Laplace distribution of a regression's errors, without errors beyond five standard deviations.
double laplace_width(std::span<const double> errors);

/// Ten decision values of a one-class SVM, below and above 0, that divide its rows into groups of equal size; none if
/// there are too few rows.
std::vector<double> density_marks(std::vector<double> decisions);
/// The probability of a decision value, from these marks.
double density_probability(std::span<const double> marks, double decision);

}  // namespace sheaf::kernel
