#include "text/search_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 24;

std::string score_text(double score) { return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-"; }

std::string heading_text(const SearchResult& r) {
  std::string text =
      fmt::format("{}\n  {} examples x {} features", bold(r.source), grouped(r.rows), grouped(r.features));
  if (!r.class_names.empty()) text += fmt::format(", {} classes", r.class_names.size());
  const auto splits =
      r.options.split == SplitKind::leave_one_out ? std::string("leave one out") : fmt::format("{} splits", r.splits);
  return text + fmt::format("\n  {}, {} costs x {} ({})\n", linear_solver(r.options.linear.loss).about,
                            r.options.costs.size(), splits, to_string(*r.options.split));
}

/// Bars begin a little below the lowest mean, so that small differences can be seen.
std::string table_text(const SearchResult& r) {
  const auto metric = *r.options.score;
  std::vector<Summarised> summaries;
  for (std::size_t c = 0; c < r.options.costs.size(); ++c) summaries.push_back(r.summary(c, metric));
  const auto [low, high] = std::minmax_element(summaries.begin(), summaries.end(),
                                               [](const auto& a, const auto& b) { return a.mean < b.mean; });
  const double range = high->mean - low->mean;
  const double base = low->mean - (range > 0 ? range / 10 : 1);
  const double reach = high->mean - base;
  std::vector<std::vector<std::string>> rows{
      {"", dim("C"), dim(info(metric).title), dim("deviation"), dim("std. error"), ""}};
  for (std::size_t c = 0; c < summaries.size(); ++c) {
    const bool chosen = c == r.chosen.chosen;
    const auto cost = fmt::format("{:.6g}", r.options.costs[c]);
    const auto mean = score_text(summaries[c].mean);
    rows.push_back({chosen               ? ">"
                    : c == r.chosen.best ? "*"
                                         : "",
                    chosen ? bold(cost) : cost, chosen ? bold(mean) : mean, score_text(summaries[c].deviation),
                    score_text(summaries[c].standard_error), bar((summaries[c].mean - base) / reach, bar_width)});
  }
  return fmt::format("\n{}\n", bold("Costs")) + table(rows, "lrrrrl", 2);
}

std::string chosen_text(const SearchResult& r) {
  const auto* how = r.options.choice == Choice::best ? "the best mean" : "the smallest within one standard error of *";
  auto text = fmt::format("\n{}{}\n", bold(fmt::format("Chosen: C = {:.6g}", r.cost())), dim(fmt::format("  {}", how)));
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : r.known()) {
    const auto summary = r.summary(r.chosen.chosen, metric);
    if (summary.splits == 0) continue;
    rows.push_back({std::string(info(metric).title), score_text(summary.mean), "+-", score_text(summary.deviation)});
    if (summary.splits < r.splits) rows.back().push_back(fmt::format("over {} splits", summary.splits));
  }
  return text + table(rows, "lrlrl", 2);
}

std::string outer_text(const SearchResult& r) {
  if (r.outer.empty()) return {};
  const auto metric = *r.options.score;
  std::vector<double> scores;
  std::vector<std::vector<std::string>> rows{{dim("fold"), dim("C"), dim("inner"), dim("outer")}};
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    scores.push_back(fold.scores.score(metric));
    rows.push_back({std::to_string(k + 1), fmt::format("{:.6g}", r.options.costs[fold.chosen]),
                    score_text(fold.inner.mean), score_text(scores.back())});
  }
  const auto summary = summarise(scores);
  return fmt::format("\n{}{}\n", bold("Nested validation"),
                     dim(fmt::format("  {} {} +- {}", info(metric).title, score_text(summary.mean),
                                     score_text(summary.deviation)))) +
         table(rows, "rrrr", 2);
}

}  // namespace

std::string search_text(const SearchResult& result) {
  auto text = heading_text(result) + table_text(result) + chosen_text(result) + outer_text(result);
  for (const auto& note : result.notes) text += fmt::format("\n  {} {}\n", dim("-"), wrapped(note, 4));
  return text;
}

}  // namespace sheaf::cli
