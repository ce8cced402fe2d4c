#include <sheaf/linear.hpp>

#include "data/labels.hpp"

namespace sheaf {

LinearOptions with_defaults(LinearOptions options, const Target& target) {
  constexpr double usual_epsilon = 0.1;  // LIBLINEAR's
  const bool numbers = !target.empty() && !target.looks_like_classes();
  if (!options.loss && numbers && !options.epsilon) options.epsilon = 0;
  if (!options.epsilon) options.epsilon = usual_epsilon;
  if (!options.loss) options.loss = numbers ? Loss::squared_tube : Loss::logistic;
  if (!options.penalise_bias)
    options.penalise_bias =
        options.method == LinearMethod::dual || linear_solver(*options.loss).method == LinearMethod::dual;
  check_label_kind(target, linear_solver(*options.loss).regression, "loss");
  return options;
}

}  // namespace sheaf
