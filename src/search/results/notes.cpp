#include "search/results/notes.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "search/plan/make_search.hpp"

namespace sheaf::engine {
namespace {

/// A note for each axis whose best value is at the edge of the grid, where the score still rises.
void note_edges(SearchResult& result) {
  const bool went_on = result.options.extend && result.options.strategy == Strategy::grid;
  if (result.level.points.empty() || went_on) return;
  const auto& best = result.point(result.level, result.level.chosen.best);
  const auto* model = result.model_of(best);
  if (model != nullptr && model->candidate.extend && model->candidate.strategy == Strategy::grid) return;
  if (model != nullptr && model->points > 0 && model->candidate.strategy == Strategy::refine)
    return;  // which looked beyond its best point; not all that it tried is here
  for (std::size_t axis = 0; axis < result.axes.size(); ++axis) {
    if (best[axis] == SearchAxis::absent) continue;
    double low = best[axis];
    double high = low;
    for (const auto p : result.level.points) {
      if (result.model_of(result.points[static_cast<std::size_t>(p)]) != model) continue;
      low = std::min(low, result.points[static_cast<std::size_t>(p)][axis]);
      high = std::max(high, result.points[static_cast<std::size_t>(p)][axis]);
    }
    if (low == high || (best[axis] != low && best[axis] != high)) continue;
    if (!result.axes[axis].open_ended) continue;
    const bool smallest = best[axis] == low;
    result.notes.push_back(fmt::format("the best {}, {:.6g}, is the {} that was tried; {} ones may be better still",
                                       result.axes[axis].name, best[axis], smallest ? "smallest" : "largest",
                                       smallest ? "smaller" : "larger"));
  }
}

/// A note if one class is so frequent that accuracy says little.
void note_balance(const Labels& labels, SearchResult& result) {
  if (labels.regression() || labels.rows == 0) return;
  std::vector<std::int64_t> rows(labels.class_names.size(), 0);
  for (const auto c : labels.classes) ++rows[static_cast<std::size_t>(c)];
  const auto most = std::max_element(rows.begin(), rows.end());
  const double share = static_cast<double>(*most) / static_cast<double>(labels.rows);
  if (share < frequent_class) return;
  // Rounded, 9,999 of 10,000 rows are 100 %.
  const auto rows_of_class =
      fmt::format("{} % of the rows are of class {}",
                  share > 0.995 && share < 1 ? "more than 99" : fmt::format("{:.0f}", 100 * share),
                  labels.class_names[static_cast<std::size_t>(most - rows.begin())]);
  if (result.options.score != Metric::accuracy) {
    if (result.options.score == Metric::auc || result.options.score == Metric::balanced_accuracy)
      result.notes.push_back(fmt::format("{}, so that accuracy says little; models are chosen by {}", rows_of_class,
                                         info(*result.options.score).title));
    return;
  }
  result.notes.push_back(fmt::format(
      "{}: a model that knew nothing else would have that accuracy; the scores balanced-accuracy and {} ask for more",
      rows_of_class, labels.class_names.size() == 2 ? "auc" : "f1-macro"));
}

void note_one_out(SearchResult& result) {
  if (!result.options.leave_one_out_in_folds) return;
  result.notes.push_back(fmt::format(
      "each row is predicted by all others (leave-one-out), which costs votes of neighbours nothing; the deviations "
      "of scores are those of {} parts of the rows. For folds give their number (folds)",
      result.splits));
}

/// Splits that test too few rows of a class to calibrate their scores.
void note_calibration(SearchResult& result) {
  if (!result.options.calibrate || !info(*result.options.score).probabilities || result.calibrated_scores) return;
  result.notes.push_back(
      fmt::format("points are compared by the {} of probabilities before calibration; those of the calibrated model "
                  "are reported under calibration",
                  info(*result.options.score).title));
}

/// A choice among models may take an SVM without anybody having asked for one.
void note_probabilities(SearchResult& result) {
  if (result.models.empty() || !result.model || result.class_names.empty() || result.model->has_probabilities()) return;
  result.notes.emplace_back(
      "the chosen model has no probabilities; the same search with calibrate platt learns them from held-out rows");
}

}  // namespace

void add_notes(const Labels& labels, SearchResult& result) {
  note_edges(result);
  note_one_out(result);
  note_balance(labels, result);
  note_calibration(result);
  note_probabilities(result);
}

}  // namespace sheaf::engine
