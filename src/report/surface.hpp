// A surface over two parameters, as an SVG element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sheaf::report {

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
