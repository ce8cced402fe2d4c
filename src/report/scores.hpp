// Scores as the pages of searches and studies show them, and what those pages have to say beside them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/search.hpp>

#include "core/text.hpp"
#include "report/page.hpp"
#include "report/svg.hpp"

namespace sheaf::report {

inline std::string score_text(double score) { return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-"; }

inline std::string spread_text(const Summarised& summary) {
  return fmt::format("{} ± {}", score_text(summary.mean), score_text(summary.deviation));
}

/// Nothing where there is nothing to say.
inline std::string findings_card(const std::vector<std::string>& notes, const std::vector<std::string>& warnings,
                                 std::string_view about) {
  constexpr std::size_t most_warnings = 50;
  if (warnings.empty() && notes.empty()) return {};
  std::string list = "<ul class=\"findings\">\n";
  for (const auto& note : notes) list += fmt::format("<li class=\"note\">{}</li>\n", escaped(note));
  for (std::size_t k = 0; k < std::min(warnings.size(), most_warnings); ++k)
    list += fmt::format("<li class=\"warning\">{}</li>\n", escaped(warnings[k]));
  return card("Worth knowing", about, list + "</ul>\n", true);
}

template <class Result>
Summarised outer_summary(const Result& r, Metric metric) {
  std::vector<double> scores;
  for (const auto& fold : r.outer) scores.push_back(fold.scores.score(metric));
  return summarise(scores);
}

/// What the outer folds of a nested search chose, told by `choice` under `heading`, and how it did on them. Nothing
/// where there are none.
template <class Result, class ChoiceText>
std::string outer_card(const Result& r, Metric metric, std::string heading, const ChoiceText& choice) {
  if (r.outer.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"outer fold", std::move(heading), "within"}};
  for (const auto known : r.known()) rows[0].emplace_back(info(known).title);
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    rows.push_back({std::to_string(k + 1), choice(fold), spread_text(fold.inner)});
    for (const auto known : r.known()) rows.back().push_back(score_text(fold.scores.score(known)));
  }
  return card(
      "Nested validation",
      fmt::format("Each outer fold was left out of a search of its own, whose choice was then judged on it: {}. "
                  "\"Within\" is what that search saw of its choice.",
                  spread_text(outer_summary(r, metric))),
      table(rows, std::string(rows[0].size(), 'r')), true);
}

/// The page of a search.
template <class Result>
std::string search_page(const Result& r, std::string_view subtitle, std::string_view body) {
  const auto name = r.source.substr(r.source.rfind('/') + 1);
  return page("Search: " + name, subtitle, body,
              fmt::format("{}. Made by Sheaf {}. Everything is in this file; nothing is loaded from elsewhere.",
                          r.source, SHEAF_VERSION));
}

}  // namespace sheaf::report
