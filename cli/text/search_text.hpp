// A search or a study as the terminal shows it.
#pragma once

#include <string>
#include <string_view>

#include <sheaf/io.hpp>
#include <sheaf/search.hpp>

namespace sheaf::cli {

std::string search_text(const SearchResult& result);
/// `kind`: the name of the model that was requested; `reading`: how the dataset was read.
std::string study_text(const SearchResult& result, std::string_view kind, const ReadOptions& reading);

}  // namespace sheaf::cli
