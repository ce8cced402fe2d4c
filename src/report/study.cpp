#include <cmath>

#include <fmt/format.h>

#include <sheaf/study.hpp>

#include "core/text.hpp"
#include "report/page.hpp"
#include "report/scores.hpp"
#include "report/search_charts.hpp"
#include "report/study_charts.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

constexpr std::size_t most_features = 200;
constexpr std::size_t most_columns = 12;  // whose paths are shown

std::string header_tiles(const StudyResult& r) {
  const auto metric = *r.options.score;
  std::vector<Tile> list{{spread_text(r.left_out(metric)), fmt::format("{}, rows left out", info(metric).title)},
                         {grouped(std::ssize(r.selected())),
                          fmt::format("features chosen by {} of splits", percent(r.options.min_frequency))}};
  if (r.splits.size() > 1)
    list.push_back({fmt::format("{:.3f}", r.stability.value),
                    fmt::format("stability ({:.3f} to {:.3f})", r.stability.low, r.stability.high)});
  list.push_back({grouped(std::ssize(r.splits)), "splits"});
  list.push_back({grouped(r.rows), "examples"});
  list.push_back({grouped(r.features), "features"});
  if (r.groups > 0) list.push_back({grouped(r.groups), "groups, kept together"});
  if (!r.class_names.empty()) list.push_back({std::to_string(r.class_names.size()), "classes"});
  return tiles(list);
}

std::string surface_card(const StudyResult& r) {
  const auto l = static_cast<std::size_t>(r.best_l1_ratio);
  return card(fmt::format("{} over alpha and l1-ratio", info(*r.options.score).title),
              fmt::format("Mean over the folds and splits; darker is better. Dots: chosen by splits, larger by more of "
                          "them. Ringed: the best mean, alpha {:.4g} and l1-ratio {:g}.",
                          r.alphas[l][static_cast<std::size_t>(r.best_alpha)], r.options.l1_ratios[l]),
              score_surface(r));
}

std::string frequency_card(const StudyResult& r) {
  auto about =
      fmt::format("The most frequent of {} features that some split chose. Dashed: where features are selected.",
                  grouped(std::ssize(r.chosen)));
  std::string marks;
  if (r.class_names.size() == 2)
    marks = legend({{"f0", "speaks for " + r.class_names[0]}, {"f1", "speaks for " + r.class_names[1]}});
  if (r.class_names.empty()) marks = legend({{"f0", "goes with larger amounts"}, {"f1", "goes with smaller amounts"}});
  return card("How often each feature was chosen", about, marks + frequency_bars(r));
}

std::string roc_card(const StudyResult& r) {
  if (r.class_names.size() != 2) return {};
  std::vector<std::vector<double>> curves;
  for (const auto& split : r.splits) curves.push_back(split.left_out.roc);
  const auto curve =
      mean_roc(curves, r.class_names[static_cast<std::size_t>(r.positive)], "ROC curve of the rows left out");
  if (curve.empty()) return {};
  return card("ROC of the rows left out",
              fmt::format("Mean over the splits, with one standard deviation to each side. AUC {}.",
                          spread_text(r.left_out(Metric::auc))),
              curve);
}

std::string path_cards(const StudyResult& r) {
  if (r.path.empty()) return {};
  const auto& split = r.splits[static_cast<std::size_t>(r.options.path_split - 1)];
  std::string cards;
  for (std::size_t c = 0; c < std::min(most_columns, static_cast<std::size_t>(r.columns)); ++c) {
    const auto of = r.columns == 1 ? "" : fmt::format(", class {}", r.class_names[c]);
    cards +=
        card(fmt::format("Weights along the path of split {}{}", r.options.path_split, of),
             fmt::format("At the l1-ratio that it chose, {:g}; dashed: the alpha that it chose, {:.4g}. Of features "
                         "that some split chose.",
                         r.l1_ratio_of(split), r.alpha_of(split)),
             coefficient_path(r, c));
  }
  return cards;
}

