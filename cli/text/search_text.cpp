#include "text/search_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/report.hpp>

#include "core/text.hpp"
#include "family/summary.hpp"
#include "report/held_out.hpp"
#include "terminal.hpp"
#include "text/score_text.hpp"

namespace sheaf::cli {
namespace {

constexpr int bar_width = 24;
constexpr std::size_t most_points = 12;

/// In their own order if all can be shown, else the best ones, best first.
std::vector<std::size_t> shown_points(const SearchResult& r) {
  std::vector<std::size_t> order(r.level.points.size());
  for (std::size_t p = 0; p < order.size(); ++p) order[p] = p;
  if (order.size() <= most_points) return order;
  const auto metric = *r.options.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  std::vector<double> means;
  for (std::size_t p = 0; p < order.size(); ++p) means.push_back(sign * r.summary(p, metric).mean);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return means[a] > means[b]; });
  order.resize(most_points);
  return order;
}

/// Bars begin a little below the lowest mean, so that small differences can be seen.
std::string table_text(const SearchResult& r) {
  const auto metric = *r.options.score;
  const auto order = shown_points(r);
  const bool sizes = r.level.models.front().size >= 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto p : order) {
    low = std::min(low, r.summary(p, metric).mean);
    high = std::max(high, r.summary(p, metric).mean);
  }
  const double base = low - (high > low ? (high - low) / 10 : 1);
  std::vector<std::vector<std::string>> rows{{""}};
  for (const auto& axis : r.axes) rows[0].push_back(dim(axis.title));
  for (const auto title : {info(metric).title, std::string_view("std. dev."), std::string_view("std. error")})
    rows[0].push_back(dim(title));
  if (sizes) rows[0].push_back(dim(r.size_words.column));
  std::string alignment(rows[0].size(), 'r');
  alignment[0] = 'l';
  rows[0].emplace_back("");
  for (const auto p : order) {
    const bool chosen = p == r.level.chosen.chosen;
    const auto summary = r.summary(p, metric);
    const auto marked = [&](const std::string& text) { return chosen ? bold(text) : text; };
    rows.push_back({chosen ? ">" : p == r.level.chosen.best ? "*" : ""});
    const auto& point = r.point(r.level, p);
    for (std::size_t axis = 0; axis < point.size(); ++axis)
      rows.back().push_back(marked(r.axes[axis].text(point[axis])));
    rows.back().push_back(marked(score_text(summary.mean)));
    rows.back().push_back(score_text(summary.standard_deviation));
    rows.back().push_back(score_text(summary.standard_error));
    if (sizes) rows.back().push_back(fmt::format("{:.0f}", r.size(r.level, p)));
    rows.back().push_back(bar((summary.mean - base) / (high - base), bar_width));
  }
  const bool all = order.size() == r.level.points.size();
  auto text = fmt::format("\n{}\n", bold(all ? "Points" : "The best points")) + table(rows, alignment + "l", 2);
  if (!all) text += fmt::format("  and {} more, in scores.csv\n", r.level.points.size() - order.size());
  return text;
}

/// The models that were compared, best first.
std::string leaderboard_text(const SearchResult& r) {
  const auto metric = *r.options.score;
  std::vector<std::vector<std::string>> rows{{"", dim("model"), dim(info(metric).title), dim("std. dev."),
                                              dim(r.stack ? "difference to it" : "behind the best"),
                                              dim("95 % interval"), dim("points"), dim("steps before it")}};
  for (const auto& row : r.leaderboard()) {
    const auto& model = r.models[static_cast<std::size_t>(row.model)];
    const bool chosen = row.place == static_cast<std::int32_t>(r.level.chosen.chosen);
    const bool dropped = row.place < 0;
    const auto steps = describe_steps(model.candidate.pipeline);
    rows.push_back({chosen ? ">" : "", chosen ? bold(model.candidate.name) : model.candidate.name,
                    score_text(row.score.mean), dropped ? "" : score_text(row.score.standard_deviation),
                    chosen    ? ""
                    : r.stack ? fmt::format("{:+.4f}", row.difference)  // others may be better
                              : score_text(std::abs(row.difference)),
                    row.has_interval ? fmt::format("{} to {}", score_text(row.low), score_text(row.high))
                    : dropped        ? fmt::format("dropped after {}", counted(row.score.splits, "split"))
                                     : "",
                    grouped(model.points),
                    r.stack && &model == &r.models.back() ? "those of its members"
                    : steps.empty()                       ? "none"
                                                          : steps});
  }
  return fmt::format("\n{}{}\n", bold("Models"), dim("  the best point of each, on the same splits")) +
         table(rows, "llrrrlrl", 2);
}

