// Order-free sums of pairs of few rows and many states, on one CPU core: rows in one state of the partner are
// compared with each other, many candidates at a time. Few rows share a state, so that is a handful of comparisons
// for each row, and one instruction makes them for a register full of candidates.
//
// Rows join their joint states one after another. One that finds a weight of W there and brings w changes the sum of c
// log2 c by f(W + w) - f(W) - f(w); most find nothing. Found weights are added up in bytes beside the candidates, as
// multiples of a weight of 1, and multiplied at the end; larger weights are rare, and their difference from this is
// counted apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/binning.hpp>

#include "core/simd.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information::cpu {

/// States side by side: those of one row for `lanes` features, then the next row's.
class ComparedTable {
 public:
  static constexpr std::int64_t lanes = std::int64_t{2} * native_vector_bytes;
  static constexpr std::int64_t most_examples = 1024;  ///< beyond, tables are quicker
  static constexpr std::int32_t most_states = 256;

  ComparedTable() = default;
  ComparedTable(const BinnedTable& table, int threads);

  /// Whether states and rows are few enough.
  static bool fits(const Problem& problem);

  bool empty() const { return codes_.empty(); }
  std::int64_t rows() const { return rows_; }
  const std::uint8_t* block(std::int64_t number) const { return codes_.data() + number * rows_ * lanes; }
  /// A block of the features requested; lanes without one hold what they held.
  void gather(std::span<const std::int32_t> features, std::vector<std::uint8_t>& to) const;

 private:
  std::int64_t rows_ = 0;
  std::vector<std::uint8_t> codes_;
};

/// The partner's side: which rows are compared.
struct ComparedSide {
  /// A row and those before it, as places in `rows`: the ones of its state, and among them the ones of its class.
  struct Step {
    std::uint16_t of_state, of_class, own;
  };
  /// Steps of rows of one weight, up to `end`, which together find no more than a byte holds.
  struct Part {
    std::uint32_t weight;
    std::size_t end;
  };
  std::vector<std::uint32_t> rows;    ///< where each row's states begin in a block, by state and class
  std::vector<std::uint8_t> weights;  ///< of each row in `rows`; empty: once each
  std::vector<Step> steps;            ///< by weight
  std::vector<Part> parts;
  std::int64_t alone = 0;  ///< either sum when no two rows share a joint state
  bool applies = false;    ///< false: a state of too many rows

  ComparedSide() = default;
  ComparedSide(const Problem& problem, const FixedLog& log, std::span<const std::uint32_t> codes, std::int64_t states);
};

/// The sums of the partner and each feature of a block; out[lane].
void compare_block(const FixedLog& log, const ComparedSide& side, const std::uint8_t* block, bool with_class,
                   JointSums* out);

/// Features that lie too far apart to be compared where they are.
struct GatheredBlock {
  std::vector<std::int32_t> features;
  std::vector<std::size_t> places;  ///< of their pairs
  std::vector<std::uint8_t> codes;
};

/// The sums of pairs of one partner after another; `order` is the order in which they are taken: candidates that lie
/// side by side best follow each other. Each out[k] is of pairs[k].
class ComparedSums {
 public:
  ComparedSums(const FixedLog& log, const ComparedTable& table, bool with_class, GatheredBlock& gathered)
      : log_(log), table_(table), with_class_(with_class), gathered_(gathered) {}

  void operator()(const ComparedSide& side, std::span<const Pair> pairs, std::span<const std::uint32_t> order,
                  std::span<JointSums> out);

 private:
  void count_gathered(const ComparedSide& side, std::span<JointSums> out);

  const FixedLog& log_;
  const ComparedTable& table_;
  bool with_class_;
  GatheredBlock& gathered_;
};

/// The places of pairs, those of one partner side by side and in their order.
std::vector<std::uint32_t> sort_by_partner(std::span<const Pair> pairs, std::size_t partners);

}  // namespace sheaf::information::cpu
