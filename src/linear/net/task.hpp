// What one model of an elastic net is asked for, and what can be told of its features without training it.
#pragma once

#include <cmath>
#include <cstdint>

#include "linear/net/terms.hpp"

namespace sheaf::linear {

/// A model and its rows; pointers stand at the model's columns of tables.
template <class T>
struct LaneTask {
  std::int64_t examples = 0;
  const T* targets = nullptr;
  std::int64_t target_stride = 1;
  const float* weights = nullptr;  ///< nullptr: all 1
  std::int64_t weight_stride = 1;
  double total = 0;            ///< sum of the weights
  double center = 0;           ///< mean of the targets under the weights; 0 without an intercept
  const T* factors = nullptr;  ///< penalty factors; nullptr: all 1
  const T* means = nullptr;    ///< of the features, under the weights
  const T* variances = nullptr;
  std::int64_t feature_stride = 1;  ///< of both
  double alpha1 = 0;                ///< alpha * l1_ratio
  double alpha2 = 0;                ///< alpha * (1 - l1_ratio)
  bool intercept = true;
  bool standardise = false;
  const T* deviations = nullptr;  ///< roots of the variances, where a backend has them ready

  SHEAF_HOST_DEVICE T weight(std::int64_t i) const {
    return weights != nullptr ? static_cast<T>(weights[i * weight_stride]) : T(1);
  }
  SHEAF_HOST_DEVICE T target(std::int64_t i) const { return targets[i * target_stride]; }
  SHEAF_HOST_DEVICE T mean(std::int64_t j) const { return means[j * feature_stride]; }
  SHEAF_HOST_DEVICE T variance(std::int64_t j) const { return variances[j * feature_stride]; }
  /// 0 for a feature that cannot have a weight.
  SHEAF_HOST_DEVICE T curvature(std::int64_t j) const {
    const T spread = variance(j);
    return intercept || (standardise && spread <= 0) ? spread : spread + mean(j) * mean(j);
  }
  SHEAF_HOST_DEVICE double factor(std::int64_t j) const { return factors != nullptr ? double(factors[j]) : 1.0; }
  SHEAF_HOST_DEVICE double penalty1(std::int64_t j) const {
    if (!standardise) return alpha1 * factor(j);
    const double deviation =
        deviations != nullptr ? double(deviations[j * feature_stride]) : std::sqrt(double(variance(j)));
    return alpha1 * factor(j) * deviation;
  }
  SHEAF_HOST_DEVICE double penalty2(std::int64_t j) const {
    return alpha2 * factor(j) * (standardise ? double(variance(j)) : 1.0);
  }
};

/// The tables that models of one sheaf share; pointers to none are null.
template <class T>
struct LaneTables {
  std::int64_t examples;
  const T* targets;
  std::int64_t target_columns;
  const float* weights;
  std::int64_t weight_columns;
  const T* factors;
  const T* means;
  const T* variances;
  bool intercept;
  bool standardise;
};

template <class T>
LaneTask<T> lane_task(const LaneTables<T>& tables, std::int32_t rows, std::int32_t target, double total, double center,
                      double alpha1, double alpha2) {
  return {tables.examples,
          tables.targets + target,
          tables.target_columns,
          tables.weights != nullptr ? tables.weights + rows : nullptr,
          tables.weight_columns,
          total,
          center,
          tables.factors,
          tables.means + rows,
          tables.variances + rows,
          tables.weight_columns,
          alpha1,
          alpha2,
          tables.intercept,
          tables.standardise};
}

/// What centres feature j and scales it to length 1.
template <class T>
SHEAF_HOST_DEVICE inline void normalise(const LaneTask<T>& task, std::int64_t j, T& mean, T& scale) {
  const T curvature = task.curvature(j);
  mean = task.intercept ? task.mean(j) : T(0);
  scale = curvature > 0 ? 1 / std::sqrt(curvature) : T(0);
}

/// Of a feature with mean `mean`: `squares` from the mean over its stored entries, which have the weight `seen` of
/// `total`; the others are 0. What only rounding makes of a constant feature is 0.
SHEAF_HOST_DEVICE inline double variance_of(double mean, double squares, double seen, double total) {
  const double rest = total - seen > 0 ? total - seen : 0;
  const double variance = (squares + rest * mean * mean) / total;
  return variance > 1e-14 * mean * mean ? variance : 0;
}

/// Where feature j stands in the choice of a lane's working set: the last bucket where it has a weight or no L1
/// penalty, -1 where it is constant or shown to be out of play. `g` is X'u.
template <class T>
SHEAF_HOST_DEVICE inline int bucket_in_lane(const LaneTask<T>& task, std::int64_t j, double g, double w, double scale,
                                            double radius) {
  const double curvature = task.curvature(j);
  if (!(curvature > 0)) return -1;
  const double p1 = task.penalty1(j);
  if (w != 0 || p1 <= 0) return ratio_buckets - 1;
  const double pull = std::abs(g) / task.total;
  const double room = p1 - scale * pull;
  if (room > 0 && room * room > radius * radius * (curvature + task.penalty2(j))) return -1;
  return bucket_of(static_cast<float>(pull / p1));
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
