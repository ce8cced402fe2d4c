// The plots of searches and studies, each an SVG element.
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

/// How often each feature was chosen, the most frequent ones.
std::string frequency_bars(const SearchResult& result);
/// The weights of one decision value along the path of options.path_split.
std::string coefficient_path(const SearchResult& result, std::size_t column);
/// The score of each outer resample on its held-out rows.
std::string outer_scores(const SearchResult& result);

struct SurfacePoint {
  double x = 1, y = 1;  // above 0; drawn on logarithmic axes
  double value = 0;
  std::string tip;  // shown where the pointer rests
  bool ringed = false;
};

/// Between the points the value is that of their neighbours, the nearer the more; shown in ten steps, finer
/// near the largest.
std::string surface(const std::vector<SurfacePoint>& points, std::string_view x_title, std::string_view y_title);

}  // namespace sheaf::report
