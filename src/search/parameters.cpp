#include <algorithm>
#include <cmath>

#include <sheaf/search.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

constexpr auto most = std::numeric_limits<std::int32_t>::max();

Choices<SplitKind> split_choices() {
  Choices<SplitKind> choices;
  for (int kind = 0; kind < static_cast<int>(SplitKind::custom); ++kind)
    choices.emplace_back(to_string(static_cast<SplitKind>(kind)), static_cast<SplitKind>(kind));
  return choices;
}

Choices<Metric> score_choices() {
  Choices<Metric> choices;
  for (const auto& row : metrics()) choices.emplace_back(row.name, row.metric);
  return choices;
}

Parameter<SearchOptions> threshold_row() {
  Parameter<SearchOptions> row{
      "threshold",
      "RULE",
      "two classes: choose on held-out rows from which decision value on the positive class is "
      "predicted: youden, cost:FP:FN or sensitivity:S",
      "the model's own",
      {},
      {}};
  row.set = [](SearchOptions& options, std::string_view text) { options.threshold = parse_threshold(text); };
  row.get = [](const SearchOptions& options) { return options.threshold ? to_string(*options.threshold) : ""; };
  return row;
}

/// Takes scikit-learn's names too.
Parameter<SearchOptions> score_row() {
  auto row = open_choice_row<SearchOptions, Metric>(
      "score", &SearchOptions::score, score_choices(), "the score to choose by",
      "accuracy; if one class has four of five rows, and of elastic nets, auc; for a numeric target r2");
  row.set = [](SearchOptions& options, std::string_view text) { options.score = parse_metric(text); };
  return row;
}

const Choices<Strategy>& strategies() {
  static const Choices<Strategy> rows{{"auto", Strategy::automatic},  {"grid", Strategy::grid},
                                      {"random", Strategy::random},   {"refine", Strategy::refine},
                                      {"descent", Strategy::descent}, {"halving", Strategy::halving}};
  return rows;
}

/// Sets a row of that name; false: there is none.
template <class Options>
bool set_row(Options& options, const std::string& name, const std::string& text) {
  for (const auto& row : parameters<Options>())
    if (row.name == name) {
      row.set(options, text);
      return true;
    }
  return false;
}

}  // namespace

bool has_parameter(const ModelOptions& options, std::string_view name) {
  const auto& rows = parameters_of(options);
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
    return row.name == name && (row.kinds.empty() || options.kind().empty() ||
                                std::find(row.kinds.begin(), row.kinds.end(), options.kind()) != row.kinds.end());
  });
}

void set_parameter_of_models(SearchSpace& space, std::string_view name, std::string_view text) {
  if (space.choose_candidates)
    fail_usage("{} is a parameter of one model; a choice among models finds its own values", name);
  if (space.candidates.empty()) return set_parameter(space, name, text);
  const auto takes = [&](const Candidate& candidate) { return has_parameter(candidate.space.options, name); };
  auto& candidates = space.candidates;
  if (std::none_of(candidates.begin(), candidates.end(), takes))
    return set_parameter(candidates.front().space, name, text);  // which throws the error
  for (auto& candidate : candidates)
    if (takes(candidate)) set_parameter(candidate.space, name, text);
}

template <class T>
SearchResult search(const Context& context, const Dataset<T>& dataset, std::string_view kind,
                    const NamedSettings& settings) {
  SearchOptions options;
  options.pipeline = default_pipeline();
  NamedSettings of_models;
  for (const auto& row : settings)
    if (!set_row(options, row.first, row.second) && !set_row(options.pipeline, row.first, row.second))
      of_models.push_back(row);
  auto space = space_of_models(kind, options.pipeline);
  for (const auto& [name, text] : of_models) set_parameter_of_models(space, name, text);
  return search(context, dataset, space, options);
}

template SearchResult search(const Context&, const Dataset<float>&, std::string_view, const NamedSettings&);
template SearchResult search(const Context&, const Dataset<double>&, std::string_view, const NamedSettings&);

std::string_view to_string(Strategy strategy) {
  for (const auto& [name, value] : strategies())
    if (value == strategy) return name;
  throw InternalError("an unknown strategy");
}

