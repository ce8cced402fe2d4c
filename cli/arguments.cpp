#include "arguments.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"

namespace sheaf::cli {

void Arguments::positional(std::string name, std::string& value, std::string help, bool required) {
  positionals_.push_back({std::move(name), std::move(help), &value, required});
}

void Arguments::positionals(std::string name, std::vector<std::string>& values, std::string help, bool required) {
  positionals_.push_back({std::move(name), std::move(help), nullptr, required, &values});
}

void Arguments::section(std::string title) { sections_.push_back({std::move(title), {}}); }

void Arguments::add(Option option) { sections_.back().options.push_back(std::move(option)); }

void Arguments::flag(const std::string& name, bool& value, std::string help) {
  add({"--" + name, "", std::move(help), "", [&value](const std::string&) { value = true; }});
}

void Arguments::text(const std::string& name, std::string value_name, std::string& value, std::string help) {
  add({"--" + name, std::move(value_name), std::move(help), "", [&value](const std::string& text) { value = text; }});
}

void Arguments::list(const std::string& name, std::string value_name, std::vector<std::string>& values,
                     std::string help) {
  add({"--" + name, std::move(value_name), std::move(help), "", [&values](const std::string& text) {
         for (std::size_t at = 0; at <= text.size();) {
           const auto comma = std::min(text.find(',', at), text.size());
           if (comma > at) values.push_back(text.substr(at, comma - at));
           at = comma + 1;
         }
       }});
}

void Arguments::add_for_family(const std::string& family, Option option) {
  for (auto& section : sections_)
    for (auto& known : section.options)
      if (known.flag == option.flag && !known.families.empty()) {
        known.families.emplace_back(family, std::move(option.set));
        if (known.kinds.empty() || option.kinds.empty())
          known.kinds.clear();
        else
          known.kinds.insert(known.kinds.end(), option.kinds.begin(), option.kinds.end());
        if (known.choices != option.choices)
          known.help += fmt::format("; {}: {} ({})", family, fmt::join(option.choices, ", "), option.help);
        if (known.default_text != option.default_text)
          known.default_text += fmt::format(", {}: {}", family, option.default_text);
        return;
      }
  option.families.emplace_back(family, std::move(option.set));
  add(std::move(option));
}

void Arguments::apply_families(const std::vector<std::string>& families, std::string_view model,
                               const std::function<bool(std::size_t, std::string_view)>& begin) const {
  for (const auto& section : sections_)
    for (const auto& option : section.options) {
      if (option.families.empty() || option.texts.empty()) continue;
      std::vector<std::string> names;
      bool taken = false;
      for (const auto& [name, set] : option.families) {
        names.push_back(name);
        for (std::size_t k = 0; k < families.size(); ++k) {
          if (families[k] != name) continue;
          if (!begin(k, option.flag.substr(2))) continue;
          for (const auto& text : option.texts) set(text);
          taken = true;
        }
      }
      if (!taken) fail_usage("{} is for --model {}, not for {}", option.flag, join_names(names, "or"), model);
    }
}

std::vector<std::string> Arguments::given_for_families() const {
  std::vector<std::string> names;
  for (const auto& section : sections_)
    for (const auto& option : section.options)
      if (!option.families.empty() && !option.texts.empty()) names.push_back(option.flag.substr(2));
  return names;
}

bool Arguments::given(std::string_view flag) const {
  for (const auto& section : sections_)
    for (const auto& option : section.options)
      if (option.flag == flag) return option.given;
  return false;
}

std::string Arguments::join(const std::vector<std::string>& names, char between) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : std::string(1, between)) + name;
  return text;
}

std::vector<std::string> Arguments::flags() const {
  std::vector<std::string> names;
  for (const auto& section : sections_)
    for (const auto& option : section.options) {
      names.push_back(option.flag);
      if (!option.also.empty()) names.push_back(option.also);
    }
  names.emplace_back("--help");
  return names;
}

