// Plots as SVG text. Colours are CSS classes of the page (page.cpp), so that plots follow light and dark. A plot holds
// its data as CSV, which the page saves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "report/csv_text.hpp"

namespace sheaf::report {

/// & < > " as entities.
std::string escaped(std::string_view text);

// Sizes that all charts share, in pixels.
constexpr double half = 460;  // a card of half the page's width; small, so that text is legible on a telephone
constexpr double whole = 2 * half + 20;  // a card of the page's width
constexpr double names = 150;            // room for names at the left of a chart
constexpr double line_height = 24;       // of a chart with one feature or class to a line

/// Cut to the room of `names`, never inside a character.
std::string short_name(const std::string& name);

/// Maps data to pixels.
struct Axis {
  double low = 0, high = 1;    // data
  double first = 0, last = 1;  // pixels
  bool logarithmic = false;    // only if low > 0

  double operator()(double value) const;
  /// Round numbers within low .. high, about `count` of them.
  std::vector<double> ticks(int count) const;
};

/// An axis of parameters from low to high: logarithmic if all are above 0. A single value is in the middle.
Axis parameter_axis(double low, double high, double first, double last);
/// The title, with a note if the axis is logarithmic.
std::string axis_title(std::string_view title, const Axis& axis);

/// 1200 -> "1,200", 25000 -> "25k", 0.001 -> "0.001".
std::string tick_text(double value);

struct ChartPoint {
  double x, y;
};
/// The points as the data of an SVG path.
std::string line_through(const std::vector<ChartPoint>& points);
std::string area_between(const std::vector<ChartPoint>& upper, std::vector<ChartPoint> lower);

/// A line of CSV from texts and numbers.
template <class... Values>
std::string csv_line(const Values&... values) {
  std::string line;
  const auto add = [&](const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      line += fmt::format("{},", value);
    else
      line += csv_field(std::string(value)) + ',';
  };
  (add(values), ...);
  line.back() = '\n';
  return line;
}

enum class Kind : std::uint8_t {
  plot,
  map,   // shades show the amount; has a scale
  wide,  // a map of the page's width, which narrow windows scroll
};

enum class Anchor : std::uint8_t { start, middle, end };

class Chart {
 public:
  Chart(double width, double height, std::string_view description, Kind kind = Kind::plot);

  void line(double x1, double y1, double x2, double y2, std::string_view css);
  /// `tip` is shown where the pointer rests.
  void box(double x, double y, double width, double height, std::string_view css, std::string_view tip = {},
           double radius = 0);
  /// A box whose opacity shows the amount.
  void shade(double x, double y, double width, double height, std::string_view css, double opacity,
             std::string_view tip);
  void dot(double x, double y, double radius, std::string_view css, std::string_view tip = {});
  void path(std::string_view data, std::string_view css, double opacity = 1);
  void text(double x, double y, std::string_view text, std::string_view css, Anchor anchor = Anchor::start);
  /// Grid lines across top .. bottom with numbers below, and a title under them.
  void bottom_axis(const Axis& axis, double top, double bottom, std::string_view title);
  /// Grid lines across left .. right with numbers to the left, and a title on top.
  void left_axis(const Axis& axis, double left, double right, std::string_view title);

  /// The legend of a map: boxes of so much opacity from x, with texts before and behind them.
  void scale(double x, double y, std::string_view css, const std::vector<double>& opacities, std::string_view low,
             std::string_view high);
  /// A line of the data behind the plot; the first names the columns.
  template <class... Values>
  void data(const Values&... values) {
    data_ += csv_line(values...);
  }

  std::string finish();

 private:
  std::string body_;
  std::string data_;
};

}  // namespace sheaf::report