std::string stack_text(const SearchResult& r) {
  std::vector<std::vector<std::string>> rows{{dim("weight"), dim("model"), dim("point")}};
  const auto& stack = r.stack->all;
  for (std::size_t m = 0; m < stack.members.size(); ++m) {
    const auto own = r.of_model(static_cast<std::int32_t>(stack.members[m].front()) - 1);
    rows.push_back({fmt::format("{:.3f}", stack.weights[m]), r.model_of(stack.members[m])->candidate.name,
                    own.point_text(r.own_point(stack.members[m]))});
  }
  return fmt::format("\n{}{}\n", bold("Stack"), dim("  weights learnt on held-out predictions")) +
         table(rows, "rll", 2);
}

/// The points of the chosen model, behind a table of the models if several were compared.
std::string points_text(const SearchResult& r) {
  if (r.models.empty()) return table_text(r);
  if (r.stack) return leaderboard_text(r) + stack_text(r);
  const auto chosen = static_cast<std::int32_t>(r.chosen().front()) - 1;
  return leaderboard_text(r) + table_text(r.of_model(chosen));
}

std::string chosen_text(const SearchResult& r) {
  std::string how = r.stack                            ? "as asked for"
                    : r.options.choice == Choice::best ? "the best mean"
                                                       : "the simplest within one standard error of *";
  if (const auto size = r.model->trained().size())
    how += fmt::format("; {} {} when trained on all rows", grouped(*size), r.size_words.words);
  auto text = fmt::format("\n{}{}\n", bold("Chosen: " + r.point_text(r.chosen())), dim("  " + how));
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : main_metrics(r)) {
    const auto summary = r.summary(r.level.chosen.chosen, metric);
    if (summary.splits == 0) continue;
    rows.push_back({metric_title(metric, r), score_text(summary.mean), "+-", score_text(summary.standard_deviation)});
    if (summary.splits < r.splits) rows.back().push_back(fmt::format("over {} splits", summary.splits));
  }
  return text + table(rows, "lrlrl", 2);
}

std::string outer_text(const SearchResult& r) {
  if (r.outer.empty()) return {};
  const auto metric = *r.options.score;
  std::vector<std::vector<std::string>> rows{{dim("fold")}};
  for (const auto& axis : r.axes) rows[0].push_back(dim(axis.title));
  rows[0].push_back(dim("inner"));
  rows[0].push_back(dim("outer"));
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    const auto chosen = fold.level.chosen.chosen;
    rows.push_back({std::to_string(k + 1)});
    const auto& point = r.point(fold.level, chosen);
    for (std::size_t axis = 0; axis < point.size(); ++axis) rows.back().push_back(r.axes[axis].text(point[axis]));
    rows.back().push_back(score_text(r.summary(fold.level, chosen, metric).mean));
    rows.back().push_back(score_text(fold.scores.score(metric)));
  }
  const auto summary = r.outer_summary(metric);
  return fmt::format("\n{}{}\n", bold("Nested validation"),
                     dim(fmt::format("  {} {} +- {}", info(metric).title, score_text(summary.mean),
                                     score_text(summary.standard_deviation)))) +
         table(rows, std::string(rows[0].size(), 'r'), 2);
}

std::string calibration_text(const SearchResult& r) {
  const auto calibrated = report::calibrated_scores(r);
  if (!calibrated) return {};
  std::vector<std::vector<std::string>> rows{{"", dim("log loss"), dim("Brier score")}};
  if (std::find(r.metrics.begin(), r.metrics.end(), Metric::log_loss) != r.metrics.end()) {
    const auto before = [&](Metric metric) {
      return score_text((r.outer.empty() ? r.summary(r.level.chosen.chosen, metric) : r.outer_summary(metric)).mean);
    };
    rows.push_back({"held-out rows before", before(Metric::log_loss), before(Metric::brier_score)});
  }
  rows.push_back({"held-out rows, calibrated without their split", score_text(calibrated->log_loss.mean),
                  score_text(calibrated->brier_score.mean)});
  return fmt::format("\n{}{}\n", bold("Calibration"), dim(fmt::format("  {}", to_string(*r.options.calibrate)))) +
         table(rows, "lrr", 2);
}

