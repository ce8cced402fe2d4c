// Linear models in words and in JSON.
#pragma once

#include <string>

#include <sheaf/linear_model.hpp>

namespace sheaf::cli {

std::string linear_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string linear_json(const LinearModel& model, const std::string& path, std::int64_t rows);

}  // namespace sheaf::cli
