#include "rescore/confidence/confidence.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::rescore {
namespace {

constexpr int lambdas = 100;
constexpr double largest_lambda = 0.5;
constexpr std::size_t bootstraps = 100;
constexpr std::size_t most_drawn = 1000;

double lambda_at(int k) { return (k + 1) / static_cast<double>(lambdas) * largest_lambda; }

/// An estimate of pi0: `above` of `all` p-values are at least lambda.
double share_of(std::int64_t above, std::int64_t all, double lambda) {
  return static_cast<double>(above) / static_cast<double>(all) / (1. - lambda);
}

}  // namespace

CountsBelow::CountsBelow(const Ranking& ranking) {
  double all_targets = 0;
  double all_decoys = 0;
  std::size_t waiting = 0;
  for (std::size_t i = ranking.size(); i-- > 0;) {
    const bool target = ranking.targets[i] != 0;
    ++(target ? all_targets : all_decoys);
    waiting += target ? 0 : 1;
    if (i > 0 && ranking.scores[i] == ranking.scores[i - 1]) continue;
    targets.insert(targets.end(), waiting, all_targets);
    decoys.insert(decoys.end(), waiting, all_decoys);
    waiting = 0;
  }
}

double CountsBelow::correct_share(std::size_t best_decoys, double pi0) const {
  const double w = targets[targets.size() - best_decoys];
  const double z = decoys[decoys.size() - best_decoys];
  return std::clamp((w - pi0 * z) / ((1.0 - pi0) * z), 0.0, 1.0);
}

std::vector<double> expected_errors(const Ranking& ranking, const FdrRule& rule) {
  const bool mixed = rule.pi0 < 1;
  const CountsBelow below(mixed ? ranking : Ranking{});
  std::vector<double> errors(ranking.size());
  std::int64_t decoys = 0;
  double beaten = 0;  // of mix-max: incorrect targets whose spectrum has a correct one that scores better
  for (std::size_t i = 0, begin = 0; i < ranking.size(); ++i) {
    if (!ranking.ends_tie(i)) continue;
    const auto tied = std::count(ranking.targets.begin() + static_cast<std::ptrdiff_t>(begin),
                                 ranking.targets.begin() + static_cast<std::ptrdiff_t>(i) + 1, 0);
    decoys += tied;
    if (mixed && tied > 0)
      beaten += static_cast<double>(tied) * below.correct_share(static_cast<std::size_t>(decoys), rule.pi0) *
                (1.0 - rule.pi0);
    const double expected = static_cast<double>(decoys + (rule.plus_one ? 1 : 0)) * rule.pi0 + beaten;
    std::fill(errors.begin() + static_cast<std::ptrdiff_t>(begin), errors.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              expected);
    begin = i + 1;
  }
  return errors;
}

std::vector<double> q_values(const Ranking& ranking, const FdrRule& rule) {
  std::vector<double> q = expected_errors(ranking, rule);
  std::int64_t targets = 0;
  for (std::size_t i = 0, begin = 0; i < ranking.size(); ++i) {
    targets += ranking.targets[i] != 0 ? 1 : 0;
    if (!ranking.ends_tie(i)) continue;
    const double fdr = q[i] / static_cast<double>(std::max<std::int64_t>(1, targets)) * rule.decoy_factor;
    for (; begin <= i; ++begin) q[begin] = std::min(fdr, 1.0);
  }
  for (std::size_t i = q.size(); i-- > 1;) q[i - 1] = std::min(q[i - 1], q[i]);
  return q;
}

std::vector<double> p_values(const Ranking& ranking) {
  std::vector<double> p;
  p.reserve(ranking.size());
  std::int64_t decoys = 1;
  std::int64_t tied_targets = 0;
  std::int64_t tied_decoys = 0;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    ranking.targets[i] != 0 ? ++tied_targets : ++tied_decoys;
    if (!ranking.ends_tie(i)) continue;
    for (std::int64_t k = 0; k < tied_targets; ++k)
      p.push_back(static_cast<double>(decoys) +
                  static_cast<double>(tied_decoys * (k + 1)) / static_cast<double>(tied_targets + 1));
    decoys += tied_decoys;
    tied_targets = tied_decoys = 0;
  }
  for (double& value : p) value /= static_cast<double>(decoys);
  return p;
}

bool is_separated(const PValues& p) {
  const std::int64_t last = p.size - 1;
  return p.size == 0 || p.at(std::span(&last, 1))[0] < 1.0 / lambdas * largest_lambda;
}

double estimate_pi0(const PValues& p, ParkMiller& random) {
  std::vector<double> all_lambdas;
  for (int k = 0; k <= lambdas; ++k) all_lambdas.push_back(lambda_at(k));
  const auto below = p.count_below(all_lambdas);
  std::vector<double> known;
  std::vector<double> estimates;
  for (std::size_t k = 0; k < below.size(); ++k) {
    const double pi0 = share_of(p.size - below[k], p.size, all_lambdas[k]);
    if (pi0 <= 0) continue;
    known.push_back(all_lambdas[k]);
    estimates.push_back(pi0);
  }
  if (estimates.empty()) return 1;
  const double least = *std::min_element(estimates.begin(), estimates.end());
  const auto each = std::min(static_cast<std::size_t>(p.size), most_drawn);
  std::vector<std::int64_t> places(bootstraps * each);
  for (std::int64_t& place : places) place = static_cast<std::int64_t>(random.uniform() * static_cast<double>(p.size));
  auto drawn = p.at(places);
  std::vector<double> errors(known.size(), 0.0);
  for (std::size_t b = 0; b < bootstraps; ++b) {
    const auto sample = std::span(drawn).subspan(b * each, each);
    std::sort(sample.begin(), sample.end());
    for (std::size_t k = 0; k < known.size(); ++k) {
      const auto first = std::lower_bound(sample.begin(), sample.end(), known[k]);
      const double error = share_of(sample.end() - first, static_cast<std::int64_t>(each), known[k]) - least;
      errors[k] += error * error;
    }
  }
  const auto best = std::min_element(errors.begin(), errors.end()) - errors.begin();
  return std::clamp(estimates[static_cast<std::size_t>(best)], 0.0, 1.0);
}

}  // namespace sheaf::rescore
