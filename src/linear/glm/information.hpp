// Matrices over all weights of one model, made of its rows: second derivatives of the loss, and products of first ones.
// For Newton's method with the whole Hessian, and for standard errors.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/glm/objective.hpp"

namespace sheaf::linear {

/// The second derivatives of the mean loss of one task, without the penalty: (weights * columns) squared, the columns
/// of a weight side by side. `second`: curvatures or probabilities (see Objective) in the columns of the task at
/// `place`. The objective has other tasks chosen afterwards.
template <class T>
std::vector<double> hessian(const Context& context, Objective<T>& objective, std::int32_t task, const Block<T>& second,
                            std::int32_t place);

/// The sum over rows of s s', where s are the derivatives of the row's term in all weights, in the order of hessian().
/// `slopes`: the derivatives in the row's decision values, a column each, on the device.
template <class T>
std::vector<double> score_products(const Context& context, LinearOps<T>& ops, const Block<T>& slopes);

/// The order in which the rows of these matrices are taken: intercepts first, so that what depends on them is left out.
std::vector<std::size_t> intercepts_first(std::int64_t weights, std::int32_t columns, bool intercept);

/// The share of a diagonal element below which what is left is rounding.
template <class T>
double dependence_tolerance();

}  // namespace sheaf::linear
