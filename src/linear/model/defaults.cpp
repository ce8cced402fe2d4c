#include <sheaf/solvers/linear.hpp>

#include "data/labels.hpp"

namespace sheaf {

LinearOptions with_defaults(LinearOptions options, const Target& target) {
  constexpr double usual_epsilon = 0.1;  // LIBLINEAR's
  const bool numbers = !target.empty() && !target.looks_like_classes();
  if (!options.loss && numbers && !options.epsilon) options.epsilon = 0;
  if (!options.epsilon) options.epsilon = usual_epsilon;
  if (!options.loss) options.loss = numbers ? Loss::squared_tube : Loss::logistic;
  // A penalty on the bias would change probabilities and means. SVMs have neither, and on sparse rows their dual, which
  // cannot do without, is many times faster than Newton's method.
  if (!options.penalise_bias)
    options.penalise_bias = options.method == LinearMethod::dual || options.loss == Loss::squared_hinge ||
                            linear_solver(*options.loss).method == LinearMethod::dual;
  check_label_kind(target, linear_solver(*options.loss).regression, "loss");
  return options;
}

}  // namespace sheaf
