// How this process was called, for those who read its results later.
#pragma once

#include <string>

namespace sheaf::cli {

/// The words of this process, those with blanks in quotes; empty if the system does not provide them.
std::string command_line();

}  // namespace sheaf::cli
