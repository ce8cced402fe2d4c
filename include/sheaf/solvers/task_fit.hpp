// How the training of one model, or of one decision value of it, ended.
#pragma once

namespace sheaf {

struct TaskFit {
  double objective = 0;
  double gradient_norm = 0;  ///< of the dual: the duality gap, or the measure of StopRule::gradient; L1: the gap
  double tolerance = 0;      ///< the norm to reach
  int iterations = 0;        ///< Newton steps taken; of the dual: passes over the rows; L1: over features in work
  int products = 0;  ///< Hessian products; of generalised linear models: with X and, as often, with its transpose
  bool converged = false;
};

}  // namespace sheaf
