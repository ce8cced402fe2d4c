#include "data/text/model_file.hpp"

namespace sheaf {

std::string read_model_family(ModelReader& reader, std::span<const std::string> known) {
  if (reader.peek() == "sheaf-linear-model" || reader.peek() == "sheaf-svm-model")
    reader.fail_here("an earlier version of Sheaf wrote this model; train it again");
  reader.heading(model_file_magic, model_file_version);
  std::size_t family = 0;
  choice_line(reader, "family", family, known);
  return known[family];
}

std::string model_file_heading(std::string_view family) {
  return fmt::format("{} {}\nfamily {}\n", model_file_magic, model_file_version, family);
}

}  // namespace sheaf
