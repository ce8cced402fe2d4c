#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/version.hpp>

#include "core/text.hpp"
#include "report/annotation_columns.hpp"
#include "report/page.hpp"
#include "report/selection_charts.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

std::string digits(double value) { return fmt::format("{:.6g}", value); }

std::string header_tiles(const SelectionResult& r) {
  std::vector<Tile> list{{grouped(static_cast<std::int64_t>(r.selected.size())), "features selected"},
                         {grouped(r.features), "features"},
                         {grouped(r.rows), "rows"},
                         {std::to_string(r.class_names.size()), "classes"}};
  if (r.combined) {
    list.push_back({fmt::format("{:.3f}", r.stability), "stability"});
    if (!r.chance.empty())
      list.push_back({fmt::format("{:.3f}", r.chance.mean()), "stability by chance (permuted labels)"});
    list.push_back({std::to_string(r.members.size()), "selections combined"});
  }
  return tiles(list);
}

std::string curve_cards(const SelectionResult& r) {
  const auto about = r.combined ? fmt::format("The {} that the list is ordered by.", to_string(r.ensemble.combination))
                                : std::string(find_criterion(r.options.criterion).help);
  return card(r.combined ? "Order" : "Score of each pick", about, selection_curve(r)) +
         card("Relevance and redundancy",
              "Mutual information in bits: with the class, and the mean with the features selected before it.",
              legend({{"f0", "relevance"}, {"f1", "redundancy"}}) + relevance_curve(r));
}

std::string map_card(const SelectionResult& r) {
  if (r.information.size() < 4) return {};
  return card(
      "Information they share",
      "The stronger the colour, the more two features say the same: 2 I(A;B) / (H(A) + H(B)). Rest the pointer on a "
      "cell for bits. Grey: a feature with itself.",
      scrolled(redundancy_map(r)), true);
}

std::string distribution_cards(const SelectionResult& r) {
  std::string about = "Rows of each class over the bins.";
  if (r.class_names.size() > most_lanes)
    about += fmt::format(" The first {} of {} classes are shown.", most_lanes, r.class_names.size());
  std::string cards;
  for (std::size_t k = 0; k < r.distributions.size(); ++k)
    cards += card(fmt::format("{}. {}", k + 1, r.distributions[k].feature), about, class_lanes(r, r.distributions[k]));
  return cards;
}

std::string table_card(const SelectionResult& r) {
  std::vector<std::vector<std::string>> rows{{"rank", "index", "name", "score", "relevance", "redundancy"}};
  if (r.combined) rows[0].insert(rows[0].end(), {"mean rank", "borda", "frequency"});
  std::string alignment = r.combined ? "rrlrrrrrr" : "rrlrrr";
  add_annotation_heading(r.annotations, rows[0], alignment);
  for (std::size_t k = 0; k < r.selected.size(); ++k) {
    const auto& [feature, name, votes] = r.selected[k];
    rows.push_back({std::to_string(k + 1), std::to_string(feature.index), name, digits(feature.score),
                    digits(feature.relevance), digits(feature.redundancy)});
    if (votes)
      rows.back().insert(rows.back().end(),
                         {digits(votes->mean_rank), digits(votes->borda), percent(votes->frequency)});
    add_annotation_cells(r.annotations, name, rows.back());
  }
  return card("All selected", "Best first. Relevance and redundancy in bits; the index counts from 0.",
              report::table(rows, alignment), true);
}

std::string subtitle(const SelectionResult& r) {
  const auto binning = describe_bins(r.binning, r.automatic_bins);
  const auto& criterion = find_criterion(r.options.criterion);
  if (!r.combined) return fmt::format("{} ({}); {}", criterion.name, criterion.title, binning);
  return fmt::format("{} selections combined by {}; {}", r.members.size(), to_string(r.ensemble.combination), binning);
}

}  // namespace

std::string selection_html(const SelectionResult& r) {
  std::vector<Note> notes;
  for (const auto& note : r.notes) notes.push_back({note});
  std::string body = header_tiles(r) + "<div class=\"cards\">\n" + notes_card("", notes);
  if (!r.selected.empty()) body += curve_cards(r) + map_card(r) + distribution_cards(r) + table_card(r);
  const auto name = r.source.substr(r.source.rfind('/') + 1);
  return page("Selection: " + name, subtitle(r), body + "</div>\n",
              fmt::format("{}. Made by Sheaf {}. Everything is in this file; nothing is loaded from elsewhere.",
                          r.source, SHEAF_VERSION));
}

}  // namespace sheaf
