// Plots with logarithmic axes: how time grows with one size, beside the line of growth in proportion; how objectives
// fall with time. They stand on white, so that they can be read on any page.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/fail.hpp"

namespace sheaf::bench {

struct GrowthCurve {
  std::string name;
  std::vector<double> factors;  // 1, 2, 4 ...
  std::vector<double> seconds;
};

inline constexpr const char* curve_colours[] = {"#1f6feb", "#d1570a", "#1a7f37", "#8250df", "#a40e26", "#6e7781"};

/// The head of a plot with its title.
inline std::string plot_head(const std::string& title, double left) {
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 400' font-family='sans-serif' font-size='12'>"
      "<rect width='760' height='400' fill='white'/><text x='{}' y='22' font-size='14'>{}</text>\n",
      left, title);
}

/// The c-th curve through "x,y " pairs, and its name at the right.
inline std::string plot_curve(std::size_t c, const std::string& points, const std::string& name, double right,
                              double top) {
  const char* colour = curve_colours[c % std::size(curve_colours)];
  return fmt::format(
      "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/><text x='{}' y='{}' fill='{}'>{}</text>\n",
      points, colour, right + 10, top + 14 + 18 * static_cast<double>(c), colour, name);
}

inline void write_plot(const std::string& path, const std::string& svg) {
  if (!(std::ofstream(path) << svg)) fail("{}: cannot be written", path);
}

/// Time over factor, each curve relative to its first point.
inline void write_growth(const std::string& path, const std::string& title, const std::vector<GrowthCurve>& curves) {
  constexpr double left = 60, top = 40, width = 520, height = 300;
  double largest = 2;
  for (const auto& curve : curves) largest = std::max(largest, curve.factors.back());
  const auto place = [&](double value, double extent) { return std::log2(value) / std::log2(largest) * extent; };
  const auto x = [&](double factor) { return left + place(factor, width); };
  const auto y = [&](double ratio) { return top + height - place(std::max(ratio, 0.5), height); };
  std::string svg = plot_head(title, left);
  for (double f = 1; f <= largest; f *= 2)
    svg += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' "
        "text-anchor='middle'>x{4}</text><line x1='{5}' y1='{6:.1f}' x2='{7}' y2='{6:.1f}' stroke='#ddd'/>"
        "<text x='{8}' y='{6:.1f}' dy='4' text-anchor='end'>x{4}</text>\n",
        x(f), top, top + height, top + height + 18, f, left, y(f), left + width, left - 6);
  svg += fmt::format("<line x1='{}' y1='{}' x2='{}' y2='{}' stroke='#999' stroke-dasharray='4 4'/>\n", x(1), y(1),
                     x(largest), y(largest));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const auto& curve = curves[c];
    std::string points;
    for (std::size_t k = 0; k < curve.factors.size(); ++k)
      points += fmt::format("{:.1f},{:.1f} ", x(curve.factors[k]), y(curve.seconds[k] / curve.seconds[0]));
    svg += plot_curve(c, points, curve.name, left + width, top);
  }
  svg += fmt::format("<text x='{}' y='{}' fill='#666'>time, and size, as multiples of the first</text></svg>\n", left,
                     top + height + 40);
  write_plot(path, svg);
}

/// Heights over seconds.
struct Curve {
  std::string name;
  std::vector<double> seconds, heights;
};

/// Heights above the best, down to `least`, over time.
inline void write_descents(const std::string& path, const std::string& title, const std::vector<Curve>& curves,
                           double least) {
  constexpr double left = 70, top = 40, width = 520, height = 300;
  double first = 1e300, last = 0, most = least;
  for (const auto& curve : curves)
    for (std::size_t k = 0; k < curve.seconds.size(); ++k) {
      first = std::min(first, curve.seconds[k]);
      last = std::max(last, curve.seconds[k]);
      most = std::max(most, curve.heights[k]);
    }
  const int from = static_cast<int>(std::floor(std::log10(first)));
  const int to = std::max(from + 1, static_cast<int>(std::ceil(std::log10(last))));
  const int low = static_cast<int>(std::floor(std::log10(least)));
  const int high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(most))));
  const auto x = [&](double seconds) { return left + (std::log10(seconds) - from) / (to - from) * width; };
  const auto y = [&](double value) {
    return top + (high - std::log10(std::max(value, std::pow(10.0, low)))) / (high - low) * height;
  };
  std::string svg = plot_head(title, left);
  for (int e = from; e <= to; ++e)
    svg += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' "
        "text-anchor='middle'>{4:g} s</text>\n",
        x(std::pow(10.0, e)), top, top + height, top + height + 18, std::pow(10.0, e));
  for (int e = low; e <= high; ++e)
    svg += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' stroke='#ddd'/><text x='{3}' y='{1:.1f}' dy='4' "
        "text-anchor='end'>{4:g}</text>\n",
        left, y(std::pow(10.0, e)), left + width, left - 6, std::pow(10.0, e));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    std::string points;
    for (std::size_t k = 0; k < curves[c].seconds.size(); ++k)
      points += fmt::format("{:.1f},{:.1f} ", x(curves[c].seconds[k]), y(curves[c].heights[k]));
    svg += plot_curve(c, points, curves[c].name, left + width, top);
  }
  svg += fmt::format("<text x='{}' y='{}' fill='#666'>time; objective above the best, relative</text></svg>\n", left,
                     top + height + 40);
  write_plot(path, svg);
}

}  // namespace sheaf::bench
