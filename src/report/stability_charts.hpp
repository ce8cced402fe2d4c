// The plots of a study, each an SVG element.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::report {

/// How often each feature was chosen, the most frequent ones.
std::string frequency_bars(const SearchResult& result);
/// The weights of one decision value along the path of options.path_split.
std::string coefficient_path(const SearchResult& result, std::size_t column);
/// The score of each outer resample on its held-out rows.
std::string outer_scores(const SearchResult& result);

}  // namespace sheaf::report
