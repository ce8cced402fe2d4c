// --model: which kind of model a command trains.
#pragma once

#include <cstdint>
#include <string>

#include "arguments.hpp"

namespace sheaf::cli {

enum class ModelKind : std::uint8_t { linear, svm };

/// `--model` names a kind; where the command writes a model, any other word is the file for it.
struct ModelChoice {
  ModelKind kind = ModelKind::linear;

  /// Where to write the model. None, or two, is a UsageError.
  const std::string& file() const;

  /// For commands whose results have another place: only kinds are known.
  void declare_kind(Arguments& arguments);
  /// Also --output.
  void declare_with_file(Arguments& arguments);

 private:
  std::string word_;    // of --model, no kind
  std::string output_;  // of --output
};

}  // namespace sheaf::cli
