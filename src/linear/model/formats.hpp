// The formats of linear models, each in its file.
#pragma once

#include <string>
#include <string_view>

#include <sheaf/solvers/linear.hpp>

#include "data/text/model_file.hpp"

namespace sheaf::linear {

/// The lines of Sheaf's own file behind the family, which is linear, elastic-net or glm.
LinearModel read_sheaf_model(ModelReader& reader, std::string_view family);
void write_sheaf_model(ModelWriter& file, const LinearModel& model);

LinearModel read_liblinear_model(ModelReader& reader);
/// LIBLINEAR's format keeps no names: a class that is no integer is an Error.
std::string format_liblinear_model(const LinearModel& model);

}  // namespace sheaf::linear
