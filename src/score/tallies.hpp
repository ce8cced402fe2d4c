// What scores are made of once the rows are counted. The same for the plain functions of scores.hpp and for what a
// device counts, so that both give the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sheaf::score {

/// Rows of each class in the truth, among the predictions, and in both.
struct ClassTally {
  std::vector<double> truth, predicted, both;
};
/// `counts` as count_bins() says.
ClassTally tally_of(std::span<const std::int64_t> counts, std::int32_t classes);

double accuracy(const ClassTally& tally);
double balanced_accuracy(const ClassTally& tally);
/// `positive` as in scores.hpp.
double f1(const ClassTally& tally, std::int32_t positive);

/// How many other and positive rows have at least some value.
struct Corner {
  std::int64_t others = 0, positives = 0;
};
/// A straight piece of a ROC curve.
struct RocPiece {
  Corner from, to;
};
/// The share of `positives` rows that the curve has found at `at` other rows, on the piece over that place.
double roc_height(const RocPiece& piece, double at, std::int64_t positives);

/// How decision values order their test rows.
struct Ranking {
  std::int64_t others = 0, positives = 0;
  std::int64_t doubled = 0;      // pairs of a positive and another row in order count 2, ties 1
  std::vector<RocPiece> pieces;  // under each point of the ROC curve; none where a class is missing
};
/// NaN where a class is missing.
double auc(const Ranking& ranking);
std::vector<double> roc_curve(const Ranking& ranking);

}  // namespace sheaf::score
