// The page of a search of any family, with its results: a curve or surfaces of scores, ROC, confusion, weights, outer
// folds, and the stability of the features of a study.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/version.hpp>

#include "core/text.hpp"
#include "report/annotation_columns.hpp"
#include "report/held_out.hpp"
#include "report/page.hpp"
#include "report/score_cards.hpp"
#include "report/search_charts.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there

std::string notes_of(const SearchResult& r) {
  constexpr std::size_t most_warnings = 50;
  std::vector<Note> list;
  for (const auto& note : r.notes) list.push_back({note});
  for (std::size_t k = 0; k < std::min(r.warnings.size(), most_warnings); ++k) list.push_back({r.warnings[k], true});
  const auto unfinished = std::count_if(r.warnings.begin(), r.warnings.end(), [](const std::string& warning) {
    return warning.find(" did not converge: ") != std::string::npos;
  });
  const auto about =
      unfinished == 0 ? std::string() : fmt::format("{} did not converge.", counted(unfinished, "model"));
  return notes_card(about, list);
}

std::string verdict_card(const SearchResult& r) {
  const auto text = verdict(r);
  if (text.empty()) return {};
  const auto steps = describe_steps(r.options.pipeline);
  const auto model = fmt::format("The model: {}{}.", r.title, steps.empty() ? "" : "; steps before it: " + steps);
  return card("In short", text + " " + model, "", true);
}

constexpr std::size_t most_weights = 20;
constexpr std::size_t most_features = 200;

std::string header_tiles(const SearchResult& r) {
  const auto metric = *r.options.score;
  const auto title = info(metric).title;
  std::vector<Tile> list;
  if (r.model) {
    list.push_back({r.point_text(r.chosen()), "chosen"});
    list.push_back({spread_text(r.summary(r.level.chosen.chosen, metric)), fmt::format("{}, over the splits", title)});
  }
  if (!r.outer.empty())
    list.push_back({spread_text(r.outer_summary(metric)),
                    is_study(r) ? fmt::format("{}, held-out rows", title) : "by nested validation"});
  if (is_study(r) && !r.stability.empty())
    list.push_back({grouped(std::ssize(r.selected())),
                    fmt::format("features chosen by {} of resamples", percent(r.options.min_frequency))});
  if (is_study(r) && r.outer.size() > 1 && !r.stability.empty())
    list.push_back({fmt::format("{:.3f}", r.overall.value),
                    fmt::format("stability ({:.3f} to {:.3f})", r.overall.low, r.overall.high)});
  if (is_study(r) && !r.chance.empty())
    list.push_back({fmt::format("{:.3f}", r.chance.mean()), "stability by chance (permuted labels)"});
  if (r.model && r.model->trained().size())
    list.push_back({grouped(*r.model->trained().size()), r.size_words.words + ", trained on all rows"});
  std::int64_t models = std::ssize(r.level.models);
  for (const auto& fold : r.outer) models += std::ssize(fold.level.models) + 1;
  list.push_back({grouped(models), "models compared"});
  list.push_back({grouped(r.rows), "rows"});
  list.push_back({grouped(r.features), "features"});
  if (r.groups > 0) list.push_back({grouped(r.groups), "groups, kept together"});
  if (!r.class_names.empty()) list.push_back({std::to_string(r.class_names.size()), "classes"});
  if (!r.target_names.empty()) list.push_back({std::to_string(r.target_names.size()), "targets"});
  return tiles(list);
}

/// A curve of each chosen model: of the splits or, in a study, of the resamples.
std::vector<std::vector<double>> chosen_curves(const SearchResult& r, std::vector<double> Scores::*member) {
  std::vector<std::vector<double>> curves;
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t s = 0; s < splits && r.model; ++s)
    curves.push_back(r.level.models[r.level.chosen.chosen * splits + s].*member);
  for (std::size_t k = 0; k < r.outer.size() && !r.model; ++k) curves.push_back(r.outer[k].scores.*member);
  return curves;
}

