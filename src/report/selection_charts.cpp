#include "report/selection_charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 64;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double bottom = 230;
constexpr double height = 280;
constexpr std::size_t most_dots = 100;  // beyond it a line shows as much

using Value = double (*)(const SelectedFeature&);

Axis rank_axis(const SelectionResult& r) {
  const auto last = static_cast<double>(std::max<std::size_t>(r.selected.size(), 2));
  return {1, last, left + 8, right - 8, false};
}

/// Room for all of `values`, and a little more.
Axis value_axis(const SelectionResult& r, const std::vector<Value>& values, bool from_zero) {
  double low = from_zero ? 0 : values[0](r.selected[0].feature);
  double high = low;
  for (const auto& row : r.selected)
    for (const auto& value : values) {
      low = std::min(low, value(row.feature));
      high = std::max(high, value(row.feature));
    }
  const double margin = high > low ? (high - low) / 20 : 0.5;
  return {from_zero ? low : low - margin, high + margin, bottom, top, false};
}

void draw(Chart& chart, const SelectionResult& r, const Axis& x, const Axis& y, Value value, int colour) {
  std::string line;
  for (std::size_t k = 0; k < r.selected.size(); ++k)
    line += fmt::format("{}{:.1f} {:.1f}", k == 0 ? "M" : "L", x(static_cast<double>(k + 1)),
                        y(value(r.selected[k].feature)));
  chart.path(line, fmt::format("line{}", colour));
  if (r.selected.size() > most_dots) return;
  for (std::size_t k = 0; k < r.selected.size(); ++k)
    chart.dot(x(static_cast<double>(k + 1)), y(value(r.selected[k].feature)), 3.5, fmt::format("f{}", colour),
              fmt::format("{}. {}: {:.4g}", k + 1, r.selected[k].name, value(r.selected[k].feature)));
}

double score(const SelectedFeature& feature) { return feature.score; }
double relevance(const SelectedFeature& feature) { return feature.relevance; }
double redundancy(const SelectedFeature& feature) { return feature.redundancy; }

}  // namespace

std::string selection_curve(const SelectionResult& r) {
  Chart chart(half, height, "Score of each pick");
  const auto x = rank_axis(r);
  const auto y = value_axis(r, {score}, false);
  chart.bottom_axis(x, top, bottom, "rank");
  chart.left_axis(y, left, right, r.combined ? to_string(r.ensemble.combination) : "score");
  draw(chart, r, x, y, score, 0);
  chart.data("rank", "feature", "score");
  for (std::size_t k = 0; k < r.selected.size(); ++k)
    chart.data(k + 1, r.selected[k].name, r.selected[k].feature.score);
  return chart.finish();
}

std::string relevance_curve(const SelectionResult& r) {
  Chart chart(half, height, "Relevance and redundancy of each pick");
  const auto x = rank_axis(r);
  const auto y = value_axis(r, {relevance, redundancy}, true);
  chart.bottom_axis(x, top, bottom, "rank");
  chart.left_axis(y, left, right, "bits");
  draw(chart, r, x, y, relevance, 0);
  draw(chart, r, x, y, redundancy, 1);
  chart.data("rank", "feature", "relevance", "redundancy");
  for (std::size_t k = 0; k < r.selected.size(); ++k)
    chart.data(k + 1, r.selected[k].name, r.selected[k].feature.relevance, r.selected[k].feature.redundancy);
  return chart.finish();
}

std::string redundancy_map(const SelectionResult& r) {
  const auto count = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(r.information.size()))));
  const double step = std::min(26.0, (whole - names - 16) / static_cast<double>(count));
  const double end = 30 + step * static_cast<double>(count);
  Chart chart(whole, end + 26, "Information that the selected features share", Kind::wide);
  chart.scale(names + 24, end + 8, "f0", {0.05, 0.24, 0.43, 0.62, 0.81, 1}, "0 %", "100 % shared");
  chart.data("feature", "other feature", "bits", "share");
  for (std::size_t a = 0; a < count; ++a) {
    const double y = 24 + step * static_cast<double>(a);
    chart.text(names - 8, y + step / 2 + 4, fmt::format("{}. {}", a + 1, short_name(r.selected[a].name)), "",
               Anchor::end);
    chart.text(names + step * (static_cast<double>(a) + 0.5), 16, std::to_string(a + 1), "tick", Anchor::middle);
    for (std::size_t b = 0; b < count; ++b) {
      const double bits = r.information[a * count + b];
      const double both = r.information[a * count + a] + r.information[b * count + b];
      const double share = both > 0 ? std::clamp(2 * bits / both, 0.0, 1.0) : 0;
      const auto tip = a == b ? fmt::format("{}: entropy {:.3f} bits", r.selected[a].name, bits)
                              : fmt::format("{} and {}: {:.3f} bits, {}", r.selected[a].name, r.selected[b].name, bits,
                                            percent(share));
      const double x = names + step * static_cast<double>(b);
      chart.data(r.selected[a].name, r.selected[b].name, bits, share);
      chart.shade(x + 0.5, y + 0.5, step - 1, step - 1, a == b ? "grey" : "f0", a == b ? 0.5 : 0.05 + 0.95 * share,
                  tip);
    }
  }
  return chart.finish();
}

std::string class_lanes(const SelectionResult& r, const StateDistribution& distribution) {
  constexpr double lane = 40;
  const auto lanes = std::min(r.class_names.size(), most_lanes);
  const auto states = distribution.states.size();
  const double width = (right - names) / static_cast<double>(states);
  const double end = lane * static_cast<double>(lanes) + 4;
  Chart chart(half, end + 24, fmt::format("Classes over the states of {}", distribution.feature));
  double most = 0;
  for (const auto& shares : distribution.share) most = std::max(most, *std::max_element(shares.begin(), shares.end()));
  for (std::size_t c = 0; c < lanes; ++c) {
    const double base = lane * static_cast<double>(c + 1);
    chart.text(names - 8, base - 6, short_name(r.class_names[c]), "", Anchor::end);
    chart.line(names, base, right, base, "grid");
    for (std::size_t s = 0; s < states; ++s) {
      const double tall = most > 0 ? (lane - 6) * distribution.share[c][s] / most : 0;
      chart.box(
          names + width * static_cast<double>(s) + width * 0.06, base - tall, width * 0.88, tall,
          fmt::format("f{}", c % 8),
          fmt::format("{}: {} of {}", distribution.states[s], percent(distribution.share[c][s]), r.class_names[c]),
          1.5);
    }
  }
  constexpr std::size_t short_text = 20;  // of which two stand side by side
  const auto& first = distribution.states.front();
  const auto& last = distribution.states.back();
  const bool both = states > 1 && first.size() <= short_text && last.size() <= short_text;
  chart.text(names, end + 14, first.size() <= short_text ? first : "lowest bin", "tick");
  if (states > 1) chart.text(right, end + 14, both ? last : "highest bin", "tick", Anchor::end);
  chart.data("class", "bin", "share of the class");
  for (std::size_t c = 0; c < r.class_names.size(); ++c)
    for (std::size_t s = 0; s < states; ++s)
      chart.data(r.class_names[c], distribution.states[s], distribution.share[c][s]);
  return chart.finish();
}

}  // namespace sheaf::report
