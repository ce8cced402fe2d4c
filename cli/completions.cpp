
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/names.hpp"
#include "help.hpp"

namespace sheaf::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Names of the option's values; words in capitals ("N") stand for anything.
std::vector<std::string> values(const Option& option) {
  if (!option.choices.empty()) return option.choices;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < option.value.size();) {
    const auto bar = std::min(option.value.find('|', at), option.value.size());
    const auto word = option.value.substr(at, bar - at);
    if (std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; }))
      words.push_back(word);
    at = bar + 1;
  }
  return words;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> all;
  const auto arguments = declared(command);
  for (const auto& section : arguments.sections())
    all.insert(all.end(), section.options.begin(), section.options.end());
  all.push_back({"--help", "", "what the command takes, with examples", "", {}});
  return all;
}

std::string command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.emplace_back(command.name);
  return joined(names);
}

// bash: options after a hyphen, known values after an option that has some, else files.

std::string bash_values(const Command& command) {
  std::string cases;
  for (const auto& option : options_of(command))
    if (const auto words = values(option); !words.empty())
      cases += fmt::format("    '{} {}') words='{}' ;;\n", command.name, option.flag, joined(words));
  return cases;
}

std::string bash_flags(const Command& command) {
  std::vector<std::string> flags;
  for (const auto& option : options_of(command)) flags.push_back(option.flag);
  return fmt::format("    {}) words='{}' ;;\n", command.name, joined(flags));
}

std::string bash() {
  std::string value_cases;
  std::string flag_cases;
  for (const auto& command : commands()) {
    value_cases += bash_values(command);
    flag_cases += bash_flags(command);
  }
  return fmt::format(R"(# Completions of sheaf for bash, made by "sheaf --completions bash".
_sheaf() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} help --help --version' -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}} $before" in
    'help '*) words='{}' ;;
{}  esac
  [[ -n $words || $current != -* ]] || case "${{COMP_WORDS[1]}}" in
{}  esac
  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _sheaf sheaf
)",
                     command_names(), command_names(), value_cases, flag_cases);
}

// zsh: _arguments does the rest.

/// Inside single quotes and a specification of _arguments.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\'";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const Option& option) {
  std::string spec = fmt::format("*{}[{}]", option.flag, zsh_text(option.help));
  if (option.value.empty()) return spec;
  const auto words = values(option);
  const std::string action = words.empty() ? "_files" : fmt::format("({})", zsh_text(joined(words)));
  for (int word = 0; word < option.words; ++word) spec += fmt::format(":{}:{}", zsh_text(option.value), action);
  return spec;
}

std::string zsh_command(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments", command.name);
  for (const auto& option : options_of(command)) text += fmt::format(" \\\n        '{}'", zsh_option(option));
  return text + " \\\n        '*:file:_files'\n      ;;\n";
}

std::string zsh() {
  std::string names;
  std::string cases;
  for (const auto& command : commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.about));
    cases += zsh_command(command);
  }
  return fmt::format(R"(#compdef sheaf
# Completions of sheaf for zsh, made by "sheaf --completions zsh".
_sheaf() {{
  local -a names=(
{})
  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
    _describe command names
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
if [[ $funcstack[1] == _sheaf ]]; then _sheaf "$@"; else compdef _sheaf sheaf; fi
)",
                     names, cases);
}

// fish: one line an option.

std::string fish_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// -s for one letter, -l for --words, -o for -words.
std::string fish_flag(const std::string& flag) {
  if (flag.starts_with("--")) return "-l " + flag.substr(2);
  return (flag.size() == 2 ? "-s " : "-o ") + flag.substr(1);
}

std::string fish_option(const Command& command, const Option& option) {
  std::string line =
      fmt::format("complete -c sheaf -n '__fish_seen_subcommand_from {}' {}", command.name, fish_flag(option.flag));
  if (!option.value.empty()) {
    const auto words = values(option);
    line += words.empty() ? " -r" : fmt::format(" -x -a '{}'", fish_text(joined(words)));
  }
  return line + fmt::format(" -d '{}'\n", fish_text(option.help));
}

std::string fish() {
  std::string text = "# Completions of sheaf for fish, made by \"sheaf --completions fish\".\n";
  for (const auto& command : commands())
    text += fmt::format("complete -c sheaf -f -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        fish_text(command.about));
  for (const auto& command : commands())
    for (const auto& option : options_of(command)) text += fish_option(command, option);
  return text;
}

}  // namespace

std::string completions(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  fail_unknown("shell", shell, known);
}

}  // namespace sheaf::cli
