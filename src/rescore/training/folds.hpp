// Cross-validation folds of spectra: all PSMs of one spectrum are in one fold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rescore/training/random.hpp"

namespace sheaf::rescore {

/// Keys that identify a spectrum.
struct SpectrumKeys {
  std::span<const std::int32_t> files;  ///< empty: one file
  std::span<const std::int32_t> scans;

  std::int32_t file(std::int64_t row) const { return files.empty() ? 0 : files[static_cast<std::size_t>(row)]; }
  std::int32_t scan(std::int64_t row) const { return scans[static_cast<std::size_t>(row)]; }
};

/// The folds of `rows` (one for each), as Percolator 3.08 draws them: rows go by a hash of their spectrum, and whenever
/// the scan number changes another fold is drawn among those that are not full. Spectra of equal hash stand in the
/// order of `rows` (Percolator leaves theirs open).
std::vector<std::uint16_t> percolator_folds(const SpectrumKeys& keys, std::span<const std::int32_t> rows,
                                            std::int32_t folds, ParkMiller& random);

/// The fold of a row's spectrum by a hash of its file's name, its scan and the seed: it depends neither on the order of
/// rows nor on other spectra. Folds are of about the same size.
std::uint16_t spectrum_fold(const SpectrumKeys& keys, std::span<const std::uint64_t> file_hashes, std::int64_t row,
                            std::int32_t folds, std::uint64_t seed);

}  // namespace sheaf::rescore
