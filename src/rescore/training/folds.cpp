#include "rescore/training/folds.hpp"

#include <algorithm>
#include <numeric>

namespace sheaf::rescore {
namespace {

/// The hash of 32-bit numbers that Percolator orders spectra by.
std::uint32_t scattered(std::uint32_t x) {
  x = ((x >> 16U) ^ x) * 0x45d9f3bU;
  x = ((x >> 16U) ^ x) * 0x45d9f3bU;
  return (x >> 16U) ^ x;
}

std::uint64_t finalised(std::uint64_t x) {  // splitmix64
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

std::vector<std::uint16_t> percolator_folds(const SpectrumKeys& keys, std::span<const std::int32_t> rows,
                                            std::int32_t folds, ParkMiller& random) {
  std::vector<std::uint16_t> result(rows.size());
  if (rows.empty()) return result;
  std::vector<std::int64_t> room(static_cast<std::size_t>(folds));
  auto left = static_cast<std::int64_t>(rows.size());
  for (std::int32_t f = folds; f-- > 0;) {
    room[static_cast<std::size_t>(f)] = left / (f + 1);
    left -= room[static_cast<std::size_t>(f)];
  }
  std::vector<std::uint32_t> hashes(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    hashes[k] = scattered(static_cast<std::uint32_t>(keys.file(rows[k]))) ^
                (scattered(static_cast<std::uint32_t>(keys.scan(rows[k]))) << 1U);
  std::vector<std::int32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return hashes[static_cast<std::size_t>(a)] < hashes[static_cast<std::size_t>(b)];
  });
  const auto bound = static_cast<std::uint64_t>(folds);
  std::size_t fold = random.below(bound);
  std::int32_t previous = keys.scan(rows[static_cast<std::size_t>(order[0])]);
  for (const std::int32_t k : order) {
    const std::int32_t scan = keys.scan(rows[static_cast<std::size_t>(k)]);
    if (scan != previous) do
        fold = random.below(bound);
      while (room[fold] <= 0);
    result[static_cast<std::size_t>(k)] = static_cast<std::uint16_t>(fold);
    --room[fold];
    previous = scan;
  }
  return result;
}

std::uint16_t spectrum_fold(const SpectrumKeys& keys, std::span<const std::uint64_t> file_hashes, std::int64_t row,
                            std::int32_t folds, std::uint64_t seed) {
  const std::uint64_t file = file_hashes.empty() ? 0 : file_hashes[static_cast<std::size_t>(keys.file(row))];
  const std::uint64_t hash = finalised(finalised(file + seed) ^ static_cast<std::uint32_t>(keys.scan(row)));
  return static_cast<std::uint16_t>((hash >> 32U) * static_cast<std::uint64_t>(folds) >> 32U);
}

}  // namespace sheaf::rescore
