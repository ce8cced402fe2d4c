// Pairs of few rows and two classes in FEAST's order, for features whose states are bytes: typical of gene data.
//
// A joint state has one entry, the counts of both classes side by side, which is also the index of its terms. Rows take
// their entries in their own order, the first to come finding it and the others zeros, whose terms are 0 and change no
// sum: that is FEAST's order of merged states without numbering them.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "information/count/ops.hpp"
#include "information/count/ordered.hpp"

namespace sheaf::information {

/// Terms or sums of information and entropy side by side.
struct Both {
  double information = 0;
  double entropy = 0;
  Both& operator+=(const Both& other) {
    information += other.information;
    entropy += other.entropy;
    return *this;
  }
};

/// Shared by all pairs.
class SmallRows {
 public:
  SmallRows() = default;
  /// Does not apply if classes are not two or rows are too many.
  explicit SmallRows(const OrderedRows& rows);
  bool apply() const { return !steps_.empty(); }

  static constexpr std::uint32_t next = 256;  ///< an entry is count of class 0 + next * count of class 1

  std::span<const std::uint16_t> steps() const { return steps_; }
  /// [next * joint + count of the condition], 0 if joint is 0.
  const double* conditional() const { return conditional_.data(); }
  /// By entry: doubles of information, or Both.
  template <class Value>
  const Value* terms(int y) const {
    if constexpr (std::is_same_v<Value, double>)
      return information_[y].data();
    else
      return both_[y].data();
  }

 private:
  std::vector<std::uint16_t> steps_;  ///< what each row adds to its entry
  std::vector<double> information_[2], conditional_;
  std::vector<Both> both_[2];
};

/// The groups of rows that a partner makes, alone or with the class, in FEAST's order.
struct SmallGroups {
  SmallGroups() = default;
  /// `weights`: how often each row counts; empty: once each.
  SmallGroups(std::span<const std::uint32_t> codes, std::int64_t states, std::span<const std::uint32_t> weights);

  std::vector<std::uint8_t> of_row;
  std::vector<std::uint8_t> begins;    ///< of each group, in places sorted by group
  std::vector<std::uint8_t> count_at;  ///< rows in the group of each place
  std::vector<std::uint8_t> count_of;  ///< rows in the group of each row
  std::vector<std::uint8_t> sorted;    ///< the row at each place
};

/// The same for all features of a table, without their rows.
class FeatureGroups {
 public:
  FeatureGroups() = default;
  /// By the feature's states, or by its states merged with the class.
  FeatureGroups(const SmallRows& rows, const std::uint8_t* codes, std::int64_t features, bool with_class, int threads);

  struct Of {
    const std::uint8_t* begins;    ///< of the group of each row
    const std::uint8_t* count_at;  ///< rows in the group of each place
  };
  Of of(std::int64_t feature) const {
    const auto first = static_cast<std::size_t>(feature) * rows_;
    return {begins_.data() + first, count_at_.data() + first};
  }
  bool empty() const { return begins_.empty(); }

 private:
  std::size_t rows_ = 0;
  std::vector<std::uint8_t> begins_, count_at_;
};

/// The chosen rows of each feature of a table of `rows`.
std::vector<std::uint8_t> choose_rows_of(const Array<std::uint8_t>& codes, std::int64_t rows,
                                         std::span<const std::uint32_t> chosen, int threads);

/// The rows of each feature sorted by its states.
std::vector<std::uint8_t> sort_rows(const std::uint8_t* codes, std::int64_t rows, std::int64_t features, int threads);

struct SmallPair {
  const std::uint16_t* partner;  ///< its states times the most states of any candidate
  const std::uint8_t* candidate;
};

/// A worker with its own scratch memory: one for each thread.
class SmallCounter {
 public:
  /// Pairs counted side by side: additions of one wait for each other, those of several do not.
  static constexpr std::size_t together = 4;
  static constexpr std::size_t most_cells = 1 << 16;  ///< states of the partner times the most of any candidate

  /// I(SJ;Y) and, if wanted, H(SJ,Y).
  void joint(const SmallRows& rows, const SmallPair (&pairs)[together], bool with_entropy, PairTerms (&out)[together]);

  /// I(J;Y|S). `sorted`: the rows by the candidate's states.
  double beyond(const SmallRows& rows, const SmallPair& pair, const std::uint8_t* sorted, const SmallGroups& alone,
                const SmallGroups& with_class);

  /// I(S;J).
  double between(const SmallRows& rows, const TermTable& terms, const SmallPair& pair, const SmallGroups& partner,
                 FeatureGroups::Of candidate);
  /// H(S|JY). `candidate`: its groups with the class.
  double partner_given(const SmallRows& rows, const SmallPair& pair, const SmallGroups& partner,
                       FeatureGroups::Of candidate);

 private:
  void count_one(const SmallRows& rows, const SmallPair& pair, std::uint16_t* cells);
  void find_cells(const SmallPair (&pairs)[together], std::size_t size);
  void count(const SmallRows& rows, const SmallPair (&pairs)[together]);
  template <class Value>
  void take(const SmallRows& rows, Value (&sums)[together]);
  template <class Value>
  void add(const SmallRows& rows, Value (&sums)[together]) const;

  static constexpr std::size_t room = 256;
  static constexpr std::size_t apart = most_cells + 4224;  ///< not a power of 2: tables then share no cache lines
  std::vector<std::uint16_t> tables_;                      ///< made when first needed
  std::uint16_t cells_[room][together] = {};
  std::uint16_t entries_[room][together] = {};  ///< as rows find them
};

}  // namespace sheaf::information
