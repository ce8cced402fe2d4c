#include "report/search_charts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 56;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double bottom = 270;
constexpr double height = 320;

/// A single value stands in the middle of a decade to each side.
Axis value_axis(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool single = *low == *high;
  return {single ? *low / 10 : *low, single ? *high * 10 : *high, left + 12, right - 12, true};
}

Axis score_axis(const SearchResult& r, const std::vector<ScoreSummary>& summaries) {
  double low = summaries[0].mean;
  double high = low;
  for (std::size_t c = 0; c < summaries.size(); ++c) {
    low = std::min(low, summaries[c].mean - summaries[c].standard_deviation);
    high = std::max(high, summaries[c].mean + summaries[c].standard_deviation);
    for (const double score : r.scores(r.level, c, *r.options.score)) {
      low = std::min(low, std::isfinite(score) ? score : low);
      high = std::max(high, std::isfinite(score) ? score : high);
    }
  }
  const double margin = high > low ? (high - low) / 20 : 0.5;
  return {low - margin, high + margin, bottom, top, false};
}

std::vector<std::int64_t> summed_confusion(const SearchResult& r) {
  std::vector<std::int64_t> sum(r.class_names.size() * r.class_names.size(), 0);
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t s = 0; s < splits; ++s) {
    const auto& confusion = r.level.models[r.level.chosen.chosen * splits + s].confusion;
    if (confusion.size() != sum.size()) return {};
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += confusion[k];
  }
  return sum;
}

}  // namespace

std::string score_curve(const SearchResult& r, std::size_t axis) {
  const auto metric = *r.options.score;
  const auto& title = r.axes[axis].title;
  std::vector<double> values;
  std::vector<ScoreSummary> summaries;
  for (std::size_t p = 0; p < r.level.points.size(); ++p) {
    values.push_back(r.point(r.level, p)[axis]);
    summaries.push_back(r.summary(p, metric));
  }
  const auto x = value_axis(values);
  const auto y = score_axis(r, summaries);
  Chart chart(half, height, "Score of each point");
  chart.bottom_axis(x, top, bottom, fmt::format("{} (log scale)", title));
  chart.left_axis(y, left, right, info(metric).title);
  std::vector<ChartPoint> upper, lower, middle;
  for (std::size_t c = 0; c < values.size(); ++c) {
    upper.push_back({x(values[c]), y(summaries[c].mean + summaries[c].standard_deviation)});
    lower.push_back({x(values[c]), y(summaries[c].mean - summaries[c].standard_deviation)});
    middle.push_back({x(values[c]), y(summaries[c].mean)});
  }
  chart.path(area_between(upper, lower), "f0", 0.18);
  chart.path(line_through(middle), "outline");
  const auto& best = summaries[r.level.chosen.best];
  const double bar = best.mean - (info(metric).larger_is_better ? 1 : -1) * best.standard_error;
  chart.line(left, y(bar), right, y(bar), "edge");
  for (std::size_t c = 0; c < values.size(); ++c) {
    for (const double score : r.scores(r.level, c, metric))
      if (std::isfinite(score)) chart.dot(x(values[c]), y(score), 2.5, "grey");
    chart.dot(middle[c].x, middle[c].y, 4.5, "f0",
              fmt::format("{} = {:.6g}: {:.4f}, standard deviation {:.4f}, standard error {:.4f}", title, values[c],
                          summaries[c].mean, summaries[c].standard_deviation, summaries[c].standard_error));
  }
  chart.dot(middle[r.level.chosen.chosen].x, middle[r.level.chosen.chosen].y, 9, "ring");
  return chart.finish();
}

