// Plots that show many features at once: the cloud of all, and ranges and classes of some.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/charts.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

struct ChartPoint {
  double x, y;
};

/// NaN if a feature has no place in the cloud.
ChartPoint cloud_point(const Profile& profile, std::int64_t j, bool prevalence) {
  const auto& feature = profile.summary.per_feature[static_cast<std::size_t>(j)];
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (!prevalence) return {feature.mean, feature.standard_deviation > 0 ? feature.standard_deviation : nan};
  if (feature.nonzeros == 0) return {nan, nan};
  return {profile.prevalence(j), feature.mean / profile.prevalence(j)};
}

struct Cloud {
  std::vector<ChartPoint> points;  // by feature
  Axis x, y;
};

Cloud make_cloud(const Profile& profile, double left, double bottom) {
  const bool prevalence = has_prevalence(profile);
  Cloud cloud;
  const double infinity = std::numeric_limits<double>::infinity();
  cloud.x = {infinity, -infinity, left, half - 12, prevalence};
  cloud.y = {infinity, -infinity, bottom, 28, true};
  for (std::int64_t j = 0; j < profile.summary.features; ++j) {
    const ChartPoint point = cloud_point(profile, j, prevalence);
    cloud.points.push_back(point);
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    cloud.x.low = std::min(cloud.x.low, point.x);
    cloud.x.high = std::max(cloud.x.high, point.x);
    cloud.y.low = std::min(cloud.y.low, point.y);
    cloud.y.high = std::max(cloud.y.high, point.y);
  }
  if (cloud.y.high / cloud.y.low < 10) {  // some room, and at least one number on the axis
    cloud.y.low /= 2;
    cloud.y.high *= 2;
  }
  return cloud;
}

/// Many points are counted in cells and drawn as one path per shade, so that the page stays small.
void draw_density(Chart& chart, const Cloud& cloud) {
  constexpr double cell = 5;
  constexpr std::size_t shades = 8;
  std::map<std::pair<int, int>, int> counts;
  int most = 1;
  for (const auto& point : cloud.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    auto& count = counts[{static_cast<int>(cloud.x(point.x) / cell), static_cast<int>(cloud.y(point.y) / cell)}];
    most = std::max(most, ++count);
  }
  std::array<std::string, shades> paths;
  for (const auto& [place, count] : counts) {
    const double share = std::log(1.0 + count) / std::log(1.0 + most);
    paths[std::min(static_cast<std::size_t>(share * shades), shades - 1)] +=
        fmt::format("M{} {}h{}v{}h-{}z", place.first * cell, place.second * cell, cell, cell, cell);
  }
  std::vector<double> opacities;
  for (std::size_t shade = 0; shade < shades; ++shade) {
    opacities.push_back(0.35 + 0.65 * static_cast<double>(shade) / (shades - 1));
    if (!paths[shade].empty()) chart.path(paths[shade], "f0", opacities.back());
  }
  chart.scale(cloud.x.first + 70, cloud.y.first + 60, "f0", opacities, "1 feature",
              fmt::format("{} features (log scale)", most));
}

double bend(double value) { return std::copysign(std::log10(1 + std::abs(value)), value); }

/// A linear axis, or one that bends to logarithms if a few large values would squeeze all others.
struct Bent {
  Axis axis;
  bool bent = false;
  double operator()(double value) const { return axis(bent ? bend(value) : value); }
};

Bent range_axis(const std::vector<const FeatureSummary*>& features) {
  const double infinity = std::numeric_limits<double>::infinity();
  double low = infinity;
  double high = -infinity;
  double smallest = infinity;
  for (const auto* feature : features) {
    low = std::min(low, feature->minimum);
    high = std::max(high, feature->maximum);
    smallest = std::min(smallest, feature->standard_deviation);
  }
  Bent result;
  result.bent = std::max(high, -low) > 50 * std::max(smallest, 1.0);
  if (result.bent)
    result.axis = {bend(std::min(low, 0.0)), bend(std::max(high, 0.0)), names, half - 16, false};
  else
    result.axis = {low, high, names, half - 16, false};
  return result;
}

