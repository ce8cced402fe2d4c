#include "search/results/result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <sheaf/compare.hpp>
#include <sheaf/error.hpp>

namespace sheaf {
namespace {

/// Test rows for each training row of a split.
double test_ratio(const SearchResult& result) {
  const auto kind = *result.options.split;
  if (kind == SplitKind::stratified_shuffle || kind == SplitKind::group_shuffle)
    return result.options.test_fraction / (1 - result.options.test_fraction);
  return 1 / static_cast<double>(std::max(result.splits - 1, 1));
}

}  // namespace

std::string engine::describe_point(std::span<const SearchAxis> axes, const Point& point) {
  std::string text;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (point[axis] != SearchAxis::absent)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", axes[axis].title, axes[axis].text(point[axis]));
  return text;
}

std::vector<double> SearchResult::scores(const SearchLevel& of, std::size_t p, Metric metric) const {
  std::vector<double> result;
  const auto count = static_cast<std::size_t>(splits);
  for (std::size_t s = 0; s < count; ++s) result.push_back(of.models[p * count + s].score(metric));
  return result;
}

ScoreSummary SearchResult::summary(const SearchLevel& of, std::size_t p, Metric metric) const {
  return summarise(scores(of, p, metric));
}

double SearchResult::size(const SearchLevel& of, std::size_t p) const {
  const auto count = static_cast<std::size_t>(splits);
  double sum = 0;
  for (std::size_t s = 0; s < count; ++s) sum += of.models[p * count + s].size;
  return sum / static_cast<double>(count);
}

double SearchResult::value(const Point& of, std::string_view axis) const {
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (axes[k].name == axis) return of[k];
  throw InternalError("a search has no such parameter");
}

std::string SearchResult::point_text(const Point& of) const { return engine::describe_point(axes, of); }

ScoreSummary SearchResult::outer_summary(Metric metric) const {
  std::vector<double> scores;
  for (const auto& fold : outer) scores.push_back(fold.scores.score(metric));
  return summarise(scores);
}

ScoreSummary SearchResult::overall_summary(std::size_t point, Metric metric) const {
  std::vector<double> means;
  for (const auto& fold : outer) {
    const auto& tried = fold.level.points;
    const auto found = std::lower_bound(tried.begin(), tried.end(), static_cast<std::int32_t>(point));
    if (found == tried.end() || *found != static_cast<std::int32_t>(point)) continue;
    means.push_back(summary(fold.level, static_cast<std::size_t>(found - tried.begin()), metric).mean);
  }
  return summarise(means);
}

Point SearchResult::own_point(const Point& point) const {
  const auto* compared = model_of(point);
  if (compared == nullptr) return point;
  Point own;
  for (const auto axis : compared->axes) own.push_back(point[static_cast<std::size_t>(axis)]);
  return own;
}

SearchResult SearchResult::of_model(std::int32_t number) const {
  const auto& compared = models[static_cast<std::size_t>(number)];
  SearchResult own;
  own.options = options;
  own.seed = seed;
  own.source = source;
  own.label = label;
  own.rows = rows;
  own.features = features;
  own.groups = groups;
  own.class_names = class_names;
  own.target_names = target_names;
  own.positive = positive;
  own.columns = columns;
  own.metrics = metrics;
  own.splits = splits;
  own.space = compared.candidate.space;
  own.options.pipeline = compared.candidate.pipeline;
  own.options.strategy = compared.candidate.strategy;
  own.options.extend = compared.candidate.extend;
  own.title = compared.title;
  own.size_words = compared.size_words;
  for (const auto axis : compared.axes) own.axes.push_back(axes[static_cast<std::size_t>(axis)]);
  const auto count = static_cast<std::size_t>(splits);
  for (std::size_t p = 0; p < level.points.size(); ++p) {
    const auto& tried = point(level, p);
    if (model_of(tried) != &compared) continue;
    if (p == level.chosen.chosen) own.level.chosen.chosen = own.points.size();
    if (p == level.chosen.best) own.level.chosen.best = own.points.size();
    own.level.points.push_back(static_cast<std::int32_t>(own.points.size()));
    own.points.push_back(own_point(tried));
    for (std::size_t s = 0; s < count; ++s) own.level.models.push_back(level.models[p * count + s]);
  }
  return own;
}

std::vector<LeaderboardRow> SearchResult::leaderboard() const {
  const auto metric = *options.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  const auto winner = level.chosen.chosen;
  const auto best_scores = scores(level, winner, metric);
  std::vector<LeaderboardRow> board(models.size());
  for (std::size_t m = 0; m < models.size(); ++m) {
    auto& row = board[m];
    row.model = static_cast<std::int32_t>(m);
    for (std::size_t p = 0; p < level.points.size(); ++p) {
      if (model_of(point(level, p)) != &models[m]) continue;
      const auto found = summary(p, metric);
      const bool chosen = p == winner;
      const bool better = row.place < 0 || sign * found.mean > sign * row.score.mean;
      if (!chosen && (!better || row.place == static_cast<std::int32_t>(winner))) continue;
      row.place = static_cast<std::int32_t>(p);
      row.score = found;
    }
    if (row.place < 0) {
      row.score.mean = models[m].dropped_score;
      row.score.splits = models[m].dropped_after;
    }
    row.difference = row.score.mean - summary(winner, metric).mean;
    if (row.place < 0 || row.place == static_cast<std::int32_t>(winner) || splits < 2) continue;
    const auto compared =
        compare_scores(scores(level, static_cast<std::size_t>(row.place), metric), best_scores, test_ratio(*this));
    row.low = compared.low;
    row.high = compared.high;
    row.has_interval = true;
  }
  const auto is_chosen = [&](const LeaderboardRow& row) { return row.place == static_cast<std::int32_t>(winner); };
  std::stable_sort(board.begin(), board.end(), [&](const auto& a, const auto& b) {
    if ((a.place < 0) != (b.place < 0)) return b.place < 0;
    if (a.score.mean != b.score.mean) return sign * a.score.mean > sign * b.score.mean;
    return is_chosen(a) && !is_chosen(b);
  });
  return board;
}

std::vector<FeatureStability> SearchResult::selected() const {
  std::vector<FeatureStability> result;
  for (const auto& feature : stability)
    if (feature.frequency >= options.min_frequency) result.push_back(feature);
  return result;
}

}  // namespace sheaf
