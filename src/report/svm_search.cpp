#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/svm_search.hpp>
#include <sheaf/text.hpp>

#include "report/page.hpp"
#include "report/scores.hpp"
#include "report/search_charts.hpp"
#include "report/surface.hpp"
#include "report/svg.hpp"
#include "search/svm_region.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

double gamma_of(const SvmSearchResult& r, const SvmPoint& point) {
  return point.gamma > 0 ? point.gamma : 1 / static_cast<double>(std::max<std::int64_t>(r.features, 1));
}

std::string point_text(const SvmSearchResult& r, const SvmPoint& point) {
  auto text = fmt::format("C = {:.6g}", point.cost);
  if (search::has_gamma(r.options.svm.kernel)) text += fmt::format(", γ = {:.6g}", gamma_of(r, point));
  if (kernel_function(r.options.svm.kernel).has_degree) text += fmt::format(", degree {}", point.degree);
  return text;
}

std::string header_tiles(const SvmSearchResult& r) {
  const auto metric = *r.options.common.score;
  std::vector<Tile> list{
      {point_text(r, r.point()), "chosen"},
      {spread_text(r.summary(r.chosen.chosen, metric)), fmt::format("{}, over the splits", info(metric).title)}};
  if (!r.outer.empty()) list.push_back({spread_text(outer_summary(r, metric)), "by nested validation"});
  list.push_back({grouped(r.model.support_vectors()), "support vectors, trained on all rows"});
  list.push_back({grouped(static_cast<std::int64_t>(r.models.size())), "models compared"});
  list.push_back({grouped(r.rows), "examples"});
  list.push_back({grouped(r.features), "features"});
  if (!r.class_names.empty()) list.push_back({std::to_string(r.class_names.size()), "classes"});
  return tiles(list);
}

/// As the charts of linear searches take it: the points in place of costs.
SearchResult as_costs(const SvmSearchResult& r, const std::vector<double>& values) {
  SearchResult result;
  result.options = r.options.common;
  result.options.costs = values;
  result.class_names = r.class_names;
  result.positive = r.positive;
  result.splits = r.splits;
  result.models = r.models;
  result.chosen = r.chosen;
  return result;
}

std::vector<double> values_of(const SvmSearchResult& r, bool gamma) {
  std::vector<double> values;
  for (const auto& point : r.points) values.push_back(gamma ? gamma_of(r, point) : point.cost);
  return values;
}

bool varies(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [&](double value) { return value != values.front(); });
}

/// The surfaces of one degree.
std::string surface_cards(const SvmSearchResult& r, int degree) {
  std::vector<SurfacePoint> scores;
  std::vector<SurfacePoint> vectors;
  const auto metric = *r.options.common.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  for (std::size_t p = 0; p < r.points.size(); ++p) {
    if (r.points[p].degree != degree) continue;
    const double gamma = gamma_of(r, r.points[p]);
    const double mean = r.summary(p, metric).mean;
    const auto tip = fmt::format("{}: {}, {:.0f} support vectors", point_text(r, r.points[p]),
                                 spread_text(r.summary(p, metric)), r.support(p));
    const bool chosen = p == r.chosen.chosen;
    scores.push_back({r.points[p].cost, gamma, sign * mean, tip, chosen});
    vectors.push_back({r.points[p].cost, gamma, r.support(p), tip, chosen});
  }
  const auto suffix = r.options.degrees.size() > 1 ? fmt::format(", degree {}", degree) : "";
  return card(fmt::format("{} of each C and γ{}", info(metric).title, suffix),
              fmt::format(
                  "Darker is better, in steps that are finer near the best, between the points that were tried (dots). "
                  "Ringed: the chosen point. Means over {} splits.",
                  r.splits),
              surface(scores, "C", "γ")) +
         card(fmt::format("Support vectors{}", suffix),
              "Darker is more: where all rows are support vectors, the machine has learnt them by heart.",
              surface(vectors, "C", "γ"));
}