void draw_range_axis(Chart& chart, const Bent& x, double bottom) {
  if (!x.bent) {
    chart.bottom_axis(x.axis, 10, bottom, "value");
    return;
  }
  std::vector<double> ticks{0};
  for (double power = 1; std::log10(1 + power) <= std::max(x.axis.high, -x.axis.low) + 1e-9; power *= 10) {
    ticks.push_back(power);
    ticks.push_back(-power);
  }
  for (const double tick : ticks) {
    const double place = bend(tick);
    if (place < x.axis.low - 1e-9 || place > x.axis.high + 1e-9) continue;
    chart.line(x(tick), 10, x(tick), bottom, "grid");
    chart.text(x(tick), bottom + 16, tick_text(tick), "tick", Anchor::middle);
  }
  chart.text((names + half) / 2, bottom + 34, "value (logarithmic away from zero)", "axis", Anchor::middle);
}

}  // namespace

bool has_prevalence(const Profile& profile) {
  const auto& summary = profile.summary;
  const double cells = static_cast<double>(summary.rows) * static_cast<double>(summary.features);
  return summary.minimum >= 0 && static_cast<double>(summary.nonzeros) < 0.9 * cells;
}

std::string feature_cloud(const Profile& profile) {
  constexpr double height = 354, left = 56, bottom = 280;
  constexpr std::size_t few = 1500;
  constexpr std::size_t most_data = 5000;  // more would make the page heavy
  const bool prevalence = has_prevalence(profile);
  const auto cloud = make_cloud(profile, left, bottom);
  const bool density = cloud.points.size() > few;
  Chart chart(half, density ? height : height - 24, "All features", density ? Kind::map : Kind::plot);
  if (!(cloud.y.high > 0)) return chart.finish();
  chart.bottom_axis(cloud.x, 28, bottom, prevalence ? "share of rows that have the feature" : "mean");
  chart.left_axis(cloud.y, left, half - 12, prevalence ? "mean where present" : "standard deviation");
  if (cloud.points.size() <= most_data)
    chart.data("feature", prevalence ? "prevalence" : "mean", prevalence ? "mean where present" : "standard deviation");
  for (std::size_t j = 0; j < cloud.points.size() && cloud.points.size() <= most_data; ++j)
    chart.data(profile.feature_name(static_cast<std::int64_t>(j)), cloud.points[j].x, cloud.points[j].y);
  if (density) {
    draw_density(chart, cloud);
  } else {
    for (std::size_t j = 0; j < cloud.points.size(); ++j)
      if (std::isfinite(cloud.points[j].x) && std::isfinite(cloud.points[j].y))
        chart.dot(cloud.x(cloud.points[j].x), cloud.y(cloud.points[j].y), 2.5, "f0",
                  profile.feature_name(static_cast<std::int64_t>(j)));
  }
  for (const auto& highlight : profile.strongest) {
    const auto j = static_cast<std::size_t>(highlight.feature);
    const bool beyond = std::abs(profile.associations.correlation[j]) > profile.associations.chance;
    const auto& point = cloud.points[j];
    if (beyond && std::isfinite(point.x) && std::isfinite(point.y))
      chart.dot(cloud.x(point.x), cloud.y(point.y), 5, "ring", profile.feature_name(highlight.feature));
  }
  return chart.finish();
}

