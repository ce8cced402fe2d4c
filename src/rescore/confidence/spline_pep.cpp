// PEPs by a penalised logistic spline: Kall, Storey, Noble 2008 (Non-parametric estimation of posterior error
// probabilities), with the matrices Q and R of Green and Silverman 1994 (Nonparametric regression and generalized
// linear models, section 2.1). The penalty is the one whose curve has the least steep fall, plus itself, as in
// Percolator.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/fail.hpp"
#include "rescore/confidence/curves.hpp"
#include "rescore/confidence/pep.hpp"

namespace sheaf::rescore {
namespace {

constexpr int intervals = logistic_intervals;
constexpr double most_log_odds = 35;
constexpr double slope_weight = 10;
const double golden = 2 / (1 + std::sqrt(5.0));

LogisticBins bin_scores(const Ranking& ranking, double pi0) {
  LogisticBins bins;
  const std::size_t n = ranking.size();
  const CountsBelow below(pi0 < 1 ? ranking : Ranking{});
  const double bin_size = std::max(static_cast<double>(n) / intervals, 1.0);
  int left = intervals - 1;
  double correct_decoys = 0;
  std::size_t begin = 0;
  std::size_t decoys_before = 0;
  std::size_t in_bin = 0;
  std::size_t tied = 0;
  for (std::size_t i = 0; i < n; ++i) {
    in_bin += ranking.targets[i] != 0 ? 0 : 1;
    tied += ranking.targets[i] != 0 ? 0 : 1;
    if (!ranking.ends_tie(i)) continue;
    if (pi0 < 1 && tied > 0)
      correct_decoys += static_cast<double>(tied) * below.correct_share(decoys_before + in_bin, pi0) * (1 - pi0);
    tied = 0;
    if (static_cast<double>(n - i - 1) > left * bin_size) continue;
    const std::size_t count = i + 1 - begin;
    const double median = ranking.scores[begin + count / 2];
    const double incorrect = static_cast<double>(in_bin) * pi0 + correct_decoys;
    add_bin(bins, median, incorrect, static_cast<double>(count - in_bin) + incorrect);
    begin = i + 1;
    --left;
    decoys_before += in_bin;
    in_bin = 0;
    correct_decoys = 0;
  }
  return bins;
}

ScoreTransform choose_transform(std::span<const double> x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  ScoreTransform transform;
  transform.logit = *low >= 0 && *high <= 1;
  transform.log = !transform.logit && *low >= 0;
  transform.low = (transform.logit || transform.log) && *low <= 0 ? 1e-20 : 0;
  transform.high = transform.logit && *high >= 1 ? 1e-10 : 0;
  return transform;
}

class LogisticSpline {
 public:
  explicit LogisticSpline(LogisticBins bins)
      : bins_(std::move(bins)), transform_(choose_transform(bins_.x)), n_(bins_.x.size()) {
    for (double& x : bins_.x) x = transform_(x);
    for (std::size_t i = 0; i + 1 < n_; ++i) h_.push_back(bins_.x[i + 1] - bins_.x[i]);
    for (std::size_t i = 0; i < n_; ++i) {
      const double p = (bins_.incorrect[i] + 0.05) / (bins_.size[i] + 0.1);
      next_.push_back(std::log(p / (1 - p)));
    }
    fit(choose_penalty());
  }

  LogisticCurve curve() && { return {std::move(bins_.x), std::move(h_), std::move(g_), std::move(gamma_), transform_}; }

 private:
  /// Iteratively reweighted least squares with this penalty, from where the last fit ended.
  void fit(double alpha) {
    constexpr int most_turns = 20;
    constexpr double least_step = 1e-8;
    for (int turn = 0; turn < most_turns; ++turn) {
      g_ = next_;
      reweight();
      solve(alpha);
      double squares = 0;
      for (std::size_t i = 0; i < n_; ++i) squares += (g_[i] - next_[i]) * (g_[i] - next_[i]);
      if (std::sqrt(squares) / static_cast<double>(n_) <= least_step) break;
    }
    g_ = next_;
  }

  void reweight() {
    constexpr double least = 1e-15;
    z_.resize(n_);
    w_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const double e = std::exp(g_[i]);
      const double p = std::clamp(e / (1 + e), least, 1 - least);
      w_[i] = std::max(bins_.size[i] * p * (1 - p), least);
      z_[i] = std::clamp(g_[i] + (bins_.incorrect[i] - p * bins_.size[i]) / w_[i], -most_log_odds, most_log_odds);
    }
  }

  /// Row i of Q has entries for the inner knots i-2, i-1, i (counted from 0).
  std::array<double, 3> q_column(std::size_t j) const {  // of inner knot j: rows j, j+1, j+2
    return {1 / h_[j], -1 / h_[j] - 1 / h_[j + 1], 1 / h_[j + 1]};
  }

