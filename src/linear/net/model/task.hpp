// The training task of one model of an elastic net, and the quantities of its features that need no training.
#pragma once

#include <cmath>
#include <cstdint>

#include "linear/losses/losses.hpp"
#include "linear/net/model/penalty.hpp"
#include "statistics/partial_likelihood.hpp"

namespace sheaf::linear {

/// The penalties at an alpha of 1.
struct PenaltyShape {
  double l1 = 0;
  double l2 = 0;
};

/// An active model, apart from its vectors.
struct ActiveModel {
  std::int32_t rows = 0;
  std::int32_t target = 0;
  double alpha1 = 0;          ///< of the L1 part
  double alpha2 = 0;          ///< of the L2 part
  double total = 0;           ///< sum of the row weights
  double center = 0;          ///< weighted mean of the targets; 0 without an intercept
  double loss_curvature = 1;  ///< see ModelTask
  std::int64_t id = 0;        ///< the same for all alphas of a path segment, different from that of any other
  std::int32_t column = 0;    ///< of the offsets: the class
  double width = 0;           ///< see LossParameters
  bool limits = true;         ///< false: weights are taken for free, whatever their limits
  PenaltyShape shape = {};
};

/// A model and its rows; pointers stand at the model's columns of the tables that all models of a sheaf share.
template <class T>
struct ModelTask {
  std::int64_t examples = 0;
  const T* targets = nullptr;
  std::int64_t target_stride = 1;
  const T* offsets = nullptr;  ///< what is added to the decision value of each row; nullptr: nothing
  std::int64_t offset_stride = 1;
  const float* weights = nullptr;  ///< nullptr: all 1
  std::int64_t weight_stride = 1;  ///< of weights and of features' data
  double total = 0;                ///< sum of the weights
  double center = 0;               ///< mean of the targets under the weights; 0 without an intercept
  /// Curvature of the loss, for the possible gain of features without a penalty: the largest second derivative or, if
  /// there is no largest, its mean over the rows, without features.
  double loss_curvature = 1;
  const T* factors = nullptr;  ///< penalty factors; nullptr: all 1
  const T* limits = nullptr;   ///< of the weights: the lower and the upper one of each feature; nullptr: none
  bool limits_seen = false;    ///< they are those of the features divided by their units
  const T* means = nullptr;    ///< of the features, under the weights
  const T* variances = nullptr;
  const T* units = nullptr;  ///< what a feature is divided by before it is penalised; nullptr: 1
  RiskSets<T> risk;          ///< cox
  LossParameters loss;
  double alpha1 = 0;  ///< alpha * shape.l1
  double alpha2 = 0;  ///< alpha * shape.l2
  PenaltyShape shape = {};
  bool intercept = true;
  bool balanced = true;  ///< residuals sum to 0 if there is an intercept: not those of softmax models in training

  /// The task of a model, if this is that of the first columns of the tables.
  ModelTask of(const ActiveModel& model) const {
    ModelTask task = *this;
    task.targets += model.target;
    if (offsets != nullptr) task.offsets += model.column;
    task.loss.width = model.width;
    for (const T** column : {&task.means, &task.variances, &task.units})
      if (*column != nullptr) *column += model.rows;
    if (weights != nullptr) task.weights += model.rows;
    if (risk.shares != nullptr) task.risk.shares += model.rows;
    if (risk.fractions != nullptr) task.risk.fractions += model.rows;
    task.total = model.total;
    task.center = model.center;
    task.loss_curvature = model.loss_curvature;
    task.alpha1 = model.alpha1;
    task.alpha2 = model.alpha2;
    task.shape = model.shape;
    if (!model.limits) task.limits = nullptr;
    return task;
  }

  SHEAF_HOST_DEVICE T weight(std::int64_t i) const {
    return weights != nullptr ? static_cast<T>(weights[i * weight_stride]) : T(1);
  }
  SHEAF_HOST_DEVICE T target(std::int64_t i) const { return targets[i * target_stride]; }
  SHEAF_HOST_DEVICE T offset(std::int64_t i) const { return offsets != nullptr ? offsets[i * offset_stride] : T(0); }
  SHEAF_HOST_DEVICE T mean(std::int64_t j) const { return means[j * weight_stride]; }
  SHEAF_HOST_DEVICE T variance(std::int64_t j) const { return variances[j * weight_stride]; }
  /// The standard deviation if features are standardised; 0 for a feature that is left out.
  SHEAF_HOST_DEVICE double unit(std::int64_t j) const {
    return units != nullptr ? double(units[j * weight_stride]) : 1.0;
  }
  /// 0 for a feature that cannot have a weight.
  SHEAF_HOST_DEVICE T curvature(std::int64_t j) const {
    if (units != nullptr && !(units[j * weight_stride] > 0)) return 0;
    const T spread = variance(j);
    return intercept ? spread : spread + mean(j) * mean(j);
  }
  /// By how much, squared and divided by the sum of the weights, a change of the residuals of length 1 changes x'u.
  SHEAF_HOST_DEVICE double reach(std::int64_t j) const {
    const double spread = curvature(j);
    return spread > 0 && intercept && !balanced ? spread + double(mean(j)) * double(mean(j)) : spread;
  }
  SHEAF_HOST_DEVICE double factor(std::int64_t j) const { return factors != nullptr ? double(factors[j]) : 1.0; }
  SHEAF_HOST_DEVICE ElasticNetPenalty<double> penalty(std::int64_t j) const {
    const double one = unit(j);
    return {alpha1 * factor(j) * one, alpha2 * factor(j) * one * one};
  }
  /// The same up to a factor, if alpha or the penalty factor is 0 too.
  SHEAF_HOST_DEVICE ElasticNetPenalty<double> penalty_shape(std::int64_t j) const {
    const double one = unit(j);
    return {shape.l1 * one, shape.l2 * one * one};
  }
  /// Limits of a feature's weight, if there are limits.
  SHEAF_HOST_DEVICE WeightLimits<T> limits_of(std::int64_t j) const {
    const T low = limits[2 * j];
    const T high = limits[2 * j + 1];
    if (!limits_seen) return {low, high};
    const T one = static_cast<T>(unit(j));
    return {low / one, high / one};
  }
  /// A weight of feature j, or the limit that it passes.
  template <class Value>
  SHEAF_HOST_DEVICE Value within_limits(std::int64_t j, Value w) const {
    if (limits == nullptr) return w;
    const auto own = limits_of(j);
    return WeightLimits<Value>{own.low, own.high}.nearest(w);
  }
};

/// Mean and scale that centre feature j and scale it to length 1.
template <class T>
SHEAF_HOST_DEVICE inline void normalise(const ModelTask<T>& task, std::int64_t j, T& mean, T& scale) {
  const T curvature = task.curvature(j);
  mean = task.intercept ? task.mean(j) : T(0);
  scale = curvature > 0 ? 1 / std::sqrt(curvature) : T(0);
}

/// Variance of a feature with mean `mean`: `squares` from the mean over its stored entries, which have the weight
/// `seen` of `total`; the others are 0. Returns 0 if only rounding makes a constant feature vary.
SHEAF_HOST_DEVICE inline double variance_of(double mean, double squares, double seen, double total) {
  const double rest = total - seen > 0 ? total - seen : 0;
  const double variance = (squares + rest * mean * mean) / total;
  return variance > 1e-14 * mean * mean ? variance : 0;
}

}  // namespace sheaf::linear
