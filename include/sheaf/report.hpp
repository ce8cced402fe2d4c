// Results for people (one HTML file that needs nothing else) and for programs (JSON).
#pragma once

#include <string>

#include <sheaf/profile.hpp>

namespace sheaf {

/// A complete page with its plots inside; loads nothing from anywhere.
std::string profile_html(const Profile& profile);

/// What `sheaf info --json` prints; docs/json.md lists the fields.
std::string profile_json(const Profile& profile);

}  // namespace sheaf
