// Filling in missing values, which the readers leave as NaN.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sheaf/dataset.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// Whether the text stands for a missing value: nothing, "?", NA, N/A, NaN or null in any letter case.
bool is_missing(std::string_view text);

/// Replaces every NaN in `x` by the options' statistic of its column over the values that are there; nominal features
/// (those with levels) get their most frequent state whatever the statistic. A column without any value is an Error.
/// Missing::keep leaves all as it is.
template <class T>
void impute(const Reading& reading, Dataset<T>& dataset);

}  // namespace sheaf
