#include "app/forms/forms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <sheaf/scores.hpp>
#include <sheaf/solvers/model_options.hpp>

#include "app/forms/titles.hpp"

namespace sheaf::app {
namespace {

/// Options that the server sets itself, or that have no use in a form.
bool is_left_out(const FormOption& option) {
  static const std::vector<std::string> names{"json", "quiet", "resume", "force", "output-format", "plan"};
  return option.writes || std::find(names.begin(), names.end(), option.name) != names.end();
}

/// "Nearest neighbours (--model knn)" as "nearest-neighbours-model-knn".
std::string stable_name(const std::string& title) {
  std::string name;
  for (const char c : title) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (plain || capital)
      name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  if (name.ends_with('-')) name.pop_back();
  return name;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

using Titles = std::map<std::string, std::string, std::less<>>;

bool is_of_flag(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/// Whether the last command that the text shows goes on at its end.
bool is_in_command(std::string_view text) {
  const auto command = text.rfind("sheaf ");
  return command != text.npos && text.find_first_of(";,()", command) == text.npos;
}

/// Titles in place of flags, but in commands that are shown.
std::string text_with_titles(std::string_view text, const Titles& titles) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = std::min(text.find("--", at), text.size());
    result += text.substr(at, begin - at);
    auto end = begin;
    while (end < text.size() && is_of_flag(text[end])) ++end;
    const auto flag = text.substr(begin, end - begin);
    const auto found = titles.find(flag);
    if (found == titles.end() || is_in_command(result))
      result += flag;
    else
      result += fmt::format("{}'{}'", flag.starts_with("--no-") ? "no " : "", found->second);
    at = end;
  }
  return result;
}

void put_titles(Json& value, const Titles& titles) {
  static const std::vector<std::string> shown{"message", "notes", "warnings", "estimate", "profile", "findings"};
  if (value.is_string()) value = text_with_titles(value.get<std::string>(), titles);
  if (value.is_array())
    for (auto& one : value) put_titles(one, titles);
  if (value.is_object())
    for (const auto& name : shown)
      if (value.contains(name)) put_titles(value[name], titles);
}

Json option_json(const FormOption& option, const Titles& titles) {
  const auto words = [&](const std::string& text) { return text_with_titles(text, titles); };
  Json list;
  if (option.is_list)
    list = {{"value", option.value},
            {"help", words(option.help)},
            {"default_text", words(option.default_text)},
            {"numbers", option.of_numbers}};
  return {{"name", option.name},
          {"title", titles.at(option.flag)},
          {"type", option.reads_file ? "file" : option.type},
          {"value", option.value},
          {"help", words(option.help)},
          {"default", option.preset ? Json(*option.preset) : Json()},
          {"default_text", words(option.default_text)},
          {"choices", option.choices},
          {"several", option.several},
          {"low", number(option.low)},
          {"high", number(option.high)},
          {"list", list},
          {"kinds", option.kinds},
          {"vector", option.vector.empty() ? Json() : Json(option.vector)},
          {"main", option.main}};
}

Json section_json(const FormSection& section, const Titles& titles) {
  Json parameters = Json::array();
  for (const auto& option : section.options) parameters.push_back(option_json(option, titles));
  const auto* title = section.title == "Common options" ? "This machine" : section.title.c_str();
  return {{"name", stable_name(section.title)}, {"title", title}, {"parameters", std::move(parameters)}};
}

Json kinds_json(const Titles& titles) {
  Json list = Json::array();
  for (const auto& kind : model_kinds()) {
    Json defaults = Json::object();
    for (const auto& row : parameters_of(kind.options))
      if (row.get && (row.kinds.empty() || std::find(row.kinds.begin(), row.kinds.end(), kind.name) != row.kinds.end()))
        defaults[row.name] = row.get(kind.options);
    list.push_back({{"name", kind.name},
                    {"family", kind.family},
                    {"about", text_with_titles(kind.about, titles)},
                    {"defaults", std::move(defaults)}});
  }
  return list;
}

Json metrics_json() {
  Json list = Json::array();
  for (const auto& row : metrics())
    list.push_back({{"name", row.name},
                    {"title", row.title},
                    {"about", row.about},
                    {"larger_is_better", row.larger_is_better},
                    {"for", row.survival     ? "times"
                            : row.regression ? "numbers"
                                             : "classes"}});
  return list;
}

/// 0 for what is no task, which is how a damaged list of jobs may name one.
std::size_t index_of(std::string_view name) {
  const auto found = std::find_if(tasks().begin(), tasks().end(), [&](const Task& task) { return task.name == name; });
  return found == tasks().end() ? 0 : static_cast<std::size_t>(found - tasks().begin());
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> rows{
      {.name = "search",
       .title = "Find the best model",
       .about = "Compare models and their parameters on the same splits, and train the best",
       .command = "search",
       .input = "table",
       .hidden = {},
       .resumes = true,
       .model = true,
       .plans = true},
      {.name = "study",
       .title = "Select features by models",
       .about = "Which features models choose when rows are left out again and again",
       .command = "select",
       .input = "table",
       .hidden = {"Options", "Criterion", "Ensemble", "Binning"},
       .resumes = true,
       .model = true,
       .plans = true},
      {.name = "select",
       .title = "Select features by information",
       .about = "Features with most information about the label and least redundancy",
       .command = "select",
       .input = "table",
       .hidden = {"Study (--model)", "Steps before the model, learnt on the rows that are trained on", "Rows"},
       .plans = true},
      {.name = "rescore",
       .title = "Rescore spectra",
       .about = "Learn from targets and decoys which peptide-spectrum matches are correct",
       .command = "rescore",
       .input = "psms",
       .hidden = {},
       .resumes = true},
      {.name = "neighbors",
       .title = "Find nearest rows",
       .about = "The nearest rows of each row, exactly",
       .command = "neighbors",
       .input = "table",
       .hidden = {}},
  };
  return rows;
}

const Task& find_task(const std::string& name) {
  for (const auto& task : tasks())
    if (task.name == name) return task;
  throw Refusal{400, "bad_request", fmt::format("'{}' is no task; see parameters", name), "task"};
}

Forms::Forms(Commands commands) : commands_(std::move(commands)) {
  Json list = Json::array();
  for (const auto& task : tasks()) {
    auto sections = commands_.sections(task.command);
    std::erase_if(sections, [&](const FormSection& section) {
      return std::find(task.hidden.begin(), task.hidden.end(), section.title) != task.hidden.end();
    });
    for (auto& section : sections)
      std::erase_if(section.options,
                    [&](const FormOption& option) { return is_left_out(option) || (option.of_family && !task.model); });
    std::erase_if(sections, [](const FormSection& section) { return section.options.empty(); });
    Titles titles;
    for (const auto& section : sections)
      for (const auto& option : section.options) titles[option.flag] = title_of(task.name, option.name);
    Json shown = Json::array();
    for (const auto& section : sections) shown.push_back(section_json(section, titles));
    list.push_back({{"name", task.name},
                    {"title", task.title},
                    {"about", task.about},
                    {"input", task.input},
                    {"plans", task.plans},
                    {"sections", std::move(shown)}});
    sections_.push_back(std::move(sections));
    titles_.push_back(std::move(titles));
  }
  // A message may name an option that another task has.
  for (auto& titles : titles_)
    for (const auto& others : titles_) titles.insert(others.begin(), others.end());
  json_ = {{"tasks", std::move(list)}, {"kinds", kinds_json(titles_.front())}, {"metrics", metrics_json()}};
}

const std::vector<FormSection>& Forms::sections(const Task& task) const { return sections_[index_of(task.name)]; }

Json Forms::with_titles(Json answer, const std::string& task) const {
  put_titles(answer, titles_[index_of(task)]);
  return answer;
}

}  // namespace sheaf::app
