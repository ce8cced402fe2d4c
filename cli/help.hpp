// Help for people and docs/commands.md, both from what commands declare.
#pragma once

#include <string>

#include "command.hpp"

namespace sheaf::cli {

/// What a command takes.
Arguments declared(const Command& command);
/// "sheaf convert IN OUT [options]".
std::string usage(const Command& command, const Arguments& arguments);
/// "--threads N".
std::string left_side(const Option& option);
std::string with_default(const Option& option);

std::string overview();
std::string help(const Command& command);
/// All commands as Markdown.
std::string manual();

}  // namespace sheaf::cli
