// Features that alone nearly determine the label.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf {

/// Whether the ranks of a feature separate the classes, or follow a numeric target, nearly without an error, and more
/// than the best of so many features of noise would. `groups`: classes, or levels, 2 of a number.
bool nearly_determines(const Associations& found, std::int64_t feature, std::int64_t rows, std::int64_t groups);

std::string near_leak_message(const std::string& feature);

/// The feature that does so best, by some millions of values at most: rows are left out evenly. Missing values are
/// filled with the median, levels are in the order of their mean label. Nothing if no feature does, for sparse data,
/// survival and several targets.
template <class T>
std::optional<std::int64_t> find_near_leak(const Context& context, const Dataset<T>& dataset);

}  // namespace sheaf
