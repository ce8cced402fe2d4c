#include <string>

#include "command.hpp"
#include "core/names.hpp"

namespace sheaf::cli {

Command devices_command();
Command info_command();
Command convert_command();
Command scale_command();
Command bin_command();
Command generate_command();
Command example_command();
Command fit_command();
Command predict_command();
Command search_command();
Command compare_command();
Command select_command();
Command neighbors_command();
Command distances_command();
Command liblinear_train_command();
Command liblinear_predict_command();
Command libsvm_train_command();
Command libsvm_predict_command();
Command libsvm_scale_command();
Command libsvm_easy_command();
Command rescore_command();
Command percolator_command();
Command app_command();

std::span<const Command> commands() {
  static const std::vector<Command> rows{
      info_command(),         convert_command(),         scale_command(),
      bin_command(),          generate_command(),        example_command(),
      fit_command(),          predict_command(),         search_command(),
      compare_command(),      select_command(),          neighbors_command(),
      distances_command(),    liblinear_train_command(), liblinear_predict_command(),
      libsvm_train_command(), libsvm_predict_command(),  libsvm_scale_command(),
      libsvm_easy_command(),  rescore_command(),         percolator_command(),
      app_command(),          devices_command(),
  };
  return rows;
}

const Command& find_command(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& command : commands()) {
    if (command.name == name) return command;
    known.emplace_back(command.name);
  }
  fail_unknown("command", name, known);
}

}  // namespace sheaf::cli
