#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/version.hpp>

#include "core/text.hpp"
#include "report/charts.hpp"
#include "report/page.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

constexpr std::size_t most_coloured_classes = 8;

std::string density(const Summary& summary) {
  const double cells = static_cast<double>(summary.rows) * static_cast<double>(summary.features);
  return percent(cells > 0 ? static_cast<double>(summary.nonzeros) / cells : 0);
}

std::string header_tiles(const Profile& p) {
  std::vector<Tile> list{{grouped(p.summary.rows), "rows"},
                         {grouped(p.summary.features), "features"},
                         {grouped(p.summary.nonzeros), "non-zeros"},
                         {density(p.summary), "of all cells"}};
  if (p.classification) list.push_back({grouped(static_cast<std::int64_t>(p.class_names.size())), "classes"});
  if (p.summary.groups > 0) list.push_back({grouped(p.summary.groups), "groups"});
  list.push_back({brief(p.summary.minimum) + " to " + brief(p.summary.maximum),
                  p.summary.integers_only ? "whole numbers" : "values"});
  list.push_back({format_bytes(p.memory.matrix_cpu), p.element_bytes == 4 ? "in memory, float" : "in memory, double"});
  return tiles(list);
}

std::string findings_card(const Profile& p) {
  std::vector<Note> notes;
  for (const auto& finding : p.findings) notes.push_back({finding.message, finding.level == Finding::Level::warning});
  return notes_card("To check before training.", notes);
}

std::string target_card(const Profile& p) {
  const bool named = !p.target_name.empty() && p.target_name != "label";
  const std::string name = named ? fmt::format("The label, {}", p.target_name) : "The label";
  if (p.classification) return card(name, fmt::format("{}.", counted(p.class_names.size(), "class")), class_balance(p));
  const auto about = fmt::format("A numeric target from {} to {}, mean {}, standard deviation {}.",
                                 brief(p.summary.target_minimum), brief(p.summary.target_maximum),
                                 brief(p.summary.target_mean), brief(p.summary.target_standard_deviation));
  std::string others;
  for (const auto& [other, values] : p.summary.further_targets)
    others +=
        fmt::format(" A further target, {}, from {} to {}, mean {}, standard deviation {}.", other,
                    brief(values.minimum), brief(values.maximum), brief(values.mean), brief(values.standard_deviation));
  return card(name, about + others, target_histogram(p));
}

std::string rows_card(const Profile& p) {
  const auto about =
      p.summary.empty_rows == 0
          ? fmt::format("From {} to {}.", grouped(p.summary.shortest_row), grouped(p.summary.longest_row))
          : fmt::format("From {} to {}; {} without any.", grouped(p.summary.shortest_row),
                        grouped(p.summary.longest_row), grouped(p.summary.empty_rows));
  return card("Non-zeros of each row", about, row_nonzeros(p));
}

std::string cloud_card(const Profile& p) {
  const bool prevalence = has_prevalence(p);
  const bool marked = !p.strongest.empty() && p.associations.shuffles > 0;
  std::string about = prevalence ? "How often each feature occurs, and how large it is where it does."
                                 : "Mean and spread of each feature.";
  if (marked) about += " Ringed: those of the strongest that chance does not explain.";
  return card(prevalence ? "Prevalence and abundance" : "Location and spread", about, feature_cloud(p));
}

std::string chance_sentence(const Profile& p) {
  const auto& found = p.associations;
  if (found.shuffles == 0) return "How strongly each feature alone goes with the label.";
  std::int64_t beyond = 0;
  for (const double value : found.correlation) beyond += std::abs(value) > found.chance ? 1 : 0;
  return fmt::format(
      "Bars: features by strength. Outline: the same with the labels shuffled, mean of {}. Dashed: the "
      "largest that any feature reached with any shuffled labels, {:.3f}. Beyond it: {}.",
      counted(found.shuffles, "shuffle"), found.chance, counted(beyond, "feature"));
}

std::string strongest_sentence(const Profile& p) {
  const auto& found = p.associations;
  std::string text = "Rank correlation with the label";
  if (found.directed())
    text += fmt::format("; to the right, larger values mean {}",
                        p.class_names[static_cast<std::size_t>(found.positive_class)]);
  if (!found.directed() && p.classification) text = "How much of the ranks' variation lies between the classes";
  return text + (found.shuffles > 0 ? ". Shaded: within the reach of chance." : ".");
}

std::string class_legend(const Profile& p) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t c = 0; c < p.class_names.size(); ++c) entries.emplace_back(fmt::format("f{}", c), p.class_names[c]);
  return legend(entries);
}

