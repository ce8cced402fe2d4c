// The rows of a study: its splits, the folds within each, and which pairs of the grid are tried next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/study.hpp>

#include "linear/model/problem.hpp"
#include "score/test_rows.hpp"

namespace sheaf::search {

/// Parts of a split: its folds, which leave out some of its rows, and behind them the whole, which leaves out those
/// that the split does.
class StudyPlan {
 public:
  /// `groups` are heeded where the options say so. Errors: too few groups; a part that trains on no row of some class,
  /// or that leaves out rows which do not define the score.
  StudyPlan(const linear::Problem& problem, std::span<const std::int32_t> groups, const StudyOptions& options,
            std::uint64_t seed, int threads);

  std::int32_t splits() const { return outer_.count(); }
  std::int32_t folds() const { return parts() - 1; }
  std::int32_t parts() const { return parts_; }
  /// Whose rows are kept together; 0: none are heeded.
  std::int64_t groups() const { return groups_; }

  /// Of all rows: `base` (empty: all 1) times the weights that balance the classes, where they are to be balanced.
  std::vector<float> weights(std::span<const float> base) const;
  /// Row weights of the parts of `count` splits, one column each, those of a split side by side; times `base` where
  /// that is not empty, and balanced over the rows that each part trains on.
  std::vector<float> weights(std::int32_t first, std::int32_t count, std::span<const float> base) const;
  /// The rows that each of these parts leaves out.
  score::TestRows tests(std::int32_t first, std::int32_t count) const;

 private:
  std::vector<std::int32_t> left_out(std::int32_t split, std::int32_t part) const;
  void divide(const linear::Problem& problem, std::span<const std::int32_t> groups, std::int32_t folds,
              std::int32_t split, std::uint64_t seed);
  void balance(std::span<float> table, std::size_t columns) const;
  void check(const linear::Problem& problem, Metric score, std::int32_t split, std::int32_t part) const;
  std::string name(std::int32_t split, std::int32_t part) const;

  std::int64_t rows_;
  std::int32_t parts_;
  std::int64_t groups_ = 0;
  std::vector<std::int32_t> classes_;   // of each row; amounts: all 0
  std::vector<std::uint8_t> balanced_;  // whether a class is weighed by how many rows it has; none: no class is
  Splits outer_;
  std::vector<std::vector<std::int32_t>> trained_;  // rows of each split
  std::vector<Splits> folds_;                       // of those rows
};

/// Pairs are counted l1-ratio by l1-ratio, alphas descending in each.
class StudyStrategy {
 public:
  StudyStrategy(const StudyOptions& options, std::int32_t alphas, std::uint64_t seed);

  /// What to try next, ascending, where `scores` (larger is better; NaN: not tried) are known; nothing: enough.
  std::vector<std::int32_t> next(std::span<const double> scores) const;

 private:
  std::vector<std::int32_t> all() const;
  std::vector<std::int32_t> drawn() const;
  std::vector<std::int32_t> around(std::int32_t pair, std::int32_t l1_reach, std::int32_t alpha_reach,
                                   bool between) const;
  std::vector<std::int32_t> descend(std::span<const double> scores) const;

  Strategy strategy_;
  std::int32_t l1_ratios_;
  std::int32_t alphas_;
  std::int32_t trials_;
  std::uint64_t seed_;
};

}  // namespace sheaf::search