std::string curve_cards(const SearchResult& r) {
  if (r.class_names.size() != 2) return {};
  const auto& positive = r.class_names[static_cast<std::size_t>(r.positive)];
  const auto roc = mean_roc(chosen_curves(r, &Scores::roc), positive,
                            r.model ? "ROC curve of the chosen model" : "ROC curve of the held-out rows");
  const auto precision = mean_precision_recall(chosen_curves(r, &Scores::precision_recall), positive);
  const auto summary = [&](Metric metric) {
    return spread_text(r.model ? r.summary(r.level.chosen.chosen, metric) : r.outer_summary(metric));
  };
  const auto about =
      fmt::format("Of the chosen {}, on held-out rows: mean over the {}, with one standard deviation to each side.",
                  r.model ? "point" : "models", r.model ? "splits" : "resamples");
  std::string cards;
  if (!roc.empty()) cards += card("ROC curve", fmt::format("{} AUC {}.", about, summary(Metric::auc)), roc);
  if (!precision.empty())
    cards += card("Precision and recall",
                  fmt::format("{} Average precision {}.", about, summary(Metric::average_precision)), precision);
  return cards;
}

/// One cell off the diagonal.
struct Confusion {
  std::size_t truth = 0, prediction = 0;
  std::int64_t rows = 0;
};

std::string worst_confusions(const SearchResult& r, const std::vector<std::int64_t>& counts) {
  constexpr std::size_t most = 20;
  const auto classes = r.class_names.size();
  std::vector<Confusion> list;
  std::vector<std::int64_t> totals(classes, 0);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    totals[k / classes] += counts[k];
    if (k / classes != k % classes && counts[k] > 0) list.push_back({k / classes, k % classes, counts[k]});
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.rows > b.rows; });
  std::vector<std::vector<std::string>> rows{{"true class", "predicted as", "rows", "of the true class"}};
  for (std::size_t k = 0; k < std::min(most, list.size()); ++k)
    rows.push_back({r.class_names[list[k].truth], r.class_names[list[k].prediction], grouped(list[k].rows),
                    percent(static_cast<double>(list[k].rows) / static_cast<double>(totals[list[k].truth]))});
  return card("The most frequent confusions",
              fmt::format("{} of {} pairs of classes are confused at least once.", grouped(std::ssize(list)),
                          grouped(static_cast<std::int64_t>(classes * (classes - 1)))),
              table(rows, "llrr"));
}

std::string class_table(const SearchResult& r, const std::vector<std::int64_t>& counts) {
  constexpr std::size_t most = 20;
  const auto classes = r.class_names.size();
  struct ClassRates {
    std::size_t index = 0;
    double rows = 0, predicted = 0, right = 0;
    double recall() const { return rows > 0 ? right / rows : 1; }
  };
  std::vector<ClassRates> list(classes);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto count = static_cast<double>(counts[k]);
    list[k / classes].index = k / classes;
    list[k / classes].rows += count;
    list[k % classes].predicted += count;
    if (k / classes == k % classes) list[k / classes].right += count;
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.recall() < b.recall(); });
  std::vector<std::vector<std::string>> rows{{"class", "rows", "recall", "precision", "F1"}};
  for (std::size_t k = 0; k < std::min(most, classes); ++k) {
    const auto& one = list[k];
    rows.push_back({r.class_names[one.index], grouped(std::llround(one.rows)),
                    one.rows > 0 ? score_text(one.recall()) : "-",
                    one.predicted > 0 ? score_text(one.right / one.predicted) : "-",
                    one.rows + one.predicted > 0 ? score_text(2 * one.right / (one.rows + one.predicted)) : "-"});
  }
  return card("The classes that are found least",
              fmt::format("{} of {} classes, on the held-out rows of the chosen point; all are in confusion.csv.",
                          std::min(most, classes), classes),
              table(rows, "lrrrr"));
}