  /// (R + alpha Q' W^-1 Q) gamma = Q' z, a positive definite system of five diagonals; then g = z - alpha W^-1 Q gamma.
  void solve(double alpha) {
    const std::size_t m = n_ - 2;
    std::vector<double> d0(m);
    std::vector<double> d1(m, 0.0);  // next to the diagonal: (j, j+1)
    std::vector<double> d2(m, 0.0);
    gamma_.assign(m, 0.0);
    for (std::size_t j = 0; j < m; ++j) {
      const auto a = q_column(j);
      d0[j] = (h_[j] + h_[j + 1]) / 3;
      for (std::size_t k = 0; k < 3; ++k) d0[j] += alpha * a[k] * a[k] / w_[j + k];
      if (j + 1 < m) {
        const auto b = q_column(j + 1);
        d1[j] = h_[j + 1] / 6 + alpha * (a[1] * b[0] / w_[j + 1] + a[2] * b[1] / w_[j + 2]);
      }
      if (j + 2 < m) d2[j] = alpha * a[2] * q_column(j + 2)[0] / w_[j + 2];
      gamma_[j] = a[0] * z_[j] + a[1] * z_[j + 1] + a[2] * z_[j + 2];
    }
    // L D L' in place: d1 and d2 become the rows of L'.
    for (std::size_t j = 0; j < m; ++j) {
      const double l1 = j + 1 < m ? d1[j] / d0[j] : 0;
      const double l2 = j + 2 < m ? d2[j] / d0[j] : 0;
      if (j + 1 < m) {
        d0[j + 1] -= l1 * d1[j];
        gamma_[j + 1] -= l1 * gamma_[j];
      }
      if (j + 2 < m) {
        d1[j + 1] -= l1 * d2[j];
        d0[j + 2] -= l2 * d2[j];
        gamma_[j + 2] -= l2 * gamma_[j];
      }
      d1[j] = l1;
      d2[j] = l2;
    }
    for (std::size_t j = m; j-- > 0;) {
      gamma_[j] /= d0[j];
      if (j + 1 < m) gamma_[j] -= d1[j] * gamma_[j + 1];
      if (j + 2 < m) gamma_[j] -= d2[j] * gamma_[j + 2];
    }
    next_ = z_;
    for (std::size_t j = 0; j < m; ++j) {
      const auto a = q_column(j);
      for (std::size_t k = 0; k < 3; ++k) next_[j + k] -= alpha * a[k] * gamma_[j] / w_[j + k];
    }
    for (double& value : next_) value = std::clamp(value, -most_log_odds, most_log_odds);
  }

  /// The steepest fall right of the highest point, weighed against the penalty.
  double slope_score(double alpha) {
    fit(alpha);
    std::size_t highest = 1;
    for (std::size_t i = 1; i + 1 < n_; ++i)
      if (g_[i] >= g_[highest]) highest = i;
    double steepest = -10e6;
    for (std::size_t i = highest + 1; i + 2 < n_; ++i) steepest = std::max(steepest, g_[i - 1] - g_[i]);
    return steepest * slope_weight + alpha;
  }

  /// Golden section over p in (0, 1), alpha = -log p.
  double choose_penalty() {
    double low = 0;
    double high = 1;
    double p1 = 1 - golden;
    double p2 = golden;
    double score2 = slope_score(-std::log(p2));
    double score1 = slope_score(-std::log(p1));
    while (true) {
      double before = 0;
      if (score2 < score1) {
        low = p1;
        p1 = p2;
        p2 = low + golden * (high - low);
        before = score1;
        score1 = score2;
        score2 = slope_score(-std::log(p2));
      } else {
        high = p2;
        p2 = p1;
        p1 = low + (1 - golden) * (high - low);
        before = score2;
        score2 = score1;
        score1 = slope_score(-std::log(p1));
      }
      if ((before - std::min(score1, score2)) / before < 1e-5 || std::abs(p2 - p1) < 1e-10)
        return score1 < score2 ? -std::log(p1) : -std::log(p2);
    }
  }

  LogisticBins bins_;
  ScoreTransform transform_;
  std::size_t n_;
  std::vector<double> h_;         // between neighbouring medians
  std::vector<double> g_, next_;  // log odds at the medians
  std::vector<double> gamma_;     // second derivatives at the inner medians
  std::vector<double> z_, w_;
};

/// Log odds of the best to the worst as probabilities that never fall.
std::vector<double> as_peps(std::vector<double> peps) {
  const double top = std::min(1.0, std::exp(*std::max_element(peps.begin(), peps.end())));
  bool reached = false;  // from there on every PSM is as bad as the worst
  for (double& pep : peps) {
    pep = reached ? top : std::exp(pep);
    reached = reached || pep >= top;
    pep = std::min(pep, top);
  }
  for (std::size_t i = peps.size(); i-- > 1;) peps[i - 1] = std::min(peps[i - 1], peps[i]);
  return peps;
}

}  // namespace

LogisticCurve fit_logistic(LogisticBins bins) {
  if (bins.x.size() < 4)
    fail("PEPs by a spline need 4 bins of different scores, and there are {}; use another way to estimate PEPs",
         bins.x.size());
  if (bins.x.front() > bins.x.back()) {
    std::reverse(bins.x.begin(), bins.x.end());
    std::reverse(bins.incorrect.begin(), bins.incorrect.end());
    std::reverse(bins.size.begin(), bins.size.end());
  }
  return LogisticSpline(std::move(bins)).curve();
}

std::vector<double> spline_peps(const Ranking& ranking, bool mixed, double pi0) {
  if (ranking.size() == 0) return {};
  // Bins are made from the best PSM on for mix-max, and from the worst on otherwise.
  std::vector<double> scores(ranking.scores.begin(), ranking.scores.end());
  std::vector<std::uint8_t> targets(ranking.targets.begin(), ranking.targets.end());
  if (!mixed) {
    std::reverse(scores.begin(), scores.end());
    targets = std::vector<std::uint8_t>(targets.rbegin(), targets.rend());
  }
  const auto curve = fit_logistic(bin_scores({scores, targets}, pi0));
  std::vector<double> peps;
  for (const double score : ranking.scores) peps.push_back(curve.view().at(score));
  return as_peps(std::move(peps));
}

std::vector<double> negated_spline_peps(const Ranking& ranking) {
  if (ranking.size() == 0) return {};
  std::vector<double> negated;
  for (const double score : ranking.scores) negated.push_back(-score);
  const auto curve = fit_logistic(bin_scores({negated, ranking.targets}, 1));
  std::vector<double> peps;
  for (const double score : negated) peps.push_back(curve.view().at(score));
  return as_peps(std::move(peps));
}

}  // namespace sheaf::rescore