std::string score_cards(const SvmSearchResult& r) {
  const auto costs = values_of(r, false);
  const auto gammas = values_of(r, true);
  const bool two = varies(costs) && varies(gammas);
  std::string cards;
  if (two || r.options.degrees.size() > 1) {
    for (const int degree : r.options.degrees) cards += surface_cards(r, degree);
    return cards;
  }
  const bool gamma = varies(gammas);
  const auto about = fmt::format(
      "Line: mean over {} splits. Band: one standard deviation to each side. Dots: single splits. Dashed: one standard "
      "error from the best mean. Ringed: the chosen one.",
      r.splits);
  const auto* name = gamma ? "γ" : "C";
  return card(fmt::format("{} of each {}", info(*r.options.common.score).title, name), about,
              score_curve(as_costs(r, gamma ? gammas : costs), name));
}

std::string class_cards(const SvmSearchResult& r) {
  if (r.class_names.empty()) return {};
  std::string cards;
  const auto result = as_costs(r, values_of(r, false));
  if (r.class_names.size() == 2) {
    const auto curve = mean_roc(result);
    if (!curve.empty())
      cards +=
          card("ROC",
               fmt::format("Of the chosen point, on rows left out: mean over the splits, with one standard deviation "
                           "to each side. AUC {}.",
                           spread_text(r.summary(r.chosen.chosen, Metric::auc))),
               curve);
  }
  const auto matrix = confusion_matrix(result);
  if (!matrix.empty())
    cards += card("What is taken for what",
                  "Rows left out by the splits of the chosen point, all splits together; shades and shares are of each "
                  "true class.",
                  matrix);
  return cards;
}

std::string table_card(const SvmSearchResult& r) {
  std::vector<std::vector<std::string>> rows{{"C"}};
  const bool gamma = search::has_gamma(r.options.svm.kernel);
  const bool degrees = kernel_function(r.options.svm.kernel).has_degree;
  if (gamma) rows[0].emplace_back("γ");
  if (degrees) rows[0].emplace_back("degree");
  for (const auto metric : r.known()) rows[0].push_back(std::string(info(metric).title));
  rows[0].emplace_back("support vectors");
  const std::string alignment = std::string(rows[0].size(), 'r') + "l";
  rows[0].emplace_back("");
  for (std::size_t p = 0; p < r.points.size(); ++p) {
    rows.push_back({fmt::format("{:.6g}", r.points[p].cost)});
    if (gamma) rows.back().push_back(fmt::format("{:.6g}", gamma_of(r, r.points[p])));
    if (degrees) rows.back().push_back(std::to_string(r.points[p].degree));
    for (const auto metric : r.known()) rows.back().push_back(spread_text(r.summary(p, metric)));
    rows.back().push_back(fmt::format("{:.1f}", r.support(p)));
    rows.back().emplace_back(p == r.chosen.chosen ? "chosen" : p == r.chosen.best ? "best mean" : "");
  }
  return card("All scores", "Mean over the splits ± standard deviation.", table(rows, alignment), true);
}

std::string warnings_card(const SvmSearchResult& r) {
  return findings_card(r.notes, r.warnings, fmt::format("{} models did not converge.", r.warnings.size()));
}

}  // namespace

std::string search_html(const SvmSearchResult& r) {
  const auto chosen_point = [&](const auto& fold) { return point_text(r, fold.chosen); };
  const std::string body = header_tiles(r) + "<div class=\"cards\">\n" + warnings_card(r) + score_cards(r) +
                           class_cards(r) + outer_card(r, *r.options.common.score, "chosen", chosen_point) +
                           table_card(r) + "</div>\n";
  const auto subtitle = fmt::format("{}, {} kernel: {} points, {} splits ({}), seed {}", to_string(r.options.svm.kind),
                                    to_string(r.options.svm.kernel), r.points.size(), r.splits,
                                    to_string(*r.options.common.split), r.seed);
  return search_page(r, subtitle, body);
}

}  // namespace sheaf
