// How this process was called, for those who read its results later.
#pragma once

#include <string>

namespace sheaf::cli {

/// The words of this process, those with blanks in quotes; nothing where the system does not tell.
std::string command_line();

}  // namespace sheaf::cli
