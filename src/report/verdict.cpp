// The result of a search in sentences for a reader who is not a statistician.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/report.hpp>

#include "core/text.hpp"
#include "report/held_out.hpp"
#include "report/search_charts.hpp"
#include "search/results/one_class.hpp"

namespace sheaf {
namespace {

/// The score of a model that looks at no feature.
struct Baseline {
  bool known = false;
  double score = 0;
  std::string text;
};

Baseline baseline_of(const SearchResult& r) {
  const auto metric = *r.options.score;
  if (metric == Metric::auc) return {true, 0.5, "0.5 is as good as a coin, 1 is without a mistake"};
  if (metric == Metric::concordance) return {true, 0.5, "0.5 is as good as a coin, 1 is the right order of all rows"};
  if (metric == Metric::r2) return {true, 0, "0 is predicting the mean for every row, 1 is without an error"};
  if (metric == Metric::balanced_accuracy) {
    const double share = 1 / static_cast<double>(r.class_names.size());
    return {true, share, fmt::format("{:.3g} is guessing, 1 is without a mistake", share)};
  }
  if (metric != Metric::accuracy) return {};
  const auto counts = report::summed_confusion(r);
  const auto classes = r.class_names.size();
  if (counts.empty()) return {};
  std::vector<double> rows(classes, 0);
  double all = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    rows[k / classes] += static_cast<double>(counts[k]);
    all += static_cast<double>(counts[k]);
  }
  const auto most = std::max_element(rows.begin(), rows.end());
  const double share = *most / all;
  return {true, share,
          fmt::format("always saying {} would be right for {:.3f} of the rows",
                      r.class_names[static_cast<std::size_t>(most - rows.begin())], share)};
}

std::string what_text(const SearchResult& r) {
  const auto label = r.label.empty() ? std::string("the label") : r.label;
  if (r.class_names.empty())
    return fmt::format("Predicts {} of {} from {}.", label, counted(r.rows, "row"), counted(r.features, "feature"));
  if (r.class_names.size() > 2)
    return fmt::format("Predicts which of {} {} is, from {} of {}.", counted(r.class_names.size(), "class"), label,
                       counted(r.features, "feature"), counted(r.rows, "row"));
  const auto positive = static_cast<std::size_t>(r.positive);
  return fmt::format("Predicts whether {} is {} or {}, from {} of {}.", label, r.class_names[positive],
                     r.class_names[1 - positive], counted(r.features, "feature"), counted(r.rows, "row"));
}

/// Scores of probabilities count after calibration.
std::string calibrated_text(const SearchResult& r) {
  const auto calibrated = report::calibrated_scores(r);
  const auto metric = *r.options.score;
  if (!calibrated || r.calibrated_scores || (metric != Metric::log_loss && metric != Metric::brier_score)) return {};
  const auto& found = metric == Metric::log_loss ? calibrated->log_loss : calibrated->brier_score;
  return fmt::format(" That is before calibration; the calibrated probabilities of held-out rows have {:.3f}.",
                     found.mean);
}

/// If there are several models, those that were dropped count too.
std::int64_t points_tried(const SearchResult& r) {
  std::int64_t tried = 0;
  for (const auto& model : r.models) tried += model.points;
  return std::max<std::int64_t>(tried, std::ssize(r.level.points));
}

/// A deviance means nothing by itself.
std::string concordance_text(const SearchResult& r) {
  if (r.options.score != Metric::partial_likelihood_deviance) return {};
  const auto found =
      r.outer.empty() ? r.summary(r.level.chosen.chosen, Metric::concordance) : r.outer_summary(Metric::concordance);
  return fmt::format(
      " The concordance is {:.3f}: that share of the pairs of rows is in the right order (0.5 is as good as a coin).",
      found.mean);
}

/// The score to expect on new rows, besides that of the chosen point.
std::string estimate_text(const SearchResult& r, const ScoreSummary& inner) {
  const auto title = info(*r.options.score).title;
  if (r.outer.empty())
    return fmt::format(
        "On held-out rows the {} is {:.3f}. It is the best of {} on these rows and so a little too good; nested "
        "validation (outer 5) says what to expect.",
        title, inner.mean, counted(points_tried(r), "point"));
  std::vector<double> scores;
  for (const auto& fold : r.outer) scores.push_back(fold.scores.score(*r.options.score));
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  const auto outer = r.outer_summary(*r.options.score);
  auto text = fmt::format("Expect an {} of about {:.3f} on new rows like these ({:.3f} to {:.3f} over {} outer folds).",
                          title, outer.mean, *low, *high, r.outer.size());
  const double sign = info(*r.options.score).larger_is_better ? 1 : -1;
  if (sign * (inner.mean - outer.mean) > 0)
    text += fmt::format(" The {:.3f} of the chosen point is too good: the point was chosen for it.", inner.mean);
  return text;
}

std::string chance_text(const SearchResult& r) {
  const auto& test = *r.permutation_test;
  const auto shuffled = summarise(test.scores);
  const auto count = static_cast<double>(test.scores.size());
  const bool by_chance = test.p_value > 0.05 && test.p_value > 1.5 / (1 + count);  // some did as well
  return fmt::format(" With labels in random order the same search reaches {:.3f} on average of {} (p = {:.3g}{}).",
                     shuffled.mean, counted(test.scores.size(), "time"), test.p_value,
                     by_chance ? ": no more than chance" : "");
}

}  // namespace

std::string verdict(const SearchResult& r) {
  if (r.level.points.empty()) return {};
  const auto metric = *r.options.score;
  const auto inner = r.summary(r.level.chosen.chosen, metric);
  const auto honest = r.outer.empty() ? inner : r.outer_summary(metric);
  auto text = what_text(r) + " " + estimate_text(r, inner) + calibrated_text(r) + concordance_text(r);
  const auto baseline = baseline_of(r);
  if (r.permutation_test) text += chance_text(r);
  if (baseline.known) {
    text += fmt::format(" For comparison: {}.", baseline.text);
    if (honest.mean - baseline.score <= 2 * honest.standard_error)
      text += " That is not clearly better than a model that looks at nothing.";
  }
  if (const auto warning = engine::one_class_warning(r); !warning.empty())
    text += fmt::format(" Warning: {}.", warning);
  return text;
}

}  // namespace sheaf