std::string confusion_cards(const SearchResult& r) {
  if (r.class_names.empty() || !r.model) return {};
  const auto counts = summed_confusion(r);
  if (counts.empty()) return {};
  const bool few = r.class_names.size() <= few_classes;
  const auto matrix = confusion_matrix(r, counts);
  const auto cards = card("Confusion matrix",
                          "Held-out rows of the chosen point, all splits together; shades and shares are of each true "
                          "class. Rest the pointer on a cell for its rows.",
                          few ? matrix : scrolled(matrix), !few);
  return few ? cards : worst_confusions(r, counts) + class_table(r, counts) + cards;
}

std::string threshold_card(const SearchResult& r) {
  if (!r.model || !r.model->threshold()) return {};
  const auto& threshold = *r.model->threshold();
  const auto& positive = r.class_names[static_cast<std::size_t>(r.positive)];
  std::vector<std::vector<std::string>> rows{
      {"", "sensitivity", "specificity"},
      {"on the rows it was chosen on", score_text(threshold.sensitivity), score_text(threshold.specificity)}};
  if (const auto rates = threshold_rates(r))
    rows.push_back({"chosen without the split", score_text(rates->sensitivity), score_text(rates->specificity)});
  return card("Threshold",
              fmt::format("{} is predicted where its decision value is at least {:.6g}: by {}, on held-out rows. The "
                          "second line, of thresholds chosen without the split they are applied to, is what to expect "
                          "on new rows.",
                          positive, threshold.value, to_string(threshold.options)),
              table(rows, "lrr"));
}

std::string reliability_card(const SearchResult& r) {
  const auto bins = reliability_of(r);
  if (bins.empty()) return {};
  const auto calibrated = calibrated_scores(r);
  const bool two = r.class_names.size() == 2;
  const auto positive = two ? short_name(r.class_names[static_cast<std::size_t>(r.positive)]) : std::string();
  return card(
      "Reliability of the probabilities",
      fmt::format("On held-out rows{}. Dots: rows of similar probability, larger where there are more; bars: 95 "
                  "% intervals. On the dashed line probabilities mean what they say; the mean distance from it "
                  "is {:.4f}.",
                  calibrated
                      ? fmt::format(", calibrated ({}) without the split they are of: log loss {}, Brier score {}",
                                    to_string(*r.options.calibrate), score_text(calibrated->log_loss.mean),
                                    score_text(calibrated->brier_score.mean))
                      : "",
                  expected_calibration_error(bins)),
      reliability_diagram(bins, two ? fmt::format("probability of {}", positive) : "probability of the prediction",
                          two ? fmt::format("share that is {}", positive) : "share that is right"));
}

std::string learning_card(const SearchResult& r) {
  if (!r.learning_curve) return {};
  return card(
      "Learning curve",
      "The chosen point on growing shares of the training rows: mean over the splits, with one standard deviation "
      "to each side. More rows help while the held-out score still rises.",
      legend({{"f0", "held-out rows"}, {"f1", "training rows"}}) + learning_curve_chart(r));
}

std::string importance_card(const SearchResult& r) {
  constexpr std::size_t most = 20;
  if (r.importance.empty()) return {};
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(most, r.importance.size()); ++k) names.push_back(r.importance[k].name);
  return card(
      "Permutation importance",
      fmt::format("By how much {} gets worse where a feature is shuffled among held-out rows, {} in each "
                  "split; lines: one standard deviation over the splits. Features that say the same share their "
                  "importance.",
                  info(*r.options.score).title, counted(r.options.permutation_importance, "time")),
      importance_bars(r, most) + annotation_table(r.annotations, names));
}

std::string weights_cards(const SearchResult& r) {
  const auto weights = r.model ? r.model->trained().coefficients() : std::nullopt;
  if (!weights) return {};
  std::string cards;
  for (std::size_t c = 0; c < std::min(weights->columns.size(), most_columns); ++c) {
    const auto column = static_cast<std::int32_t>(c);
    const auto& of = weights->columns[c];
    const auto name = !r.model->is_regression() ? "class " + of
                      : of.empty()              ? "larger values"
                                                : "larger values of " + of;
    std::vector<std::string> names;
    for (const auto j : weights->largest(column, most_weights))
      names.push_back(weights->feature_names[static_cast<std::size_t>(j)]);
    cards +=
        card("The largest weights", fmt::format("Of the model trained on all rows. To the right: speaks for {}.", name),
             largest_weights_chart(*weights, column, most_weights) + annotation_table(r.annotations, names));
  }
  return cards;
}

