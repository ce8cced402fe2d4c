// Losses that are no sum of functions of one decision value: those of all classes, or all rows, together.
#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "core/math.hpp"
#include "linear/losses/functor.hpp"

namespace sheaf::linear {

/// One class of several, y = 1 in its rows and 0 in others: the loss of all classes, log sum over k of exp(z_k) - sum
/// of y_k z_k, as a function of the log odds z of this class against all others, which stay as they are. Second
/// derivatives are at most 1/4 in one class and 1/2 in all together (Boehning 1992).
struct Softmax : GroupedNetLoss {
  static constexpr Loss loss = Loss::softmax;
  static constexpr bool regression = false;
  static constexpr bool strictly_convex = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 0.5;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr bool takes_offsets = true;
  static constexpr bool probabilities = true;
  static constexpr LossInfo row{.name = "softmax",
                                .net = {.kind = "elastic-net-multinomial",
                                        .about = "the same of all classes in one model",
                                        .solver = "ELASTIC_NET_MULTINOMIAL",
                                        .title = "elastic-net multinomial logistic regression",
                                        .offsets = true,
                                        .responds = true}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T e = exp_nonpositive(-std::abs(z));
    const T share = 1 / (1 + e);
    const T p = (z > 0 ? T(1) : e) * share;
    return {log1p_unit(e) + (z > 0 ? z : T(0)) - y * z, p - y, e * share * share};
  }
  /// The term of this class in the minimum over all decision values: the entropy of the shares y - u.
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) {
    const double share = y - u;
    return share > 0 ? -share * std::log(share) : 0;
  }
  static double least(double y) { return y > 0 ? -y * std::log(y) : 0; }
};

/// Cox's partial likelihood, which is no sum of functions of single rows (core/partial_likelihood.hpp): it has no
/// terms(), and elastic nets ask for is_cox first.
struct Cox : NetLoss {
  static constexpr Loss loss = Loss::cox;
  static constexpr bool regression = true;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = HUGE_VAL;
  static constexpr TargetRange targets = TargetRange::survival;
  static constexpr GlmLink glm_link = GlmLink::log;
  static constexpr bool takes_offsets = true;
  static constexpr LossInfo row{.name = "cox",
                                .net = {.kind = "elastic-net-cox",
                                        .about = "Cox regression of survival with the penalty of the elastic net",
                                        .solver = "ELASTIC_NET_COX",
                                        .title = "elastic-net Cox regression",
                                        .score = Metric::partial_likelihood_deviance,
                                        .offsets = true}};
};

/// The largest of 1 + z_c - z_y over the classes c other than the row's class y, or 0 (Crammer and Singer 2001): its
/// solver is that of linear/dual.
struct CrammerSinger {
  static constexpr Loss loss = Loss::crammer_singer;
  static constexpr bool regression = false;
  static constexpr TargetRange targets = TargetRange::classes;
  static constexpr LossInfo row{.name = "crammer-singer",
                                .linear = {.name = "crammer-singer", .about = "L1-loss SVM of all classes at once"}};
};

/// Proportional hazards.
struct ProportionalHazards {
  static constexpr DistributionInfo row{
      .family = GlmFamily::cox, .name = "cox", .score = Metric::partial_likelihood_deviance};
  using Losses = LossList<Cox>;
};

using JointLosses = LossList<Softmax, CrammerSinger, Cox>;
using JointDistributions = LossList<ProportionalHazards>;

}  // namespace sheaf::linear
