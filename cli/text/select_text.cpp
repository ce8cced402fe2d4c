#include "text/select_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 20;
constexpr std::size_t name_width = 40;

std::string how_text(const SelectionResult& r) {
  if (!r.combined) {
    const auto& criterion = find_criterion(r.options.criterion);
    return fmt::format("{} ({}), {}", criterion.name, criterion.title, describe_bins(r.binning, r.automatic_bins));
  }
  const auto& criteria = r.ensemble.criteria;
  const auto names = criteria.empty() ? r.options.criterion : join_names(criteria);
  const auto resamples =
      r.ensemble.resamples > 0 ? fmt::format(" on {}", counted(r.ensemble.resamples, "resample")) : "";
  return fmt::format("{}{}, combined by {}, {}", names, resamples, to_string(r.ensemble.combination),
                     describe_bins(r.binning, r.automatic_bins));
}

std::string heading_text(const SelectionResult& r) {
  return fmt::format("{}\n  {} x {}, {}\n  {}\n", bold(r.source), counted(r.rows, "row"),
                     counted(r.features, "feature"), counted(r.class_names.size(), "class"), how_text(r));
}

/// Bars show the relevance of each feature.
std::string table_text(const SelectionResult& r) {
  std::vector<std::vector<std::string>> rows{
      {dim("rank"), dim("index"), dim("name"), dim("score"), dim("relevance"), dim("redundancy")}};
  if (r.combined) rows[0].insert(rows[0].end(), {dim("mean rank"), dim("frequency")});
  rows[0].emplace_back();
  for (const auto& name : r.annotations.columns) rows[0].push_back(dim(shortened(name, name_width)));
  double most = 0;
  for (const auto& row : r.selected) most = std::max(most, row.feature.relevance);
  for (std::size_t k = 0; k < r.selected.size(); ++k) {
    const auto& [feature, name, votes] = r.selected[k];
    rows.push_back({std::to_string(k + 1), std::to_string(feature.index), shortened(name, name_width),
                    score_text(feature.score), score_text(feature.relevance), score_text(feature.redundancy)});
    if (votes)
      rows.back().insert(rows.back().end(), {fmt::format("{:.2f}", votes->mean_rank), percent(votes->frequency)});
    rows.back().push_back(most > 0 ? bar(feature.relevance / most, bar_width) : "");
    for (const auto& text : r.annotations.of(name)) rows.back().push_back(shortened(text, name_width));
  }
  const auto title = fmt::format("{} feature{}", r.selected.size(), r.selected.size() == 1 ? "" : "s");
  return fmt::format("\n{}{}\n", bold(title), dim("  best first; relevance and redundancy in bits")) +
         table(rows, (r.combined ? "rrlrrrrrl" : "rrlrrrl") + std::string(r.annotations.columns.size(), 'l'), 2);
}

}  // namespace

std::string selection_text(const SelectionResult& r) {
  auto text = heading_text(r);
  if (!r.selected.empty()) text += table_text(r);
  if (r.combined)
    text += fmt::format("\n  {}\n", wrapped(fmt::format("stability {:.3f} of {} selections: {}", r.stability,
                                                        r.members.size(), stability_scale(r.chance)),
                                            2));
  if (!r.notes.empty()) text += '\n';
  for (const auto& note : r.notes) text += fmt::format("  {} {}\n", dim("-"), wrapped(note, 4));
  return text;
}

}  // namespace sheaf::cli
