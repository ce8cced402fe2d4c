#include <algorithm>
#include <cmath>

#include <sheaf/search.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

constexpr auto most = std::numeric_limits<std::int32_t>::max();

/// Rounded to 12 digits, so that decades come out as 0.01 and not as 0.010000000000000002.
double rounded(double number) { return parse_positive("number", fmt::format("{:.12g}", number)); }

std::vector<double> log_range(const std::vector<std::string_view>& ends, std::string_view text, std::string_view name) {
  if (ends.size() != 3) fail_usage("{} takes numbers A,B,C or a range LOW:HIGH:COUNT, not '{}'", name, text);
  const double low = parse_positive(name, ends[0]);
  const double high = parse_positive(name, ends[1]);
  const auto count = parse_number<std::int32_t>(fmt::format("the count of a {} range", name), ends[2], {2, 10000});
  if (high <= low) fail_usage("{} {}: the second number must be larger than the first", name, text);
  std::vector<double> numbers{low};
  for (std::int32_t k = 1; k + 1 < count; ++k)
    numbers.push_back(rounded(low * std::pow(high / low, static_cast<double>(k) / (count - 1))));
  numbers.push_back(high);
  return numbers;
}

constexpr const char* list_or_range = "numbers A,B,C, or LOW:HIGH:COUNT in equal steps of the logarithm";

/// Numbers above 0.
template <class Options>
Parameter<Options> grid_row(const std::string& name, std::vector<double> Options::*member, std::string_view what,
                            const std::string& automatic) {
  return numbers_row(name, "LIST|RANGE", member, fmt::format("{} to try: {}", what, list_or_range), automatic,
                     [name](std::string_view text) { return parse_numbers(text, name); });
}

Choices<SplitKind> split_choices() {
  Choices<SplitKind> choices;
  for (int kind = 0; kind <= static_cast<int>(SplitKind::bootstrap); ++kind)
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
  auto row =
      open_choice_row<SearchOptions, Metric>("score", &SearchOptions::score, score_choices(), "the score to choose by",
                                             "accuracy, elastic nets auc, for a numeric target r2");
  row.set = [](SearchOptions& options, std::string_view text) { options.score = parse_metric(text); };
  return row;
}

const Choices<Strategy>& strategies() {
  static const Choices<Strategy> rows{{"auto", Strategy::automatic},  {"grid", Strategy::grid},
                                      {"random", Strategy::random},   {"refine", Strategy::refine},
                                      {"descent", Strategy::descent}, {"halving", Strategy::halving}};
  return rows;
}

}  // namespace

std::vector<double> default_costs() { return parse_numbers("0.001:1000:7", "cost"); }
std::vector<double> default_l1_ratios() { return {0.2, 0.5, 0.9}; }
std::vector<double> default_alphas() { return parse_numbers("1e-6:10:8", "alphas"); }
std::vector<std::int64_t> default_ks() { return {1, 3, 5, 7, 9, 11, 15, 21, 31, 51}; }

std::string_view to_string(Strategy strategy) {
  for (const auto& [name, value] : strategies())
    if (value == strategy) return name;
  throw InternalError("an unknown strategy");
}

