#include "report/search_charts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text.hpp"

#include "report/page.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 60;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double height = 330;
constexpr double bottom = height - 50;
constexpr std::size_t most_bars = 16;
constexpr std::size_t named_lines = 8;   // as many colours as the page has
constexpr std::size_t most_lines = 200;  // the others would hide each other

struct PathFeature {
  std::string name;
  double standard_deviation = 0;
};

/// The features that some resample chose or, of a path to the final model, those that were kept.
std::map<std::int64_t, PathFeature> path_features(const SearchResult& r) {
  std::map<std::int64_t, PathFeature> known;
  for (const auto& feature : r.stability) known[feature.index] = {feature.name, feature.standard_deviation};
  if (r.options.path_split > 0) return known;
  const auto& names = r.model->trained().feature_names();
  for (const auto& step : r.path)
    for (const auto& weights : step.weights)
      for (const auto j : weights.features) {
        const auto place = static_cast<std::size_t>(j);
        known[j] = {names.empty() ? std::to_string(j + 1) : names[place],
                    r.standard_deviations.empty() ? 1 : r.standard_deviations[place]};
      }
  return known;
}

}  // namespace

const Point& path_choice(const SearchResult& r) {
  if (r.options.path_split == 0) return r.chosen();
  const auto& level = r.outer[static_cast<std::size_t>(r.options.path_split - 1)].level;
  return r.point(level, level.chosen.chosen);
}

std::vector<WeightPath> weight_paths(const SearchResult& r, std::size_t column) {
  const double chosen = r.value(path_choice(r), "alpha");
  const auto known = path_features(r);
  std::map<std::int64_t, WeightPath> found;
  for (std::size_t a = 0; a < r.path.size(); ++a) {
    const auto& net = r.path[a].weights[column];
    for (std::size_t k = 0; k < net.features.size(); ++k) {
      const std::int64_t j = net.features[k];
      const auto feature = known.find(j);
      if (feature == known.end()) continue;  // chosen by no split
      auto& line = found[j];
      line.feature = j;
      line.name = feature->second.name;
      line.weights.resize(r.path.size(), 0.0);
      line.effects.resize(r.path.size(), 0.0);
      line.weights[a] = net.weights[k];
      line.effects[a] = net.weights[k] * feature->second.standard_deviation;
      line.reach = std::max(line.reach, std::abs(line.effects[a]));
      if (r.path[a].alpha == chosen) line.chosen = std::abs(line.effects[a]);
    }
  }
  std::vector<WeightPath> lines;
  lines.reserve(found.size());
  for (auto& [j, line] : found) lines.push_back(std::move(line));
  std::stable_sort(lines.begin(), lines.end(), [](const WeightPath& a, const WeightPath& b) {
    return std::pair(a.chosen, a.reach) > std::pair(b.chosen, b.reach);
  });
  if (lines.size() > most_lines) lines.resize(most_lines);
  return lines;
}

namespace {

/// The weights of one decision value along the path.
std::string coefficient_path(const SearchResult& r, std::size_t column) {
  const double chosen = r.value(path_choice(r), "alpha");
  std::vector<double> alphas;
  for (const auto& step : r.path) alphas.push_back(step.alpha);
  const auto lines = weight_paths(r, column);
  if (lines.empty() || alphas.size() < 2) return "<p>No feature has a weight on this path.</p>\n";
  double low = 0;
  double high = 0;
  for (const auto& line : lines)
    for (const double effect : line.effects) {
      low = std::min(low, effect);
      high = std::max(high, effect);
    }
  const auto x = parameter_axis(alphas.back(), alphas.front(), left, right - 110);
  const Axis y{low, high, bottom, top, false};
  Chart chart(half, height, "Weights along the path");
  chart.bottom_axis(x, top, bottom, axis_title("alpha", x));
  chart.left_axis(y, left, right - 110, "weight x standard deviation of the feature");
  chart.line(left, y(0), right - 110, y(0), "zero");
  const double at = x(chosen);
  chart.line(at, top, at, bottom, "edge");
  chart.data("feature", "alpha", "weight x standard deviation");
  for (const auto& line : lines)
    for (std::size_t a = 0; a < alphas.size(); ++a) chart.data(line.name, alphas[a], line.effects[a]);
  for (auto k = lines.size(); k-- > 0;) {  // the strongest on top
    std::vector<ChartPoint> points;
    for (std::size_t a = 0; a < alphas.size(); ++a) points.push_back({x(alphas[a]), y(lines[k].effects[a])});
    chart.path(line_through(points), k < named_lines ? fmt::format("line{}", k) : "faint", k < named_lines ? 1 : 0.5);
  }
  double line_y = top + 8;
  for (std::size_t k = 0; k < std::min(named_lines, lines.size()); ++k, line_y += 20) {
    chart.box(right - 100, line_y - 8, 10, 10, fmt::format("f{}", k), "", 2);
    const auto name = short_name(lines[k].name);
    chart.text(right - 86, line_y + 1, name.size() > 14 ? fmt::format("{}…", name.substr(0, 13)) : name, "tick");
  }
  return chart.finish();
}

}  // namespace

