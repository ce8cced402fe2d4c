// A part of the PSMs to train on, as Percolator's --subset-max-train chooses it.
#pragma once

#include <cstdint>
#include <vector>

#include "rescore/training/train.hpp"

namespace sheaf::rescore {

/// At most `most` rows: spectra (scan and mass, whatever the file) draw a number each, and rows with the lowest stay.
/// In the order in which Percolator then holds them.
std::vector<std::int32_t> reservoir(const TrainingRows& rows, std::int64_t most, ParkMiller& random);

}  // namespace sheaf::rescore
