#include "model_choice.hpp"

#include <utility>

#include <sheaf/error.hpp>
#include <sheaf/names.hpp>

namespace sheaf::cli {
namespace {

const std::vector<std::pair<std::string, ModelKind>>& kinds() {
  static const std::vector<std::pair<std::string, ModelKind>> rows{{"linear", ModelKind::linear},
                                                                   {"svm", ModelKind::svm}};
  return rows;
}

bool find_kind(const std::string& name, ModelKind& kind) {
  for (const auto& [known, value] : kinds())
    if (known == name) {
      kind = value;
      return true;
    }
  return false;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& [name, kind] : kinds()) list.push_back(name);
  return list;
}

std::string joined_names() {
  std::string text;
  for (const auto& name : names()) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace

void ModelChoice::declare_kind(Arguments& arguments) {
  arguments.add({"--model", joined_names(), "what to train: a linear model, or support vectors with a kernel", "linear",
                 [this](const std::string& text) {
                   if (!find_kind(text, kind)) fail_unknown("model", text, names());
                 }});
}

void ModelChoice::declare_with_file(Arguments& arguments) {
  arguments.add({"--model", joined_names() + "|FILE",
                 "what to train: a linear model, or support vectors with a kernel; any other word is the file to write",
                 "linear", [this](const std::string& text) {
                   if (!find_kind(text, kind)) word_ = text;
                 }});
  arguments.text("output", "FILE", output_, "where to write the model");
}

const std::string& ModelChoice::file() const {
  if (!word_.empty() && !output_.empty()) fail_unknown("model", word_, names());
  if (word_.empty() && output_.empty()) fail_usage("--output FILE is missing: where to write the model");
  return word_.empty() ? output_ : word_;
}

}  // namespace sheaf::cli
