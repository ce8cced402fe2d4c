#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <sheaf/search.hpp>

#include "core/text.hpp"
#include "report/page.hpp"
#include "report/scores.hpp"
#include "report/search_charts.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

constexpr std::size_t most_weights = 20;
constexpr std::int32_t most_columns = 12;  // whose weights are shown

std::string header_tiles(const SearchResult& r) {
  const auto metric = *r.options.score;
  std::vector<Tile> list{
      {fmt::format("C = {:.6g}", r.cost()), "chosen"},
      {spread_text(r.summary(r.chosen.chosen, metric)), fmt::format("{}, over the splits", info(metric).title)}};
  if (!r.outer.empty()) list.push_back({spread_text(outer_summary(r, metric)), "by nested validation"});
  list.push_back({grouped(static_cast<std::int64_t>(r.models.size())), "models compared"});
  list.push_back({grouped(r.rows), "examples"});
  list.push_back({grouped(r.features), "features"});
  if (!r.class_names.empty()) list.push_back({std::to_string(r.class_names.size()), "classes"});
  return tiles(list);
}

std::string curve_card(const SearchResult& r) {
  const auto about = fmt::format(
      "Line: mean over {} splits. Band: one standard deviation to each side. Dots: single splits. Dashed: one standard "
      "error from the best mean. Ringed: the chosen cost, {}.",
      r.splits,
      r.options.choice == Choice::best ? "the one with the best mean" : "the smallest on the better side of that line");
  return card(fmt::format("{} of each cost", info(*r.options.score).title), about, score_curve(r));
}

std::string roc_card(const SearchResult& r) {
  if (r.class_names.size() != 2) return {};
  const auto curve = mean_roc(r);
  if (curve.empty()) return {};
  const auto about = fmt::format(
      "Of the chosen cost, on rows left out: mean over the splits, with one standard "
      "deviation to each side. AUC {}.",
      spread_text(r.summary(r.chosen.chosen, Metric::auc)));
  return card("ROC", about, curve);
}

std::string confusion_card(const SearchResult& r) {
  if (r.class_names.empty()) return {};
  const auto matrix = confusion_matrix(r);
  if (matrix.empty()) return {};
  return card("What is taken for what",
              "Rows left out by the splits of the chosen cost, all splits together; shades and shares are of each true "
              "class.",
              matrix);
}

std::string weights_cards(const SearchResult& r) {
  std::string cards;
  const auto& model = r.model;
  for (std::int32_t c = 0; c < std::min(model.columns, most_columns); ++c) {
    const auto name = model.is_regression() ? std::string("larger amounts")
                                            : "class " + model.class_names[static_cast<std::size_t>(c)];
    cards +=
        card("The largest weights", fmt::format("Of the model trained on all rows. To the right: speaks for {}.", name),
             largest_weights_chart(model, c, most_weights));
  }
  return cards;
}

std::string table_card(const SearchResult& r) {
  std::vector<std::vector<std::string>> rows{{"C"}};
  std::string alignment = "r";
  for (const auto metric : r.known()) {
    rows[0].push_back(std::string(info(metric).title));
    alignment += 'r';
  }
  rows[0].emplace_back("");
  alignment += 'l';
  for (std::size_t c = 0; c < r.options.costs.size(); ++c) {
    rows.push_back({fmt::format("{:.6g}", r.options.costs[c])});
    for (const auto metric : r.known()) rows.back().push_back(spread_text(r.summary(c, metric)));
    rows.back().emplace_back(c == r.chosen.chosen ? "chosen" : c == r.chosen.best ? "best mean" : "");
  }
  return card("All scores", "Mean over the splits ± standard deviation.", table(rows, alignment), true);
}

std::string warnings_card(const SearchResult& r) {
  return findings_card(r.notes, r.warnings, fmt::format("{} models did not converge.", r.warnings.size()));
}

}  // namespace

std::string search_html(const SearchResult& r) {
  const auto chosen_cost = [&](const auto& fold) { return fmt::format("{:.6g}", r.options.costs[fold.chosen]); };
  const std::string body = header_tiles(r) + "<div class=\"cards\">\n" + warnings_card(r) + curve_card(r) +
                           roc_card(r) + confusion_card(r) + weights_cards(r) +
                           outer_card(r, *r.options.score, "chosen C", chosen_cost) + table_card(r) + "</div>\n";
  const auto subtitle = fmt::format("{}: {} costs, {} splits ({}), seed {}", linear_solver(r.options.linear.loss).about,
                                    r.options.costs.size(), r.splits, to_string(*r.options.split), r.seed);
  return search_page(r, subtitle, body);
}

}  // namespace sheaf
