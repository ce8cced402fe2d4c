#include "score/tallies.hpp"

#include <algorithm>
#include <limits>

#include "score/terms.hpp"

namespace sheaf::score {

ClassTally tally_of(std::span<const std::int64_t> counts, std::int32_t classes) {
  const auto size = static_cast<std::size_t>(classes);
  ClassTally tally{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  for (std::size_t c = 0; c < size; ++c) {
    if (classes > most_confused) {
      tally.truth[c] = static_cast<double>(counts[c]);
      tally.predicted[c] = static_cast<double>(counts[size + c]);
      tally.both[c] = static_cast<double>(counts[2 * size + c]);
      continue;
    }
    for (std::size_t p = 0; p < size; ++p) {
      tally.truth[c] += static_cast<double>(counts[c * size + p]);
      tally.predicted[c] += static_cast<double>(counts[p * size + c]);
    }
    tally.both[c] = static_cast<double>(counts[c * size + c]);
  }
  return tally;
}

double accuracy(const ClassTally& tally) {
  double right = 0;
  double rows = 0;
  for (std::size_t c = 0; c < tally.truth.size(); ++c) {
    right += tally.both[c];
    rows += tally.truth[c];
  }
  return rows > 0 ? right / rows : std::numeric_limits<double>::quiet_NaN();
}

double balanced_accuracy(const ClassTally& tally) {
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < tally.truth.size(); ++c) {
    if (tally.truth[c] == 0) continue;
    sum += tally.both[c] / tally.truth[c];
    seen += 1;
  }
  return sum / seen;
}

double f1(const ClassTally& tally, std::int32_t positive) {
  double sum = 0;
  double seen = 0;
  for (std::size_t c = 0; c < tally.truth.size(); ++c) {
    const double either = tally.truth[c] + tally.predicted[c];
    if (either == 0 || (positive >= 0 && c != static_cast<std::size_t>(positive))) continue;
    sum += 2 * tally.both[c] / either;
    seen += 1;
  }
  return sum / seen;
}

double roc_height(const RocPiece& piece, double at, std::int64_t positives) {
  const auto width = static_cast<double>(piece.to.others - piece.from.others);
  const auto rise = static_cast<double>(piece.to.positives - piece.from.positives);
  const double share = width > 0 ? std::clamp((at - static_cast<double>(piece.from.others)) / width, 0.0, 1.0) : 1.0;
  return (static_cast<double>(piece.from.positives) + share * rise) / static_cast<double>(positives);
}

double auc(const Ranking& ranking) {
  const double pairs = static_cast<double>(ranking.others) * static_cast<double>(ranking.positives);
  return static_cast<double>(ranking.doubled) / (2 * pairs);
}

std::vector<double> roc_curve(const Ranking& ranking) {
  const auto points = static_cast<std::int64_t>(ranking.pieces.size());
  std::vector<double> curve;
  for (std::int64_t p = 0; p < points; ++p)
    curve.push_back(roc_height(ranking.pieces[static_cast<std::size_t>(p)], roc_place(ranking.others, p, points),
                               ranking.positives));
  return curve;
}

}  // namespace sheaf::score
