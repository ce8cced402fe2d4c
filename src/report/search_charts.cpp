#include "report/search_charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/held_out.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 56;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double bottom = 270;
constexpr double height = 320;

Axis value_axis(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return parameter_axis(*low, *high, left + 12, right - 12);
}

Axis axis_of(const SearchResult& r, const std::vector<ScoreSummary>& summaries) {
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
  return score_axis(*r.options.score, low, high, bottom, top);
}

}  // namespace

Axis score_axis(Metric metric, double low, double high, double bottom, double top) {
  double below = (high - low) / 20;
  double above = below;
  if (!(high > low)) {
    const bool ascending = info(metric).larger_is_better;
    below = ascending ? 0.5 : 0.025;
    above = ascending ? 0.025 : 0.5;
  }
  return {low - below, high + above, bottom, top, false};
}

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
  const auto y = axis_of(r, summaries);
  Chart chart(half, height, "Score of each point");
  chart.bottom_axis(x, top, bottom, axis_title(title, x));
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
  chart.data(title, "mean", "standard deviation", "standard error");
  for (std::size_t c = 0; c < values.size(); ++c)
    chart.data(values[c], summaries[c].mean, summaries[c].standard_deviation, summaries[c].standard_error);
  chart.dot(middle[r.level.chosen.chosen].x, middle[r.level.chosen.chosen].y, 9, "ring");
  return chart.finish();
}

std::string score_curves(const SearchResult& r, std::size_t axis, const std::vector<ScoreCurve>& curves) {
  const auto metric = *r.options.score;
  const auto& title = r.axes[axis].title;
  std::vector<double> values;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& curve : curves)
    for (const auto p : curve.points) {
      const auto summary = r.summary(p, metric);
      values.push_back(r.point(r.level, p)[axis]);
      low = std::min(low, summary.mean - summary.standard_deviation);
      high = std::max(high, summary.mean + summary.standard_deviation);
    }
  const auto x = value_axis(values);
  const auto y = score_axis(metric, low, high, bottom, top);
  Chart chart(half, height, fmt::format("Scores over {}", title));
  chart.bottom_axis(x, top, bottom, axis_title(title, x));
  chart.left_axis(y, left, right, info(metric).title);
  chart.data("curve", title, "mean", "standard deviation", "standard error");
  for (std::size_t c = 0; c < curves.size(); ++c) {
    std::vector<ChartPoint> upper, lower, middle;
    for (const auto p : curves[c].points) {
      const double value = r.point(r.level, p)[axis];
      const auto summary = r.summary(p, metric);
      chart.data(curves[c].name, value, summary.mean, summary.standard_deviation, summary.standard_error);
      upper.push_back({x(value), y(summary.mean + summary.standard_deviation)});
      lower.push_back({x(value), y(summary.mean - summary.standard_deviation)});
      middle.push_back({x(value), y(summary.mean)});
    }
    chart.path(area_between(upper, lower), fmt::format("f{}", c), 0.12);
    chart.path(line_through(middle), fmt::format("line{}", c));
    for (std::size_t n = 0; n < middle.size(); ++n) {
      const auto p = curves[c].points[n];
      const auto summary = r.summary(p, metric);
      chart.dot(
          middle[n].x, middle[n].y, 3.5, fmt::format("f{}", c),
          fmt::format("{}: {:.4f}, standard deviation {:.4f}, standard error {:.4f}", r.point_text(r.point(r.level, p)),
                      summary.mean, summary.standard_deviation, summary.standard_error));
      if (p == r.level.chosen.chosen) chart.dot(middle[n].x, middle[n].y, 8, "ring");
    }
  }
  return chart.finish();
}

