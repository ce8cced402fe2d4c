// Lines of the calibration in a model file, after the pipeline:
//
//     calibration platt 1
//     curve -1.7 0.2                  slope and offset
//
// or, for an isotonic one, "curve N" and the corners: their places, then their probabilities.
#pragma once

#include <optional>
#include <string>

#include <sheaf/solvers/calibration.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

/// Writes nothing if there is none.
void write_calibration(ModelWriter& file, const std::optional<Calibration>& calibration);
std::optional<Calibration> read_calibration(ModelReader& reader);

}  // namespace sheaf
