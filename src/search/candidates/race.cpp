#include "search/candidates/race.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <sheaf/search.hpp>

namespace sheaf::engine {
namespace {

constexpr std::int32_t few_splits = 2;
constexpr double most_errors = 3;
constexpr std::size_t fewest_kept = 4;  // points of a model that are tried on all splits

/// NaN is worst.
bool is_better(std::span<const double> scores, std::span<const double> than) {
  const double mean = summarise(scores).mean;
  const double other = than.empty() ? std::nan("") : summarise(than).mean;
  return std::isnan(other) ? !std::isnan(mean) || than.empty() : mean > other;
}

}  // namespace

Race::Race(const FamilySearch& family, const std::vector<StrategyOptions>& options, std::span<const double> work)
    : family_(family), splits_(options.front().splits), drops_(options.front().race) {
  const auto models = family.models();
  for (std::size_t m = 0; m < models.size(); ++m)
    runners_.push_back({static_cast<std::int32_t>(m), make_strategy(models[m]->space(), options[m])});
  std::stable_sort(runners_.begin(), runners_.end(), [&](const Runner& a, const Runner& b) {
    return work[static_cast<std::size_t>(a.model)] < work[static_cast<std::size_t>(b.model)];
  });
}

std::vector<Trial> Race::joined(const Runner& runner, const std::vector<Trial>& own, std::int32_t splits) const {
  std::vector<Trial> trials;
  for (const auto& trial : own)
    trials.push_back({family_.joined_point(runner.model, trial.point), std::min(splits, trial.splits)});
  return trials;
}

/// None: the model is through.
std::vector<Trial> Race::trials_of(Runner& runner) {
  if (runner.stage == Stage::begins)
    runner.stage = drops_ && !leader_.empty() && splits_ > few_splits ? Stage::few : Stage::all;
  if (runner.stage == Stage::through) return {};
  auto own = runner.strategy->next();
  if (runner.stage == Stage::all) return joined(runner, own, splits_);
  if (!own.empty()) return joined(runner, own, few_splits);
  runner.stage = Stage::through;
  return joined(runner, best_on_few(runner), splits_);
}

/// The best quarter of the points that were tried on few splits, without those that fall behind.
std::vector<Trial> Race::best_on_few(const Runner& runner) const {
  std::vector<std::pair<double, const Point*>> order;
  for (const auto& [point, scores] : runner.on_few)
    if (!falls_behind(scores)) order.emplace_back(-summarise(scores).mean, &point);
  const auto kept = std::min(order.size(), std::max(fewest_kept, (runner.on_few.size() + 3) / 4));
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Trial> best;
  for (std::size_t k = 0; k < kept; ++k) best.push_back({*order[k].second, splits_});
  return best;
}

std::vector<Trial> Race::next() {
  for (; now_ < runners_.size(); ++now_) {
    auto& runner = runners_[now_];
    if (falls_behind(runner.best)) {
      drop(runner);
      continue;
    }
    if (auto trials = trials_of(runner); !trials.empty()) return trials;
  }
  return {};
}

bool Race::falls_behind(std::span<const double> scores) const {
  if (!drops_ || scores.empty() || leader_.empty() || splits_ < 2) return false;
  const auto tried = scores.size();
  double difference = 0;
  for (std::size_t s = 0; s < tried; ++s) difference += scores[s] - leader_[s];
  difference /= static_cast<double>(tried);
  if (std::isnan(difference)) return true;
  const double error = summarise(leader_).standard_deviation *
                       std::sqrt(1 / static_cast<double>(tried) + 1 / static_cast<double>(leader_.size()));
  return difference < -most_errors * error;
}

void Race::drop(Runner& runner) {
  if (std::ssize(runner.best) == splits_) return;  // what it has tried counts; it is not refined any more
  runner.outcome.dropped_after = static_cast<std::int32_t>(runner.best.size());
  runner.outcome.dropped_score = summarise(runner.best).mean;
}

void Race::learn(const Point& /*point*/, double /*score*/) {}

void Race::learn_splits(const Point& point, std::span<const double> splits, double score) {
  auto& runner = runners_[now_];
  const auto own = family_.own_point(point).point;
  const bool whole = std::ssize(splits) == splits_;
  if (runner.stage == Stage::few) runner.on_few[own].assign(splits.begin(), splits.end());
  if (runner.stage != Stage::through) runner.strategy->learn(own, score);
  if (whole && is_better(splits, leader_)) leader_.assign(splits.begin(), splits.end());
  if (runner.best.size() < splits.size()) runner.best.clear();  // from now on on more splits
  if (runner.best.size() <= splits.size() && is_better(splits, runner.best))
    runner.best.assign(splits.begin(), splits.end());
  if (runner.stage == Stage::all && whole) ++runner.outcome.points;
  if (runner.stage == Stage::few) runner.outcome.points = static_cast<std::int32_t>(runner.on_few.size());
}

std::vector<Race::Outcome> Race::outcomes() const {
  std::vector<Outcome> result(runners_.size());
  for (const auto& runner : runners_) result[static_cast<std::size_t>(runner.model)] = runner.outcome;
  return result;
}

}  // namespace sheaf::engine
