// Splits of the rows into training and test rows, as row weights over one dataset: no row is ever copied.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sheaf/solvers/array.hpp>

namespace sheaf {

enum class SplitKind : std::uint8_t {
  k_fold,                   ///< every row is tested once, folds of equal size
  stratified_k_fold,        ///< the same with each class spread evenly over the folds
  group_k_fold,             ///< the same with the rows of one group always together
  stratified_group_k_fold,  ///< the same with each class spread as evenly as whole groups allow
  stratified_shuffle,       ///< every split tests a fraction of each class, drawn anew
  group_shuffle,            ///< every split tests whole groups, about a fraction of the rows and of each class
  leave_one_out,            ///< one split for each row
  bootstrap,                ///< every split draws as many rows as there are, with repetition, and tests the rest
  time,                     ///< every split tests a window of time and trains on rows before it
  custom,                   ///< the caller's own rows: custom_splits()
};

struct SplitOptions {
  SplitKind kind = SplitKind::stratified_k_fold;
  std::int32_t count = 5;      ///< folds, shuffles or bootstraps; leave-one-out: ignored
  double test_fraction = 0.2;  ///< shuffles only
  bool shuffle = true;         ///< k-fold kinds: mix the rows first; without it folds are runs of neighbouring rows
  std::uint64_t seed = 0;
  // Time: numbers of moments, which are the different times of rows or, without times, the rows.
  std::int64_t test_size = 0;  ///< that a split tests; 0: of moments / (count + 1) the whole part
  std::int64_t window = 0;     ///< before these that it trains on at most (a rolling window); 0: all (an expanding one)
  std::int64_t gap = 0;        ///< that are left out between the two
};

/// Training weights of `count` splits from `first` on: 0 leaves a row out, k takes it k times (bootstrap). A split
/// tests the rows that it leaves out, but for splits by time and custom ones, which may leave out rows that they do not
/// test: Splits::test_rows() has those they do. Split-minor, so the splits of one row stand side by side.
struct SplitWeights {
  std::int64_t rows = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
  Array<std::uint8_t> weights;  // rows x count

  /// `split` counts from the first of all splits.
  std::uint8_t train(std::int64_t row, std::int32_t split) const { return weights[row * count + split - first]; }
  bool left_out(std::int64_t row, std::int32_t split) const { return train(row, split) == 0; }
};

/// Rows of one split as the caller gives them, numbered from 0.
struct TrainTestRows {
  std::vector<std::int64_t> train;  ///< a row named k times weighs k times as much
  std::vector<std::int64_t> test;
};

/// How the rows are split. Takes a few bytes a row, however many splits there are: the weights of those splits that are
/// trained together are made when they are needed. Leave-one-out over a million rows costs nothing.
class Splits {
 public:
  std::int64_t rows() const { return rows_; }
  std::int32_t count() const { return count_; }
  SplitKind kind() const { return options_.kind; }

  /// Whether every row is tested by exactly one split and trained on by all others (all kinds but shuffles, bootstrap,
  /// time and custom splits that are otherwise).
  bool is_partition() const { return has_folds() && !leaves_untested_; }
  /// The split that tests a row; partitions only.
  std::int32_t tester(std::int64_t row) const;

  /// The weights of splits first .. first + count - 1, the same whichever others are requested with them.
  SplitWeights weights(std::int32_t first, std::int32_t count, int threads = 1) const;
  /// Rows that one split tests, ascending; never none.
  std::vector<std::int32_t> test_rows(std::int32_t split) const;

 private:
  friend Splits make_splits(std::int64_t, std::span<const std::int32_t>, std::span<const std::int32_t>,
                            const SplitOptions&, std::span<const std::int32_t>);
  friend Splits custom_splits(std::int64_t, std::span<const TrainTestRows>);
  friend Splits custom_splits(std::span<const std::int32_t>);
  struct RowLists {
    std::vector<std::int32_t> train, test;  // ascending
  };
  /// Whether no row is tested by two splits; else the weights of each split are drawn, or listed.
  bool has_folds() const { return kind() == SplitKind::leave_one_out || !tester_.empty(); }
  std::int32_t fold_of(std::int64_t row) const {
    return kind() == SplitKind::leave_one_out ? static_cast<std::int32_t>(row) : tester_[static_cast<std::size_t>(row)];
  }
  std::vector<std::uint8_t> draw(std::int32_t split) const;
  void plan_shuffle(std::span<const std::int32_t> classes);
  void plan_group_shuffle(std::span<const std::int32_t> classes, std::span<const std::int32_t> groups);
  void plan_time(std::span<const std::int32_t> times, std::span<const std::int32_t> groups);

  std::int64_t rows_ = 0;
  std::int32_t count_ = 0;
  SplitOptions options_;
  std::vector<std::int32_t> tester_;       // k-fold kinds: of each row; custom folds: -1 for one that none tests
  bool leaves_untested_ = false;           // custom folds
  std::vector<std::int32_t> members_;      // shuffles: rows ordered by class or group
  std::vector<std::int64_t> begins_;       // shuffles: where each class or group begins in members_, and the end
  std::vector<std::int64_t> class_tests_;  // stratified shuffle: test rows of each class
  std::vector<std::int32_t> classes_;      // group shuffle: of each row
  std::vector<RowLists> lists_;            // time, and custom splits that are no folds
};

/// "kfold", "stratified", "group", "stratified-group", "shuffle", "group-shuffle", "loo", "bootstrap", "time". Unknown
/// names are answered with the known ones.
SplitKind parse_split_kind(std::string_view text);
std::string_view to_string(SplitKind kind);

/// `classes` is needed by the stratified kinds and `groups` by the grouped ones (both row by row; else may be empty).
/// Numbers without rows are no classes. UsageErrors: no rows to test or to train on; fewer than 2 folds; more folds
/// than rows, groups or members of the smallest class; shuffles that leave a class out of training; fewer than 2 groups
/// to draw from; a fraction outside (0, 1).
///
/// Time: `times` is the place of each row in time (empty: rows stand in their order). The last count * test_size
/// moments are tested, test_size by each split, the earliest first; a split trains on rows earlier than its own by more
/// than `gap` moments, without rows of groups that it tests, if there are groups. Without groups and with times that
/// all differ these are the splits of scikit-learn's TimeSeriesSplit. UsageErrors: too few moments; a split that has no
/// rows to train on.
Splits make_splits(std::int64_t rows, std::span<const std::int32_t> classes, std::span<const std::int32_t> groups,
                   const SplitOptions& options, std::span<const std::int32_t> times = {});

/// The caller's own splits of `rows` rows. Test rows of different splits may overlap, and rows may be in neither list
/// of a split. UsageErrors that name the argument: no splits; a split without training or test rows; row numbers out of
/// range; rows tested twice by one split, or both trained on and tested; rows named over 255 times.
Splits custom_splits(std::int64_t rows, std::span<const TrainTestRows> splits);
/// The split that tests each row, from 0; -1: the row is always trained on. Every split must test some row.
Splits custom_splits(std::span<const std::int32_t> folds);

}  // namespace sheaf
