#include "text/study_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text.hpp"
#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 20;
constexpr std::size_t most_features = 25;
constexpr std::size_t name_width = 40;

std::string score_text(double score) { return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-"; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string heading_text(const StudyResult& r) {
  const auto& options = r.options;
  auto text = fmt::format("{}\n  {} examples x {} features", bold(r.source), grouped(r.rows), grouped(r.features));
  if (!r.class_names.empty()) text += fmt::format(", {} classes", r.class_names.size());
  text +=
      fmt::format("\n  {}{}: {} splits x {} folds{}, {} alphas x {} l1-ratios{}\n",
                  options.net.loss == Loss::logistic ? "elastic-net logistic regression" : "elastic net",
                  options.net.standardise ? ", standardised" : "", r.splits.size(), options.folds,
                  r.groups > 0 ? fmt::format(" by {} groups", grouped(r.groups)) : "", r.alpha_count(), r.alphas.size(),
                  options.strategy == Strategy::grid ? "" : fmt::format(" ({})", to_string(options.strategy)));
  return text;
}

std::string scores_text(const StudyResult& r) {
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : r.known()) {
    const auto summary = r.left_out(metric);
    if (summary.splits == 0) continue;
    rows.push_back({std::string(info(metric).title), score_text(summary.mean), "+-", score_text(summary.deviation),
                    metric == *r.options.score ? dim("chosen by") : ""});
  }
  return fmt::format("\n{}{}\n", bold("On the rows left out"), dim("  mean and deviation over the splits")) +
         table(rows, "lrlrl", 2);
}

/// Which pairs the splits chose, and how many features that gave.
std::string choices_text(const StudyResult& r) {
  std::vector<double> alphas, sizes;
  std::map<double, int> ratios;
  for (const auto& split : r.splits) {
    alphas.push_back(r.alpha_of(split));
    ++ratios[r.l1_ratio_of(split)];
    double size = 0;
    for (const auto& net : split.nets) size += static_cast<double>(net.features.size());
    sizes.push_back(size);
  }
  const auto range = [](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{:.4g} ({:.4g} to {:.4g})", median(values), *low, *high);
  };
  std::string counts;
  for (const auto& [ratio, count] : ratios)
    counts += fmt::format("{}{:g} in {}", counts.empty() ? "" : ", ", ratio, count);
  return fmt::format("\n{}{}\n", bold("Chosen"), dim("  median and range over the splits")) +
         table({{"alpha", range(alphas)},
                {"l1-ratio", counts + " splits"},
                {r.columns > 1 ? "weights" : "features", range(sizes)}},
               "ll", 2);
}

/// The decision value with the largest effect.
std::size_t strongest(const StudyFeature& feature) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < feature.mean_weight.size(); ++c)
    if (std::abs(feature.mean_weight[c]) > std::abs(feature.mean_weight[best])) best = c;
  return best;
}

std::string features_text(const StudyResult& r) {
  const auto selected = r.selected().size();
  const auto shown = std::min(most_features, r.chosen.size());
  const bool several = r.columns > 1;
  std::vector<std::vector<std::string>> rows{
      {dim("name"), dim("frequency"), "", dim("mean weight"), dim("same sign"), dim("median rank")}};
  if (several) rows[0].push_back(dim("class"));
  for (std::size_t k = 0; k < shown; ++k) {
    const auto& feature = r.chosen[k];
    const auto c = strongest(feature);
    rows.push_back({shortened(feature.name, name_width), percent(feature.frequency), bar(feature.frequency, bar_width),
                    fmt::format("{:+.4g}", feature.mean_weight[c]), percent(feature.sign_agreement[c]),
                    fmt::format("{:g}", feature.median_rank)});
    if (several) rows.back().push_back(shortened(r.class_names[c], name_width));
  }
  auto about = fmt::format("  chosen by at least {} of the splits; {} by any", percent(r.options.min_frequency),
                           grouped(static_cast<std::int64_t>(r.chosen.size())));
  if (r.class_names.size() == 2) about += fmt::format("; positive weights speak for class {}", r.class_names[0]);
  auto text =
      fmt::format("\n{}{}\n", bold(fmt::format("{} feature{}", selected, selected == 1 ? "" : "s")), dim(about));
  if (!r.chosen.empty()) text += table(rows, several ? "lrlrrrl" : "lrlrrr", 2);
  if (shown < r.chosen.size())
    text += dim(fmt::format("  and {} more, see --csv or --report\n", r.chosen.size() - shown));
  return text;
}

std::string stability_text(const StudyResult& r) {
  if (r.splits.size() < 2) return {};
  return fmt::format(
      "\n  {} {:.3f} (95 % interval {:.3f} to {:.3f}): 1 where all splits choose the same features, "
      "about 0 by chance\n",
      bold("Stability"), r.stability.value, r.stability.low, r.stability.high);
}

std::string next_text(const StudyResult& r, std::string_view kind, const ReadOptions& reading) {
  const auto l1 = static_cast<std::size_t>(r.best_l1_ratio);
  const auto ratio = kind == "lasso" ? "" : fmt::format(" --l1-ratio {:g}", r.options.l1_ratios[l1]);
  return fmt::format(
      "\n  The best pair over all splits, trained on all rows:\n  sheaf fit {}{} --model {} --alpha {}{}{} "
      "--output FILE\n",
      r.source == "standard input" ? "-" : r.source, column_flags(reading), kind,
      r.alphas[l1][static_cast<std::size_t>(r.best_alpha)], ratio,
      fmt::format("{}{}{}", r.options.net.standardise ? " --standardise" : "",
                  r.options.net.intercept ? "" : " --no-intercept",
                  r.options.net.balanced ? " --class-weight balanced" : ""));
}

}  // namespace

std::string study_text(const StudyResult& r, std::string_view kind, const ReadOptions& reading) {
  auto text = heading_text(r) + scores_text(r) + choices_text(r) + features_text(r) + stability_text(r);
  if (!r.notes.empty()) text += '\n';
  for (const auto& note : r.notes) text += fmt::format("  {} {}\n", dim("-"), wrapped(note, 4));
  return text + next_text(r, kind, reading);
}

}  // namespace sheaf::cli
