#include "text/search_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <sheaf/solvers/elastic_net.hpp>

#include "core/text.hpp"
#include "statistics/distributions.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/score_text.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 20;
constexpr std::size_t most_features = 25;
constexpr std::size_t name_width = 40;

std::string scores_text(const SearchResult& r) {
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : main_metrics(r)) {
    const auto summary = r.outer_summary(metric);
    if (summary.splits == 0) continue;
    rows.push_back({metric_title(metric, r), score_text(summary.mean), "+-", score_text(summary.standard_deviation),
                    metric == *r.options.score ? dim("chosen by") : ""});
  }
  return fmt::format("\n{}{}\n", bold("On held-out rows"), dim("  mean and standard deviation over the resamples")) +
         table(rows, "lrlrl", 2);
}

/// The points that the resamples chose, and the numbers of features that these gave.
std::string choices_text(const SearchResult& r) {
  std::vector<double> sizes;
  std::vector<std::vector<double>> values(r.axes.size());
  for (const auto& fold : r.outer) {
    const auto& point = r.point(fold.level, fold.level.chosen.chosen);
    for (std::size_t axis = 0; axis < values.size(); ++axis) values[axis].push_back(point[axis]);
    sizes.push_back(fold.scores.size);
  }
  const auto range = [](const std::vector<double>& list) {
    const auto [low, high] = std::minmax_element(list.begin(), list.end());
    return fmt::format("{:.4g} ({:.4g} to {:.4g})", median(list), *low, *high);
  };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t axis = 0; axis < values.size(); ++axis) rows.push_back({r.axes[axis].title, range(values[axis])});
  rows.push_back({r.columns > 1 ? "weights" : "features", range(sizes)});
  return fmt::format("\n{}{}\n", bold("Chosen"), dim("  median and range over the resamples")) + table(rows, "ll", 2);
}

/// The decision value with the largest effect.
std::size_t strongest(const FeatureStability& feature) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < feature.mean_weight.size(); ++c)
    if (std::abs(feature.mean_weight[c]) > std::abs(feature.mean_weight[best])) best = c;
  return best;
}

std::string features_text(const SearchResult& r) {
  const auto selected = r.selected().size();
  const auto shown = std::min(most_features, r.stability.size());
  const bool several = r.columns > 1;
  std::vector<std::vector<std::string>> rows{
      {dim("name"), dim("frequency"), "", dim("mean weight"), dim("same sign"), dim("median rank")}};
  if (several) rows[0].push_back(dim(r.target_names.empty() ? "class" : "target"));
  for (const auto& name : r.annotations.columns) rows[0].push_back(dim(shortened(name, name_width)));
  for (std::size_t k = 0; k < shown; ++k) {
    const auto& feature = r.stability[k];
    const auto c = strongest(feature);
    rows.push_back({shortened(feature.name, name_width), percent(feature.frequency), bar(feature.frequency, bar_width),
                    fmt::format("{:+.4g}", feature.mean_weight[c]), percent(feature.sign_agreement[c]),
                    fmt::format("{:g}", feature.median_rank)});
    if (several) rows.back().push_back(shortened(r.column_name(static_cast<std::int32_t>(c)), name_width));
    for (const auto& text : r.annotations.of(feature.name)) rows.back().push_back(shortened(text, name_width));
  }
  auto about = fmt::format("  chosen by at least {} of the resamples; {} by any", percent(r.options.min_frequency),
                           grouped(static_cast<std::int64_t>(r.stability.size())));
  if (r.class_names.size() == 2) about += fmt::format("; positive weights speak for class {}", r.class_names[0]);
  auto text =
      fmt::format("\n{}{}\n", bold(fmt::format("{} feature{}", selected, selected == 1 ? "" : "s")), dim(about));
  if (!r.stability.empty())
    text += table(rows, (several ? "lrlrrrl" : "lrlrrr") + std::string(r.annotations.columns.size(), 'l'), 2);
  if (shown < r.stability.size())
    text += dim(fmt::format("  and {} more, see --csv or --report\n", r.stability.size() - shown));
  return text;
}

std::string stability_text(const SearchResult& r) {
  if (r.outer.size() < 2) return {};
  return fmt::format("\n  {} {}\n", bold("Stability"),
                     wrapped(fmt::format("{:.3f} (95 % interval {:.3f} to {:.3f}): {}", r.overall.value, r.overall.low,
                                         r.overall.high, stability_scale(r.chance)),
                             2));
}

std::string next_text(const SearchResult& r, std::string_view kind, const ReadOptions& reading) {
  const auto& point = r.points[static_cast<std::size_t>(r.best_overall)];
  const auto& net = r.space.get<NetOptions>();
  const auto ratio = kind == "lasso" ? "" : fmt::format(" --l1-ratio {:g}", r.value(point, "l1-ratio"));
  const auto axis = std::find_if(r.axes.begin(), r.axes.end(), [](const auto& one) { return one.name == "relax"; });
  const auto relax =
      axis != r.axes.end() ? fmt::format(" --relax {}", axis->text(r.value(point, "relax"))) : std::string();
  return fmt::format(
      "\n  The best point over all resamples, trained on all rows:\n  sheaf fit {}{} --model {} --alpha {}{}{} "
      "--output FILE\n",
      r.source == "standard input" ? "-" : r.source, column_flags(reading) + pipeline_flags(r.options.pipeline), kind,
      r.value(point, "alpha"), ratio + relax,
      fmt::format("{}{}{}", net.standardise ? " --standardise" : "", net.intercept ? "" : " --no-intercept",
                  net.balanced ? " --class-weight balanced" : ""));
}

}  // namespace

std::string study_text(const SearchResult& r, std::string_view kind, const ReadOptions& reading) {
  return heading_text(r) + scores_text(r) + choices_text(r) + features_text(r) + stability_text(r) + notes_text(r) +
         next_text(r, kind, reading);
}

}  // namespace sheaf::cli
