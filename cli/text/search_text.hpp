// A search as the terminal shows it.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::cli {

std::string search_text(const SearchResult& result);

}  // namespace sheaf::cli
