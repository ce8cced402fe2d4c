// The cards of a search's page that show the scores of its points, and code shared with the other cards.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::report {

std::string spread_text(const ScoreSummary& summary);

/// Whether it is one of features chosen again and again, without a search over all rows.
bool is_study(const SearchResult& result);

/// A curve, curves for each choice among names, or surfaces.
std::string score_cards(const SearchResult& result);

}  // namespace sheaf::report
