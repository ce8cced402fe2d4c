// The plots of a search, each an SVG element.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::report {

/// Mean score of each value of one axis with one standard deviation to each side, every split as a dot, the chosen
/// value ringed.
std::string score_curve(const SearchResult& result, std::size_t axis);
/// Two classes: the mean curve of the chosen point over the splits, with one standard deviation to each side. Empty
/// where no split tests both classes.
std::string mean_roc(const SearchResult& result);
/// The same of any curves, each empty or of roc_points points, for the class `positive`.
std::string mean_roc(std::span<const std::vector<double>> curves, const std::string& positive,
                     std::string_view description);
/// True classes by predicted ones, summed over the splits of the chosen point. Empty where there are too many classes.
std::string confusion_matrix(const SearchResult& result);
/// The largest weights of one decision value by name.
std::string largest_weights_chart(const LinearModel& model, std::int32_t column, std::size_t most);

}  // namespace sheaf::report
