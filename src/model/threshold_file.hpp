// The line of a threshold in Sheaf's own model file.
#pragma once

#include <optional>
#include <string>

#include <sheaf/solvers/threshold.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

/// Writes nothing if there is none.
void write_threshold(ModelWriter& file, const std::optional<Threshold>& threshold);
std::optional<Threshold> read_threshold(ModelReader& reader);

}  // namespace sheaf
