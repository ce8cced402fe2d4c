// Plots of a study of elastic nets.
#pragma once

#include <string>

#include <sheaf/study.hpp>

namespace sheaf::report {

/// The mean score of each pair of alpha and l1-ratio, with those that splits chose.
std::string score_surface(const StudyResult& result);
/// How often the most frequent features were chosen; stacked by sign.
std::string frequency_bars(const StudyResult& result);
/// The weights of the split whose path was kept, times their features' deviations, over alpha; one decision value.
std::string coefficient_path(const StudyResult& result, std::size_t column);
/// The score of each split on the rows left out.
std::string split_scores(const StudyResult& result);

}  // namespace sheaf::report
