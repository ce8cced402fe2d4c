#include "report/rescore_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/svg.hpp"

namespace sheaf::report {
namespace {

constexpr double left = 64;
constexpr double right = half - 16;
constexpr double top = 28;
constexpr double bottom = 230;
constexpr double height = 280;
constexpr double most_q = 0.1;
constexpr int steps = 200;

/// The number of targets with q at most k / steps * most_q, and their mean PEP.
struct Totals {
  std::array<double, steps + 1> count{}, mean_pep{};
};

Totals totals(const RescoreResult& r, const RescoreLevel& level) {
  Totals result;
  double count = 0;
  double peps = 0;
  std::size_t k = 0;
  for (int step = 0; step <= steps; ++step) {
    for (; k < level.rows.size() && level.q[k] <= most_q * step / steps; ++k) {
      if (!r.is_target(level.rows[k])) continue;
      ++count;
      peps += std::isfinite(level.pep[k]) ? level.pep[k] : 0;
    }
    result.count[static_cast<std::size_t>(step)] = count;
    result.mean_pep[static_cast<std::size_t>(step)] = count > 0 ? peps / count : 0;
  }
  return result;
}

void draw(Chart& chart, const Axis& x, const Axis& y, const std::array<double, steps + 1>& values, const char* css) {
  std::vector<ChartPoint> points;
  for (int step = 0; step <= steps; ++step)
    points.push_back({x(most_q * step / steps), y(std::min(values[static_cast<std::size_t>(step)], y.high))});
  chart.path(line_through(points), css);
}

void add_data(Chart& chart, const char* of_psms, const std::array<double, steps + 1>& psms, const char* of_peptides,
              const std::array<double, steps + 1>& peptides) {
  chart.data("q-value", of_psms, of_peptides);
  for (std::size_t step = 0; step <= steps; ++step)
    chart.data(most_q * static_cast<double>(step) / steps, psms[step], peptides[step]);
}

}  // namespace

std::string accepted_curve(const RescoreResult& r) {
  Chart chart(half, height, "accepted targets over the q-value");
  const Totals psms = totals(r, r.psms);
  const Totals peptides = totals(r, r.peptides);
  const Axis x{0, most_q, left, right};
  const Axis y{0, std::max(psms.count[steps], 1.0) * 1.05, bottom, top};
  chart.bottom_axis(x, top, bottom, "q-value");
  chart.left_axis(y, left, right, "accepted targets");
  draw(chart, x, y, psms.count, "line0");
  if (!r.peptides.rows.empty()) draw(chart, x, y, peptides.count, "line1");
  add_data(chart, "accepted PSMs", psms.count, "accepted peptides", peptides.count);
  return chart.finish();
}

std::string score_histogram(const RescoreResult& r, double limit) {
  constexpr int bins = 60;
  Chart chart(half, height, "scores of targets and decoys");
  if (r.psms.rows.empty()) return chart.finish();
  double low = r.psms.scores.back();
  double high = r.psms.scores.front();
  if (high <= low) high = low + 1;
  std::array<std::array<double, bins>, 2> counts{};
  double boundary = high;
  for (std::size_t k = 0; k < r.psms.rows.size(); ++k) {
    const auto bin = std::min(bins - 1, static_cast<int>((r.psms.scores[k] - low) / (high - low) * bins));
    ++counts[r.is_target(r.psms.rows[k]) ? 0 : 1][static_cast<std::size_t>(bin)];
    if (r.psms.q[k] < limit) boundary = r.psms.scores[k];
  }
  double most = 1;
  for (const auto& one : counts) most = std::max(most, *std::max_element(one.begin(), one.end()));
  const Axis x{low, high, left, right};
  const Axis y{0, most * 1.05, bottom, top};
  chart.bottom_axis(x, top, bottom, "score");
  chart.left_axis(y, left, right, "PSMs");
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<ChartPoint> points;
    for (int bin = 0; bin < bins; ++bin)
      points.push_back({x(low + (bin + 0.5) * (high - low) / bins), y(counts[side][static_cast<std::size_t>(bin)])});
    chart.path(line_through(points), side == 0 ? "line0" : "line1");
  }
  chart.data("score", "targets", "decoys");
  for (std::size_t bin = 0; bin < bins; ++bin)
    chart.data(low + (static_cast<double>(bin) + 0.5) * (high - low) / bins, counts[0][bin], counts[1][bin]);
  if (r.psms.accepted > 0) chart.line(x(boundary), top, x(boundary), bottom, "edge");
  return chart.finish();
}

std::string calibration_curve(const RescoreResult& r) {
  Chart chart(half, height, "mean posterior error probability over the q-value");
  const Axis x{0, most_q, left, right};
  const Axis y{0, most_q, bottom, top};
  chart.bottom_axis(x, top, bottom, "q-value");
  chart.left_axis(y, left, right, "mean PEP");
  chart.line(x(0), y(0), x(most_q), y(most_q), "edge");
  const auto psms = totals(r, r.psms);
  const auto peptides = totals(r, r.peptides);
  draw(chart, x, y, psms.mean_pep, "line0");
  if (!r.peptides.rows.empty()) draw(chart, x, y, peptides.mean_pep, "line1");
  add_data(chart, "mean PEP of PSMs", psms.mean_pep, "mean PEP of peptides", peptides.mean_pep);
  return chart.finish();
}

}  // namespace sheaf::report