namespace {

struct CurveTitles {
  std::string description, x, y;
  bool diagonal = false;  // the line of chance
};

/// Curves at the same points of x from 0 to 1: their mean and one standard deviation to each side.
std::string mean_curve(std::span<const std::vector<double>> curves, const CurveTitles& titles, bool from_origin) {
  const Axis x{0, 1, left, right - 60, false};
  const Axis y{0, 1, bottom, top, false};
  std::vector<ChartPoint> upper, lower, middle;
  Chart chart(half, height, titles.description);
  chart.data(titles.x, titles.y, "standard deviation");
  for (std::size_t p = 0; p < roc_points; ++p) {
    std::vector<double> found;
    for (const auto& curve : curves)
      if (!curve.empty()) found.push_back(curve[p]);
    if (found.empty()) return {};
    const auto summary = summarise(found);
    const double share = static_cast<double>(p) / (roc_points - 1);
    chart.data(share, summary.mean, summary.standard_deviation);
    upper.push_back({x(share), y(summary.mean + summary.standard_deviation)});
    lower.push_back({x(share), y(summary.mean - summary.standard_deviation)});
    middle.push_back({x(share), y(summary.mean)});
  }
  chart.bottom_axis(x, top, bottom, titles.x);
  chart.left_axis(y, left, right - 60, titles.y);
  if (titles.diagonal) chart.line(x(0), y(0), x(1), y(1), "edge");
  chart.path(area_between(upper, lower), "f0", 0.18);
  if (from_origin) middle.insert(middle.begin(), {x(0), y(0)});
  chart.path(line_through(middle), "outline");
  return chart.finish();
}

}  // namespace

std::string mean_roc(std::span<const std::vector<double>> curves, const std::string& positive,
                     std::string_view description) {
  return mean_curve(curves,
                    {std::string(description), fmt::format("share of the others taken for {}", short_name(positive)),
                     fmt::format("share of {} found", short_name(positive)), true},
                    true);
}

std::string mean_precision_recall(std::span<const std::vector<double>> curves, const std::string& positive) {
  return mean_curve(
      curves,
      {"Precision over recall", fmt::format("share of {} found (recall)", short_name(positive)), "precision", false},
      false);
}

std::vector<std::int64_t> summed_confusion(const SearchResult& r) {
  const auto classes = r.class_names.size();
  std::vector<std::int64_t> sum(classes * classes, 0);
  if (r.held_out && !r.held_out->by_threshold.empty()) {
    for (std::size_t k = 0; k < r.held_out->size(); ++k)
      ++sum[static_cast<std::size_t>(r.held_out->truth[k]) * classes +
            static_cast<std::size_t>(r.held_out->by_threshold[k])];
    return sum;
  }
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t s = 0; s < splits; ++s) {
    const auto& confusion = r.level.models[r.level.chosen.chosen * splits + s].confusion;
    if (confusion.size() != sum.size()) return {};
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += confusion[k];
  }
  return sum;
}

std::string confusion_matrix(const SearchResult& r, const std::vector<std::int64_t>& counts) {
  constexpr double head = 44;
  constexpr double least = 11;  // pixels between two names
  const auto classes = r.class_names.size();
  const bool few = classes <= few_classes;
  const double width = few ? half : whole;
  const double step = std::min((width - names - 8) / static_cast<double>(classes), classes < 4 ? 100.0 : 64.0);
  const double end = head + step * static_cast<double>(classes);
  const auto every = static_cast<std::size_t>(std::ceil(least / step));  // class is named
  Chart chart(width, end + 30, "Confusion matrix of the chosen model", few ? Kind::map : Kind::wide);
  chart.text(names, 14, "predicted", "axis");
  chart.text(names - 10, 14, "true", "axis", Anchor::end);
  const auto opacity = [](double share) { return 0.04 + 0.4 * share; };  // text stays legible on it
  chart.scale(70, end + 12, "f0", {opacity(0), opacity(0.25), opacity(0.5), opacity(0.75), opacity(1)}, "0 %",
              "100 % right");
  chart.scale(260, end + 12, "f1", {opacity(0), opacity(0.25), opacity(0.5), opacity(0.75), opacity(1)}, "0 %",
              "100 % wrong");
  chart.data("truth", "prediction", "rows");
  for (std::size_t t = 0; t < classes; ++t) {
    const auto row = std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(t * classes),
                                     counts.begin() + static_cast<std::ptrdiff_t>((t + 1) * classes), std::int64_t{0});
    const double y = head + step * static_cast<double>(t);
    if (t % every == 0)
      chart.text(names - 10, y + step / 2 + 4, short_name(r.class_names[t]), step < 14 ? "small" : "", Anchor::end);
    for (std::size_t p = 0; p < classes; ++p) {
      const auto count = counts[t * classes + p];
      const double share = row > 0 ? static_cast<double>(count) / static_cast<double>(row) : 0;
      const double x = names + step * static_cast<double>(p);
      if (t == 0 && step > 40) chart.text(x + step / 2, head - 8, short_name(r.class_names[p]), "", Anchor::middle);
      if (t == 0 && step <= 40 && p % std::max<std::size_t>(every, 3) == 0)
        chart.text(x + step / 2, head - 8, short_name(r.class_names[p]), "small", Anchor::middle);
      if (count > 0 || classes <= 2 * few_classes)
        chart.shade(x + step / 60, y + step / 60, step * 29 / 30, step * 29 / 30, t == p ? "f0" : "f1", opacity(share),
                    fmt::format("{} predicted as {}: {} of {} rows, {}", r.class_names[t], r.class_names[p],
                                grouped(count), grouped(row), percent(share)));
      if (count > 0 || few) chart.data(r.class_names[t], r.class_names[p], count);
      if (step > 26 && (count > 0 || few))
        chart.text(x + step / 2, y + step / 2 + (step > 38 ? 0 : 4), grouped(count), "", Anchor::middle);
      if (step > 38) chart.text(x + step / 2, y + step / 2 + 14, percent(share), "small", Anchor::middle);
    }
  }
  return chart.finish();
}

