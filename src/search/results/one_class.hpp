// Models that predict one class for all rows.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// What is wrong and what to do if the chosen model predicts one class for all held-out rows, though the score it was
/// chosen by may be good; empty: it does not.
std::string one_class_warning(const SearchResult& result);

}  // namespace sheaf::engine
