// Order-free sums of c log2 c over joint counts, on one CPU core. Each function takes one pair; scratch memory is the
// caller's, one for each thread, and is left clear.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "information/count/class_order.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information::cpu {

struct ResampledCounts {
  std::vector<std::uint32_t> counts, present;
};
struct Scratch {
  std::vector<std::uint32_t> table, merged, removed, removed_with_class;
  ResampledCounts resampled, resampled_merged;
};

inline std::uint32_t* cleared(std::vector<std::uint32_t>& table, std::size_t cells) {
  if (table.size() < cells) table.resize(cells);
  std::fill_n(table.data(), cells, 0U);
  return table.data();
}
/// Grows the table to `cells`; its elements are zero, and callers must leave them zero.
inline std::uint32_t* clear_room(std::vector<std::uint32_t>& table, std::size_t cells) {
  if (table.size() < cells) table.resize(cells, 0);
  return table.data();
}

/// One table for each class in turn, its counts added to a table of all classes. Rows are sorted by class.
struct TableRows {
  std::span<const std::int64_t> class_begins;
  std::span<const std::int64_t> class_ends;
  const std::uint32_t* weights = nullptr;  ///< in sorted order; nullptr: once each
};

/// Eight states read at once: the loop that counts waits for its loads, and so has fewer of them.
template <class Code>
class EightStates {
 public:
  explicit EightStates(const Code* from) { std::memcpy(words_, from, sizeof(words_)); }
  std::uint32_t operator[](int k) const {
    const int within = k % per_word;
    const int place = std::endian::native == std::endian::little ? within : per_word - 1 - within;
    return static_cast<Code>(words_[k / per_word] >> (8 * static_cast<int>(sizeof(Code)) * place));
  }

 private:
  static constexpr int per_word = static_cast<int>(sizeof(std::uint64_t) / sizeof(Code));
  std::uint64_t words_[8 / per_word];
};

template <class Code>
void count_cells(const Code* x, const std::uint16_t* s, std::int64_t begin, std::int64_t end,
                 const std::uint32_t* weights, std::uint32_t width, std::uint32_t* table) {
  if (weights == nullptr) {
    std::int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
      const EightStates<std::uint16_t> of_s(s + i);
      const EightStates<Code> of_x(x + i);
      for (int k = 0; k < 8; ++k) ++table[of_s[k] * width + of_x[k]];
    }
    for (; i < end; ++i) ++table[s[i] * width + x[i]];
    return;
  }
  for (std::int64_t i = begin; i < end; ++i) table[s[i] * width + x[i]] += weights[i];
}

template <class Code>
JointSums table_sums(const FixedLog& log, const TableRows& rows, const Code* x, std::uint32_t states,
                     const std::uint16_t* s, std::uint32_t partner_states, bool with_class, Scratch& scratch) {
  const std::size_t cells = static_cast<std::size_t>(states) * partner_states;
  JointSums sums;
  std::uint32_t* merged = cleared(scratch.merged, cells);
  if (!with_class) {
    count_cells(x, s, 0, rows.class_ends.back(), rows.weights, states, merged);
  } else {
    for (std::size_t y = 0; y < rows.class_begins.size(); ++y) {
      std::uint32_t* table = cleared(scratch.table, cells);
      count_cells(x, s, rows.class_begins[y], rows.class_ends[y], rows.weights, states, table);
      for (std::size_t e = 0; e < cells; ++e) {
        sums.with_class += log(table[e]);
        merged[e] += table[e];
      }
    }
  }
  for (std::size_t e = 0; e < cells; ++e) sums.pair += log(merged[e]);
  return sums;
}

/// Adds weight to a count and returns the change of the sum of c log2 c.
inline std::int64_t grow(const FixedLog& log, std::uint32_t& count, std::uint32_t weight) {
  const std::int64_t before = log(count);
  count += weight;
  return log(count) - before;
}
/// Rows sorted by the partner's state, and by class within: the candidate's states are counted group by group, in a
/// table of its own states only. A state of one row is left out: it adds the same to both sums whatever the candidate,
/// and merged states soon are of that kind.
struct Groups {
  std::vector<std::uint32_t> rows;         ///< rows in that order
  std::vector<std::int64_t> begins;        ///< of each joint state of partner and class, and the end
  std::vector<std::uint8_t> begins_state;  ///< whether the group is the first of its partner state
  std::int64_t left_out = 0;               ///< what states of one row add to each sum
};
Groups make_groups(const Problem& problem, const FixedLog& log, const ClassOrder& order,
                   std::span<const std::uint32_t> codes, std::int64_t states);

template <class Code>
class GroupedSums {
 public:
  GroupedSums(const FixedLog& log, const Code* x, const std::uint32_t* weights, std::uint32_t states, Scratch& scratch)
      : log_(log),
        x_(x),
        weights_(weights),
        in_class_(clear_room(scratch.table, states)),
        in_state_(clear_room(scratch.merged, states)) {}

