// Remedies for findings, as options: a form offers them as a button.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/solvers/profile.hpp>

namespace sheaf {

struct Remedy {
  std::string title;
  std::vector<std::pair<std::string, std::string>> settings;  ///< names and texts as on the command line
};

/// Nothing if no option settles it.
std::optional<Remedy> remedy_of(const Finding& finding, const Profile& profile);

}  // namespace sheaf
