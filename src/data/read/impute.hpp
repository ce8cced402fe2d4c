// Filling in missing values, which the readers leave as NaN.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/dataset.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// Whether the text stands for a missing value: nothing, "?", NA, N/A, NaN or null in any letter case.
bool is_missing(std::string_view text);

/// The features that have a missing value.
template <class T>
std::vector<bool> features_with_gaps(const Dataset<T>& dataset);
/// The values that replace missing values of each wanted feature (0 for the others): the statistic over the values that
/// are there; the most frequent state of nominal features. A feature without any value is an Error.
template <class T>
std::vector<double> learn_fills(const Context& context, const Dataset<T>& dataset, Missing method,
                                const std::vector<bool>& wanted);
/// Replaces every NaN by the fill of its column.
template <class T>
void fill_in(const Context& context, std::span<const double> fills, Matrix<T>& matrix);

/// Replaces every NaN in `x` by the options' statistic of its column over the values that are there; nominal features
/// (those with levels) get their most frequent state whatever the statistic. A column without any value is an Error.
/// Missing::keep leaves all as it is.
template <class T>
void impute(const Reading& reading, Dataset<T>& dataset);

}  // namespace sheaf