/// The features of the largest weights in the distance, and the effect of all weights on held-out rows.
std::string feature_weights_cards(const SearchResult& r) {
  if (!r.weights_effect) return {};
  const auto& effect = *r.weights_effect;
  const bool regression = r.class_names.empty();
  const auto share = [](std::int64_t part, std::int64_t all) {
    return percent(all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0);
  };
  const auto score = [&](const Score& of) { return score_text(regression ? of.squared_error : of.accuracy()); };
  std::vector<std::vector<std::string>> rows{
      {"", "with the weights", "without"},
      {regression ? "mean squared error" : "accuracy", score(effect.with), score(effect.without)},
      {"neighbours that decide in both", share(effect.kept, effect.neighbours), ""},
      {"predictions that differ", share(effect.changed, effect.rows), ""}};
  const auto cards = card(
      "What the feature weights change",
      fmt::format("The chosen point beside the same one without weights, on {}.", counted(effect.rows, "held-out row")),
      table(rows, "lrr"));
  const auto learnt = *r.model->trained().distance_weights();
  const auto& weights = learnt.values;
  const auto& names = r.model->trained().feature_names();
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
  std::vector<std::vector<std::string>> largest{{"position", "name", "weight"}};
  std::string alignment = "rlr";
  add_annotation_heading(r.annotations, largest[0], alignment);
  for (std::size_t k = 0; k < std::min(most_weights, order.size()); ++k) {
    const auto position = std::to_string(order[k] + 1);
    const auto& name = names.empty() ? position : names[order[k]];
    largest.push_back({position, name, fmt::format("{:.4g}", weights[order[k]])});
    add_annotation_cells(r.annotations, name, largest.back());
  }
  return cards + card("The largest feature weights",
                      fmt::format("Of the distance, by {}, learnt on all rows; {} of {} features.", learnt.learnt_by,
                                  largest.size() - 1, weights.size()),
                      table(largest, alignment));
}

std::vector<std::string> point_cells(const SearchResult& r, const Point& point) {
  std::vector<std::string> cells;
  for (std::size_t axis = 0; axis < point.size(); ++axis) cells.push_back(r.axes[axis].text(point[axis]));
  return cells;
}

void append(std::vector<std::string>& row, const std::vector<std::string>& more) {
  row.insert(row.end(), more.begin(), more.end());
}

std::vector<std::string> titles_of(const SearchResult& r) {
  std::vector<std::string> titles;
  for (const auto& axis : r.axes) titles.push_back(axis.title);
  return titles;
}

std::string leaderboard_card(const SearchResult& r) {
  if (r.models.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"", "model", std::string(info(*r.options.score).title),
                                              "difference to the chosen", "95 % interval", "points",
                                              "steps before it"}};
  std::size_t line = 0;
  for (const auto& row : r.leaderboard()) {
    const auto& model = r.models[static_cast<std::size_t>(row.model)];
    const bool chosen = row.place == static_cast<std::int32_t>(r.level.chosen.chosen);
    if (chosen) line = rows.size();
    const auto steps = describe_steps(model.candidate.pipeline);
    rows.push_back({chosen ? "chosen" : "", model.candidate.name,
                    row.place < 0 ? score_text(row.score.mean) : spread_text(row.score),
                    chosen ? "" : fmt::format("{:+.4f}", row.difference),
                    row.has_interval ? fmt::format("{:+.4f} to {:+.4f}", row.low, row.high)
                    : row.place < 0  ? fmt::format("dropped after {}", counted(row.score.splits, "split"))
                                     : "",
                    grouped(model.points),
                    r.stack && &model == &r.models.back() ? "those of its members"
                    : steps.empty()                       ? "none"
                                                          : steps});
  }
  return card("Models",
              "The best point of each model on the same splits. An interval that holds 0 means that the splits do not "
              "tell the two apart. Models that were clearly worse on the first splits were dropped.",
              table(rows, "llrrrrl", line), true);
}

