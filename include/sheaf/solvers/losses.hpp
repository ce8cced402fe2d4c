// Name and use of each loss, and of each distribution of generalised linear models: one row each. Solvers, options,
// model files, help and reports read the rows; the formulas are in src/linear/losses.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include <sheaf/scores.hpp>
#include <sheaf/solvers/linear.hpp>

namespace sheaf {

/// The numbers that a target may be.
enum class TargetRange : std::uint8_t { classes, any, nonnegative, counts, positive, survival };

/// A number that a loss or a distribution takes beside the decision value and the target.
struct LossParameterInfo {
  std::string_view name = {};                              ///< of its option; empty: there is none
  std::string_view key = {};                               ///< in model files
  std::string_view about = {};                             ///< with its article: "a quantile"
  double above = 0;                                        ///< it is above this,
  double below = std::numeric_limits<double>::infinity();  ///< and below this
  bool estimated = false;                                  ///< 0 stands for the most likely one
  std::string_view hint = {};                              ///< what to do about a number out of range

  bool holds(double value) const { return value > above && value < below; }
};
/// "above 0 and below 1"
std::string range_text(const LossParameterInfo& parameter);

/// A loss as that of elastic nets.
struct NetLossInfo {
  std::string_view kind = {};        ///< in --model; empty: none
  std::string_view about = {};       ///< the kind in one sentence
  std::string_view solver = {};      ///< in model files; empty: nets are not trained with it
  std::string_view title = {};       ///< the solver for people
  std::string_view applied_as = {};  ///< the solver of LIBLINEAR whose models predict alike; empty: there is none
  Metric score = Metric::r2;         ///< that models of a numeric target or of survival are chosen by
  bool offsets = false;              ///< whether models take offsets
  bool responds = false;             ///< whether models predict means or log odds that are not the decision value
};

/// A loss as that of linear models with an L2 penalty.
struct LinearLossInfo {
  std::string_view name = {};    ///< in --loss; empty: none
  std::string_view about = {};   ///< for help
  std::string_view solver = {};  ///< in model files; empty: LIBLINEAR's
  std::string_view title = {};   ///< the solver for people
};

struct LossInfo {
  std::string_view name = {};
  LossParameterInfo parameter = {};
  NetLossInfo net = {};
  LinearLossInfo linear = {};
  int decision_sign = 0;  ///< 1, -1: decision values stay above, or below 0, so that there are no offsets

  // Filled in from the functor.
  Loss loss = Loss::logistic;
  bool regression = false;
  bool probabilities = false;  ///< models have them
  TargetRange targets = TargetRange::any;
};
/// All, those of numbers first.
std::span<const LossInfo> losses();
const LossInfo& info(Loss loss);

/// The distribution of the target in a generalised linear model.
struct DistributionInfo {
  GlmFamily family;
  std::string_view name = {};
  Metric score = Metric::r2;  ///< that models are chosen by
  bool classes = false;       ///< the target is classes
  bool several = false;       ///< three classes or more, with a decision value each
  bool dispersed = false;     ///< the dispersion is estimated
  bool likelihood = true;     ///< else only means and variances are assumed
  LossParameterInfo parameter = {};
};
/// In the order of GlmFamily, without `automatic`.
std::span<const DistributionInfo> distributions();
const DistributionInfo& info(GlmFamily family);

}  // namespace sheaf
