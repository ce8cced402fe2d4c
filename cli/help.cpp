#include "help.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <sheaf/solvers/model_options.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/parameter_rows.hpp"
#include "family/family.hpp"
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

std::string section_help(std::string_view title, const std::vector<Option>& options) {
  if (options.empty()) return {};
  auto text = fmt::format("\n{}:\n", title);
  for (const auto& option : options) text += entry(left_side(option), with_default(option));
  return text;
}

bool is_of_models(const Section& section) { return !section.options.empty() && !section.options[0].families.empty(); }

/// The first word of a section's title.
std::string topic_of(const Section& section) {
  auto word = section.title.substr(0, section.title.find(' '));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

std::vector<std::string> topics_of(const std::vector<Section>& sections) {
  std::vector<std::string> topics;
  for (const auto& section : sections)
    if (!section.options.empty() && !is_of_models(section)) topics.push_back(topic_of(section));
  return topics;
}

std::string main_options(const Command& command, const std::vector<Section>& sections) {
  std::vector<Option> chosen;
  for (const auto flag : command.main_options)
    for (const auto& section : sections)
      for (const auto& option : section.options)
        if (option.flag == flag) chosen.push_back(option);
  require(chosen.size() == command.main_options.size(), "a main option of a command is not declared");
  return section_help("Main options", chosen);
}

std::string more_help(const Command& command, const std::vector<Section>& sections) {
  std::size_t count = 0;
  for (const auto& section : sections) count += section.options.size();
  const auto topics = topics_of(sections);
  return "\nMore help:\n" +
         entry(fmt::format("sheaf {} --help all", command.name), fmt::format("all {} options", count)) +
         entry(fmt::format("sheaf {} --help TOPIC", command.name),
               "the options of a topic: " + join_names(topics, "or")) +
         entry(fmt::format("sheaf {} --model svm --help", command.name), "the options of one model");
}

std::string topic_help(const Command& command, const std::vector<Section>& sections, const std::string& topic) {
  std::string text;
  for (const auto& section : sections)
    if (!is_of_models(section) && topic_of(section) == topic) text += section_help(section.title, section.options);
  if (!text.empty()) return fmt::format("sheaf {}:\n{}", command.name, text);
  auto known = topics_of(sections);
  known.emplace_back("all");
  fail_unknown("topic of help", topic, known);
}

/// Help of models by name, with commas between.
std::string model_help(const Command& command, const std::vector<Section>& sections, const std::string& models) {
  std::vector<Option> chosen;
  const auto has = [&](const Option& option, std::string_view name) {
    const auto family = find_model_kind(name).options.family().kinds().front().name;
    const bool of_family = std::any_of(option.families.begin(), option.families.end(),
                                       [&](const auto& one) { return one.first == family; });
    return of_family &&
           (option.kinds.empty() || std::find(option.kinds.begin(), option.kinds.end(), name) != option.kinds.end());
  };
  for (const auto& section : sections)
    for (const auto& option : section.options)
      for (const auto name : split_text(models, ','))
        if (has(option, name)) {
          chosen.push_back(option);
          break;
        }
  return fmt::format("sheaf {} --model {}:\n{}{}", command.name, models, section_help("Options of the model", chosen),
                     more_help(command, sections));
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

std::string help(const Command& command, const Arguments& asked) {
  const auto& topic = asked.help_topic();
  const auto models = asked.text_of("--model");
  const bool short_page = !command.main_options.empty();
  if (!topic.empty() && topic != "all") return topic_help(command, asked.sections(), topic);
  if (topic.empty() && short_page && !models.empty() && models != "auto")
    return model_help(command, asked.sections(), models);
  std::string text = fmt::format("{}.\n\nUsage: {}\n", command.about, usage(command, asked));
  if (!asked.positionals().empty()) text += "\n";
  for (const auto& positional : asked.positionals()) text += entry(positional.name, positional.help);
  if (topic.empty() && short_page) {
    text += main_options(command, asked.sections());
  } else {
    for (const auto& section : asked.sections()) text += section_help(section.title, section.options);
  }
  text += "\nExamples:\n";
  for (const auto& example : command.examples) text += fmt::format("  # {}\n  {}\n", example.about, example.line);
  if (topic.empty() && short_page) text += more_help(command, asked.sections());
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
