#include "commands/model_choice.hpp"

#include <utility>

#include "core/fail.hpp"
#include "core/names.hpp"

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

std::vector<std::string> names_of_nets() {
  std::vector<std::string> list;
  for (const auto& known : net_kinds()) list.emplace_back(known.name);
  return list;
}

std::vector<std::string> all_names() {
  auto list = names();
  for (auto& name : names_of_nets()) list.push_back(std::move(name));
  return list;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& name : list) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace

std::string net_names() { return join_names(names_of_nets(), "or"); }

void declare_model_kind(Arguments& arguments, ModelKind& kind) {
  arguments.add({"--model", joined(names()), "what to train: a linear model, or support vectors with a kernel",
                 "linear", [&kind](const std::string& text) {
                   if (!find_kind(text, kind)) fail_unknown("model", text, names());
                 }});
}

void ModelChoice::declare(Arguments& arguments) {
  arguments.add(
      {"--model", joined(all_names()) + "|FILE",
       "what to train: a linear model with an L2 penalty, support vectors with a kernel, or an elastic net; any "
       "other word is the file to write",
       "linear", [this](const std::string& text) {
         if (const auto* known = find_net_kind(text)) {
           kind = ModelKind::net;
           net = known;
         } else if (!find_kind(text, kind)) {
           if (!word_.empty()) fail_unknown("model", word_, all_names());
           word_ = text;
         }
       }});
  arguments.text("output", "FILE", output_, "where to write the model");
}

const std::string& ModelChoice::file() const {
  if (!word_.empty() && !output_.empty()) fail_unknown("model", word_, all_names());
  if (word_.empty() && output_.empty()) fail_usage("--output FILE is missing: where to write the model");
  return word_.empty() ? output_ : word_;
}

}  // namespace sheaf::cli