std::string reliability_diagram(const std::vector<ReliabilityBin>& bins, std::string_view x_title,
                                std::string_view y_title) {
  const Axis x{0, 1, left, right - 60, false};
  const Axis y{0, 1, bottom, top, false};
  Chart chart(half, height, "Reliability of the probabilities");
  chart.bottom_axis(x, top, bottom, x_title);
  chart.left_axis(y, left, right - 60, y_title);
  chart.line(x(0), y(0), x(1), y(1), "edge");
  std::int64_t rows = 0;
  for (const auto& bin : bins) rows += bin.rows;
  std::vector<ChartPoint> line;
  chart.data("low", "high", "rows", "mean probability", "share that came true");
  for (const auto& bin : bins) {
    if (bin.rows == 0) continue;
    chart.data(bin.low, bin.high, bin.rows, bin.probability, bin.share);
    const auto n = static_cast<double>(bin.rows);
    constexpr double z = 1.96;  // of 95 %: Wilson's interval
    const double centre = (bin.share + z * z / (2 * n)) / (1 + z * z / n);
    const double reach = z * std::sqrt(bin.share * (1 - bin.share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    chart.line(x(bin.probability), y(centre - reach), x(bin.probability), y(centre + reach), "stem");
    line.push_back({x(bin.probability), y(bin.share)});
  }
  chart.path(line_through(line), "outline");
  std::size_t k = 0;
  for (const auto& bin : bins) {
    if (bin.rows == 0) continue;
    const double share = static_cast<double>(bin.rows) / static_cast<double>(rows);
    chart.dot(line[k].x, line[k].y, 3 + 6 * std::sqrt(share), "f0",
              fmt::format("probabilities from {:.1f} to {:.1f}: {}, {:.3f} on average, {} came true", bin.low, bin.high,
                          counted(bin.rows, "row"), bin.probability, percent(bin.share)));
    ++k;
  }
  return chart.finish();
}

std::string learning_curve_chart(const SearchResult& r) {
  const auto metric = *r.options.score;
  std::vector<LearningStep> steps;
  for (std::size_t k = 0; k < r.learning_curve->shares.size(); ++k) steps.push_back(learning_step(r, k, metric));
  double low = steps[0].held_out.mean;
  double high = low;
  for (const auto& step : steps)
    for (const auto& summary : {step.training, step.held_out}) {
      if (summary.splits == 0) continue;
      low = std::min(low, summary.mean - summary.standard_deviation);
      high = std::max(high, summary.mean + summary.standard_deviation);
    }
  const Axis x{steps.front().rows, steps.back().rows, left + 12, right - 12, true};
  const auto y = score_axis(metric, low, high, bottom, top);
  Chart chart(half, height, "Learning curve");
  chart.bottom_axis(x, top, bottom, "training rows (log scale)");
  chart.left_axis(y, left, right, info(metric).title);
  chart.data("training rows", "mean on training rows", "standard deviation on training rows", "mean on held-out rows",
             "standard deviation on held-out rows");
  for (const auto& step : steps)
    chart.data(step.rows, step.training.mean, step.training.standard_deviation, step.held_out.mean,
               step.held_out.standard_deviation);
  for (const bool training : {true, false}) {
    std::vector<ChartPoint> upper, lower, middle;
    for (const auto& step : steps) {
      const auto& summary = training ? step.training : step.held_out;
      if (summary.splits == 0) continue;
      upper.push_back({x(step.rows), y(summary.mean + summary.standard_deviation)});
      lower.push_back({x(step.rows), y(summary.mean - summary.standard_deviation)});
      middle.push_back({x(step.rows), y(summary.mean)});
    }
    chart.path(area_between(upper, lower), training ? "f1" : "f0", 0.15);
    chart.path(line_through(middle), training ? "line1" : "line0");
    for (const auto& point : middle) chart.dot(point.x, point.y, 4, training ? "f1" : "f0");
  }
  return chart.finish();
}

std::string importance_bars(const SearchResult& r, std::size_t most) {
  const auto count = std::min(most, r.importance.size());
  const double end = static_cast<double>(count) * line_height + 22;
  Chart chart(half, end + 44, "Permutation importance");
  double low = 0;
  double high = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto& drop = r.importance[k].drop;
    low = std::min(low, drop.mean - drop.standard_deviation);
    high = std::max(high, drop.mean + drop.standard_deviation);
  }
  const Axis x{low, high, names, half - 16, false};
  chart.bottom_axis(x, 10, end, fmt::format("loss of {}", info(*r.options.score).title));
  chart.line(x(0), 10, x(0), end, "zero");
  chart.data("feature", "importance", "standard deviation");
  double y = 14;
  for (std::size_t k = 0; k < count; ++k, y += line_height) {
    const auto& [index, name, drop] = r.importance[k];
    chart.data(name, drop.mean, drop.standard_deviation);
    chart.text(names - 10, y + 13, short_name(name), "", Anchor::end);
    chart.box(
        x(std::min(drop.mean, 0.0)), y + 2, std::abs(x(drop.mean) - x(0)), line_height - 8,
        drop.mean > 0 ? "f0" : "grey",
        fmt::format("{}: {:.4g}, standard deviation {:.4g} over the splits", name, drop.mean, drop.standard_deviation),
        2);
    chart.line(x(drop.mean - drop.standard_deviation), y + line_height / 2 - 2, x(drop.mean + drop.standard_deviation),
               y + line_height / 2 - 2, "stem");
  }
  return chart.finish();
}

std::string largest_weights_chart(const Coefficients& weights, std::int32_t column, std::size_t most) {
  const auto features = weights.largest(column, most);
  if (features.empty()) return "<p>All weights are 0.</p>\n";
  const double end = static_cast<double>(features.size()) * line_height + 22;
  Chart chart(half, end + 44, "The largest weights");
  const double reach = std::abs(weights.weight(features.front(), column)) * 1.08;
  const Axis x{-reach, reach, names, half - 16, false};
  chart.bottom_axis(x, 10, end, "weight");
  chart.line(x(0), 10, x(0), end, "zero");
  double y = 26;
  chart.data("feature", "weight");
  for (const auto j : features) {
    const double weight = weights.weight(j, column);
    const auto& name = weights.feature_names[static_cast<std::size_t>(j)];
    chart.data(name, weight);
    chart.text(names - 10, y + 4, short_name(name), "", Anchor::end);
    chart.line(x(0), y, x(weight), y, "stem");
    chart.dot(x(weight), y, 5.5, weight > 0 ? "f0" : "f1", fmt::format("{}: {:+.4g}", name, weight));
    y += line_height;
  }
  return chart.finish();
}

}  // namespace sheaf::report