std::string threshold_text(const SearchResult& r) {
  if (!r.model || !r.model->threshold()) return {};
  const auto& threshold = *r.model->threshold();
  const auto& positive = r.class_names[static_cast<std::size_t>(r.positive)];
  auto text = fmt::format("\n{}{}\n  {} is predicted if its decision value is at least {:.6g}\n", bold("Threshold"),
                          dim("  by " + to_string(threshold.options)), shortened(positive, 20), threshold.value);
  std::vector<std::vector<std::string>> rows{
      {"", dim("sensitivity"), dim("specificity")},
      {"held-out rows, on which it was chosen", score_text(threshold.sensitivity), score_text(threshold.specificity)}};
  if (const auto rates = report::threshold_rates(r))
    rows.push_back({"the same rows by thresholds chosen without their split", score_text(rates->sensitivity),
                    score_text(rates->specificity)});
  return text + table(rows, "lrr", 2);
}

std::string learning_text(const SearchResult& r) {
  if (!r.learning_curve) return {};
  const auto metric = *r.options.score;
  std::vector<std::vector<std::string>> rows{{dim("training rows"), dim("held-out"), "", "", dim("training"), "", ""}};
  for (std::size_t k = 0; k < r.learning_curve->shares.size(); ++k) {
    const auto step = report::learning_step(r, k, metric);
    rows.push_back({fmt::format("{:.0f}", step.rows), score_text(step.held_out.mean), "+-",
                    score_text(step.held_out.standard_deviation), score_text(step.training.mean), "+-",
                    score_text(step.training.standard_deviation)});
  }
  return fmt::format("\n{}{}\n", bold("Learning curve"), dim(fmt::format("  {}", metric_title(metric, r)))) +
         table(rows, "rrlrrlr", 2);
}

std::string importance_text(const SearchResult& r) {
  constexpr std::size_t most = 10;
  if (r.importance.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  const double largest = std::max(r.importance.front().drop.mean, 0.0);
  for (std::size_t k = 0; k < std::min(most, r.importance.size()); ++k) {
    const auto& feature = r.importance[k];
    if (!(feature.drop.mean > 0)) break;
    rows.push_back({shortened(feature.name, 40), score_text(feature.drop.mean), "+-",
                    score_text(feature.drop.standard_deviation), bar(feature.drop.mean / largest, bar_width)});
    for (const auto& text : r.annotations.of(feature.name)) rows.back().push_back(shortened(text, 40));
  }
  auto text = fmt::format(
      "\n{}{}\n", bold("Permutation importance"),
      dim(fmt::format("  by how much {} gets worse if a feature is shuffled", info(*r.options.score).title)));
  if (rows.empty()) return text + "  no feature's shuffling makes it worse\n";
  return text + table(rows, "lrlrl" + std::string(r.annotations.columns.size(), 'l'), 2);
}

/// The share of neighbours and predictions that feature weights change.
std::string weights_effect_text(const SearchResult& r) {
  if (!r.weights_effect) return {};
  const auto& effect = *r.weights_effect;
  const bool regression = r.class_names.empty();
  const auto score = [&](const Score& of) { return score_text(regression ? of.squared_error : of.accuracy()); };
  return fmt::format(
      "\n{}{}\n  {} of {} predictions would be others without them, and {} of {} neighbours the same\n  {} {} with "
      "the weights, {} without\n",
      bold("Feature weights"), dim(fmt::format("  on {}", counted(effect.rows, "held-out row"))),
      grouped(effect.changed), grouped(effect.rows), grouped(effect.kept), grouped(effect.neighbours),
      regression ? "mean squared error" : "accuracy", score(effect.with), score(effect.without));
}

}  // namespace

std::string search_text(const SearchResult& r) {
  const auto counts = counts_text(r.counts);
  auto text = heading_text(r) + points_text(r) + chosen_text(r) +
              fmt::format("\n{}\n  {}\n", bold("In short"), wrapped(verdict(r), 2)) + outer_text(r) +
              calibration_text(r) + threshold_text(r) + learning_text(r) + importance_text(r) + weights_effect_text(r) +
              (counts.empty() ? "" : '\n' + counts + '\n');
  return text + notes_text(r);
}

}  // namespace sheaf::cli
