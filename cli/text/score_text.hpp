// Shared by the texts of searches and studies.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <sheaf/search.hpp>
#include "core/text.hpp"

#include "terminal.hpp"

namespace sheaf::cli {

/// The title of a metric; with the class if it is about the positive one.
inline std::string metric_title(Metric metric, const std::string& positive) {
  const bool of_one = metric == Metric::precision || metric == Metric::recall || metric == Metric::f1 ||
                      metric == Metric::auc || metric == Metric::average_precision;
  if (positive.empty() || !of_one) return std::string(info(metric).title);
  return fmt::format("{} of {}", info(metric).title, shortened(positive, 20));
}
inline std::string metric_title(Metric metric, const SearchResult& r) {
  return metric_title(metric, r.class_names.size() == 2 && r.positive >= 0
                                  ? r.class_names[static_cast<std::size_t>(r.positive)]
                                  : std::string());
}

/// The metrics of most interest; all of them are in the files.
inline std::vector<Metric> main_metrics(const SearchResult& r) {
  std::vector<Metric> list;
  for (const auto metric : r.metrics)
    if (info(metric).summary || metric == *r.options.score) list.push_back(metric);
  return list;
}

inline std::string heading_text(const SearchResult& r) {
  auto text = fmt::format("{}\n  {} x {}", bold(r.source), counted(r.rows, "row"), counted(r.features, "feature"));
  if (!r.class_names.empty()) text += fmt::format(", {}", counted(r.class_names.size(), "class"));
  if (!r.target_names.empty()) text += fmt::format(", {}", counted(r.target_names.size(), "target"));
  if (r.groups > 0) text += fmt::format(", {}", counted(r.groups, "group"));
  const auto splits = r.options.split == SplitKind::leave_one_out
                          ? std::string("leave one out")
                          : fmt::format("{} ({})", counted(r.splits, "split"), to_string(*r.options.split));
  const auto outer = r.options.full ? ""
                                    : fmt::format("{} ({}) x ", counted(r.outer.size(), "resample"),
                                                  to_string(*r.options.outer_split));
  const auto strategy = r.options.strategy == Strategy::grid ? "" : fmt::format(" ({})", to_string(r.options.strategy));
  const auto steps = describe_steps(r.options.pipeline);
  const auto models = r.models.empty() ? r.title : counted(r.models.size(), "model");
  text += fmt::format("\n  {}, {}{} x {}{}\n", models, counted(std::ssize(r.points), "point"),
                      r.models.empty() ? strategy : "", outer, splits);
  if (!steps.empty() && r.models.empty()) text += fmt::format("  steps before the model: {}\n", steps);
  return text;
}

inline std::string notes_text(const SearchResult& r) {
  std::string text = r.notes.empty() ? "" : "\n";
  for (const auto& note : r.notes) text += fmt::format("  {} {}\n", dim("-"), wrapped(note, 4));
  return text;
}

}  // namespace sheaf::cli
