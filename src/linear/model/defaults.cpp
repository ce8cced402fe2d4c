#include "data/labels.hpp"
#include "linear/model/problem.hpp"

namespace sheaf {

LinearOptions linear::with_weighted_defaults(LinearOptions options, const Target& target,
                                             std::span<const float> row_weights) {
  constexpr double tube = 0.1;  // of a standard deviation; of classes, whose losses have none, what files hold
  const bool numbers = !target.empty() && !target.looks_like_classes();
  if (!options.loss && numbers && !options.epsilon) options.epsilon = 0;
  if (!options.loss) options.loss = numbers ? Loss::squared_tube : Loss::logistic;
  const bool regression = linear_solver(*options.loss).regression;
  const double deviation = regression ? standard_deviation(target.values, row_weights) : 1;
  if (!options.epsilon) options.epsilon = tube * deviation;
  // Weights are of the target's unit, and so is their cost if errors are not squared.
  if (!options.cost) options.cost = options.loss == Loss::tube && deviation > 0 ? deviation : 1;
  // A penalty on the bias would change probabilities and means. SVMs have neither, and on sparse rows their dual, which
  // cannot do without, is many times faster than Newton's method.
  if (!options.penalise_bias)
    options.penalise_bias = options.method == LinearMethod::dual || options.loss == Loss::squared_hinge ||
                            linear_solver(*options.loss).method == LinearMethod::dual;
  check_label_kind(target, regression, "loss");
  return options;
}

LinearOptions with_defaults(LinearOptions options, const Target& target) {
  return linear::with_weighted_defaults(std::move(options), target, {});
}

}  // namespace sheaf