std::string ranges_card(const Profile& p) {
  return card("Ranges", "The features that vary most: minimum to maximum, mean, one standard deviation to each side.",
              feature_ranges(p));
}

std::string filter_card(const Profile& p) {
  return card("How many features a filter leaves",
              has_prevalence(p) ? "By the share of rows that must have a feature for it to stay."
                                : "By the standard deviation that a feature must have to stay.",
              filter_curve(p));
}

std::string classes_card(const Profile& p) {
  const auto* about =
      has_prevalence(p) ? "Share of each class's rows in which the feature is not zero." : "Mean of each class.";
  return card("The strongest features, class by class", about, class_legend(p) + class_dots(p));
}

/// The plots, two to a line; the strongest features and their classes stand side by side.
std::string plot_cards(const Profile& p) {
  std::vector<std::string> cards;
  if (p.labelled) cards.push_back(target_card(p));
  if (has_prevalence(p) && p.summary.rows > 0) cards.push_back(rows_card(p));
  cards.push_back(cloud_card(p));
  if (!p.strongest.empty()) cards.push_back(card("Signal and chance", chance_sentence(p), association_histogram(p)));
  const bool ranges_first = cards.size() % 2 == 1;
  if (ranges_first) cards.push_back(ranges_card(p));
  if (!p.strongest.empty())
    cards.push_back(card("The strongest features", strongest_sentence(p), strongest_features(p)));
  if (!p.strongest.empty() && p.classification && p.class_names.size() <= most_coloured_classes)
    cards.push_back(classes_card(p));
  if (!ranges_first) cards.push_back(ranges_card(p));
  if (cards.size() % 2 == 1) cards.push_back(filter_card(p));
  return std::accumulate(cards.begin(), cards.end(), std::string());
}

std::string memory_card(const Profile& p) {
  std::vector<std::vector<std::string>> rows{
      {"device", "", "the dataset there", "may be used", "linear models side by side"}};
  for (const auto& fit : p.fits)
    rows.push_back({to_string(fit.device.device), fit.device.name, format_bytes(fit.need), format_bytes(fit.budget),
                    fit.models > 0 ? grouped(fit.models) : "does not fit"});
  return card("Memory",
              fmt::format("{} as read; {} for the working blocks of one linear model.",
                          format_bytes(p.memory.matrix_cpu), format_bytes(p.memory.per_task)),
              table(rows, "llrrr"), true);
}

std::vector<std::string> feature_row(const Profile& p, const Highlight& highlight) {
  const auto j = static_cast<std::size_t>(highlight.feature);
  const auto& f = p.summary.per_feature[j];
  std::vector<std::string> row{p.feature_name(highlight.feature),
                               percent(p.prevalence(highlight.feature)),
                               brief(f.minimum),
                               brief(f.mean),
                               brief(f.standard_deviation),
                               brief(f.maximum)};
  if (p.associations.empty()) return row;
  const bool direction = p.associations.directed() || !p.classification;
  row.push_back(fmt::format(fmt::runtime(direction ? "{:+.3f}" : "{:.3f}"), p.associations.correlation[j]));
  if (!p.associations.auc.empty()) row.push_back(fmt::format("{:.3f}", p.associations.auc[j]));
  return row;
}

std::string feature_table_card(const Profile& p) {
  std::vector<std::string> head{"feature", "not zero in", "minimum", "mean", "standard deviation", "maximum"};
  if (!p.associations.empty())
    head.emplace_back(p.associations.directed() || !p.classification ? "rank correlation" : "correlation ratio");
  if (!p.associations.auc.empty()) head.emplace_back("AUC");
  std::vector<std::vector<std::string>> rows{head};
  const auto& list = p.strongest.empty() ? p.varying : p.strongest;
  for (const auto& highlight : list) rows.push_back(feature_row(p, highlight));
  return card(p.strongest.empty() ? "The features that vary most, in numbers" : "The strongest features, in numbers",
              "Over all rows, zeros included.", table(rows, "lrrrrrrr"), true);
}

}  // namespace

std::string profile_html(const Profile& profile) {
  const std::string body = header_tiles(profile) + "<div class=\"cards\">\n" + findings_card(profile) +
                           plot_cards(profile) + feature_table_card(profile) + memory_card(profile) + "</div>\n";
  const auto name = profile.source.substr(profile.source.rfind('/') + 1);
  const auto subtitle = fmt::format("{} dataset, as sheaf info sees it", profile.summary.sparse ? "Sparse" : "Dense");
  return page(name, subtitle, body,
              fmt::format("{}. Made by Sheaf {}. Everything is in this file; nothing is loaded from elsewhere.",
                          profile.source, SHEAF_VERSION));
}

}  // namespace sheaf
