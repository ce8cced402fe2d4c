
#include <fmt/format.h>

#include <sheaf/version.hpp>

#include "help.hpp"

namespace sheaf::cli {
namespace {

/// Text as roff wants it: hyphens that can be copied, no line that begins like a request, and long lists of choices
/// that may be broken.
std::string roff(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result += "\\&";
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '|')
      result += "|\\:";
    else
      result += c;
  }
  return result;
}

std::string entry(const std::string& left, const std::string& right) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(left), roff(right));
}

std::string command_section(const Command& command) {
  const auto arguments = declared(command);
  std::string text = fmt::format(".SS \"sheaf {}\"\n{}.\n.PP\n.RS 4\n{}\n.RE\n", command.name, roff(command.about),
                                 roff(usage(command, arguments)));
  for (const auto& positional : arguments.positionals()) text += entry(positional.name, positional.help);
  for (const auto& section : arguments.sections()) {
    if (section.options.empty()) continue;
    text += fmt::format(".PP\n{}:\n", roff(section.title));
    for (const auto& option : section.options) text += entry(left_side(option), with_default(option));
  }
  text += ".PP\nExamples:\n.nf\n";
  for (const auto& example : command.examples)
    text += fmt::format("    # {}\n    {}\n", roff(example.about), roff(example.line));
  return text + ".fi\n";
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH SHEAF 1 \"\" \"sheaf {}\" \"User commands\"\n"
      ".ad l\n"
      ".SH NAME\nsheaf \\- feature selection and supervised learning, whole searches at a time\n"
      ".SH SYNOPSIS\n.B sheaf\n.I COMMAND\n[options]\n"
      ".SH DESCRIPTION\n"
      "Results go to standard output, everything else to standard error. "
      "\\fBsheaf COMMAND \\-\\-help\\fR shows what one command takes.\n"
      ".SH COMMANDS\n",
      SHEAF_VERSION);
  for (const auto& command : commands()) text += command_section(command);
  text += ".SH EXIT STATUS\n";
  text += entry("0", "done");
  text += entry("1", "something is wrong with the input");
  text += entry("2", "something is wrong with the command line");
  text += entry("3", "something is wrong with Sheaf");
  text += ".SH ENVIRONMENT\n";
  text += entry("CUDA_HOME", "the folder of the CUDA toolkit, if its libraries are not on the loader's path");
  text += entry("CUDA_VISIBLE_DEVICES", "the GPUs that may be used");
  return text + entry("NO_COLOR", "no colours, whatever its value");
}

}  // namespace sheaf::cli
