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

/// The numbers of neighbours that a search tries, also of local SVMs.
inline constexpr std::string_view default_ks = "1,3,5,7,9,11,15,21,31,51";
inline constexpr std::string_view default_local_ks = "10,20,40,80";
std::vector<double> read_ks(std::string_view text);

}  // namespace sheaf::neighbors
