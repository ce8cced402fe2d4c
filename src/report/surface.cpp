#include "report/search_charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 70;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double bottom = 330;
constexpr double height = 404;
constexpr int columns = 48;
constexpr int lines = 32;
constexpr double levels = 10;
constexpr double margin = 14;  // pixels between the outermost points and the frame

struct Span {
  double low, high;
};

template <class Member>
Span span_of(const std::vector<SurfacePoint>& points, Member member) {
  Span span{points.front().*member, points.front().*member};
  for (const auto& point : points) {
    span.low = std::min(span.low, point.*member);
    span.high = std::max(span.high, point.*member);
  }
  return span;
}

/// Shepard's mean with the fourth power of the distance, in pixels.
double value_at(const std::vector<SurfacePoint>& points, const Axis& x, const Axis& y, double at_x, double at_y) {
  double sum = 0;
  double weights = 0;
  for (const auto& point : points) {
    if (!std::isfinite(point.value)) continue;
    const double dx = x(point.x) - at_x;
    const double dy = y(point.y) - at_y;
    const double square = dx * dx + dy * dy + 1;
    sum += point.value / (square * square);
    weights += 1 / (square * square);
  }
  return weights > 0 ? sum / weights : 0;
}

double opacity(double shade) { return 0.05 + 0.75 * std::min(shade, 1.0); }

}  // namespace

std::string surface(const std::vector<SurfacePoint>& points, const SurfaceTitles& titles) {
  if (points.empty()) return {};
  const auto across = span_of(points, &SurfacePoint::x);
  const auto upwards = span_of(points, &SurfacePoint::y);
  const auto x = parameter_axis(across.low, across.high, left + margin, right - margin);
  const auto y = parameter_axis(upwards.low, upwards.high, bottom - margin, top + margin);
  const auto values = span_of(points, &SurfacePoint::value);
  const double range = values.high > values.low ? values.high - values.low : 1;
  Chart chart(half, height, "A surface over two parameters", Kind::map);
  chart.bottom_axis(x, top, bottom, axis_title(titles.x, x));
  chart.left_axis(y, left, right, "");
  chart.text(left, top - 10, axis_title(titles.y, y), "axis");
  const double width = (right - left) / columns;
  const double tall = (bottom - top) / lines;
  for (int line = 0; line < lines; ++line) {
    int begin = 0;  // neighbours of one shade are one box
    double shade = -1;
    for (int column = 0; column <= columns; ++column) {
      double next = -2;
      if (column < columns) {
        const double value = value_at(points, x, y, left + (column + 0.5) * width, top + (line + 0.5) * tall);
        const double share = (value - values.low) / range;
        next = std::floor(share * share * share * levels) / levels;  // finer near the largest
      }
      if (next == shade) continue;
      if (shade >= 0)
        chart.shade(left + begin * width, top + line * tall, (column - begin) * width + 0.3, tall + 0.3, "f0",
                    opacity(shade), "");
      begin = column;
      shade = next;
    }
  }
  std::vector<double> shades;
  for (int level = 0; level <= static_cast<int>(levels); ++level) shades.push_back(opacity(level / levels));
  chart.scale(left + 100, height - 14, "f0", shades, titles.low, titles.high);
  chart.data(titles.x, titles.y, "value");
  for (const auto& point : points) {
    chart.data(point.x, point.y, titles.sign * point.value);
    chart.dot(x(point.x), y(point.y), 3, "point", point.tip);
    if (point.ringed) chart.dot(x(point.x), y(point.y), 9, "ring");
  }
  return chart.finish();
}

}  // namespace sheaf::report
