#include "report/score_cards.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <sheaf/report.hpp>

#include "core/text.hpp"
#include "report/held_out.hpp"
#include "report/page.hpp"
#include "report/search_charts.hpp"
#include "report/svg.hpp"

namespace sheaf::report {

std::string spread_text(const ScoreSummary& summary) {
  if (summary.splits == 0) return score_text(summary.mean);
  return fmt::format("{} ± {}", score_text(summary.mean), score_text(summary.standard_deviation));
}

bool is_study(const SearchResult& r) { return !r.options.full; }

namespace {

std::vector<std::size_t> varying_axes(const SearchResult& r) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < r.axes.size(); ++axis) {
    std::set<double> values;
    for (const auto& point : r.points) values.insert(point[axis]);
    if (values.size() > 1) axes.push_back(axis);
  }
  return axes;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// The values that a surface shows, and their description.
struct Surface {
  std::string title, about;
  double sign = 1;             // of the shown numbers relative to the values
  std::vector<double> values;  // one a point of the result; NaN: not tried
  std::vector<std::string> tips;
};

/// The surface over the first two of `axes`, one for each combination of the values of the others.
std::string surface_cards(const SearchResult& r, const std::vector<std::size_t>& axes, const Surface& what,
                          std::int32_t ringed) {
  std::set<std::vector<double>> others;
  const auto rest_of = [&](const Point& point) {
    std::vector<double> rest;
    for (std::size_t k = 2; k < axes.size(); ++k) rest.push_back(point[axes[k]]);
    return rest;
  };
  for (const auto& point : r.points) others.insert(rest_of(point));
  std::string cards;
  for (const auto& rest : others) {
    std::vector<SurfacePoint> points;
    for (std::size_t p = 0; p < r.points.size(); ++p)
      if (rest_of(r.points[p]) == rest && std::isfinite(what.values[p]))
        points.push_back({r.points[p][axes[0]], r.points[p][axes[1]], what.values[p], what.tips[p],
                          static_cast<std::int32_t>(p) == ringed});
    std::string suffix;
    for (std::size_t k = 0; k < rest.size(); ++k)
      suffix += fmt::format(", {} {}", r.axes[axes[k + 2]].title, r.axes[axes[k + 2]].text(rest[k]));
    if (points.empty()) continue;
    const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                                 [](const auto& a, const auto& b) { return a.value < b.value; });
    cards += card(what.title + suffix, what.about,
                  surface(points, {r.axes[axes[0]].title, r.axes[axes[1]].title, score_text(what.sign * low->value),
                                   score_text(what.sign * high->value), what.sign}));
  }
  return cards;
}

/// The scores of the search over all rows or, in a study, the means over the searches of all resamples.
Surface score_surface(const SearchResult& r) {
  const auto metric = *r.options.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  Surface result;
  result.sign = sign;
  result.title = capitalised(fmt::format("{} of each point", info(metric).title));
  result.about = fmt::format(
      "The stronger the colour, the better, in steps that are finer near the best, between the "
      "points that were tried (dots). Ringed: {}. Means over the splits.",
      is_study(r) ? "the best mean over all resamples" : "the chosen point");
  for (std::size_t p = 0; p < r.points.size(); ++p) {
    ScoreSummary summary;
    if (is_study(r)) {
      summary = r.overall_summary(p, metric);
    } else {
      const auto found = std::lower_bound(r.level.points.begin(), r.level.points.end(), static_cast<std::int32_t>(p));
      const bool tried = found != r.level.points.end() && *found == static_cast<std::int32_t>(p);
      summary = tried ? r.summary(static_cast<std::size_t>(found - r.level.points.begin()), metric) : summarise({});
    }
    result.values.push_back(sign * summary.mean);
    result.tips.push_back(fmt::format("{}: {}", r.point_text(r.points[p]), spread_text(summary)));
  }
  return result;
}

