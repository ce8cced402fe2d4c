// A plot of growth: how time grows with one size, both axes logarithmic, beside the line of growth in proportion.
#pragma once

#include <cmath>
#include <fstream>
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

/// Time over factor, each curve relative to its first point. Stands on white, so that it can be read on any page.
inline void write_growth(const std::string& path, const std::string& title, const std::vector<GrowthCurve>& curves) {
  constexpr double left = 60, top = 40, width = 520, height = 300;
  const char* colours[] = {"#1f6feb", "#d1570a", "#1a7f37", "#8250df", "#a40e26", "#6e7781"};
  double largest = 2;
  for (const auto& curve : curves) largest = std::max(largest, curve.factors.back());
  const auto place = [&](double value, double extent) { return std::log2(value) / std::log2(largest) * extent; };
  const auto x = [&](double factor) { return left + place(factor, width); };
  const auto y = [&](double ratio) { return top + height - place(std::max(ratio, 0.5), height); };
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 400' font-family='sans-serif' font-size='12'>"
      "<rect width='760' height='400' fill='white'/><text x='{}' y='22' font-size='14'>{}</text>\n",
      left, title);
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
    svg += fmt::format(
        "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/><text x='{}' y='{}' "
        "fill='{}'>{}</text>\n",
        points, colours[c % 6], left + width + 10, top + 14 + 18 * static_cast<double>(c), colours[c % 6], curve.name);
  }
  svg += fmt::format("<text x='{}' y='{}' fill='#666'>time, and size, as multiples of the first</text></svg>\n", left,
                     top + height + 40);
  if (!(std::ofstream(path) << svg)) fail("{}: cannot be written", path);
}

}  // namespace sheaf::bench