std::string mean_roc(std::span<const std::vector<double>> curves, const std::string& positive,
                     std::string_view description) {
  const Axis x{0, 1, left, right - 60, false};
  const Axis y{0, 1, bottom, top, false};
  std::vector<ChartPoint> upper, lower, middle;
  for (std::size_t p = 0; p < roc_points; ++p) {
    std::vector<double> found;
    for (const auto& roc : curves)
      if (!roc.empty()) found.push_back(roc[p]);
    if (found.empty()) return {};
    const auto summary = summarise(found);
    const double at = x(static_cast<double>(p) / (roc_points - 1));
    upper.push_back({at, y(summary.mean + summary.standard_deviation)});
    lower.push_back({at, y(summary.mean - summary.standard_deviation)});
    middle.push_back({at, y(summary.mean)});
  }
  Chart chart(half, height, description);
  chart.bottom_axis(x, top, bottom, fmt::format("share of the others taken for {}", short_name(positive)));
  chart.left_axis(y, left, right - 60, fmt::format("share of {} found", short_name(positive)));
  chart.line(x(0), y(0), x(1), y(1), "edge");
  chart.path(area_between(upper, lower), "f0", 0.18);
  middle.insert(middle.begin(), {x(0), y(0)});
  chart.path(line_through(middle), "outline");
  return chart.finish();
}

std::string mean_roc(const SearchResult& r) {
  std::vector<std::vector<double>> curves;
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t s = 0; s < splits; ++s) curves.push_back(r.level.models[r.level.chosen.chosen * splits + s].roc);
  return mean_roc(curves, r.class_names[static_cast<std::size_t>(r.positive)], "ROC curve of the chosen model");
}

std::string confusion_matrix(const SearchResult& r) {
  const auto classes = r.class_names.size();
  const auto counts = summed_confusion(r);
  if (counts.empty()) return {};
  const double step = std::min((half - names - 8) / static_cast<double>(classes), classes < 4 ? 120.0 : 80.0);
  const double head = 44;
  Chart chart(half, head + step * static_cast<double>(classes) + 8, "Confusion matrix of the chosen model");
  chart.text(names, 14, "predicted", "axis");
  chart.text(names - 10, 14, "true", "axis", Anchor::end);
  for (std::size_t t = 0; t < classes; ++t) {
    const auto row = std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(t * classes),
                                     counts.begin() + static_cast<std::ptrdiff_t>((t + 1) * classes), std::int64_t{0});
    const double y = head + step * static_cast<double>(t);
    chart.text(names - 10, y + step / 2 + 4, short_name(r.class_names[t]), "", Anchor::end);
    for (std::size_t p = 0; p < classes; ++p) {
      const auto count = counts[t * classes + p];
      const double share = row > 0 ? static_cast<double>(count) / static_cast<double>(row) : 0;
      const double x = names + step * static_cast<double>(p);
      if (t == 0 && step > 50) chart.text(x + step / 2, head - 8, short_name(r.class_names[p]), "", Anchor::middle);
      chart.path(fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x + 1, y + 1, step - 2, step - 2, 2 - step),
                 t == p ? "f0" : "f1", 0.06 + 0.6 * share);
      if (step > 30) chart.text(x + step / 2, y + step / 2 + 4, grouped(count), "", Anchor::middle);
      if (step > 50) chart.text(x + step / 2, y + step / 2 + 20, percent(share), "tick", Anchor::middle);
    }
  }
  return chart.finish();
}

std::string largest_weights_chart(const LinearModel& model, std::int32_t column, std::size_t most) {
  const auto features = largest_weights(model, column, most);
  if (features.empty()) return "<p>All weights are 0.</p>\n";
  const double end = static_cast<double>(features.size()) * line_height + 22;
  Chart chart(half, end + 44, "The largest weights");
  const double reach = std::abs(model.weight(features.front(), column)) * 1.08;
  const Axis x{-reach, reach, names, half - 16, false};
  chart.bottom_axis(x, 10, end, "weight");
  chart.line(x(0), 10, x(0), end, "zero");
  double y = 26;
  for (const auto j : features) {
    const double weight = model.weight(j, column);
    chart.text(names - 10, y + 4, short_name(model.feature_name(j)), "", Anchor::end);
    chart.line(x(0), y, x(weight), y, "stem");
    chart.dot(x(weight), y, 5.5, weight > 0 ? "f0" : "f1", fmt::format("{}: {:+.4g}", model.feature_name(j), weight));
    y += line_height;
  }
  return chart.finish();
}

}  // namespace sheaf::report