Surface size_surface(const SearchResult& r) {
  Surface result;
  result.title = fmt::format("How many {}", r.size_words.words);
  result.about = "The stronger the colour, the more.";
  if (!r.size_words.advice.empty()) result.about += " " + r.size_words.advice;
  result.values.assign(r.points.size(), std::nan(""));
  result.tips.resize(r.points.size());
  for (std::size_t p = 0; p < r.level.points.size(); ++p) {
    const auto at = static_cast<std::size_t>(r.level.points[p]);
    result.values[at] = r.size(r.level, p);
    result.tips[at] = fmt::format("{}: {:.1f}", r.point_text(r.points[at]), result.values[at]);
  }
  return result;
}

/// Choices among names, not numbers.
bool is_choice(const SearchResult& r, std::size_t axis) { return !r.axes[axis].names.empty(); }

/// One axis of numbers, and choices: a plot of curves over the numbers, one curve for each name of the first choice,
/// for each combination of the other choices.
std::string choice_cards(const SearchResult& r, std::size_t numbers, const std::vector<std::size_t>& choices) {
  std::map<std::vector<double>, std::map<double, ScoreCurve>> plots;
  for (std::size_t p = 0; p < r.level.points.size(); ++p) {
    const auto& point = r.point(r.level, p);
    std::vector<double> rest;
    for (std::size_t k = 1; k < choices.size(); ++k) rest.push_back(point[choices[k]]);
    auto& curve = plots[rest][point[choices[0]]];
    curve.name = r.axes[choices[0]].text(point[choices[0]]);
    curve.points.push_back(p);
  }
  std::string cards;
  for (auto& [rest, curves] : plots) {
    auto title = capitalised(fmt::format("{} of each {}", info(*r.options.score).title, r.axes[numbers].title));
    for (std::size_t k = 0; k < rest.size(); ++k)
      title += fmt::format(", {} {}", r.axes[choices[k + 1]].title, r.axes[choices[k + 1]].text(rest[k]));
    std::vector<ScoreCurve> list;
    std::vector<std::pair<std::string, std::string>> colours;
    for (auto& [value, curve] : curves) {
      std::stable_sort(curve.points.begin(), curve.points.end(),
                       [&](auto a, auto b) { return r.point(r.level, a)[numbers] < r.point(r.level, b)[numbers]; });
      colours.emplace_back(fmt::format("f{}", list.size()), curve.name);
      list.push_back(std::move(curve));
    }
    cards += card(title,
                  fmt::format("Lines: means over {} splits. Bands: one standard deviation to each side. Ringed: the "
                              "chosen point.",
                              r.splits),
                  legend(colours) + score_curves(r, numbers, list));
  }
  return cards;
}

}  // namespace

std::string score_cards(const SearchResult& r) {
  auto axes = varying_axes(r);
  const auto choices = std::stable_partition(axes.begin(), axes.end(), [&](auto axis) { return !is_choice(r, axis); });
  const auto curves = choices == axes.end() ? std::size_t{0} : r.axes[*choices].names.size();
  if (!is_study(r) && choices - axes.begin() == 1 && curves > 0 && curves <= most_curves)
    return choice_cards(r, axes.front(), {choices, axes.end()});
  if (axes.size() >= 2) {
    const auto ringed = is_study(r) ? r.best_overall : r.level.points[r.level.chosen.chosen];
    auto cards = surface_cards(r, axes, score_surface(r), ringed);
    if (!r.level.models.empty() && r.level.models.front().size >= 0)
      cards += surface_cards(r, axes, size_surface(r), ringed);
    return cards;
  }
  if (is_study(r)) return {};
  const auto axis = axes.empty() ? 0 : axes.front();
  const auto about = fmt::format(
      "Line: mean over {} splits. Band: one standard deviation to each side. Dots: single splits. Dashed: one standard "
      "error from the best mean. Ringed: the chosen value, {}.",
      r.splits,
      r.options.choice == Choice::best ? "the one with the best mean"
                                       : "that of the simplest model on the better side of that line");
  return card(capitalised(fmt::format("{} of each {}", info(*r.options.score).title, r.axes[axis].title)), about,
              score_curve(r, axis));
}

}  // namespace sheaf::report
