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

/// Counts of joint states for all wanted resamples, and which states any row has: most are empty where rows are not
/// many. Left clear by take().
class ResampledTable {
 public:
  ResampledTable(ResampledCounts& memory, std::size_t cells, std::size_t wanted)
      : counts_(clear_room(memory.counts, cells * wanted)),
        present_(clear_room(memory.present, cells)),
        cells_(cells),
        wanted_(wanted) {}

  void add(std::size_t cell, const std::uint32_t* weights) {
    std::uint32_t* to = counts_ + cell * wanted_;
    present_[cell] = 1;
    for (std::size_t r = 0; r < wanted_; ++r) to[r] += weights[r];
  }
  /// visit(cell, its counts) for each that is present.
  template <class Visit>
  void take(Visit&& visit) {
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      if (std::exchange(present_[cell], 0U) == 0) continue;
      std::uint32_t* counts = counts_ + cell * wanted_;
      visit(cell, counts);
      std::fill_n(counts, wanted_, 0U);
    }
  }

 private:
  std::uint32_t* counts_;
  std::uint32_t* present_;
  std::size_t cells_, wanted_;
};

template <class Code>
void count_resampled(const Code* x, const std::uint16_t* s, std::int64_t begin, std::int64_t end,
                     const ResampleWeights& weights, std::uint32_t width, ResampledTable& table) {
  for (std::int64_t i = begin; i < end; ++i)
    table.add(s[i] * width + x[i], weights.weights + static_cast<std::size_t>(i) * weights.resamples + weights.first);
}

/// out[r]: the sums of resample first + r, as table_sums has them.
template <class Code>
void resampled_table_sums(const FixedLog& log, const TableRows& rows, const ResampleWeights& weights, const Code* x,
                          std::uint32_t states, const std::uint16_t* s, std::uint32_t partner_states, bool with_class,
                          Scratch& scratch, JointSums* out) {
  const std::size_t wanted = weights.wanted();
  const std::size_t cells = static_cast<std::size_t>(states) * partner_states;
  std::fill_n(out, wanted, JointSums());
  ResampledTable table(scratch.resampled, cells, wanted);
  ResampledTable merged(scratch.resampled_merged, cells, wanted);
  if (!with_class) count_resampled(x, s, 0, rows.class_ends.back(), weights, states, merged);
  for (std::size_t y = 0; with_class && y < rows.class_begins.size(); ++y) {
    count_resampled(x, s, rows.class_begins[y], rows.class_ends[y], weights, states, table);
    table.take([&](std::size_t cell, const std::uint32_t* counts) {
      for (std::size_t r = 0; r < wanted; ++r) out[r].with_class += log(counts[r]);
      merged.add(cell, counts);
    });
  }
  merged.take([&](std::size_t, const std::uint32_t* counts) {
    for (std::size_t r = 0; r < wanted; ++r) out[r].pair += log(counts[r]);
  });
}

}  // namespace sheaf::information::cpu
