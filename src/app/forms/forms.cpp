#include "app/forms/forms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <sheaf/scores.hpp>
#include <sheaf/solvers/model_options.hpp>

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

Json option_json(const FormOption& option) {
  std::string title = option.name;
  std::replace(title.begin(), title.end(), '-', ' ');
  Json list;
  if (option.is_list)
    list = {{"value", option.value},
            {"help", option.help},
            {"default_text", option.default_text},
            {"numbers", option.of_numbers}};
  return {{"name", option.name},
          {"title", title},
          {"type", option.reads_file ? "file" : option.type},
          {"value", option.value},
          {"help", option.help},
          {"default", option.preset ? Json(*option.preset) : Json()},
          {"default_text", option.default_text},
          {"choices", option.choices},
          {"several", option.several},
          {"low", number(option.low)},
          {"high", number(option.high)},
          {"list", list},
          {"kinds", option.kinds},
          {"vector", option.vector.empty() ? Json() : Json(option.vector)},
          {"main", option.main}};
}

Json section_json(const FormSection& section) {
  Json parameters = Json::array();
  for (const auto& option : section.options) parameters.push_back(option_json(option));
  return {{"name", stable_name(section.title)}, {"title", section.title}, {"parameters", std::move(parameters)}};
}

Json kinds_json() {
  Json list = Json::array();
  for (const auto& kind : model_kinds()) {
    Json defaults = Json::object();
    for (const auto& row : parameters_of(kind.options))
      if (row.get && (row.kinds.empty() || std::find(row.kinds.begin(), row.kinds.end(), kind.name) != row.kinds.end()))
        defaults[row.name] = row.get(kind.options);
    list.push_back(
        {{"name", kind.name}, {"family", kind.family}, {"about", kind.about}, {"defaults", std::move(defaults)}});
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
    Json shown = Json::array();
    for (const auto& section : sections) shown.push_back(section_json(section));
    list.push_back({{"name", task.name},
                    {"title", task.title},
                    {"about", task.about},
                    {"input", task.input},
                    {"plans", task.plans},
                    {"sections", std::move(shown)}});
    sections_.push_back(std::move(sections));
  }
  json_ = {{"tasks", std::move(list)}, {"kinds", kinds_json()}, {"metrics", metrics_json()}};
}

const std::vector<FormSection>& Forms::sections(const Task& task) const {
  return sections_[static_cast<std::size_t>(&task - tasks().data())];
}

}  // namespace sheaf::app
