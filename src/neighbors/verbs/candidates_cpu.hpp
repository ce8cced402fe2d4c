// The rows that may still be among the nearest, query by query.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "neighbors/verbs/exact_cpu.hpp"
#include "neighbors/verbs/filter_plan.hpp"
#include "neighbors/verbs/found.hpp"

namespace sheaf::neighbors::cpu {

struct Candidate {
  float lower;  ///< bound of its distance, in the filter's unit
  std::int32_t row;
};

/// Keeps every row whose lower bound is at most the k-th smallest upper bound so far, so that the k nearest are among
/// them. Lists are compacted when they are full. One that stays full (many rows at nearly the same distance) is decided
/// exactly and continues with the k nearest.
class Candidates {
 public:
  /// Lists of the queries in `rows` of the filter's places. `queries` and `data` are the slacks of both. All must
  /// outlive it.
  Candidates(Range rows, std::int64_t k, const FilterPlan& plan, const Array<float>& queries, const Array<float>& data,
             const ExactDistances& exact, const Allowed& allowed)
      : first_(rows.begin),
        k_(k),
        capacity_(capacity(k)),
        plan_(plan),
        queries_(queries),
        data_(data),
        exact_(exact),
        allowed_(allowed),
        entries_((rows.end - rows.begin) * capacity_),
        counts_(Array<std::int32_t>::zeros(rows.end - rows.begin)),
        limits_(rows.end - rows.begin) {
    std::fill(limits_.begin(), limits_.end(), std::numeric_limits<float>::max());
  }

  static std::int64_t capacity(std::int64_t k) { return k + std::max<std::int64_t>(k, 64); }
  static std::int64_t bytes_per_row(std::int64_t k) {
    return capacity(k) * static_cast<std::int64_t>(sizeof(Candidate)) + 16;
  }

  /// Limits by the filter's places.
  const float* limits() const { return limits_.data() - first_; }

  /// Memory of one thread.
  struct Scratch {
    std::vector<double> uppers;
    std::vector<std::int32_t> rows;
    std::vector<double> distances;
    std::vector<Found> found;
    ExactDistances::Scratch exact;
  };

  void offer(std::int64_t i, std::int64_t row, float lower, Scratch& scratch) {
    const auto at = i - first_;
    if (lower > limits_[at] || !allowed_(i, row)) return;
    entries_[at * capacity_ + counts_[at]++] = {lower, static_cast<std::int32_t>(row)};
    if (counts_[at] == capacity_) compact(i, scratch);
  }

  /// The k nearest of a query, whose list is complete.
  void decide(std::int64_t i, Scratch& scratch, std::int32_t* indices, double* distances) {
    if (counts_[i - first_] > k_) tighten(i, scratch);
    find(i, scratch);
    std::sort(scratch.found.begin(), scratch.found.begin() + k_);
    for (std::int64_t k = 0; k < k_; ++k) {
      indices[k] = scratch.found[static_cast<std::size_t>(k)].row;
      distances[k] = scratch.found[static_cast<std::size_t>(k)].distance;
    }
  }

 private:
  Candidate* list(std::int64_t i) { return entries_.data() + (i - first_) * capacity_; }

  void keep_within_limit(std::int64_t i) {
    Candidate* entries = list(i);
    auto& count = counts_[i - first_];
    const float limit = limits_[i - first_];
    count = static_cast<std::int32_t>(
        std::remove_if(entries, entries + count, [&](const Candidate& c) { return c.lower > limit; }) - entries);
  }

  /// Drops candidates that the upper bounds rule out.
  void tighten(std::int64_t i, Scratch& scratch) {
    const auto at = i - first_;
    const Candidate* entries = list(i);
    const double own = static_cast<double>(queries_[i]);
    scratch.uppers.resize(static_cast<std::size_t>(counts_[at]));
    for (std::size_t c = 0; c < scratch.uppers.size(); ++c)
      scratch.uppers[c] =
          static_cast<double>(entries[c].lower) + 2 * (own + static_cast<double>(data_[entries[c].row]));
    const auto middle = scratch.uppers.begin() + (k_ - 1);
    std::nth_element(scratch.uppers.begin(), middle, scratch.uppers.end());
    lower_limit(at, static_cast<float>(*middle + std::abs(*middle) * 0x1p-22 + 0x1p-120));
    keep_within_limit(i);
  }

  void compact(std::int64_t i, Scratch& scratch) {
    tighten(i, scratch);
    if (counts_[i - first_] > capacity_ - capacity_ / 8) resolve(i, scratch);
  }

  /// Exact distances of all candidates, the k nearest in front.
  void find(std::int64_t i, Scratch& scratch) {
    const Candidate* entries = list(i);
    const auto count = static_cast<std::size_t>(counts_[i - first_]);
    scratch.rows.resize(count);
    scratch.distances.resize(count);
    scratch.found.resize(count);
    for (std::size_t c = 0; c < count; ++c) scratch.rows[c] = entries[c].row;
    exact_.to_rows(allowed_.query(i), scratch.rows, scratch.distances.data(), scratch.exact);
    for (std::size_t c = 0; c < count; ++c)
      scratch.found[c] = {scratch.distances[c], scratch.rows[c], entries[c].lower};
    std::nth_element(scratch.found.begin(), scratch.found.begin() + (k_ - 1), scratch.found.end());
  }

  void resolve(std::int64_t i, Scratch& scratch) {
    find(i, scratch);
    Candidate* entries = list(i);
    const auto last = scratch.found.begin() + (k_ - 1);
    lower_limit(i - first_, plan_.upper(last->distance));
    for (std::int64_t k = 0; k < k_; ++k) {
      const auto& found = scratch.found[static_cast<std::size_t>(k)];
      entries[k] = {found.lower, found.row};
    }
    counts_[i - first_] = static_cast<std::int32_t>(k_);
  }

  void lower_limit(std::int64_t at, float limit) { limits_[at] = std::min(limits_[at], limit); }

  std::int64_t first_;
  std::int64_t k_;
  std::int64_t capacity_;
  const FilterPlan& plan_;
  const Array<float>& queries_;
  const Array<float>& data_;
  const ExactDistances& exact_;
  const Allowed& allowed_;
  Array<Candidate> entries_;  // rows x capacity
  Array<std::int32_t> counts_;
  Array<float> limits_;
};

}  // namespace sheaf::neighbors::cpu
