// Distances as host/device functors, written once for both backends. Every distance is
//   finish(join over the features of w * term(x_j, y_j))
// joined in eight interleaved parts (feature j goes to part j mod 8), which are then joined pairwise. The order is part
// of the definition: with it both devices, dense and sparse rows, and all instruction sets give the same bits. Sources
// that call these functors are compiled without fused operations.
//
// A new distance is a functor here with its `function`, a place in AllMetrics and a member of DistanceType.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <sheaf/neighbors.hpp>

#include "core/host_device.hpp"

namespace sheaf::neighbors {

/// Quantities of a row besides its values. Cosine and correlation compare (x - shift) * factor.
struct RowTerms {
  double shift = 0;
  double factor = 1;  ///< 0: the row has no direction
  double count = 0;   ///< values other than 0
};

inline constexpr int parts = 8;

/// Default members of metrics. V is double or a vector of doubles.
struct SumOfTerms {
  static constexpr bool has_row_terms = false;
  template <class V>
  SHEAF_HOST_DEVICE static V join(V a, V b) {
    return a + b;
  }
  SHEAF_HOST_DEVICE static double finish(double sum, const RowTerms& /*x*/, const RowTerms& /*y*/) { return sum; }
};

template <class V>
SHEAF_HOST_DEVICE V absolute(V x) {
  return x < 0 ? -x : x;
}

struct SquaredEuclidean : SumOfTerms {
  static constexpr DistanceFunction function{DistanceType::squared_euclidean, "sqeuclidean", "sum w (x-y)^2", true};
  explicit SquaredEuclidean(const DistanceOptions& /*options*/, std::int64_t /*features*/) {}
  template <class V>
  SHEAF_HOST_DEVICE V term(V x, V y) const {
    const V apart = x - y;
    return apart * apart;
  }
};

struct Euclidean : SquaredEuclidean {
  static constexpr DistanceFunction function{DistanceType::euclidean, "euclidean", "sqrt(sum w (x-y)^2)", true};
  using SquaredEuclidean::SquaredEuclidean;
  SHEAF_HOST_DEVICE static double finish(double sum, const RowTerms& /*x*/, const RowTerms& /*y*/) { return sqrt(sum); }
};

struct Manhattan : SumOfTerms {
  static constexpr DistanceFunction function{DistanceType::manhattan, "manhattan", "sum w |x-y|", true};
  explicit Manhattan(const DistanceOptions& /*options*/, std::int64_t /*features*/) {}
  template <class V>
  SHEAF_HOST_DEVICE V term(V x, V y) const {
    return absolute(x - y);
  }
};

/// Half the squared distance of the rows made unit vectors: nothing cancels, and the same row has distance 0.
struct Cosine : SquaredEuclidean {
  static constexpr DistanceFunction function{DistanceType::cosine, "cosine", "1 - x'y / (|x| |y|)"};
  static constexpr bool has_row_terms = true;
  using SquaredEuclidean::SquaredEuclidean;
  SHEAF_HOST_DEVICE static double finish(double sum, const RowTerms& x, const RowTerms& y) {
    if ((x.factor == 0) != (y.factor == 0)) return 1;
    return sum / 2;
  }
};

struct Correlation : Cosine {
  static constexpr DistanceFunction function{DistanceType::correlation, "correlation",
                                             "the cosine distance of the rows less their means"};
  using Cosine::Cosine;
};

struct Chebyshev : Manhattan {
  static constexpr DistanceFunction function{DistanceType::chebyshev, "chebyshev", "max |x-y|"};
  using Manhattan::Manhattan;
  template <class V>
  SHEAF_HOST_DEVICE static V join(V a, V b) {
    return a > b ? a : b;
  }
};

/// x^p for x >= 0 from additions, products and quotients alone, to about 1e-15 p |log x| of its value: a library's pow
/// differs from device to device.
SHEAF_HOST_DEVICE inline double power_of(double x, double p) {
  if (x == 0) return 0;
  if (p == floor(p) && p <= 64) {
    double result = 1;
    double base = x;
    for (int left = static_cast<int>(p); left > 0; left /= 2) {
      if (left % 2 == 1) result = result * base;
      base = base * base;
    }
    return result;
  }
  // x = 2^e m with m in [0.75, 1.5); log m = 2 atanh((m - 1) / (m + 1)).
  constexpr double ln2 = 0.693147180559945309417;
  int e = 0;
  double m = frexp(x, &e);
  if (m < 0.75) {
    m = m + m;
    e = e - 1;
  }
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  double series = 0;
  for (int k = 27; k >= 3; k -= 2) series = (series + 1.0 / k) * q;
  const double y = p * (e * ln2 + (2 * s + 2 * s * series));
  // e^y = 2^n e^r, |r| <= ln 2 / 2.
  const double n = floor(y / ln2 + 0.5);
  const double r = y - n * ln2;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + sum * r / k;
  return ldexp(sum, static_cast<int>(n < -2000 ? -2000 : n > 2000 ? 2000 : n));
}

struct Minkowski : SumOfTerms {
  static constexpr DistanceFunction function{DistanceType::minkowski, "minkowski", "(sum w |x-y|^power)^(1/power)",
                                             true};
  double power;
  explicit Minkowski(const DistanceOptions& options, std::int64_t /*features*/) : power(options.power) {}
  SHEAF_HOST_DEVICE double term(double x, double y) const { return power_of(absolute(x - y), power); }
  SHEAF_HOST_DEVICE double finish(double sum, const RowTerms& /*x*/, const RowTerms& /*y*/) const {
    return power_of(sum, 1 / power);
  }
};

struct Hamming : SumOfTerms {
  static constexpr DistanceFunction function{DistanceType::hamming, "hamming", "the share of features that differ"};
  double features;
  explicit Hamming(const DistanceOptions& /*options*/, std::int64_t count) : features(static_cast<double>(count)) {}
  template <class V>
  SHEAF_HOST_DEVICE V term(V x, V y) const {
    const V one = V{} + 1.0;
    return x != y ? one : V{};
  }
  SHEAF_HOST_DEVICE double finish(double sum, const RowTerms& /*x*/, const RowTerms& /*y*/) const {
    return sum / features;
  }
};

struct Jaccard : SumOfTerms {
  static constexpr DistanceFunction function{DistanceType::jaccard, "jaccard",
                                             "1 - (features not 0 in both) / (features not 0 in either)"};
  explicit Jaccard(const DistanceOptions& /*options*/, std::int64_t /*features*/) {}
  template <class V>
  SHEAF_HOST_DEVICE V term(V x, V y) const {
    const V one = V{} + 1.0;
    const V in_x = x != 0 ? one : V{};
    return y != 0 ? in_x : V{};
  }
  SHEAF_HOST_DEVICE static double finish(double sum, const RowTerms& x, const RowTerms& y) {
    const double either = x.count + y.count - sum;
    return either > 0 ? (either - sum) / either : 0;
  }
};

template <class... Metrics>
struct MetricList {};

using AllMetrics =
    MetricList<Euclidean, SquaredEuclidean, Manhattan, Cosine, Correlation, Chebyshev, Minkowski, Hamming, Jaccard>;

template <class Work, class... Metrics>
void with_metric_of(const DistanceOptions& options, std::int64_t features, const Work& work,
                    MetricList<Metrics...> /*all*/) {
  static_cast<void>(((options.metric == Metrics::function.type && (work(Metrics(options, features)), true)) || ...));
}

/// Calls work(functor) with the functor of a distance.
template <class Work>
void with_metric(const DistanceOptions& options, std::int64_t features, const Work& work) {
  with_metric_of(options, features, work, AllMetrics{});
}

/// Joins the eight parts.
template <class Metric, class V>
SHEAF_HOST_DEVICE V join_parts(const V* part) {
  const V a = Metric::join(Metric::join(part[0], part[4]), Metric::join(part[2], part[6]));
  const V b = Metric::join(Metric::join(part[1], part[5]), Metric::join(part[3], part[7]));
  return Metric::join(a, b);
}

}  // namespace sheaf::neighbors
