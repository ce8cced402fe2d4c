// Scores as the pages of searches show them.
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

inline std::string spread_text(const ScoreSummary& summary) {
  return fmt::format("{} ± {}", score_text(summary.mean), score_text(summary.deviation));
}

/// Nothing where there is nothing to say.
inline std::string notes_card(const std::vector<std::string>& notes, const std::vector<std::string>& warnings) {
  constexpr std::size_t most_warnings = 50;
  if (warnings.empty() && notes.empty()) return {};
  std::string list = "<ul class=\"findings\">\n";
  for (const auto& note : notes) list += fmt::format("<li class=\"note\">{}</li>\n", escaped(note));
  for (std::size_t k = 0; k < std::min(warnings.size(), most_warnings); ++k)
    list += fmt::format("<li class=\"warning\">{}</li>\n", escaped(warnings[k]));
  const auto about = warnings.empty() ? std::string() : fmt::format("{} models did not converge.", warnings.size());
  return card("Notes", about, list + "</ul>\n", true);
}

}  // namespace sheaf::report
