// What a shell completes at the Tab key, from what commands declare.
#pragma once

#include <string>
#include <string_view>

namespace sheaf::cli {

/// A script for "bash", "zsh" or "fish". A UsageError answers another name with these.
std::string completions(std::string_view shell);

}  // namespace sheaf::cli