std::string stack_card(const SearchResult& r) {
  std::vector<std::vector<std::string>> rows{{"weight", "model", "point"}};
  const auto& stack = r.stack->all;
  for (std::size_t m = 0; m < stack.members.size(); ++m) {
    const auto own = r.of_model(static_cast<std::int32_t>(stack.members[m].front()) - 1);
    rows.push_back({fmt::format("{:.3f}", stack.weights[m]), r.model_of(stack.members[m])->candidate.name,
                    own.point_text(r.own_point(stack.members[m]))});
  }
  return card("The stack",
              fmt::format("The prediction is the mean of the members' {}, with weights that were learnt on rows that "
                          "the members had not seen.",
                          r.class_names.empty() ? "predictions" : "probabilities"),
              table(rows, "rll"));
}

std::string table_card(const SearchResult& r) {
  if (!r.model) return {};
  const bool sizes = r.level.models.front().size >= 0;
  std::vector<std::vector<std::string>> rows{{""}};
  append(rows[0], titles_of(r));
  for (const auto metric : r.metrics) rows[0].emplace_back(info(metric).title);
  if (sizes) rows[0].emplace_back(r.size_words.words);
  const std::string alignment = "l" + std::string(rows[0].size() - 1, 'r');
  for (std::size_t p = 0; p < r.level.points.size(); ++p) {
    const auto& chosen = r.level.chosen;
    rows.push_back({p == chosen.chosen ? "chosen" : p == chosen.best ? "best mean" : ""});
    append(rows.back(), point_cells(r, r.point(r.level, p)));
    for (const auto metric : r.metrics) rows.back().push_back(spread_text(r.summary(p, metric)));
    if (sizes) rows.back().push_back(r.size(r.level, p) >= 0 ? fmt::format("{:.1f}", r.size(r.level, p)) : "");
  }
  constexpr std::size_t printed_rows = 40;
  const auto scores = table(rows, alignment, r.level.chosen.chosen + 1);
  return card("All scores", "Mean over the splits ± standard deviation.",
              rows.size() > printed_rows ? fmt::format("<div class=\"long\">{}</div>", scores) : scores, true);
}

std::string outer_card(const SearchResult& r) {
  if (r.outer.empty()) return {};
  const auto metric = *r.options.score;
  const bool sizes = r.outer.front().scores.size >= 0;
  std::vector<std::vector<std::string>> rows{{is_study(r) ? "resample" : "outer fold"}};
  append(rows[0], titles_of(r));
  if (sizes) rows[0].emplace_back(r.size_words.words);
  rows[0].emplace_back("inner");
  for (const auto known : r.metrics) rows[0].emplace_back(info(known).title);
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    const auto chosen = fold.level.chosen.chosen;
    rows.push_back({std::to_string(k + 1)});
    append(rows.back(), point_cells(r, r.point(fold.level, chosen)));
    if (sizes) rows.back().push_back(fmt::format("{:.0f}", fold.scores.size));
    rows.back().push_back(spread_text(r.summary(fold.level, chosen, metric)));
    for (const auto known : r.metrics) rows.back().push_back(score_text(fold.scores.score(known)));
  }
  return card(is_study(r) ? "Resamples" : "Nested validation",
              fmt::format("Each {} was held out of a search of its own, whose choice was then scored on it: {}. "
                          "\"Inner\" is what that search saw of its choice.",
                          is_study(r) ? "resample" : "outer fold", spread_text(r.outer_summary(metric))),
              table(rows, std::string(rows[0].size(), 'r')), true);
}

