#include "text/info_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 32;
constexpr std::size_t most_lines = 10;
constexpr std::size_t name_width = 28;

std::string heading(std::string_view title, std::string_view about = {}) {
  return fmt::format("\n{}{}\n", bold(title), about.empty() ? "" : dim(fmt::format("  {}", about)));
}

std::string shape(const Profile& p) {
  const auto& s = p.summary;
  const double cells = static_cast<double>(s.rows) * static_cast<double>(s.features);
  const double density = cells > 0 ? static_cast<double>(s.nonzeros) / cells : 0;
  return fmt::format("{}\n  {} x {}, {}: {} ({} of all cells)\n  {} from {} to {}\n", bold(p.source),
                     counted(s.rows, "row"), counted(s.features, "feature"), s.sparse ? "sparse" : "dense",
                     counted(s.nonzeros, "non-zero"), percent(density), s.integers_only ? "whole numbers" : "values",
                     brief(s.minimum), brief(s.maximum));
}

/// The positions of the largest values first.
std::vector<std::size_t> by_size(const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
  return order;
}

std::string classes(const Profile& p) {
  const auto& counts = p.summary.class_counts;
  const auto order = by_size(counts);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < std::min(order.size(), most_lines); ++k) {
    const auto c = order[k];
    const auto count = static_cast<double>(counts[c]);
    rows.push_back({shortened(p.class_names[c], name_width), grouped(counts[c]),
                    percent(count / static_cast<double>(p.summary.rows)),
                    bar(count / static_cast<double>(counts[order[0]]), bar_width)});
  }
  auto text = table(rows, "lrrl", 2);
  if (order.size() > most_lines) text += fmt::format("  and {} more\n", order.size() - most_lines);
  return text;
}

std::string label(const Profile& p) {
  const auto& s = p.summary;
  if (!p.labelled) return heading("Label", "none");
  const bool named = !p.target_name.empty() && p.target_name != "label";
  const std::string title = named ? fmt::format("Label {}", p.target_name) : "Label";
  if (p.classification) return heading(title, counted(p.class_names.size(), "class")) + classes(p);
  const auto numbers = [](double low, double high, double mean, double deviation) {
    return fmt::format("  {} to {}, mean {}, standard deviation {}\n", brief(low), brief(high), brief(mean),
                       brief(deviation));
  };
  auto text = heading(title, "numeric target") +
              numbers(s.target_minimum, s.target_maximum, s.target_mean, s.target_standard_deviation);
  for (const auto& [name, values] : p.summary.further_targets)
    text += heading(fmt::format("Label {}", name), "numeric target") +
            numbers(values.minimum, values.maximum, values.mean, values.standard_deviation);
  return text;
}

std::string bucket_name(std::size_t bucket) {
  if (bucket < 2) return std::to_string(bucket);
  const auto low = std::int64_t{1} << (bucket - 1);
  return fmt::format("{} to {}", grouped(low), grouped(2 * low - 1));
}

std::string row_lengths(const Profile& p) {
  const auto& histogram = p.summary.row_nonzeros_histogram;
  if (!p.summary.sparse || histogram.empty()) return {};
  const auto most = static_cast<double>(*std::max_element(histogram.begin(), histogram.end()));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t b = 0; b < histogram.size(); ++b)
    if (histogram[b] > 0 || !rows.empty())
      rows.push_back({bucket_name(b), grouped(histogram[b]), bar(static_cast<double>(histogram[b]) / most, bar_width)});
  const auto about = fmt::format("{} to {}", grouped(p.summary.shortest_row), grouped(p.summary.longest_row));
  return heading("Non-zeros of a row", about) + table(rows, "rrl", 2);
}

bool has_direction(const Profile& p) { return p.associations.directed() || !p.classification; }

std::vector<std::string> feature_head(const Profile& p, bool association) {
  std::vector<std::string> head{dim("feature"), dim("not zero in"), dim("mean"), dim("std. dev."), dim("maximum")};
  if (association) head.push_back(dim(has_direction(p) ? "correlation" : "ratio"));
  if (association && !p.associations.auc.empty()) head.push_back(dim("AUC"));
  return head;
}

/// With a sign if there are two directions.
std::string correlation_text(const Profile& p, std::size_t j) {
  const double value = p.associations.correlation[j];
  return has_direction(p) ? fmt::format("{:+.3f}", value) : fmt::format("{:.3f}", value);
}

std::string features(const Profile& p, const std::vector<Highlight>& highlights, bool association) {
  std::vector<std::vector<std::string>> rows{feature_head(p, association)};
  for (std::size_t k = 0; k < std::min(highlights.size(), most_lines); ++k) {
    const auto j = static_cast<std::size_t>(highlights[k].feature);
    const auto& f = p.summary.per_feature[j];
    rows.push_back({shortened(p.feature_name(highlights[k].feature), name_width),
                    percent(p.prevalence(highlights[k].feature)), brief(f.mean), brief(f.standard_deviation),
                    brief(f.maximum)});
    if (association) rows.back().push_back(correlation_text(p, j));
    if (association && !p.associations.auc.empty()) rows.back().push_back(fmt::format("{:.3f}", p.associations.auc[j]));
  }
  return table(rows, "lrrrrrr", 2);
}

std::string highlights(const Profile& p) {
  std::string text;
  if (!p.varying.empty()) text += heading("Features that vary most") + features(p, p.varying, false);
  if (p.strongest.empty()) return text;
  std::string about = has_direction(p) ? "by rank correlation" : "by the ranks' correlation ratio";
  if (p.associations.shuffles > 0) about += fmt::format("; chance reaches {:.3f}", p.associations.chance);
  const auto label = p.summary.further_targets.empty() ? "the label" : "the first label, " + p.target_name;
  return text + heading("Features that go with " + label, about) + features(p, p.strongest, true);
}

std::string memory(const Profile& p) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& fit : p.fits) {
    const auto budget = format_bytes(fit.budget);
    const auto room = fit.models > 0
                          ? fmt::format("{} may be used: {} linear models side by side", budget, grouped(fit.models))
                          : yellow("does not fit") + fmt::format(" in the {} that may be used", budget);
    rows.push_back({to_string(fit.device.device), format_bytes(fit.need), room});
  }
  const auto about =
      fmt::format("{} as read in {}", format_bytes(p.memory.matrix_cpu), p.element_bytes == 4 ? "float" : "double");
  return heading("Memory to train", about) + table(rows, "lrl", 2);
}

std::string findings_text(const Profile& p) {
  if (p.findings.empty()) return {};
  std::string text = heading("Notes");
  for (const auto& finding : p.findings)
    text += fmt::format("  {} {}\n", finding.level == Finding::Level::warning ? yellow("!") : dim("-"),
                        wrapped(finding.message, 4));
  return text;
}

}  // namespace

std::string info_text(const Profile& profile) {
  return shape(profile) + label(profile) + row_lengths(profile) + highlights(profile) + memory(profile) +
         findings_text(profile);
}

}  // namespace sheaf::cli
