// The names of the choices that models of neighbours have, for parameter rows and for lists of values to try.
#pragma once

#include <sheaf/neighbors.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf::neighbors {

const Choices<Vote>& vote_names();
const Choices<LocalRule>& rule_names();
const Choices<LocalKernel>& kernel_names();
const Choices<FeatureWeighting>& weighting_names();
const Choices<DistanceType>& metric_names();

}  // namespace sheaf::neighbors
