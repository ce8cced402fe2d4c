// The files of the page, which are part of the program (cmake/app.cmake).
#pragma once

#include <string_view>

namespace sheaf::app {

struct PageFile {
  std::string_view name;  ///< "index.html", "assets/index-1a2b3c.js"
  std::string_view bytes;
  std::string_view packed;  ///< by gzip
};

/// nullptr: there is none.
const PageFile* find_page_file(std::string_view name);
std::string_view content_type(std::string_view name);

}  // namespace sheaf::app
