// --model: which kind of model a command trains.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/elastic_net_model.hpp>

#include "arguments.hpp"

namespace sheaf::cli {

enum class ModelKind : std::uint8_t { linear, svm, net };

/// `--model` names a kind; where the command writes a model, any other word is the file for it.
struct ModelChoice {
  ModelKind kind = ModelKind::linear;
  const NetKind* net = nullptr;  ///< which of the elastic nets

  /// Where to write the model. None, or two, is a UsageError.
  const std::string& file() const;

  /// All kinds, and --output.
  void declare(Arguments& arguments);

 private:
  std::string word_;    // of --model, no kind
  std::string output_;  // of --output
};

/// `--model` of commands that search over linear models and machines, and whose results have another place.
void declare_model_kind(Arguments& arguments, ModelKind& kind);

/// "elastic-net, lasso, ... or ...".
std::string net_names();

}  // namespace sheaf::cli