std::string filter_curve(const Profile& profile) {
  constexpr double left = 56, top = 28;
  const double bottom = static_cast<double>(profile.varying.size()) * line_height + 22;  // as high as its neighbour
  const bool prevalence = has_prevalence(profile);
  std::vector<double> values;
  for (std::int64_t j = 0; j < profile.summary.features; ++j) {
    const double deviation = profile.summary.per_feature[static_cast<std::size_t>(j)].standard_deviation;
    const double value = prevalence ? profile.prevalence(j) : deviation;
    if (value > 0) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  Chart chart(half, bottom + 44, "Features that stay when a filter is raised");
  if (values.empty()) return chart.finish();
  const Axis x{values.front() / 1.5, values.back(), left, half - 12, true};
  const Axis y{0, static_cast<double>(values.size()), bottom, top, false};
  chart.bottom_axis(x, top, bottom,
                    prevalence ? "not zero in at least this share of the rows" : "standard deviation of at least");
  chart.left_axis(y, left, half - 12, "features left");
  std::string area = fmt::format("M{:.1f} {:.1f}V{:.1f}", left, bottom, y(static_cast<double>(values.size())));
  const auto count = values.size();
  chart.data(prevalence ? "prevalence" : "standard deviation", "features left");
  double drawn = left - 1;
  for (std::size_t k = 0; k < count; ++k) {
    const bool tied = k + 1 < count && values[k + 1] == values[k];
    if (k + 1 < count && (tied || x(values[k]) < drawn + 0.5)) continue;  // steps too fine to see
    drawn = x(values[k]);
    chart.data(values[k], count - k - 1);
    area += fmt::format("H{:.1f}V{:.1f}", drawn, y(static_cast<double>(count - k - 1)));
  }
  chart.path(area + "z", "f0", 0.8);
  return chart.finish();
}

std::string feature_ranges(const Profile& profile) {
  std::vector<const FeatureSummary*> features;
  for (const auto& highlight : profile.varying)
    features.push_back(&profile.summary.per_feature[static_cast<std::size_t>(highlight.feature)]);
  const double bottom = static_cast<double>(features.size()) * line_height + 22;
  Chart chart(half, bottom + 44, "Ranges of the features that vary most");
  if (features.empty()) return chart.finish();
  const Bent x = range_axis(features);
  draw_range_axis(chart, x, bottom);
  double y = 26;
  chart.data("feature", "minimum", "maximum", "mean", "standard deviation");
  for (std::size_t k = 0; k < features.size(); ++k, y += line_height) {
    const auto& f = *features[k];
    const auto name = profile.feature_name(profile.varying[k].feature);
    chart.data(name, f.minimum, f.maximum, f.mean, f.standard_deviation);
    chart.text(names - 10, y + 4, short_name(name), "", Anchor::end);
    chart.line(x(f.minimum), y, x(f.maximum), y, "stem");
    chart.line(x(std::max(f.mean - f.standard_deviation, f.minimum)), y,
               x(std::min(f.mean + f.standard_deviation, f.maximum)), y, "s0");
    chart.dot(x(f.mean), y, 4, "f0",
              fmt::format("{}: {} to {}, mean {}, standard deviation {}", name, brief(f.minimum), brief(f.maximum),
                          brief(f.mean), brief(f.standard_deviation)));
  }
  return chart.finish();
}

std::string class_dots(const Profile& profile) {
  const bool prevalence = has_prevalence(profile);
  const double bottom = static_cast<double>(profile.strongest.size()) * line_height + 22;
  Chart chart(half, bottom + 44, "The strongest features in each class");
  Axis x{0, 1, names, half - 16, false};
  if (!prevalence) {
    x.low = -1;
    for (const auto& highlight : profile.strongest)
      for (const double mean : highlight.class_means) {
        const auto& f = profile.summary.per_feature[static_cast<std::size_t>(highlight.feature)];
        const double shift = std::abs(mean - f.mean) / f.standard_deviation * 1.05;
        x.high = std::max(x.high, shift);
        x.low = std::min(x.low, -shift);
      }
  }
  chart.bottom_axis(x, 10, bottom,
                    prevalence ? "share of the class that has the feature"
                               : "mean of the class, in standard deviations from the overall mean");
  double y = 26;
  chart.data("feature", "class", "prevalence", "mean");
  for (const auto& highlight : profile.strongest) {
    for (std::size_t c = 0; c < highlight.class_means.size(); ++c)
      chart.data(profile.feature_name(highlight.feature), profile.class_names[c], highlight.class_prevalence[c],
                 highlight.class_means[c]);
    const auto& f = profile.summary.per_feature[static_cast<std::size_t>(highlight.feature)];
    const auto name = profile.feature_name(highlight.feature);
    chart.text(names - 10, y + 4, short_name(name), "", Anchor::end);
    std::vector<double> places;
    for (std::size_t c = 0; c < highlight.class_means.size(); ++c)
      places.push_back(
          x(prevalence ? highlight.class_prevalence[c] : (highlight.class_means[c] - f.mean) / f.standard_deviation));
    const auto [least, most] = std::minmax_element(places.begin(), places.end());
    chart.line(*least, y, *most, y, "stem");
    for (std::size_t c = 0; c < places.size(); ++c)
      chart.dot(places[c], y, 5.5, fmt::format("f{}", c % 8),
                fmt::format("{}, {}: in {} of the rows, mean {}", name, profile.class_names[c],
                            percent(highlight.class_prevalence[c]), brief(highlight.class_means[c])));
    y += line_height;
  }
  return chart.finish();
}

}  // namespace sheaf::report
