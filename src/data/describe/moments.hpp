// Running moments of values (Welford 1962), which can be merged (Chan, Golub and LeVeque 1979).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <sheaf/solvers/profile.hpp>

namespace sheaf {

/// Moments of some values of one feature.
struct Moments {
  std::int64_t count = 0;
  std::int64_t nonzeros = 0;
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double squares = 0;  ///< sum of squared differences from the mean

  /// `inverse` is 1 / (count + 1): the rows of a dense matrix share it.
  void add(double value, double inverse) {
    ++count;
    nonzeros += value != 0 ? 1 : 0;
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    const double difference = value - mean;
    mean += difference * inverse;
    squares += difference * (value - mean);
  }
  void add(double value) { add(value, 1 / static_cast<double>(count + 1)); }

  void merge(const Moments& other) {
    if (other.count == 0) return;
    const auto all = static_cast<double>(count + other.count);
    const double difference = other.mean - mean;
    mean += difference * static_cast<double>(other.count) / all;
    squares +=
        other.squares + difference * difference * static_cast<double>(count) * static_cast<double>(other.count) / all;
    count += other.count;
    nonzeros += other.nonzeros;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }

  void add_zeros(std::int64_t zeros) {
    if (zeros > 0) merge({zeros, 0, 0, 0, 0, 0});
  }

  FeatureSummary summary() const {
    if (count == 0) return {};
    return {nonzeros, minimum, maximum, mean, std::sqrt(squares / static_cast<double>(count))};
  }
};

}  // namespace sheaf
