// Plots as SVG text. Colours are CSS classes of the page (report_page.cpp), so that plots follow light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::report {

/// & < > " as entities.
std::string escaped(std::string_view text);

// Sizes that all charts share, in pixels.
constexpr double half = 540;        // a card of half the page's width
constexpr double names = 150;       // room for names at the left of a chart
constexpr double line_height = 24;  // of a chart with one feature or class to a line

/// Cut to what `names` has room for, never inside a character.
std::string short_name(const std::string& name);

/// Maps data to pixels.
struct Axis {
  double low = 0, high = 1;    // data
  double first = 0, last = 1;  // pixels
  bool logarithmic = false;    // low > 0

  double operator()(double value) const;
  /// Round numbers within low .. high, about `count` of them.
  std::vector<double> ticks(int count) const;
};

/// 1200 -> "1,200", 25000 -> "25k", 0.001 -> "0.001".
std::string tick_text(double value);

struct ChartPoint {
  double x, y;
};
/// As the data of a path.
std::string line_through(const std::vector<ChartPoint>& points);
std::string area_between(const std::vector<ChartPoint>& upper, std::vector<ChartPoint> lower);

enum class Anchor : std::uint8_t { start, middle, end };

class Chart {
 public:
  Chart(double width, double height, std::string_view description);

  void line(double x1, double y1, double x2, double y2, std::string_view css);
  /// `tip` is shown where the pointer rests.
  void box(double x, double y, double width, double height, std::string_view css, std::string_view tip = {},
           double radius = 0);
  /// A box whose opacity says how much.
  void shade(double x, double y, double width, double height, std::string_view css, double opacity,
             std::string_view tip);
  void dot(double x, double y, double radius, std::string_view css, std::string_view tip = {});
  void path(std::string_view data, std::string_view css, double opacity = 1);
  void text(double x, double y, std::string_view text, std::string_view css, Anchor anchor = Anchor::start);
  /// Grid lines across top .. bottom with numbers below, and a title under them.
  void bottom_axis(const Axis& axis, double top, double bottom, std::string_view title);
  /// Grid lines across left .. right with numbers to the left, and a title on top.
  void left_axis(const Axis& axis, double left, double right, std::string_view title);

  std::string finish();

 private:
  std::string body_;
};

}  // namespace sheaf::report
