// The content of a model file, for `sheaf info MODEL`.
#pragma once

#include <string>

#include <sheaf/model.hpp>

namespace sheaf::cli {

std::string model_info_text(const Model& model, const std::string& source);
std::string model_info_json(const Model& model, const std::string& source);

}  // namespace sheaf::cli
