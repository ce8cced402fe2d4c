// Order-free sums of c log2 c over joint counts, on one CPU core. Each function takes one pair; scratch memory is the
// caller's, one for each thread, and is left clear.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "information/ops.hpp"

namespace sheaf::information::cpu {

struct Scratch {
  std::vector<std::uint32_t> table, merged, removed, removed_with_class;
};

inline std::uint32_t* cleared(std::vector<std::uint32_t>& table, std::size_t cells) {
  if (table.size() < cells) table.resize(cells);
  std::fill_n(table.data(), cells, 0U);
  return table.data();
}
/// As large as asked for; what is there is zero and must be left so.
inline std::uint32_t* clear_room(std::vector<std::uint32_t>& table, std::size_t cells) {
  if (table.size() < cells) table.resize(cells, 0);
  return table.data();
}

/// One table for each class in turn, its counts added to a table of all classes. Rows are sorted by class.
struct TableRows {
  std::span<const std::int64_t> class_begins;  ///< one more than classes
  const std::uint32_t* weights = nullptr;      ///< in sorted order; nullptr: once each
};

template <class Code>
void count_cells(const Code* x, const std::uint16_t* s, std::int64_t begin, std::int64_t end,
                 const std::uint32_t* weights, std::uint32_t width, std::uint32_t* table) {
  if (weights == nullptr) {
    for (std::int64_t i = begin; i < end; ++i) ++table[s[i] * width + x[i]];
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
    count_cells(x, s, 0, rows.class_begins.back(), rows.weights, states, merged);
  } else {
    for (std::size_t y = 0; y + 1 < rows.class_begins.size(); ++y) {
      std::uint32_t* table = cleared(scratch.table, cells);
      count_cells(x, s, rows.class_begins[y], rows.class_begins[y + 1], rows.weights, states, table);
      for (std::size_t e = 0; e < cells; ++e) {
        sums.with_class += log(table[e]);
        merged[e] += table[e];
      }
    }
  }
  for (std::size_t e = 0; e < cells; ++e) sums.pair += log(merged[e]);
  return sums;
}

/// Adds weight to a count and says by how much that moves the sum of c log2 c.
inline std::int64_t grow(const FixedLog& log, std::uint32_t& count, std::uint32_t weight) {
  const std::int64_t before = log(count);
  count += weight;
  return log(count) - before;
}
inline std::int64_t shrink(const FixedLog& log, std::uint32_t& count, std::uint32_t weight) {
  const std::int64_t before = log(count);
  count -= weight;
  return log(count) - before;
}

/// Rows sorted by the partner's state, and by class within: the candidate's states are counted group by group, in a
/// table of its own states only.
struct Groups {
  std::vector<std::uint32_t> rows;         ///< examples in that order
  std::vector<std::int64_t> begins;        ///< of each joint state of partner and class, and the end
  std::vector<std::uint8_t> begins_state;  ///< whether the group is the first of its partner state
};

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
    JointSums sums;
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

/// The partner's side of sparse pairs: what the sums are when every example is in the candidate's common state.
struct SparseSide {
  std::vector<std::uint32_t> codes;         ///< the partner's state of each example
  std::vector<std::uint32_t> with_class;    ///< its joint state with the class, numbered from 0
  std::vector<std::uint32_t> counts;        ///< of each state
  std::vector<std::uint32_t> class_counts;  ///< of each joint state
  std::int64_t sum = 0;
  std::int64_t class_sum = 0;
};

struct SparseColumn {
  std::span<const std::int32_t> examples;
  std::span<const std::uint16_t> codes;
};

/// Moves each example that is not in the common state out of it, one at a time.
class NonzeroSums {
 public:
  NonzeroSums(const FixedLog& log, const std::uint32_t* weights, Scratch& scratch)
      : log_(log), weights_(weights), scratch_(scratch) {}

  JointSums operator()(const SparseSide& side, const SparseColumn& column, std::uint32_t states, bool with_class) {
    JointSums sums;
    sums.pair = side.sum + moved(side.codes, side.counts, column, states);
    if (with_class) sums.with_class = side.class_sum + moved(side.with_class, side.class_counts, column, states);
    return sums;
  }

 private:
  std::int64_t moved(const std::vector<std::uint32_t>& partner, const std::vector<std::uint32_t>& counts,
                     const SparseColumn& column, std::uint32_t states) {
    std::uint32_t* table = clear_room(scratch_.table, counts.size() * states);
    std::uint32_t* removed = clear_room(scratch_.removed, counts.size());
    std::int64_t change = 0;
    for (std::size_t e = 0; e < column.examples.size(); ++e) {
      const auto i = static_cast<std::size_t>(column.examples[e]);
      const std::uint32_t weight = weights_ == nullptr ? 1 : weights_[i];
      const std::uint32_t s = partner[i];
      std::uint32_t left = counts[s] - removed[s];
      change += shrink(log_, left, weight);
      removed[s] += weight;
      change += grow(log_, table[static_cast<std::size_t>(s) * states + column.codes[e]], weight);
    }
    for (std::size_t e = 0; e < column.examples.size(); ++e) {
      const std::uint32_t s = partner[static_cast<std::size_t>(column.examples[e])];
      removed[s] = 0;
      table[static_cast<std::size_t>(s) * states + column.codes[e]] = 0;
    }
    return change;
  }

  const FixedLog& log_;
  const std::uint32_t* weights_;
  Scratch& scratch_;
};

}  // namespace sheaf::information::cpu
