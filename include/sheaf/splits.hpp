// Splits as row weights over one dataset: no row is ever copied.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/array.hpp>

namespace sheaf {

enum class SplitKind : std::uint8_t {
  k_fold,
  stratified_k_fold,
  group_k_fold,
  stratified_shuffle,
  leave_one_out,
  bootstrap,
};

struct SplitOptions {
  SplitKind kind = SplitKind::stratified_k_fold;
  int count = 5;               ///< folds, shuffles or bootstraps; leave-one-out: ignored
  double test_fraction = 0.2;  ///< stratified shuffle only
  bool shuffle = true;         ///< k-fold kinds: mix the rows first
  std::uint64_t seed = 0;
};

/// Training weights of `count` splits over `rows` rows, one byte or count each: 0 leaves a row out, k takes it k times
/// (bootstrap). A row is tested by split s where its training weight is 0 (for leave-out kinds exactly the left-out
/// rows; for the bootstrap the out-of-bag rows). Split-minor: train(i, s) = weights[i * count + s].
struct Splits {
  std::int64_t rows = 0;
  std::int32_t count = 0;
  Array<std::uint8_t> weights;

  std::uint8_t train(std::int64_t row, std::int32_t split) const { return weights[row * count + split]; }
  bool test(std::int64_t row, std::int32_t split) const { return train(row, split) == 0; }
};

/// "kfold", "stratified", "group", "shuffle", "loo", "bootstrap". Unknown names are answered with the known ones.
SplitKind parse_split_kind(std::string_view text);

/// `classes` is needed by the stratified kinds and `groups` by the grouped one (both row by row; else may be empty).
/// More folds than rows, groups or members of the smallest class, a fraction outside (0, 1) ... are UsageErrors.
Splits make_splits(std::int64_t rows, std::span<const std::int32_t> classes, std::span<const std::int32_t> groups,
                   const SplitOptions& options);

}  // namespace sheaf
