#include "app/forms/design.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>

#include "core/text.hpp"

namespace sheaf::app {
namespace {

std::string file_word(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

/// A value as the command line has it; nothing: none is given.
std::optional<std::string> plain_text(const Json& value) {
  if (value.is_string())
    return value.get<std::string>().empty() ? std::nullopt : std::optional(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

std::vector<std::string> texts_of(const FormOption& option, const Json& value) {
  std::vector<std::string> texts;
  if (value.is_array()) {
    for (const auto& one : value)
      if (auto text = plain_text(one)) texts.push_back(std::move(*text));
  } else if (auto text = plain_text(value)) {
    texts.push_back(std::move(*text));
  }
  if (texts.size() > 1 && !option.repeated) texts = {fmt::format("{}", fmt::join(texts, ","))};
  return texts;
}

const FormOption* find_option(const std::vector<FormSection>& sections, const std::string& name) {
  for (const auto& section : sections)
    for (const auto& option : section.options)
      if (option.name == name) return &option;
  return nullptr;
}

class Reader {
 public:
  Reader(const Forms& forms, const Folder& folder, Design& design) : forms_(forms), folder_(folder), design_(design) {}

  void read() {
    const auto& sections = forms_.sections(*design_.task);
    for (const auto& [name, value] : design_.settings.items())
      if (find_option(sections, name) == nullptr)
        complain(name, fmt::format("{}: there is no such setting of this task", name));
    for (const auto& section : sections)
      for (const auto& option : section.options) read_option(option);
    if (design_.task->model) check_models();
  }

 private:
  void complain(const std::string& field, const std::string& message) { design_.errors.push_back({field, message}); }

  void read_option(const FormOption& option) {
    if (!design_.settings.contains(option.name)) return;
    const auto& value = design_.settings[option.name];
    if (value.is_object()) return complain(option.name, fmt::format("{} is a text, a number or a list", option.name));
    auto texts = texts_of(option, value);
    if (texts.empty()) return;
    if (option.is_switch) return read_switch(option, texts.front());
    if (option.reads_file && !find_files(option, texts)) return;
    if (!option.of_family && option.name != "model") check(option, texts);
    design_.given.emplace_back(&option, std::move(texts));
  }

  void read_switch(const FormOption& option, const std::string& text) {
    const bool on = text == "yes" || text == "true";
    if (!on && text != "no" && text != "false")
      return complain(option.name, fmt::format("{} is yes or no, not '{}'", option.name, text));
    if (on != option.flag.starts_with("--no-")) design_.given.emplace_back(&option, std::vector<std::string>{});
  }

  /// Paths as they are below the folder.
  bool find_files(const FormOption& option, std::vector<std::string>& texts) {
    for (auto& text : texts) {
      try {
        text = file_word(folder_.relative(folder_.find(text)));
      } catch (const Refusal& refusal) {
        complain(option.name, refusal.message);
        return false;
      }
    }
    return true;
  }

  void check(const FormOption& option, const std::vector<std::string>& texts) {
    for (const auto& text : texts)
      if (const auto wrong = forms_.commands().check(design_.task->command, option.flag, text)) {
        complain(option.name, *wrong);
        return;
      }
  }

  /// The kinds of models, then their options.
  void check_models() {
    std::string model;
    std::vector<std::pair<const FormOption*, std::string>> of_models;
    std::vector<std::string> names;
    for (const auto& [option, texts] : design_.given) {
      if (option->name == "model") model = texts.front();
      if (!option->of_family) continue;
      names.push_back(option->name);
      if (texts.empty()) of_models.emplace_back(option, option->flag.starts_with("--no-") ? "no" : "yes");
      for (const auto& text : texts) of_models.emplace_back(option, text);
    }
    if (model.empty() && design_.task->name == "study") return complain("model", "choose the kind of model");
    try {
      if (model.empty()) model = default_model(names);
      auto space = space_of_models(model);
      for (const auto& [option, text] : of_models) set(space, *option, text);
    } catch (const Error& error) {
      complain("model", error.what());
    }
  }

  void set(SearchSpace& space, const FormOption& option, const std::string& text) {
    if (!option.vector.empty()) return;
    try {
      if (space.choose_candidates)
        return complain(option.name, fmt::format("{} is for one kind of model: choose it", option.name));
      set_parameter_of_models(space, option.name, text);
    } catch (const Error& error) {
      complain(option.name, error.what());
    }
  }

  const Forms& forms_;
  const Folder& folder_;
  Design& design_;
};

}  // namespace

Design read_design(const Forms& forms, const Folder& folder, const Json& body, std::vector<std::string> datasets,
                   std::string name) {
  Design design;
  design.task = &find_task(text_at(body, "task"));
  design.datasets = std::move(datasets);
  design.name = std::move(name);
  design.settings = body.contains("settings") ? body["settings"] : Json::object();
  if (!design.settings.is_object()) throw Refusal{400, "bad_request", "settings must be an object", "settings"};
  Reader(forms, folder, design).read();
  return design;
}

std::vector<std::string> words_of(const Design& design) {
  std::vector<std::string> words{design.task->command};
  for (const auto& path : design.datasets) words.push_back(file_word(path));
  for (const auto& [option, texts] : design.given) {
    if (texts.empty()) words.push_back(option->flag);
    for (const auto& text : texts) {
      if (text.starts_with('-')) {
        words.push_back(option->flag + "=" + text);
      } else {
        words.push_back(option->flag);
        words.push_back(text);
      }
    }
  }
  return words;
}

std::vector<std::string> words_with_output(const Design& design) {
  auto words = words_of(design);
  const auto folder = file_word(design.name);
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (design.task->name == "select")
    add({"--csv", folder + "/selection.csv", "--report", folder + "/report.html", "--json"});
  else if (design.task->name == "neighbors")
    add({"--output", folder + "/neighbors.csv"});
  else
    add({"--output", folder});
  return words;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text = "sheaf";
  for (const auto& word : words) text += ' ' + shell_word(word);
  return text;
}

}  // namespace sheaf::app
