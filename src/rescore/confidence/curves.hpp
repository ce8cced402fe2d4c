// The curves that posterior error probabilities are read from. They are fitted on the host to at most some thousand
// bins of PSMs; every PSM is then looked up on its own device.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/host_device.hpp"

namespace sheaf::rescore {

/// Ends of about 10,000 groups of neighbours of equal size.
std::vector<std::int32_t> rank_bin_ends(std::int64_t points);

/// Means of these groups.
struct RankBins {
  std::vector<double> x, y, weights;
};

/// A constant and a ramp between each pair of neighbouring knots.
struct RampView {
  const double* knots;
  const double* heights;  ///< of each ramp; the last is the constant
  const double* passed;   ///< the value behind so many whole ramps
  std::int32_t count;     ///< of knots

  /// Rises from 0 at `left` to 1 at `right`.
  SHEAF_HOST_DEVICE static double ramp(double x, double left, double right) {
    if (x < left) return 0;
    if (x >= right) return 1;
    const double u = (x - left) / (right - left);
    return 3 * u * u - 2 * u * u * u;
  }
  SHEAF_HOST_DEVICE double at(double x) const {
    double value = heights[count - 1];
    for (std::int32_t j = 0; j + 1 < count; ++j) value += heights[j] * ramp(x, knots[j], knots[j + 1]);
    return value;
  }
  /// The same if knots ascend and x lies behind `whole` ramps.
  SHEAF_HOST_DEVICE double behind(std::int32_t whole, double x) const {
    if (whole + 1 >= count) return passed[whole];
    return passed[whole] + heights[whole] * ramp(x, knots[whole], knots[whole + 1]);
  }
};
struct RampCurve {
  std::vector<double> knots, heights, passed;

  RampView view() const {
    return {knots.data(), heights.data(), passed.data(), static_cast<std::int32_t>(knots.size())};
  }
};
/// By weighted least squares.
RampCurve fit_ramps(const RankBins& bins);

/// Scores that are probabilities or never negative are spread out before a logistic spline is fitted.
struct ScoreTransform {
  bool logit = false, log = false;
  double low = 0, high = 0;

  SHEAF_HOST_DEVICE double operator()(double x) const {
    if (!logit && !log) return x;
    if (logit && (low > 0 || high > 0)) x *= 1 - high - low;
    x += low;
    return logit ? std::log(x / (1 - x)) : std::log(x);
  }
};

struct LogisticBins {
  std::vector<double> x, incorrect, size;  ///< x: the median score
};

/// The natural cubic spline through g with second derivatives gamma; straight outside.
struct LogisticView {
  const double* x;      ///< knots, ascending
  const double* h;      ///< between them
  const double* g;      ///< log odds there
  const double* gamma;  ///< at the inner knots
  std::int32_t count;
  ScoreTransform transform;

  SHEAF_HOST_DEVICE double at(double score) const {
    const double value = transform(score);
    std::int32_t right = 0;  // the first knot that is not below
    for (std::int32_t left = count; right < left;) {
      const std::int32_t middle = (right + left) / 2;
      if (x[middle] < value)
        right = middle + 1;
      else
        left = middle;
    }
    const std::int32_t n = count;
    if (right == n) {
      const double last = h[n - 2];
      return g[n - 1] + (value - x[n - 1]) * ((g[n - 1] - g[n - 2]) / last + last / 6 * gamma[n - 3]);
    }
    if (x[right] == value) return g[right];
    if (right == 0) return g[0] - (x[0] - value) * ((g[1] - g[0]) / h[0] - h[0] / 6 * gamma[0]);
    const double above = x[right] - value;
    const double below = value - x[right - 1];
    const double width = h[right - 1];
    const double gamma_right = right < n - 1 ? gamma[right - 1] : 0;
    const double gamma_left = right > 1 ? gamma[right - 2] : 0;
    return (below * g[right] + above * g[right - 1]) / width -
           below * above / 6 * ((1 + below / width) * gamma_right + (1 + above / width) * gamma_left);
  }
};
struct LogisticCurve {
  std::vector<double> x, h, g, gamma;
  ScoreTransform transform;

  LogisticView view() const {
    return {x.data(), h.data(), g.data(), gamma.data(), static_cast<std::int32_t>(x.size()), transform};
  }
};
/// Bins in ascending or descending order of x. Fewer than 4 are an Error.
LogisticCurve fit_logistic(LogisticBins bins);

/// Bins of scores for fit_logistic(): so many.
constexpr std::int32_t logistic_intervals = 500;

/// Adds a bin, or adds to the last one if the median is the same.
inline void add_bin(LogisticBins& bins, double median, double incorrect, double size) {
  if (!bins.x.empty() && bins.x.back() == median) {
    bins.incorrect.back() += incorrect;
    bins.size.back() += size;
    return;
  }
  bins.x.push_back(median);
  bins.incorrect.push_back(incorrect);
  bins.size.push_back(size);
}

}  // namespace sheaf::rescore
