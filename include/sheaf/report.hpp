// Results for people (one HTML file that needs nothing else) and for programs (JSON, CSV).
#pragma once

#include <string>

#include <sheaf/profile.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>

namespace sheaf {

/// A complete page with its plots inside; loads nothing from anywhere.
std::string profile_html(const Profile& profile);

/// The output of `sheaf info --json`; docs/json.md lists the fields.
std::string profile_json(const Profile& profile);

/// The page shows plots where select() was asked for them.
std::string selection_html(const SelectionResult& result);
std::string selection_json(const SelectionResult& result);
/// One line a feature, with a heading.
std::string selection_csv(const SelectionResult& result);

std::string search_json(const SearchResult& result);
/// One line for each point and split of the search over all rows.
std::string search_csv(const SearchResult& result);
/// One line for each outer fold or resample.
std::string outer_csv(const SearchResult& result);
/// One line for each feature that some outer resample chose.
std::string features_csv(const SearchResult& result);
/// A complete page with its plots inside; loads nothing from anywhere.
std::string search_html(const SearchResult& result);

}  // namespace sheaf
