// The rows of a search: the splits of all its levels and the outer folds behind them, as one list. A level is a search
// over all rows, or over those that an outer fold does not hold out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/search.hpp>

#include "data/labels.hpp"
#include "family/split_table.hpp"

namespace sheaf::engine {

/// Columns of the rows, besides labels, that splits use; lists are empty or have an entry for each row.
struct PlanRows {
  std::span<const std::int32_t> groups;
  std::span<const std::int32_t> times;
  bool always = false;  ///< splits of kinds without groups keep these together too
};

/// Kinds that keep groups together.
bool by_groups(SplitKind kind);
/// Kinds that can keep groups together and need not.
bool can_keep_groups(SplitKind kind);

class Plan {
 public:
  /// `options` must have nothing left open. Too few rows or groups, a split that trains on no row of some class, and
  /// test rows that do not define the score are Errors.
  Plan(const Labels& labels, const PlanRows& rows, const SearchOptions& options, std::uint64_t seed, int threads);

  /// Splits of one level.
  std::int32_t splits() const { return levels_.front().splits.count(); }
  std::int32_t levels() const { return static_cast<std::int32_t>(levels_.size()); }
  std::int32_t outer_folds() const { return outer_.empty() ? 0 : outer_.front().count(); }
  std::int32_t all_splits() const { return levels() * splits() + outer_folds(); }
  SplitCounts split_counts() const { return {all_splits(), splits()}; }
  /// The level without the rows of an outer fold.
  std::int32_t level_of(std::int32_t outer) const { return outer + levels() - outer_folds(); }
  std::int32_t inner_split(std::int32_t level, std::int32_t split) const { return level * splits() + split; }
  std::int32_t outer_split(std::int32_t outer) const { return levels() * splits() + outer; }
  /// Number of groups that stay together; 0: rows are split without regard to groups.
  std::int64_t groups() const { return groups_; }

  /// "split 3", "split 3 of outer fold 2", "outer fold 2"; counted from 1.
  std::string name(std::int32_t split) const;
  std::vector<std::int32_t> test_rows(std::int32_t split) const;
  SplitTable table(std::vector<std::int32_t> splits, int threads) const;

 private:
  struct Level {
    Splits splits;
    std::vector<std::int32_t> rows;  // those it may use, ascending; empty: all
  };
  struct Place {
    const Splits* from;
    std::int32_t split;
    const std::vector<std::int32_t>* rows;
  };

  void add_outer(const PlanRows& rows, const SearchOptions& options, std::uint64_t seed);
  void add_level(std::int32_t outer, const PlanRows& known, const SearchOptions& options, std::uint64_t seed);
  Place place(std::int32_t split) const;
  std::vector<float> weights(std::span<const std::int32_t> splits, int threads) const;
  void check(std::int32_t split, Metric score);
  std::string remedy(std::int32_t split) const;

  const Labels& labels_;
  std::span<const float> row_weights_;
  std::vector<std::int32_t> classes_;  // as splits see them: of a regression in a study all rows are of class 0
  std::vector<Level> levels_;
  std::vector<Splits> outer_;  // one or none
  bool full_;
  bool by_time_;
  bool leave_one_out_in_folds_;
  std::int64_t groups_ = 0;
  std::vector<double> class_counts_;  // all splits x classes
};

}  // namespace sheaf::engine
