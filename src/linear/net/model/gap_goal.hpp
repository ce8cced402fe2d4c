// The duality gap at which the training of a model ends.
//
// Take two models of neighbouring penalties, alpha and k alpha: the first has a gap of about (1 - k)^2 times the loss
// of the model at the second, as residuals of the first times k are a dual point there. So a gap is small if it is
// small relative to the deviance of the model itself, however little that is of the deviance without features: at a
// share of the latter, models that explain nearly all of it would be taken for their neighbours.
#pragma once

#include <algorithm>

namespace sheaf::linear {

struct GapGoal {
  double share = 0;     ///< of the deviance of the model, or of the model without features if that is less
  double deviance = 0;  ///< of the model without features
  double least = 0;     ///< mean loss of a perfect fit
  double lowest = 0;    ///< the smallest that rounding allows

  double at(double loss) const { return std::max(share * std::clamp(2 * (loss - least), 0.0, deviance), lowest); }
};

/// Neighbouring penalties differ by more than their gaps: alpha is `step` times the one before on its path.
inline double share_for_step(double tolerance, double step) {
  constexpr double of_difference = 0.05;
  constexpr double least_difference = 1e-3;  // closer penalties are taken for the same
  const double away = std::max(1 - step, least_difference);
  return std::min(tolerance, of_difference * away * away);
}

}  // namespace sheaf::linear
