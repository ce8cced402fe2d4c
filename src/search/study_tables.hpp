// What a study's splits say together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sheaf/study.hpp>

namespace sheaf::search {

/// Fills in the features that were chosen, the stability, the best pair, warnings, and what to try next. `names` may be
/// empty; `deviations`: of the values of each feature.
void tabulate(StudyResult& result, const std::vector<std::string>& names, std::span<const double> deviations);

}  // namespace sheaf::search
