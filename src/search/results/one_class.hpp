// Models that predict one class for all rows.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// A warning, with advice, if the chosen model predicts one class for all held-out rows, though the score it was chosen
/// by may be good; empty if it does not.
std::string one_class_warning(const SearchResult& result);

}  // namespace sheaf::engine
