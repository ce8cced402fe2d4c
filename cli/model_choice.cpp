#include "model_choice.hpp"

#include <string>
#include <vector>

#include <sheaf/names.hpp>

namespace sheaf::cli {

void declare_model_kind(Arguments& arguments, ModelKind& kind) {
  static const std::vector<std::string> known{"linear", "svm"};
  arguments.add({"--model", "linear|svm", "what to train: a linear model, or support vectors with a kernel", "linear",
                 [&kind](const std::string& text) {
                   if (text != known[0] && text != known[1]) fail_unknown("model", text, known);
                   kind = text == known[0] ? ModelKind::linear : ModelKind::svm;
                 }});
}

}  // namespace sheaf::cli