std::vector<double> parse_numbers(std::string_view text, std::string_view name) {
  std::vector<double> numbers;
  if (text.find(':') != std::string_view::npos)
    numbers = log_range(split_text(text, ':'), text, name);
  else
    for (const auto part : split_text(text, ',')) numbers.push_back(parse_positive(name, part));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

template <>
const std::vector<Parameter<SearchOptions>>& parameters() {
  using O = SearchOptions;
  static const std::vector<Parameter<O>> rows{
      open_choice_row<O, SplitKind>("split", &O::split, split_choices(), "how rows are held out",
                                    "stratified, for a numeric target kfold; with groups by group; loo where it is "
                                    "free: votes of neighbours"),
      number_row("folds", &O::folds, {1, most}, "folds, shuffles or bootstraps", "5"),
      number_row("test-fraction", &O::test_fraction, {0, 1}, "shuffles: share of the rows that a split holds out"),
      number_row("outer", &O::outer, {0, most},
                 "nested validation: a search without each of N outer folds, scored on that fold; 0: none"),
      open_choice_row<O, SplitKind>("outer-split", &O::outer_split, split_choices(), "how outer folds are held out",
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
      number_row("batch", &O::batch, {0, most}, "models trained and recorded together; results may differ in last bits",
                 "automatic"),
  };
  return rows;
}

template <>
const std::vector<Parameter<LinearSearch>>& parameters() {
  static const std::vector<Parameter<LinearSearch>> rows{
      grid_row("cost", &LinearSearch::costs, "costs C", "0.001:1000:7"),
      yes_no_row(
          "warm-starts", &LinearSearch::warm_starts,
          "Newton's method: begin each model where that of the next smaller cost ended; faster on CPU cores, and "
          "the same within the tolerance"),
  };
  return rows;
}

template <>
const std::vector<Parameter<SvmSearch>>& parameters() {
  using O = SvmSearch;
  const auto degrees = [](std::string_view text) {
    std::vector<int> list;
    for (const auto part : split_text(text, ',')) list.push_back(parse_number<int>("degree", part, {0, 1000}));
    return list;
  };
  static const std::vector<Parameter<O>> rows{
      grid_row("cost", &O::costs, "costs C", "found from the data"),
      grid_row("gamma", &O::gammas, "gammas", "found from the data"),
      numbers_row("degree", "LIST", &O::degrees, "degrees to try of a polynomial kernel: A,B,C", "3", degrees),
      number_row("refine", &O::refine, {0, 20}, "how often the strategy refine narrows its steps around the best"),
      yes_no_row("easy", &O::easy, "LIBSVM's grid: log2 C -5 to 15, log2 gamma -15 to 3, in steps of 2"),
  };
  return rows;
}

template <>
const std::vector<Parameter<NetSearch>>& parameters() {
  using O = NetSearch;
  const auto shares = [](const std::string& name) {
    return [name](std::string_view text) {
      std::vector<double> list;
      for (const auto part : split_text(text, ',')) list.push_back(parse_number<double>(name, part, {0, 1}));
      return list;
    };
  };
  static const std::vector<Parameter<O>> rows{
      grid_row("alphas", &O::alphas, "alphas", "found from the data"),
      number_row("alpha-count", &O::alpha_count, {1, 100000}, "number of alphas, if they are not given"),
      positive_row("smallest-share", &O::smallest_share,
                   "the smallest alpha as a share of the largest, if alphas are not given", {},
                   std::nextafter(1.0, 0.0)),
      numbers_row("l1-ratios", "LIST", &O::l1_ratios, "shares of the L1 penalty to try: numbers from 0 to 1",
                  "0.2,0.5,0.9", shares("l1-ratios")),
      numbers_row("relax", "LIST", &O::relax,
                  "shares to try of the penalised model beside one without a penalty of the same features: numbers "
                  "from 0 to 1",
                  "1", shares("relax")),
  };
  return rows;
}

template <>
const std::vector<Parameter<GlmSearch>>& parameters() {
  static const std::vector<Parameter<GlmSearch>> rows{
      grid_row("alphas", &GlmSearch::alphas, "alphas", "1e-6:10:8"),
  };
  return rows;
}

template <>
const std::vector<Parameter<KnnSearch>>& parameters() {
  using O = KnnSearch;
  const auto ks = [](std::string_view text) {
    std::vector<std::int64_t> list;
    for (const auto part : split_text(text, ',')) {
      const auto ends = split_text(part, ':');
      if (ends.size() > 2) fail_usage("k takes whole numbers A,B,C or ranges LOW:HIGH, not '{}'", text);
      const auto low = parse_number<std::int64_t>("k", ends.front(), {1, most});
      const auto high = parse_number<std::int64_t>("k", ends.back(), {1, most});
      for (auto k = low; k <= high; ++k) list.push_back(k);
    }
    return list;
  };
  const auto numbers = [](const char* name) {
    return [name](std::string_view text) {
      std::vector<double> list;
      for (const auto part : split_text(text, ','))
        list.push_back(parse_number<double>(name, part, {0, std::numeric_limits<double>::max()}));
      return list;
    };
  };
  static const std::vector<Parameter<O>> rows{
      numbers_row("k", "LIST", &O::ks, "numbers of neighbours to try: A,B,C, or LOW:HIGH for all between",
                  "1,3,5,7,9,11,15,21,31,51; local SVMs: 10,20,40,80", ks),
      list_row("vote", "NAMES", &O::votes, "votes to try: uniform, inverse-distance, gaussian"),
      list_row("metric", "NAMES", &O::metrics, "distances to try, by their names in sheaf neighbors"),
      list_row("weighting", "NAMES", &O::weightings,
               "weights of features to try: none, given, class-ratio, mutual-information, relief"),
      numbers_row("lambda", "LIST", &O::lambdas, "hyperplanes and hulls: penalties to try", "1", numbers("lambda")),
      numbers_row("temperature", "LIST", &O::temperatures, "class-ratio: temperatures to try", "1",
                  numbers("temperature")),
      grid_row("cost", &O::costs, "local SVMs: costs C", "0.01:100:5"),
      grid_row("gamma", &O::gammas, "local SVMs: gammas of the RBF kernel", "1 / features"),
  };
  return rows;
}

}  // namespace sheaf
