// Help for people and docs/commands.md, both from what commands declare.
#pragma once

#include <string>

#include "command.hpp"

namespace sheaf::cli {

std::string overview();
std::string help(const Command& command);
/// All commands as Markdown.
std::string manual();

}  // namespace sheaf::cli