std::string frequency_bars(const SearchResult& r) {
  if (r.stability.empty()) return "<p>No resample chose any feature.</p>\n";
  const auto count = std::min(most_bars, r.stability.size());
  const double end = static_cast<double>(count) * line_height + 22;
  Chart chart(half, end + 44, "How often each feature was chosen");
  const Axis x{0, 1, names, half - 16, false};
  chart.bottom_axis(x, 10, end, "share of the resamples that chose it");
  if (r.options.min_frequency > 0) chart.line(x(r.options.min_frequency), 10, x(r.options.min_frequency), end, "edge");
  double y = 14;
  chart.data("feature", "frequency", "mean weight", "same sign", "median rank");
  for (std::size_t k = 0; k < count; ++k, y += line_height) {
    const auto& feature = r.stability[k];
    chart.data(feature.name, feature.frequency, feature.mean_weight.front(), feature.sign_agreement.front(),
               feature.median_rank);
    const bool positive = feature.mean_weight.front() > 0;
    chart.text(names - 10, y + 13, short_name(feature.name), "", Anchor::end);
    chart.box(x(0), y + 2, x(feature.frequency) - x(0), line_height - 8,
              r.columns > 1 ? "f0"
              : positive    ? "f0"
                            : "f1",
              fmt::format("{}: {}, mean weight {:+.4g}, {} of one sign, median rank {:g}", feature.name,
                          percent(feature.frequency), feature.mean_weight.front(),
                          percent(feature.sign_agreement.front()), feature.median_rank),
              2);
  }
  return chart.finish();
}

std::string path_cards(const SearchResult& r) {
  if (r.path.empty()) return {};
  const auto chosen = r.point_text(path_choice(r));
  const bool of_model = r.options.path_split == 0;
  const auto title = of_model ? "Weights along the path to the chosen model"
                              : fmt::format("Weights along the path of resample {}", r.options.path_split);
  const auto about =
      of_model ? fmt::format(
                     "From the strongest penalty, where no feature has a weight, to the chosen model, {}; on "
                     "all rows. Of the features with the largest weights there.",
                     chosen)
               : fmt::format("It chose {}; dashed: that alpha. Of features that some resample chose.", chosen);
  std::string cards;
  for (std::size_t c = 0; c < std::min(most_columns, static_cast<std::size_t>(r.columns)); ++c) {
    const auto name = r.column_name(static_cast<std::int32_t>(c));
    const auto of = r.columns == 1 ? "" : fmt::format(", {} {}", r.class_names.empty() ? "target" : "class", name);
    cards += card(title + of, about, coefficient_path(r, c));
  }
  return cards;
}

std::string outer_scores(const SearchResult& r) {
  const auto metric = *r.options.score;
  std::vector<double> scores;
  for (const auto& fold : r.outer) scores.push_back(fold.scores.score(metric));
  const auto summary = r.outer_summary(metric);
  if (summary.splits == 0) return {};
  double low = summary.mean - summary.standard_deviation;
  double high = summary.mean + summary.standard_deviation;
  for (const double score : scores) {
    low = std::min(low, std::isfinite(score) ? score : low);
    high = std::max(high, std::isfinite(score) ? score : high);
  }
  const Axis x{0.5, static_cast<double>(scores.size()) + 0.5, left, right, false};
  const auto y = score_axis(metric, low, high, bottom, top);
  Chart chart(half, height, "Score of each resample on its held-out rows");
  chart.bottom_axis(x, top, bottom, "resample");
  chart.left_axis(y, left, right, info(metric).title);
  chart.box(left, y(summary.mean + summary.standard_deviation), right - left,
            y(summary.mean - summary.standard_deviation) - y(summary.mean + summary.standard_deviation), "chance");
  chart.line(left, y(summary.mean), right, y(summary.mean), "edge");
  chart.data("resample", info(metric).title);
  for (std::size_t s = 0; s < scores.size(); ++s) chart.data(s + 1, scores[s]);
  for (std::size_t s = 0; s < scores.size(); ++s)
    if (std::isfinite(scores[s]))
      chart.dot(x(static_cast<double>(s) + 1), y(scores[s]), 4.5, "f0",
                fmt::format("resample {}: {:.4f}", s + 1, scores[s]));
  return chart.finish();
}

}  // namespace sheaf::report
