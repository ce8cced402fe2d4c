// Order-free sums of one pair for many resamples, on one CPU core: each row is read once and adds its weight in every
// resample to that resample's own table.
#pragma once

#include "information/count/sums_cpu.hpp"

namespace sheaf::information::cpu {

/// The weights of each row, in class order, for resamples side by side; those before `first` are not wanted.
struct ResampleWeights {
  const std::uint32_t* weights = nullptr;  ///< [row * resamples + r]
  std::size_t resamples = 0;
  std::size_t first = 0;
  std::size_t wanted() const { return resamples - first; }
};

/// Counts of joint states for all wanted resamples, and which states any row has: most are empty if rows are not many.
/// Left clear by take().
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

/// SparseSide's counts and sums for resamples side by side.
struct ResampledSide {
  std::vector<std::uint32_t> counts;        ///< [state * resamples + r]
  std::vector<std::uint32_t> class_counts;  ///< [joint state * resamples + r]
  std::vector<std::int64_t> sums, class_sums;
};

inline ResampledSide resample_side(const FixedLog& log, const SparseSide& side, const ResampleWeights& weights) {
  const std::size_t resamples = weights.resamples;
  ResampledSide result;
  result.counts.assign(side.counts.size() * resamples, 0);
  result.class_counts.assign(side.class_counts.size() * resamples, 0);
  for (std::size_t i = 0; i < side.states.size(); ++i)
    for (std::size_t r = 0; r < resamples; ++r) {
      result.counts[side.states[i].own * resamples + r] += weights.weights[i * resamples + r];
      result.class_counts[side.states[i].with_class * resamples + r] += weights.weights[i * resamples + r];
    }
  const auto add_up = [&](const std::vector<std::uint32_t>& counts) {
    std::vector<std::int64_t> sums(resamples, 0);
    for (auto of_state = counts.begin(); of_state != counts.end(); of_state += static_cast<std::ptrdiff_t>(resamples))
      for (std::size_t r = 0; r < resamples; ++r) sums[r] += log(of_state[static_cast<std::ptrdiff_t>(r)]);
    return sums;
  };
  result.sums = add_up(result.counts);
  result.class_sums = add_up(result.class_counts);
  return result;
}

/// Same as NonzeroSums, except that each row adds its weight in every resample. A state that occurs in any row is
/// marked, and the first row to come back for it adds up and clears it.
class ResampledNonzeros {
 public:
  ResampledNonzeros(const FixedLog& log, const ResampleWeights& weights, Scratch& scratch)
      : log_(log), weights_(weights), wanted_(weights.wanted()), scratch_(scratch) {}

  /// out[r]: of resample first + r.
  void operator()(const SparseSide& side, const ResampledSide& resampled, const SparseColumn& column,
                  std::size_t states, bool with_class, JointSums* out) {
    const Part own{&SparseSide::States::own, resampled.counts.data(), side.counts.size(), &JointSums::pair};
    const Part joint{&SparseSide::States::with_class, resampled.class_counts.data(), side.class_counts.size(),
                     &JointSums::with_class};
    for (std::size_t r = 0; r < wanted_; ++r)
      out[r] = {resampled.sums[weights_.first + r], with_class ? resampled.class_sums[weights_.first + r] : 0};
    count(side, own, column, states, out);
    if (with_class) count(side, joint, column, states, out);
  }

 private:
  /// The partner's states, alone or joint with the class.
  struct Part {
    std::uint32_t SparseSide::States::*state;
    const std::uint32_t* counts;
    std::size_t size;
    std::int64_t JointSums::*sum;
  };

  void count(const SparseSide& side, const Part& part, const SparseColumn& column, std::size_t states, JointSums* out) {
    std::uint32_t* counts = clear_room(scratch_.resampled.counts, part.size * states * wanted_);
    std::uint32_t* present = clear_room(scratch_.resampled.present, part.size * states);
    std::uint32_t* removed = clear_room(scratch_.resampled_merged.counts, part.size * wanted_);
    std::uint32_t* loses = clear_room(scratch_.resampled_merged.present, part.size);
    for (std::size_t e = 0; e < column.examples.size(); ++e) {
      const auto i = static_cast<std::size_t>(column.examples[e]);
      const std::size_t state = side.states[i].*part.state;
      const std::size_t cell = state * states + column.codes[e];
      const std::uint32_t* weights = weights_.weights + i * weights_.resamples + weights_.first;
      present[cell] = loses[state] = 1;
      for (std::size_t r = 0; r < wanted_; ++r) counts[cell * wanted_ + r] += weights[r];
      for (std::size_t r = 0; r < wanted_; ++r) removed[state * wanted_ + r] += weights[r];
    }
    for (std::size_t e = 0; e < column.examples.size(); ++e) {
      const std::size_t state = side.states[static_cast<std::size_t>(column.examples[e])].*part.state;
      const std::size_t cell = state * states + column.codes[e];
      if (std::exchange(present[cell], 0U) == 0) continue;
      for (std::size_t r = 0; r < wanted_; ++r) out[r].*part.sum += log_(std::exchange(counts[cell * wanted_ + r], 0U));
      if (std::exchange(loses[state], 0U) == 0) continue;
      const std::uint32_t* before = part.counts + state * weights_.resamples + weights_.first;
      for (std::size_t r = 0; r < wanted_; ++r)
        out[r].*part.sum += log_(before[r] - std::exchange(removed[state * wanted_ + r], 0U)) - log_(before[r]);
    }
  }

  const FixedLog& log_;
  const ResampleWeights& weights_;
  std::size_t wanted_;
  Scratch& scratch_;
};

}  // namespace sheaf::information::cpu
