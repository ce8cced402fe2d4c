// --model of commands whose results have a place of their own: which kind of model they work on.
#pragma once

#include <cstdint>

#include "arguments.hpp"

namespace sheaf::cli {

enum class ModelKind : std::uint8_t { linear, svm };

void declare_model_kind(Arguments& arguments, ModelKind& kind);

}  // namespace sheaf::cli
