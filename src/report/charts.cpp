#include "report/charts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double few_height = 38;  // of a bar if there are only a few
constexpr std::size_t most_bars = 16;

struct Bar {
  std::string name;
  double count;
};

std::string horizontal_bars(const std::vector<Bar>& bars, std::string_view description, bool own_colours) {
  const double step = bars.size() <= 5 ? few_height : line_height;
  Chart chart(half, static_cast<double>(bars.size()) * step + 8, description);
  double most = 0;
  double total = 0;
  for (const auto& bar : bars) {
    most = std::max(most, bar.count);
    total += bar.count;
  }
  const Axis x{0, most, names, half - 110, false};
  double y = 4;
  chart.data("class", "rows");
  for (std::size_t i = 0; i < bars.size(); ++i, y += step) {
    chart.data(bars[i].name, bars[i].count);
    const auto label = fmt::format("{} · {}", grouped(std::llround(bars[i].count)), percent(bars[i].count / total));
    chart.text(names - 10, y + step / 2 + 4, short_name(bars[i].name), "", Anchor::end);
    chart.box(names, y + 4, x(bars[i].count) - names, step - 8, own_colours ? fmt::format("f{}", i % 8) : "f0",
              fmt::format("{}: {}", bars[i].name, label), 3);
    chart.text(x(bars[i].count) + 8, y + step / 2 + 4, label, "soft");
  }
  return chart.finish();
}

/// Counts over equal steps of a number, from `low`.
std::string columns(const std::vector<double>& counts, double low, double step, std::string_view description,
                    std::string_view title) {
  constexpr double height = 230, left = 56, bottom = 180;
  Chart chart(half, height, description);
  const auto bars = static_cast<double>(counts.size());
  const Axis x{low, low + step * bars, left, half - 8, false};
  const Axis y{0, *std::max_element(counts.begin(), counts.end()), bottom, 26, false};
  chart.left_axis(y, left, half - 8, "rows");
  chart.bottom_axis(x, bottom, bottom + 4, title);
  const double width = (half - 8 - left) / bars;
  chart.data("from", "to", "rows");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double from = low + step * static_cast<double>(i);
    chart.data(from, from + step, counts[i]);
    chart.box(left + static_cast<double>(i) * width + 0.75, y(counts[i]), width - 1.5, bottom - y(counts[i]), "f0",
              fmt::format("{} to {}: {}", brief(from), brief(from + step), counted(std::llround(counts[i]), "row")), 2);
  }
  return chart.finish();
}

}  // namespace

std::string class_balance(const Profile& profile) {
  const auto& counts = profile.summary.class_counts;
  std::vector<Bar> bars;
  for (std::size_t c = 0; c < counts.size(); ++c)
    bars.push_back({profile.class_names[c], static_cast<double>(counts[c])});
  const bool many = bars.size() > most_bars;
  if (many) {
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.count > b.count; });
    const auto rest = bars.begin() + most_bars - 1;
    const double others =
        std::accumulate(rest, bars.end(), 0.0, [](double sum, const Bar& b) { return sum + b.count; });
    const auto left_out = bars.size() - most_bars + 1;
    bars.erase(rest, bars.end());
    bars.push_back({fmt::format("{} more", left_out), others});
  }
  return horizontal_bars(bars, "Rows of each class", !many);
}

std::string target_histogram(const Profile& profile) {
  const auto& summary = profile.summary;
  const double range = summary.target_maximum - summary.target_minimum;
  const double step = range / static_cast<double>(profile.target_histogram.size());
  return columns(profile.target_histogram, summary.target_minimum, step, "Histogram of the label",
                 profile.target_name.empty() ? "label" : profile.target_name);
}

std::string row_nonzeros(const Profile& profile) {
  return columns(profile.row_nonzeros, static_cast<double>(profile.summary.shortest_row),
                 static_cast<double>(profile.row_step), "Rows by their number of non-zeros", "non-zeros in a row");
}

