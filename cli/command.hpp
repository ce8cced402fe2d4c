// A command is one file that ends in a Command, and one row in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace sheaf::cli {

struct Example {
  std::string_view about;
  std::string_view line;
};

struct Command {
  std::string_view name;
  std::string_view about;
  std::vector<Example> examples;
  /// Declares the arguments of the command and returns its work, to be done once they are read.
  std::function<std::function<void()>(Arguments&)> declare;
  /// Options that help shows first, for a command with many options; empty: help shows all.
  std::vector<std::string_view> main_options = {};
};

std::span<const Command> commands();
/// A UsageError answers an unknown name with the known ones.
const Command& find_command(std::string_view name);

}  // namespace sheaf::cli
