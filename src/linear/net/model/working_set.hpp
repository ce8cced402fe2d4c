// Selects the features that a model works on: those with a weight, and those whose |g - p2 w| / p1 is largest.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "linear/net/model/task.hpp"

namespace sheaf::linear {

/// How features are chosen for a model: all with a weight, and those whose |g - p2 w| / p1 is largest, up to `count` of
/// them in all (of several classes: all together); none whose `scale` times |g|, plus `radius` times the length of the
/// feature, stays below p1.
struct FeatureChoice {
  std::int32_t model = 0;
  std::int32_t count = 0;
  double scale = 1;
  double radius = 0;  ///< infinite: no feature is left out by this
};

/// Ratios |g - p2 w| / p1 on a logarithmic scale: 16 an octave, from 1/16 to 4096. By the bits of a float, whose order
/// is that of the numbers.
inline constexpr int ratio_buckets = 256;
SHEAF_HOST_DEVICE inline int bucket_of(float ratio) {
  if (!(ratio > 0.0625F)) return 0;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &ratio, sizeof bits);
  const int at = static_cast<int>(bits >> 19) - (123 << 4);
  return at < ratio_buckets ? at : ratio_buckets - 1;
}

/// |x'u| of feature j, or the length of its products with several classes that share a penalty: of those that pull
/// weights to where they may go.
template <class T>
SHEAF_HOST_DEVICE inline double pull_length(const ModelTask<T>& task, std::int64_t j, const T* products,
                                            std::int32_t count) {
  double squares = 0;
  for (std::int32_t c = 0; c < count; ++c) {
    const double g = products[c];
    if (task.limits != nullptr && !(task.limits_of(j).side(g) > 0)) continue;
    if (count == 1) return std::abs(g);
    squares += g * g;
  }
  return std::sqrt(squares);
}

/// The bucket of feature j: the last one if it has a weight or no L1 penalty, -1 if it is constant or shown to have no
/// weight at the optimum. `g` is its pull_length(), and w the size of its weight or weights.
template <class T>
SHEAF_HOST_DEVICE inline int feature_bucket(const ModelTask<T>& task, std::int64_t j, double g, double w, double scale,
                                            double radius) {
  const double reach = task.reach(j);
  if (!(reach > 0)) return -1;
  const auto penalty = task.penalty(j);
  if (w != 0 || penalty.p1 <= 0) return ratio_buckets - 1;
  const double pull = g / task.total;
  const double room = penalty.p1 - scale * pull;
  if (room > 0 && room * room > radius * radius * (reach + penalty.p2)) return -1;
  return bucket_of(static_cast<float>(pull / penalty.p1));
}

/// The lowest bucket such that at most `count` features stand in it and above. The best features without a weight are
/// always among them, however many they are: else nothing new might ever be tried.
SHEAF_HOST_DEVICE inline int lowest_bucket(const std::int32_t* counts, std::int32_t count) {
  const std::int32_t fixed = counts[ratio_buckets - 1];
  std::int32_t taken = fixed;
  int lowest = ratio_buckets - 1;
  while (lowest > 0 && (taken == fixed || taken + counts[lowest - 1] <= count)) taken += counts[--lowest];
  return lowest;
}

}  // namespace sheaf::linear