template <>
const std::vector<Parameter<SearchOptions>>& parameters() {
  using O = SearchOptions;
  static const std::vector<Parameter<O>> rows{
      open_choice_row<O, SplitKind>("split", &O::split, split_choices(), "kind of splits",
                                    "stratified, for a numeric target kfold; with groups by group; loo if it is "
                                    "free: votes of neighbours"),
      number_row("folds", &O::folds, {1, most}, "folds, shuffles, bootstraps or windows of time", "5"),
      number_row("test-fraction", &O::test_fraction, {0, 1}, "shuffles: share of the rows that a split holds out"),
      number_row("test-size", &O::test_size, {0, most}, "split time: different times, or rows, that each split tests",
                 "an equal part of all"),
      number_row("window", &O::window, {0, most},
                 "split time: train on so many times, or rows, before those tested at most; 0: on all"),
      number_row("gap", &O::gap, {0, most}, "split time: times, or rows, to leave out before those tested"),
      choice_row<O, EqualRows>(
          "equal-rows", &O::equal_rows,
          {{"auto", EqualRows::automatic}, {"together", EqualRows::together}, {"apart", EqualRows::apart}},
          "rows with the same features: keep them on one side of every split; auto: unless features have few values or "
          "folds would be uneven"),
      number_row("outer", &O::outer, {0, most},
                 "nested validation: a search without each of N outer folds, scored on that fold; 0: none"),
      open_choice_row<O, SplitKind>("outer-split", &O::outer_split, split_choices(), "splits of outer folds",
                                    "as the splits are"),
      number_row("outer-fraction", &O::outer_fraction, {0, 1}, "outer shuffles: share of the rows that each holds out"),
      score_row(),
      choice_row<O, Choice>("choose", &O::choice,
                            {{"best", Choice::best}, {"one-standard-error", Choice::one_standard_error}},
                            "the best mean score, or the simplest model within one standard error of it"),
      choice_row<O, Strategy>("strategy", &O::strategy, strategies(),
                              "points to try: all; random ones; closer and closer around the best; from the middle to "
                              "better neighbours; or all on one split, and fewer on more splits"),
      number_row("trials", &O::trials, {1, most}, "random, refine: number of random points",
                 "a third of all, at least 10"),
      number_row("time", &O::time, {0, std::numeric_limits<double>::max()},
                 "seconds after which no new points are started; 0: no limit"),
      number_row("min-frequency", &O::min_frequency, {0, 1},
                 "select features that at least this share of the resamples chose"),
      number_row("stability-permutations", &O::stability_permutations, {0, 100000},
                 "a study: repeat it so often with permuted labels, for the stability that chance gives; each takes as "
                 "long as the whole"),
      number_row("path-split", &O::path_split, {0, most}, "resample whose whole path the report shows; 0: none",
                 "1 with a report, else 0"),
      yes_no_row("predictions", &O::predictions,
                 "write what the chosen models predict for held-out rows; trains one more model for each split"),
      open_choice_row<O, CalibrationMethod>(
          "calibrate", &O::calibrate, {{"platt", CalibrationMethod::platt}, {"isotonic", CalibrationMethod::isotonic}},
          "learn probabilities from the predictions for held-out rows", "none"),
      threshold_row(),
      yes_no_row(
          "learning-curve", &O::learning_curve,
          "score the chosen point on growing shares of the training rows; trains ten more models for each split"),
      number_row("permutation-importance", &O::permutation_importance, {0, 10000},
                 "shuffle each feature so often among held-out rows, and report by how much the score gets worse; 0: "
                 "no"),
      number_row("stack", &O::stack, {0, most},
                 "several models: the final model is a stack of so many of the best, averaged with weights that are "
                 "learnt on held-out predictions; 0: no"),
      number_row("permutation-test", &O::permutation_test, {0, 100000},
                 "repeat the whole search so often with labels in random order, and report how often it does as well; "
                 "0: no"),
      number_row("batch", &O::batch, {0, most}, "models trained and recorded together; results may differ in last bits",
                 "automatic"),
  };
  return rows;
}

}  // namespace sheaf
