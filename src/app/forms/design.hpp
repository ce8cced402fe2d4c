// Settings that a client sent: checked, and said as a command, as Python and as R.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/files/folder.hpp"
#include "app/forms/forms.hpp"

namespace sheaf::app {

struct FieldError {
  std::string field;  ///< empty: the whole
  std::string message;
};

struct Design {
  const Task* task = nullptr;
  std::vector<std::string> datasets;  ///< paths below the folder
  Json settings;
  std::string name;                                                           ///< of the folder of results
  std::vector<std::pair<const FormOption*, std::vector<std::string>>> given;  ///< options with their texts
  std::vector<FieldError> errors;
};

/// Faults of the settings are in `errors`; a text that is no design at all is a Refusal. `datasets` and `name` are
/// checked by the caller. Files that settings name are below the folder.
Design read_design(const Forms& forms, const Folder& folder, const Json& body, std::vector<std::string> datasets,
                   std::string name);

/// The words behind the program's name, without where the results go.
std::vector<std::string> words_of(const Design& design);
/// With the files that the task writes into its folder of results.
std::vector<std::string> words_with_output(const Design& design);
/// The command as a shell reads it.
std::string command_text(const std::vector<std::string>& words);
/// The same in other languages; nothing: they have no such thing.
std::optional<std::string> python_text(const Design& design);
std::optional<std::string> r_text(const Design& design);

}  // namespace sheaf::app
