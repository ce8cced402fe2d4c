#pragma once

#include <string>

#include <sheaf/solvers/profile.hpp>

namespace sheaf::cli {

/// A dataset's profile for the terminal.
std::string info_text(const Profile& profile);

}  // namespace sheaf::cli
