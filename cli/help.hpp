// Help, docs/commands.md, the manual page and shell completions, all from the declarations of commands.
#pragma once

#include <string>
#include <string_view>

#include "command.hpp"

namespace sheaf::cli {

/// The arguments that a command declares.
Arguments declared(const Command& command);
/// "sheaf convert IN OUT [options]".
std::string usage(const Command& command, const Arguments& arguments);
/// "--threads N".
std::string left_side(const Option& option);
std::string with_default(const Option& option);

std::string overview();
/// All that a command takes, or the requested part: its main options, those of a topic or those of a model.
std::string help(const Command& command, const Arguments& asked);
/// All commands as Markdown.
std::string manual();

/// sheaf(1), for man.
std::string man_page();

/// A script for "bash", "zsh" or "fish". A UsageError answers another name with these.
std::string completions(std::string_view shell);

}  // namespace sheaf::cli
