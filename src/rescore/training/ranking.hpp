// The order of PSMs from the best to the worst.
#pragma once

#include <cstdint>
#include <span>

#include "rescore/training/rows.hpp"

namespace sheaf::rescore {

/// By score; equal ones as in Percolator by scan, mass and (see TrainingRows) label, all descending, then by row.
struct RankOrder {
  const TrainingRows& rows;
  std::span<const double> scores;

  bool operator()(std::int32_t a, std::int32_t b) const {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    if (scores[i] != scores[j]) return scores[i] > scores[j];
    if (rows.keys.scans[i] != rows.keys.scans[j])
      return static_cast<std::uint32_t>(rows.keys.scans[i]) > static_cast<std::uint32_t>(rows.keys.scans[j]);
    if (rows.masses[i] != rows.masses[j]) return rows.masses[i] > rows.masses[j];
    if (rows.targets_first && rows.labels[i] != rows.labels[j]) return rows.labels[i] > rows.labels[j];
    return a < b;
  }
};

}  // namespace sheaf::rescore
