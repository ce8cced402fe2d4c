// The formats of linear models, each in its file.
#pragma once

#include <string>
#include <string_view>

#include <sheaf/linear.hpp>

#include "data/text/model_reader.hpp"

namespace sheaf::linear {

/// The first word of Sheaf's own format.
inline constexpr std::string_view model_magic = "sheaf-linear-model";

LinearModel parse_sheaf_model(ModelReader& reader);
LinearModel parse_liblinear_model(ModelReader& reader);
std::string format_sheaf_model(const LinearModel& model);
std::string format_liblinear_model(const LinearModel& model);

}  // namespace sheaf::linear
