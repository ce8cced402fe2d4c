// Information as FEAST computes it, to the last bit: probabilities count / n in double, natural logarithms, joint
// states taken with the second variable outside and the first inside, empty ones skipped, one division by log 2 at the
// end. Merged variables are numbered 1, 2, ... in the order in which rows first show their states.
//
// Compiled without fused multiply-add, like everything in this folder: if few rows make ties, rounding decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "information/criteria/criteria.hpp"

namespace sheaf::information {

/// The state of each row that counts, all less than `states`.
struct Coded {
  std::span<const std::uint32_t> codes;
  std::int64_t states = 0;
};

/// The terms of FEAST's sums for small counts, made once and looked up; larger ones are computed when they occur.
class TermTable {
 public:
  TermTable() = default;
  TermTable(std::int64_t total, std::span<const std::uint32_t> class_counts);

  /// p log(p / pa / pb), a being the first (inner) variable.
  double mutual(std::uint32_t joint, std::uint32_t a, std::uint32_t b) const {
    if (a < small && b < small) return triples_[(joint * small + a) * small + b];
    return mutual_of(joint, a, b);
  }
  /// The same, and 0 if joint is 0.
  double mutual_or_zero(std::uint32_t joint, std::uint32_t a, std::uint32_t b) const {
    if (a < small && b < small) return triples_[(joint * small + a) * small + b];
    return joint > 0 ? mutual_of(joint, a, b) : 0;
  }
  /// The same if b is the count of class y.
  double with_class(std::uint32_t joint, std::uint32_t a, std::uint32_t b, std::size_t y) const {
    if (a < small) return by_class_[(y * small + joint) * small + a];
    return mutual_of(joint, a, b);
  }
  /// The same, and 0 if joint is 0: occurrence of a state is nearly random, and a branch would cost more.
  double with_class_or_zero(std::uint32_t joint, std::uint32_t a, std::uint32_t b, std::size_t y) const {
    if (a < small) return by_class_[(y * small + joint) * small + a];
    return joint > 0 ? mutual_of(joint, a, b) : 0;
  }
  /// p log(p / pb).
  double conditional(std::uint32_t joint, std::uint32_t b) const {
    return b < small ? pairs_[joint * small + b] : conditional_of(joint, b);
  }
  /// p log p.
  double alone(std::uint32_t count) const { return count < small ? singles_[count] : alone_of(count); }

  /// Terms of class y: term [joint * small + a], 0 if joint is 0; for counts less than `small`.
  const double* of_class(std::size_t y) const { return by_class_.data() + y * small * small; }
  const double* of_counts() const { return singles_.data(); }
  static constexpr std::uint32_t small = 32;

  double mutual_of(std::uint32_t joint, std::uint32_t a, std::uint32_t b) const;
  double conditional_of(std::uint32_t joint, std::uint32_t b) const;
  double alone_of(std::uint32_t count) const;

 private:
  double total_ = 1;
  std::vector<double> triples_, by_class_, pairs_, singles_;
};

/// The rows that count, in the order of the table.
struct OrderedRows {
  std::span<const std::uint32_t> weights;  ///< empty: each counts once
  Coded classes;
  std::vector<std::uint32_t> class_counts;
  std::int64_t total = 0;
  TermTable terms;
  std::vector<std::uint32_t> by_class;    ///< row numbers, the rows of one class side by side
  std::vector<std::size_t> class_begins;  ///< in by_class, and the end

  /// Computes the members that follow from weights and classes.
  void finish();
};

/// Numbers the joint states of a and b from 1 in order of first appearance; returns their number plus one.
class Merger {
 public:
  std::int64_t merge(Coded a, Coded b, std::vector<std::uint32_t>& ids);
  /// The same by the rows whose weight is not 0; the others get 0. No weights: by all rows.
  std::int64_t merge(Coded a, Coded b, std::span<const std::uint32_t> weights, std::vector<std::uint32_t>& ids);

 private:
  std::int64_t merge_sorted(Coded a, Coded b, std::vector<std::uint32_t>& ids);
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> keys_;
};

/// The rows of each state side by side, states ascending.
struct StateRows {
  StateRows() = default;
  explicit StateRows(Coded variable);
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> begins;  ///< of each state, and the end
};

/// One partner's side of every pair, prepared once.
struct OrderedPartner {
  std::vector<std::uint32_t> codes;
  std::int64_t states = 0;
  std::vector<std::uint32_t> counts;      ///< of each state
  std::vector<std::uint32_t> with_class;  ///< merged with the class
  std::int64_t with_class_states = 0;
  double entropy_in_class = 0;  ///< H(S|Y)
  StateRows by_state, by_state_and_class;

  Coded coded() const { return {codes, states}; }
};

/// A worker with its own scratch memory: one for each thread.
class OrderedCounter {
 public:
  OrderedPartner prepare(const OrderedRows& rows, std::vector<std::uint32_t> codes, std::int64_t states);
  PairTerms terms(const OrderedRows& rows, const OrderedPartner& partner, Coded candidate, Terms wanted);

  /// I(A;B) with b outside.
  double mutual_information(const OrderedRows& rows, Coded a, Coded b);
  /// I(A;Y), class outside.
  double relevance(const OrderedRows& rows, Coded a);
  /// H(A|B) with b outside.
  double conditional_entropy(const OrderedRows& rows, Coded a, Coded b);
  /// The same, b's rows being sorted already.
  double conditional_entropy(const OrderedRows& rows, Coded a, const StateRows& b);
  double entropy(const OrderedRows& rows, Coded a);

 private:
  template <class Visit>
  void visit_cells(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit);
  template <class Visit>
  void visit_table(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit);
  template <class Visit>
  void visit_sorted(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit);
  void count(const OrderedRows& rows, Coded a, std::vector<std::uint32_t>& counts);
  void merged_with_class(const OrderedRows& rows, Coded merged, Terms wanted, PairTerms& out);
  bool merge_small(const OrderedRows& rows, Coded a, Coded b);
  template <bool Weighted>
  void number_and_count(const OrderedRows& rows, Coded a, Coded b);
  template <bool WithEntropy>
  void sum_small(const OrderedRows& rows, PairTerms& out);

  Merger merger_;
  std::vector<std::uint32_t> merged_, inner_counts_, outer_counts_, table_;
  std::vector<std::uint64_t> present_;
  std::vector<std::uint64_t> keys_;
  // of merge_small
  std::vector<std::uint32_t> numbers_;  ///< of joint states, above `base_` if this pair has shown them
  std::vector<std::uint16_t> small_counts_, in_class_, places_;
  std::uint32_t base_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t largest_ = 0;
};

}  // namespace sheaf::information