  JointSums operator()(const Groups& groups) {
    JointSums sums{groups.left_out, groups.left_out};
    std::int64_t state_begin = 0;
    for (std::size_t g = 0; g + 1 < groups.begins.size(); ++g) {
      if (groups.begins_state[g] != 0) {
        clear(groups, state_begin, groups.begins[g], in_state_);
        state_begin = groups.begins[g];
      }
      add(groups, groups.begins[g], groups.begins[g + 1], sums);
      clear(groups, groups.begins[g], groups.begins[g + 1], in_class_);
    }
    if (!groups.begins.empty()) clear(groups, state_begin, groups.begins.back(), in_state_);
    return sums;
  }

 private:
  void add(const Groups& groups, std::int64_t begin, std::int64_t end, JointSums& sums) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::uint32_t i = groups.rows[static_cast<std::size_t>(k)];
      const std::uint32_t weight = weights_ == nullptr ? 1 : weights_[i];
      sums.with_class += grow(log_, in_class_[x_[i]], weight);
      sums.pair += grow(log_, in_state_[x_[i]], weight);
    }
  }
  void clear(const Groups& groups, std::int64_t begin, std::int64_t end, std::uint32_t* table) {
    for (std::int64_t k = begin; k < end; ++k) table[x_[groups.rows[static_cast<std::size_t>(k)]]] = 0;
  }

  const FixedLog& log_;
  const Code* x_;
  const std::uint32_t* weights_;
  std::uint32_t* in_class_;
  std::uint32_t* in_state_;
};

/// The partner's side of sparse pairs: the sums if every row were in the candidate's common state.
struct SparseSide {
  struct States {
    std::uint32_t own;         ///< the partner's state
    std::uint32_t with_class;  ///< its joint state with the class
  };
  std::vector<States> states;               ///< of each row
  std::vector<std::uint32_t> counts;        ///< of each state
  std::vector<std::uint32_t> class_counts;  ///< of each joint state
  std::int64_t sum = 0;
  std::int64_t class_sum = 0;
};
SparseSide make_sparse_side(const Problem& problem, const FixedLog& log, std::span<const std::uint32_t> codes,
                            std::int64_t states);

struct SparseColumn {
  std::span<const std::int32_t> examples;
  std::span<const std::uint16_t> codes;
};

/// Counts the rows that are not in the candidate's common state, and how many each state of the partner loses to them;
/// then adds up and clears the touched counts, once for each row: the second to come finds zeros.
class NonzeroSums {
 public:
  NonzeroSums(const FixedLog& log, const std::uint32_t* weights, Scratch& scratch)
      : log_(log), weights_(weights), scratch_(scratch) {}

  JointSums operator()(const SparseSide& side, const SparseColumn& column, std::uint32_t states, bool with_class) {
    table_ = clear_room(scratch_.table, side.counts.size() * states);
    removed_ = clear_room(scratch_.removed, side.counts.size());
    if (!with_class) return {side.sum + count<false>(side, column, states).pair, 0};
    class_table_ = clear_room(scratch_.merged, side.class_counts.size() * states);
    class_removed_ = clear_room(scratch_.removed_with_class, side.class_counts.size());
    const JointSums change = count<true>(side, column, states);
    return {side.sum + change.pair, side.class_sum + change.with_class};
  }

 private:
  template <bool WithClass>
  JointSums count(const SparseSide& side, const SparseColumn& column, std::size_t states) {
    const std::size_t size = column.examples.size();
    for (std::size_t e = 0; e < size; ++e) {
      const auto i = static_cast<std::size_t>(column.examples[e]);
      const std::uint32_t weight = weights_ == nullptr ? 1 : weights_[i];
      const SparseSide::States of = side.states[i];
      removed_[of.own] += weight;
      table_[of.own * states + column.codes[e]] += weight;
      if constexpr (WithClass) {
        class_removed_[of.with_class] += weight;
        class_table_[of.with_class * states + column.codes[e]] += weight;
      }
    }
    JointSums change;
    for (std::size_t e = 0; e < size; ++e) {
      const SparseSide::States of = side.states[static_cast<std::size_t>(column.examples[e])];
      change.pair += take(table_[of.own * states + column.codes[e]]) + lose(side.counts, removed_, of.own);
      if constexpr (WithClass)
        change.with_class += take(class_table_[of.with_class * states + column.codes[e]]) +
                             lose(side.class_counts, class_removed_, of.with_class);
    }
    return change;
  }

  std::int64_t take(std::uint32_t& count) { return log_(std::exchange(count, 0U)); }
  std::int64_t lose(const std::vector<std::uint32_t>& counts, std::uint32_t* removed, std::uint32_t state) {
    if (removed[state] == 0) return 0;
    return log_(counts[state] - std::exchange(removed[state], 0U)) - log_(counts[state]);
  }

  const FixedLog& log_;
  const std::uint32_t* weights_;
  Scratch& scratch_;
  std::uint32_t* table_ = nullptr;
  std::uint32_t* removed_ = nullptr;
  std::uint32_t* class_table_ = nullptr;
  std::uint32_t* class_removed_ = nullptr;
};

}  // namespace sheaf::information::cpu