std::string association_histogram(const Profile& profile) {
  constexpr double height = 320, left = 56, bottom = 270;
  const auto& found = profile.associations;
  Chart chart(half, height, "Features by strength of association with the label, observed and by chance");
  double most = 1;
  std::size_t used = 4;
  for (std::size_t b = 0; b < found.histogram.size(); ++b) {
    most = std::max({most, found.histogram[b], found.chance_histogram[b]});
    if (found.histogram[b] > 0 || found.chance_histogram[b] > 0) used = std::max(used, b + 2);
  }
  used = std::min(used, found.histogram.size());
  const double step = 1.0 / static_cast<double>(found.histogram.size());
  const Axis x{0, step * static_cast<double>(used), left, half - 8, false};
  const Axis y{0.5, most, bottom, 26, true};
  chart.bottom_axis(x, 26, bottom, "strength of association with the label");
  chart.left_axis(y, left, half - 8, "features (log scale)");
  const double width = x(step) - x(0);
  std::string outline = fmt::format("M{:.1f} {:.1f}", left, bottom);
  chart.data("from", "to", "features", "features by chance");
  for (std::size_t b = 0; b < used; ++b) {
    chart.data(step * static_cast<double>(b), step * static_cast<double>(b + 1), found.histogram[b],
               found.chance_histogram[b]);
    const double from = x(step * static_cast<double>(b));
    const double top = y(found.histogram[b]);
    const auto tip = fmt::format("{:.2f} to {:.2f}: {:.0f} features, {:.1f} by chance", step * static_cast<double>(b),
                                 step * static_cast<double>(b + 1), found.histogram[b], found.chance_histogram[b]);
    if (found.histogram[b] > 0) chart.box(from + 0.5, top, width - 1, bottom - top, "f0", tip, 1);
    outline += fmt::format("V{:.1f}H{:.1f}", y(found.chance_histogram[b]), from + width);
  }
  if (found.shuffles > 0) {
    chart.path(outline + fmt::format("V{:.1f}", bottom), "outline");
    chart.line(x(found.chance), 26, x(found.chance), bottom, "edge");
  }
  return chart.finish();
}

namespace {

/// The colour of the class that larger values favour.
std::string colour(const Associations& found, double value) {
  const bool positive_first = found.positive_class == 0;
  return (value > 0) == positive_first || !found.directed() ? "f0" : "f1";
}

}  // namespace

std::string strongest_features(const Profile& profile) {
  const auto& found = profile.associations;
  const double bottom = static_cast<double>(profile.strongest.size()) * line_height + 22;
  Chart chart(half, bottom + 44, "The features that go most strongly with the label");
  double reach = found.chance;
  for (const auto& highlight : profile.strongest)
    reach = std::max(reach, std::abs(found.correlation[static_cast<std::size_t>(highlight.feature)]));
  reach = std::min(reach * 1.08, 1.0);
  const bool both_sides = found.directed() || !profile.classification;
  const Axis x{both_sides ? -reach : 0, reach, names, half - 16, false};
  chart.box(x(both_sides ? -found.chance : 0), 10, x(found.chance) - x(both_sides ? -found.chance : 0), bottom - 10,
            "chance");
  chart.bottom_axis(x, 10, bottom, both_sides ? "rank correlation with the label" : "correlation ratio of the ranks");
  chart.line(x(0), 10, x(0), bottom, "zero");
  double y = 26;
  chart.data("feature", both_sides ? "rank correlation" : "correlation ratio");
  for (const auto& highlight : profile.strongest) {
    const auto j = static_cast<std::size_t>(highlight.feature);
    const auto name = profile.feature_name(highlight.feature);
    const double value = found.correlation[j];
    chart.data(name, value);
    const auto auc = found.auc.empty() ? "" : fmt::format(", AUC {:.3f}", found.auc[j]);
    const bool beyond = found.shuffles == 0 || std::abs(value) > found.chance;
    chart.text(names - 10, y + 4, short_name(name), beyond ? "" : "soft", Anchor::end);
    chart.line(x(0), y, x(value), y, "stem");
    chart.dot(x(value), y, 5.5, beyond ? colour(found, value) : "grey", fmt::format("{}: {:+.3f}{}", name, value, auc));
    y += line_height;
  }
  return chart.finish();
}

}  // namespace sheaf::report