std::string scores_card(const StudyResult& r) {
  return card(
      "Score of each split",
      fmt::format("{} on the rows that it left out. Dashed: the mean, with one standard deviation to each side.",
                  info(*r.options.score).title),
      split_scores(r));
}

std::string features_card(const StudyResult& r) {
  std::vector<std::vector<std::string>> rows{{"position", "name", "frequency", "median rank", "deviation"}};
  std::string alignment = "rlrrr";
  for (std::int32_t c = 0; c < r.columns; ++c) {
    const auto of = r.columns == 1 ? "" : " of " + r.class_names[static_cast<std::size_t>(c)];
    rows[0].push_back("mean weight" + of);
    rows[0].push_back("same sign" + of);
    alignment += "rr";
  }
  for (std::size_t k = 0; k < std::min(most_features, r.chosen.size()); ++k) {
    const auto& feature = r.chosen[k];
    rows.push_back({std::to_string(feature.index + 1), feature.name, percent(feature.frequency),
                    fmt::format("{:g}", feature.median_rank), fmt::format("{:.4g}", feature.deviation)});
    for (std::size_t c = 0; c < feature.mean_weight.size(); ++c) {
      rows.back().push_back(fmt::format("{:+.4g}", feature.mean_weight[c]));
      rows.back().push_back(percent(feature.sign_agreement[c]));
    }
  }
  return card("Features", "Mean weight and sign over the splits that chose a feature; ranks by weight times deviation.",
              table(rows, alignment), true);
}

std::string splits_card(const StudyResult& r) {
  std::vector<std::vector<std::string>> rows{{"split", "alpha", "l1-ratio", "features", "within"}};
  for (const auto metric : r.known()) rows[0].push_back(std::string(info(metric).title));
  for (std::size_t s = 0; s < r.splits.size(); ++s) {
    const auto& split = r.splits[s];
    const auto pair =
        static_cast<std::size_t>(split.l1_ratio) * r.alpha_count() + static_cast<std::size_t>(split.alpha);
    std::int64_t features = 0;
    for (const auto& net : split.nets) features += std::ssize(net.features);
    rows.push_back({std::to_string(s + 1), fmt::format("{:.4g}", r.alpha_of(split)),
                    fmt::format("{:g}", r.l1_ratio_of(split)), grouped(features), spread_text(r.within(split, pair))});
    for (const auto metric : r.known()) rows.back().push_back(score_text(split.left_out.score(metric)));
  }
  return card("Splits",
              "What each split chose, its score over the folds (\"within\"), and its scores on the rows it left out.",
              table(rows, std::string(rows[0].size(), 'r')), true);
}

std::string warnings_card(const StudyResult& r) { return findings_card(r.notes, r.warnings, ""); }

}  // namespace

std::string study_html(const StudyResult& r) {
  const std::string body = header_tiles(r) + "<div class=\"cards\">\n" + warnings_card(r) + surface_card(r) +
                           scores_card(r) + frequency_card(r) + path_cards(r) + roc_card(r) + features_card(r) +
                           splits_card(r) + "</div>\n";
  const auto name = r.source.substr(r.source.rfind('/') + 1);
  const auto subtitle =
      fmt::format("{}{}: {} splits{}, {} folds, {} alphas x {} l1-ratios ({}), seed {}",
                  r.options.net.loss == Loss::logistic ? "Elastic-net logistic regression" : "Elastic net",
                  r.options.net.standardise ? ", standardised" : "", r.splits.size(),
                  r.groups > 0 ? fmt::format(" by {} groups", grouped(r.groups)) : "", r.options.folds, r.alpha_count(),
                  r.alphas.size(), to_string(r.options.strategy), r.seed);
  return page("Study: " + name, subtitle, body,
              fmt::format("{}. Made by Sheaf {}. Everything is in this file; nothing is loaded from elsewhere.",
                          r.source, SHEAF_VERSION));
}

}  // namespace sheaf
