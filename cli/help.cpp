#include "help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr std::size_t help_indent = 30;

std::string entry(const std::string& left, std::string_view right) {
  const bool long_left = left.size() + 4 > help_indent;
  const std::string gap = long_left ? fmt::format("\n{:{}}", "", help_indent) : "";
  return fmt::format("  {:<{}}{}{}\n", left, long_left ? 0 : help_indent - 2, gap, wrapped(right, help_indent));
}

std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string manual_section(const Section& section) {
  std::string text = fmt::format("\n{}:\n\n| option | meaning | default |\n|---|---|---|\n", section.title);
  for (const auto& option : section.options)
    text += fmt::format("| `{}` | {} | {} |\n", cell(left_side(option)), cell(option.help), cell(option.default_text));
  return text;
}

std::string manual_of(const Command& command) {
  const auto arguments = declared(command);
  std::string text =
      fmt::format("\n## sheaf {}\n\n{}.\n\n    {}\n", command.name, command.about, usage(command, arguments));
  if (!arguments.positionals().empty()) text += "\n";
  for (const auto& positional : arguments.positionals())
    text += fmt::format("- `{}`: {}\n", positional.name, positional.help);
  for (const auto& section : arguments.sections())
    if (!section.options.empty()) text += manual_section(section);
  text += "\nExamples:\n\n";
  for (const auto& example : command.examples) text += fmt::format("    # {}\n    {}\n", example.about, example.line);
  return text;
}

}  // namespace

Arguments declared(const Command& command) {
  Arguments arguments;
  command.declare(arguments);
  return arguments;
}

std::string usage(const Command& command, const Arguments& arguments) {
  std::string line = fmt::format("sheaf {}", command.name);
  for (const auto& positional : arguments.positionals())
    line += fmt::format(fmt::runtime(positional.required ? " {}{}" : " [{}{}]"), positional.name,
                        positional.values != nullptr ? "..." : "");
  return line + " [options]";
}

std::string left_side(const Option& option) {
  const std::string flag = option.also.empty() ? option.flag : option.also + ", " + option.flag;
  return option.value.empty() ? flag : flag + " " + option.value;
}

std::string with_default(const Option& option) {
  return option.default_text.empty() ? option.help : fmt::format("{} [{}]", option.help, option.default_text);
}

std::string overview() {
  std::string text =
      "Sheaf: feature selection and supervised learning, whole searches at a time.\n\nUsage: sheaf COMMAND "
      "[options]\n\n"
      "Commands:\n";
  for (const auto& command : commands()) text += entry(std::string(command.name), command.about);
  text += "\nHelp:\n" + entry("sheaf COMMAND --help", "what a command takes, with examples") +
          entry("sheaf --version", "the version");
  return text + "\nExit codes: 0 done, 1 something is wrong with the input, 2 with the command line, 3 with Sheaf.\n";
}

std::string help(const Command& command) {
  const auto arguments = declared(command);
  std::string text = fmt::format("{}.\n\nUsage: {}\n", command.about, usage(command, arguments));
  if (!arguments.positionals().empty()) text += "\n";
  for (const auto& positional : arguments.positionals()) text += entry(positional.name, positional.help);
  for (const auto& section : arguments.sections()) {
    if (section.options.empty()) continue;
    text += fmt::format("\n{}:\n", section.title);
    for (const auto& option : section.options) text += entry(left_side(option), with_default(option));
  }
  text += "\nExamples:\n";
  for (const auto& example : command.examples) text += fmt::format("  # {}\n  {}\n", example.about, example.line);
  return text;
}

std::string manual() {
  std::string text =
      "# Commands\n\nMade by `sheaf --manual` from the same rows as the flags themselves; do not edit by hand.\n\n"
      "Exit codes: 0 done, 1 something is wrong with the input, 2 with the command line, 3 with Sheaf itself.\n"
      "Results go to standard output, everything else to standard error.\n";
  for (const auto& command : commands()) text += manual_of(command);
  return text;
}

}  // namespace sheaf::cli
