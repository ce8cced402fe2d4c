#include <sheaf/search.hpp>

namespace sheaf {

std::string search_html(const SearchResult& result) { return result.source; }

}  // namespace sheaf