std::string frequency_card(const SearchResult& r) {
  auto about = fmt::format(
      "The most frequent of {} that some resample chose. Dashed: where features are "
      "selected.",
      counted(std::ssize(r.stability), "feature"));
  if (r.outer.size() > 1)
    about += fmt::format(" The stability of the choice is {:.3f}: {}.", r.overall.value, stability_scale(r.chance));
  std::string marks;
  if (r.class_names.size() == 2)
    marks = legend({{"f0", "speaks for " + r.class_names[0]}, {"f1", "speaks for " + r.class_names[1]}});
  if (r.class_names.empty() && r.columns == 1)
    marks = legend({{"f0", "goes with larger values"}, {"f1", "goes with smaller values"}});
  return card("How often each feature was chosen", about, marks + frequency_bars(r));
}

std::string features_card(const SearchResult& r) {
  std::vector<std::vector<std::string>> rows{{"position", "name", "frequency", "median rank", "standard deviation"}};
  std::string alignment = "rlrrr";
  for (std::int32_t c = 0; c < r.columns; ++c) {
    const auto of = r.columns == 1 ? "" : " of " + r.column_name(c);
    rows[0].push_back("mean weight" + of);
    rows[0].push_back("same sign" + of);
    alignment += "rr";
  }
  add_annotation_heading(r.annotations, rows[0], alignment);
  for (std::size_t k = 0; k < std::min(most_features, r.stability.size()); ++k) {
    const auto& feature = r.stability[k];
    rows.push_back({std::to_string(feature.index + 1), feature.name, percent(feature.frequency),
                    fmt::format("{:g}", feature.median_rank), fmt::format("{:.4g}", feature.standard_deviation)});
    for (std::size_t c = 0; c < feature.mean_weight.size(); ++c) {
      rows.back().push_back(fmt::format("{:+.4g}", feature.mean_weight[c]));
      rows.back().push_back(percent(feature.sign_agreement[c]));
    }
    add_annotation_cells(r.annotations, feature.name, rows.back());
  }
  return card("Features",
              "Mean weight and sign over the resamples that chose a feature; ranks by weight times standard deviation.",
              table(rows, alignment), true);
}

std::string study_cards(const SearchResult& r) {
  if (!is_study(r)) return {};
  auto cards = card("Score of each resample",
                    fmt::format("{} on its held-out rows. Dashed: the mean, with one standard deviation to each side.",
                                info(*r.options.score).title),
                    outer_scores(r));
  if (r.outer.front().scores.weights.empty()) return cards;
  return cards + frequency_card(r) + path_cards(r) + features_card(r);
}

}  // namespace

std::string search_html(const SearchResult& r) {
  const auto scores = r.models.empty() ? score_cards(r)
                      : r.stack        ? stack_card(r)
                                       : score_cards(r.of_model(static_cast<std::int32_t>(r.chosen().front()) - 1));
  const std::string body = header_tiles(r) + "<div class=\"cards\">\n" + verdict_card(r) + notes_of(r) +
                           leaderboard_card(r) + scores + curve_cards(r) + threshold_card(r) + reliability_card(r) +
                           confusion_cards(r) + learning_card(r) + importance_card(r) + weights_cards(r) +
                           (is_study(r) ? "" : path_cards(r)) + feature_weights_cards(r) + study_cards(r) +
                           outer_card(r) + table_card(r) + "</div>\n";
  const auto outer =
      r.outer.empty() ? "" : fmt::format(", {} {}", r.outer.size(), is_study(r) ? "resamples" : "outer folds");
  const auto subtitle = fmt::format("{}: {} ({}), {} ({}){}, seed {}", r.title, counted(r.points.size(), "point"),
                                    to_string(r.options.strategy), counted(r.splits, "split"),
                                    to_string(*r.options.split), outer, r.seed);
  const auto name = r.source.substr(r.source.rfind('/') + 1);
  return page((is_study(r) ? "Study: " : "Search: ") + name, subtitle, body,
              fmt::format("{}. Made by Sheaf {}. Everything is in this file; nothing is loaded from elsewhere.",
                          r.source, SHEAF_VERSION));
}

}  // namespace sheaf
