#include "search/results/result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <sheaf/error.hpp>

namespace sheaf {

std::string engine::describe_point(std::span<const SearchAxis> axes, const Point& point) {
  std::string text;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
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

std::vector<FeatureStability> SearchResult::selected() const {
  std::vector<FeatureStability> result;
  for (const auto& feature : stability)
    if (feature.frequency >= options.min_frequency) result.push_back(feature);
  return result;
}

}  // namespace sheaf
