// --model: which kind of model a command trains.
#pragma once

#include <string>

#include "arguments.hpp"

namespace sheaf::cli {

enum class ModelKind : std::uint8_t { linear, svm };

/// `--model` names a kind; where the command has no other place for it, any other word is the file to write.
struct ModelChoice {
  ModelKind kind = ModelKind::linear;
  std::string file;

  /// For commands whose results have another place: only kinds are known.
  void declare_kind(Arguments& arguments);
  /// Also --output.
  void declare_with_file(Arguments& arguments);
};

}  // namespace sheaf::cli
