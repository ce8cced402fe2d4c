// The plots of searches and studies, each an SVG element.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/search.hpp>
#include <sheaf/solvers/trained_model.hpp>

#include "report/svg.hpp"

namespace sheaf::report {

/// From the smallest to the largest score and a little more. If all are the same, there is room for worse ones alone:
/// better ones than 1 may not exist.
Axis score_axis(Metric metric, double low, double high, double bottom, double top);

/// Mean score of each value of one axis with one standard deviation to each side, every split as a dot, the chosen
/// value ringed.
std::string score_curve(const SearchResult& result, std::size_t axis);
/// The points of a search that are one curve.
struct ScoreCurve {
  std::string name;
  std::vector<std::size_t> points;  // places in the level's points, by the value of the axis
};
/// So many curves have a colour of their own.
constexpr std::size_t most_curves = 8;
/// Mean scores over the values of one axis, a curve for each of a few other choices, with one standard deviation to
/// each side; the chosen point ringed.
std::string score_curves(const SearchResult& result, std::size_t axis, const std::vector<ScoreCurve>& curves);
/// Two classes: the mean of ROC curves, each empty or of roc_points points, for the class `positive`, with one standard
/// deviation to each side. Empty if no split tests both classes.
std::string mean_roc(std::span<const std::vector<double>> curves, const std::string& positive,
                     std::string_view description);
/// The same of precision over recall.
std::string mean_precision_recall(std::span<const std::vector<double>> curves, const std::string& positive);

/// True classes by predicted ones, summed over the splits of the chosen point. Empty if there are too many classes.
std::vector<std::int64_t> summed_confusion(const SearchResult& result);
/// So many classes fit half a page with their numbers.
constexpr std::size_t few_classes = 8;
/// The confusion matrix; with more than few_classes it has the page's width, and no numbers if cells are too small for
/// them.
std::string confusion_matrix(const SearchResult& result, const std::vector<std::int64_t>& counts);

/// How often predictions of similar probability came true.
std::string reliability_diagram(const std::vector<ReliabilityBin>& bins, std::string_view x_title,
                                std::string_view y_title);
/// Scores over the number of training rows, with one standard deviation to each side.
std::string learning_curve_chart(const SearchResult& result);
/// The features whose shuffling costs most.
std::string importance_bars(const SearchResult& result, std::size_t most);
/// The largest weights of one decision value by name.
std::string largest_weights_chart(const Coefficients& weights, std::int32_t column, std::size_t most);

/// How often each feature was chosen, the most frequent ones.
std::string frequency_bars(const SearchResult& result);
/// The point that the path leads to: the choice of options.path_split, or that over all rows.
const Point& path_choice(const SearchResult& result);
/// A feature along the path.
struct WeightPath {
  std::int64_t feature = 0;
  std::string name;
  double chosen = 0;  // its size at the point that was chosen
  double reach = 0;
  // One for each step.
  std::vector<double> weights;
  std::vector<double> effects;  // weight times the feature's standard deviation
};
/// So many decision values are shown.
constexpr std::size_t most_columns = 12;
/// The paths of one decision value, the largest effects at the chosen point first. On the path of a resample, features
/// that no resample chose are left out.
std::vector<WeightPath> weight_paths(const SearchResult& result, std::size_t column);
/// The weights of each decision value along that path.
std::string path_cards(const SearchResult& result);
/// The score of each outer resample on its held-out rows.
std::string outer_scores(const SearchResult& result);

struct SurfacePoint {
  double x = 1, y = 1;  // drawn on logarithmic axes if all are above 0
  double value = 0;
  std::string tip;  // shown where the pointer rests
  bool ringed = false;
};

struct SurfaceTitles {
  std::string_view x, y;
  std::string low, high;  // meanings of the smallest and the largest value
  double sign = 1;        // of the shown numbers relative to `value`
};

/// Between the points the value is that of their neighbours, the nearer the more; shown in ten steps, finer
/// near the largest.
std::string surface(const std::vector<SurfacePoint>& points, const SurfaceTitles& titles);

}  // namespace sheaf::report
