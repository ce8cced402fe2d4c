// What a model file says of the calibration, behind the pipeline:
//
//     calibration platt 1
//     curve -1.7 0.2                  slope and offset
//
// or, of an isotonic one, "curve N" and the corners: where they are, then the probabilities.
#pragma once

#include <optional>
#include <string>

#include <sheaf/solvers/calibration.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

/// Nothing where there is none.
void write_calibration(ModelWriter& file, const std::optional<Calibration>& calibration);
std::optional<Calibration> read_calibration(ModelReader& reader);

}  // namespace sheaf
