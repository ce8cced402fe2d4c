// Models of any family in words and in JSON.
#pragma once

#include <string>

#include <sheaf/model.hpp>

namespace sheaf::cli {

/// `rows`: of the training data.
std::string model_text(const Model& model, const std::string& source, std::int64_t rows);
std::string model_json(const Model& model, const std::string& path, std::int64_t rows);

}  // namespace sheaf::cli