void Arguments::check(std::span<const std::string> extras) const {
  for (const auto& extra : extras) {
    if (extra.size() > 1 && extra.starts_with('-')) fail_unknown("option", extra.substr(0, extra.find('=')), flags());
    fail_usage("'{}' is one argument too many", extra);
  }
  for (const auto& positional : positionals_)
    if (positional.required && (positional.values != nullptr ? positional.values->empty() : positional.value->empty()))
      fail_usage("{} is missing: {}", positional.name, positional.help);
}

void Arguments::set_use(std::initializer_list<std::string_view> names, FileUse use) {
  for (const auto name : names) {
    bool found = false;
    for (auto& positional : positionals_)
      if (positional.name == name) found = (positional.use = use) == use;
    for (auto& section : sections_)
      for (auto& option : section.options)
        if (option.flag == name) found = (option.use = use) == use;
    require(found, "a file that a command reads or writes has a name that is not declared");
  }
}

/// Every option that names a file must be listed.
void Arguments::check_uses() const {
  for (const auto& section : sections_)
    for (const auto& option : section.options)
      for (const std::string_view value : {"FILE", "OUT", "DIR", "FASTA"})
        require(option.use != FileUse::none || !option.value.ends_with(value),
                "an option names a file, and the command does not say what it does with it");
}

std::vector<CommandFile> Arguments::files() const {
  std::vector<CommandFile> list;
  const auto add = [&](const std::string& name, const std::string& path, FileUse use) {
    if (use != FileUse::none && !path.empty()) list.push_back({name, path, use});
  };
  for (const auto& positional : positionals_) {
    if (positional.values == nullptr) add(positional.name, *positional.value, positional.use);
    if (positional.values != nullptr)
      for (const auto& value : *positional.values) add(positional.name, value, positional.use);
  }
  for (const auto& section : sections_)
    for (const auto& option : section.options)
      for (const auto& text : option.texts)
        if (option.use == FileUse::read || &text == &option.texts.back()) add(option.flag, text, option.use);
  if (more_)
    for (const auto& path : more_()) add("the output", path, FileUse::written);
  return list;
}

std::string Arguments::text_of(std::string_view flag) const {
  for (const auto& section : sections_)
    for (const auto& option : section.options)
      if (option.flag == flag && !option.texts.empty()) return option.texts.back();
  return {};
}

/// The words without the one behind --help, which is kept.
std::vector<std::string> Arguments::without_topic(std::span<const std::string> words, bool own_h) {
  std::vector<std::string> rest(words.begin(), words.end());
  const auto at =
      std::find_if(rest.begin(), rest.end(), [&](const auto& w) { return w == "--help" || (w == "-h" && !own_h); });
  if (at == rest.end() || at + 1 == rest.end() || (at + 1)->starts_with('-')) return rest;
  help_topic_ = *(at + 1);
  rest.erase(at + 1);
  return rest;
}

// CLI11 takes the words apart; errors about unknown or missing words are our own, with the nearest known name.
void Arguments::parse(std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  check_uses();
  const auto known = flags();
  const bool own_h = std::find(known.begin(), known.end(), "-h") != known.end();
  app.add_flag(own_h ? "--help" : "-h,--help", help_);
  for (auto& section : sections_)
    for (auto& option : section.options) {
      const auto set = [&option](const std::string& text) {
        if (option.families.empty()) option.set(text);
        option.texts.push_back(text);
        option.given = true;
      };
      const std::string names = option.also.empty() ? option.flag : option.also + "," + option.flag;
      if (option.value.empty())
        app.add_flag_callback(names, [set] { set(""); });
      else
        app.add_option_function<std::vector<std::string>>(
               names, [set](const auto& texts) { std::for_each(texts.begin(), texts.end(), set); })
            ->expected(option.words)
            ->allow_extra_args(false)  // what follows are files
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  for (auto& positional : positionals_)
    if (positional.values != nullptr)
      app.add_option(positional.name, *positional.values);
    else
      app.add_option(positional.name, *positional.value);
  try {
    auto rest = without_topic(words, own_h);
    std::reverse(rest.begin(), rest.end());
    app.parse(std::move(rest));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view what = error.what();
    fail_usage("{} needs a value", what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& error) {
    fail_usage("{}", error.what());
  }
  if (!help_) check(app.remaining());
}

}  // namespace sheaf::cli
