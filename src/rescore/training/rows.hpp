// Data of PSMs besides their features.
#pragma once

#include <cstdint>
#include <span>

#include "rescore/training/folds.hpp"

namespace sheaf::rescore {

/// PSMs to train on, features apart.
struct TrainingRows {
  SpectrumKeys keys;
  std::span<const std::int8_t> labels;
  std::span<const double> masses;
  std::span<const std::uint64_t> file_hashes;  ///< of the names of the files
  bool targets_first = true;                   ///< of PSMs of one spectrum, mass and score (else the order of rows)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

}  // namespace sheaf::rescore
