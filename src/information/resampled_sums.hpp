// Order-free sums of one pair for many resamples, on one CPU core: each row is read once and adds its weight in every
// resample to that resample's own table.
#pragma once

#include "information/sums_cpu.hpp"

namespace sheaf::information::cpu {

/// The weights of each row, in class order, for resamples side by side; those before `first` are not wanted.
struct ResampleWeights {
  const std::uint32_t* weights = nullptr;  ///< [row * resamples + r]
  std::size_t resamples = 0;
  std::size_t first = 0;
  std::size_t wanted() const { return resamples - first; }
};

template <class Code>
void count_resampled(const Code* x, const std::uint16_t* s, std::int64_t begin, std::int64_t end,
                     const ResampleWeights& weights, std::uint32_t width, std::uint32_t* table) {
  const std::size_t wanted = weights.wanted();
  for (std::int64_t i = begin; i < end; ++i) {
    std::uint32_t* to = table + (s[i] * width + x[i]) * wanted;
    const std::uint32_t* from = weights.weights + static_cast<std::size_t>(i) * weights.resamples + weights.first;
    for (std::size_t r = 0; r < wanted; ++r) to[r] += from[r];
  }
}

/// out[r]: the sums of resample first + r, as table_sums has them.
template <class Code>
void resampled_table_sums(const FixedLog& log, const TableRows& rows, const ResampleWeights& weights, const Code* x,
                          std::uint32_t states, const std::uint16_t* s, std::uint32_t partner_states, bool with_class,
                          Scratch& scratch, JointSums* out) {
  const std::size_t wanted = weights.wanted();
  const std::size_t cells = static_cast<std::size_t>(states) * partner_states * wanted;
  std::fill_n(out, wanted, JointSums());
  std::uint32_t* merged = cleared(scratch.merged, cells);
  if (!with_class) count_resampled(x, s, 0, rows.class_ends.back(), weights, states, merged);
  for (std::size_t y = 0; with_class && y < rows.class_begins.size(); ++y) {
    std::uint32_t* table = cleared(scratch.table, cells);
    count_resampled(x, s, rows.class_begins[y], rows.class_ends[y], weights, states, table);
    for (std::size_t e = 0; e < cells; e += wanted)
      for (std::size_t r = 0; r < wanted; ++r) {
        out[r].with_class += log(table[e + r]);
        merged[e + r] += table[e + r];
      }
  }
  for (std::size_t e = 0; e < cells; e += wanted)
    for (std::size_t r = 0; r < wanted; ++r) out[r].pair += log(merged[e + r]);
}

}  // namespace sheaf::information::cpu
