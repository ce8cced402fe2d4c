// What a search trains: the splits of all its levels in one list, and how costs and splits are cut into batches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/search.hpp>

#include "linear/model/problem.hpp"
#include "score/test_rows.hpp"

namespace sheaf::search {

/// One search among several: level 0 over all rows, level k without the rows of outer fold k.
struct Level {
  Splits splits;
  std::vector<std::int32_t> rows;  // those it may use, ascending; empty: all
};

class Plan {
 public:
  /// `options` must have nothing left open. `groups` may be empty.
  Plan(const linear::Problem& problem, std::span<const std::int32_t> groups, const SearchOptions& options,
       std::uint64_t seed);

  /// Splits of one level.
  std::int32_t splits() const { return levels_.front().splits.count(); }
  /// Splits of all levels, and the outer folds behind them.
  std::int32_t all_splits() const { return static_cast<std::int32_t>(inner_splits() + outer_folds()); }
  std::int32_t inner_splits() const { return static_cast<std::int32_t>(levels_.size()) * splits(); }
  std::int32_t outer_folds() const { return static_cast<std::int32_t>(levels_.size()) - 1; }

  /// "split 3", "split 3 of outer fold 2", "outer fold 2"; counted from 1.
  std::string name(std::int32_t split) const;
  /// Row weights of splits first .. first + count - 1, split-minor.
  std::vector<float> weights(std::int32_t first, std::int32_t count, int threads) const;
  std::vector<std::int32_t> test_rows(std::int32_t split) const;
  /// Those of splits first .. first + count - 1.
  score::TestRows tests(std::int32_t first, std::int32_t count, int threads) const;

 private:
  std::int64_t rows_;
  std::vector<Level> levels_;
  std::vector<Splits> outer_;  // one or none
};

struct Batch {
  std::int32_t first_split = 0, splits = 0;
  std::int32_t first_cost = 0, costs = 0;
};

/// Batches of about `tasks` tasks, those over the same splits in a row. `columns` tasks make a model.
std::vector<Batch> plan_batches(std::int32_t splits, std::int32_t costs, std::int32_t columns, std::int32_t tasks,
                                std::int32_t most_splits);

/// Weighted rows of each class in training, and rows of each in testing: splits x classes.
struct ClassCounts {
  std::vector<double> train, test;
};
/// Errors: a split that does not train on all classes, or whose test rows leave the score undefined.
ClassCounts check_splits(const Plan& plan, const linear::Problem& problem, std::span<const double> amounts,
                         Metric score, int threads);

}  // namespace sheaf::search
