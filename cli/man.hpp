// The manual page, from what commands declare.
#pragma once

#include <string>

namespace sheaf::cli {

/// sheaf(1), for man.
std::string man_page();

}  // namespace sheaf::cli
