// Fills in the options that the caller left open, by the data and the family.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/checks/row_weights.hpp"
#include "data/label_hint.hpp"
#include "data/split/equal_rows.hpp"
#include "family/family.hpp"
#include "search/candidates/automatic.hpp"
#include "search/plan/make_search.hpp"
#include "search/plan/plan.hpp"

namespace sheaf {
namespace engine {
namespace {

constexpr std::int32_t default_folds = 5;

/// Weights and splits that columns of the dataset hold.
void use_row_columns(const RowColumns& columns, SearchOptions& options) {
  if (!columns.weights.empty()) {
    if (!options.row_weights.empty() && options.row_weights != columns.weights)
      fail_usage("row weights are given both in a column (weight-column) and in a list; give one of them");
    options.row_weights = columns.weights;
  }
  if (columns.folds.empty() || options.splits) return;
  if (options.split && options.split != SplitKind::custom)
    fail_usage(
        "the column of folds (split-column) says which rows are tested, and so does the split '{}'; give one of them",
        to_string(*options.split));
  options.splits = custom_splits(columns.folds);
  options.split = SplitKind::custom;
}

/// Whether equal rows are to be kept together, so that leaving out one row at a time would test what was learnt.
template <class T>
bool has_copies(const Dataset<T>& dataset, const SearchOptions& options) {
  if (options.equal_rows == EqualRows::apart) return false;
  const auto sets = find_equal_rows(dataset.x, 1);
  return sets.rows > 0 && (options.equal_rows == EqualRows::together || !sets.few_values);
}

void check_time(const SearchOptions& options) {
  if (options.split == SplitKind::time || options.outer_split == SplitKind::time) return;
  const auto* const given = options.test_size > 0 ? "test-size" : options.window > 0 ? "window" : "gap";
  if (options.test_size > 0 || options.window > 0 || options.gap > 0)
    fail_usage("{} is for the split time, not for {}", given, to_string(*options.split));
}

/// Groups stay together and classes are spread evenly, unless another split is requested. A study divides the rows of a
/// regression as it divides those of classes.
SplitKind default_split(bool classes, bool groups) {
  if (groups) return classes ? SplitKind::stratified_group_k_fold : SplitKind::group_k_fold;
  return classes ? SplitKind::stratified_k_fold : SplitKind::k_fold;
}

/// Outer folds keep groups together and spread classes if the inner splits do.
SplitKind default_outer(SplitKind inner, bool classes) {
  if (inner == SplitKind::group_k_fold || inner == SplitKind::stratified_group_k_fold || inner == SplitKind::time)
    return inner;
  if (inner == SplitKind::group_shuffle) return default_split(classes, true);
  const bool stratified = inner == SplitKind::stratified_k_fold || inner == SplitKind::stratified_shuffle;
  return default_split(stratified || classes, false);
}

/// Leaving out one row at a time for nothing: models that are never trained, of features as they are, and nothing that
/// needs the model of a split.
bool leaves_one_out(const FamilyTraits& traits, bool pipeline, const SearchOptions& options) {
  return traits.one_out_is_free && !pipeline && options.full && options.outer == 0 && !options.splits &&
         options.row_weights.empty() && !options.predictions && !options.calibrate && !options.threshold &&
         !options.learning_curve && options.permutation_importance == 0;
}

/// Rows, or groups of rows, of the class that has the fewest.
std::int64_t smallest_class(const Target& target, std::span<const std::int32_t> groups) {
  std::vector<std::int64_t> counts(target.class_names.size(), 0);
  std::vector<std::set<std::int32_t>> seen(groups.empty() ? 0 : counts.size());
  for (std::size_t i = 0; i < target.classes.size(); ++i) {
    const auto c = static_cast<std::size_t>(target.classes[i]);
    if (groups.empty() || seen[c].insert(groups[i]).second) ++counts[c];
  }
  return counts.empty() ? 0 : *std::min_element(counts.begin(), counts.end());
}

/// Fewer than the usual number if a class has too few rows or groups for a test in every fold, inside outer folds too.
std::int32_t fewer_folds(const Target& target, std::span<const std::int32_t> groups, std::int32_t outer) {
  auto least = smallest_class(target, groups);
  if (outer > 1) least -= (least + outer - 1) / outer;
  return least < 2 ? default_folds : static_cast<std::int32_t>(std::min<std::int64_t>(least, default_folds));
}

template <class T>
void decide_splits(const FamilyTraits& traits, const Dataset<T>& dataset, SearchOptions& options,
                   std::vector<std::string>& notes) {
  const bool groups = !dataset.groups.empty();
  const bool pipeline = needs_pipeline(dataset, options.pipeline);
  const bool study = !options.full;
  if (study && options.outer < 1) fail_usage("a study takes 1 resample or more");
  const bool one_out = leaves_one_out(traits, pipeline, options);
  if (!options.split && !dataset.row_columns.times.empty()) options.split = SplitKind::time;
  if (!options.split && options.folds == 0 && !groups && one_out && !has_copies(dataset, options))
    options.split = SplitKind::leave_one_out;
  options.leave_one_out_in_folds = options.split == SplitKind::leave_one_out && one_out;
  if (!options.split) options.split = default_split(study || !traits.regression, groups);
  const bool stratified =
      options.split == SplitKind::stratified_k_fold || options.split == SplitKind::stratified_group_k_fold;
  if (options.folds == 0 && stratified && !study && !traits.regression && !may_be_numbers(dataset.target)) {
    options.folds = fewer_folds(dataset.target, dataset.groups, options.outer);
    if (options.folds < default_folds)
      notes.push_back(fmt::format("there are {} folds, not {}: a class has too few {} for a test in more",
                                  options.folds, default_folds, groups ? "groups" : "rows"));
  }
  if (options.folds == 0) options.folds = default_folds;
  if (study && !options.outer_split && options.split != SplitKind::time)
    options.outer_split = by_groups(*options.split) ? SplitKind::group_shuffle : SplitKind::stratified_shuffle;
  if (!options.outer_split) options.outer_split = default_outer(*options.split, !traits.regression);
  for (const auto kind : {*options.split, *options.outer_split})
    if (by_groups(kind) && !groups)
      fail_usage("splitting by '{}' needs groups of rows; name the column that holds them (group)", to_string(kind));
  check_time(options);
  if (options.path_split > options.outer)
    fail_usage("the path of resample {} is asked for, but there are {}", options.path_split, options.outer);
}

/// The share of the rows that the most frequent class has.
double largest_share(const Target& target) {
  std::vector<std::int64_t> rows(target.class_names.size(), 0);
  for (const auto c : target.classes) ++rows[static_cast<std::size_t>(c)];
  if (rows.empty() || target.classes.empty()) return 0;
  return static_cast<double>(*std::max_element(rows.begin(), rows.end())) / static_cast<double>(target.classes.size());
}

/// Accuracy is a poor default if one class has most of the rows.
Metric default_score(const FamilyTraits& traits, const Target& target) {
  if (traits.default_score != Metric::accuracy || largest_share(target) < frequent_class) return traits.default_score;
  return target.class_names.size() == 2 ? Metric::auc : Metric::balanced_accuracy;
}

/// A note if the default score is another one than people expect. Frequent classes have a note of their own.
void note_score(const SearchOptions& options, const Target& target, std::vector<std::string>& notes) {
  if (!options.full || options.score != Metric::auc || largest_share(target) >= frequent_class) return;
  notes.emplace_back(
      "models are chosen by AUC, the default of elastic nets, which asks how well rows of different classes are told "
      "apart at any threshold (score accuracy: by the share of right predictions)");
}

void decide_score(const FamilyTraits& traits, const Target& target, SearchOptions& options,
                  std::vector<std::string>& notes) {
  if (!options.score) {
    options.score = default_score(traits, target);
    note_score(options, target, notes);
  }
  const auto& score = info(*options.score);
  if (score.survival != traits.survival)
    fail_usage("{} is {} survival; scores of {} are {}", score.name, score.survival ? "a score of" : "no score of",
               traits.title,
               traits.survival ? "concordance and partial-likelihood-deviance" : "others (sheaf search --help)");
  if (score.regression != traits.regression && !score.survival)
    fail_usage("{} is a score of {}, which {} does not predict", score.name,
               score.regression ? "a numeric target" : "classes", traits.title);
  if (score.probabilities && !traits.probabilities)
    fail_usage("{} needs probabilities, which {} does not have; logistic regression (linear, elastic-net-logistic) has",
               score.name, traits.title);
}

void decide_strategy(const FamilyTraits& traits, SearchOptions& options) {
  auto& strategy = options.strategy;
  if (strategy == Strategy::automatic) strategy = traits.default_strategy;  // of several models: each its own
  if (options.trials > 0 && strategy != Strategy::random && strategy != Strategy::refine)
    fail_usage("trials are for the strategies random and refine");
}

/// Values to try of a parameter are those that it could be set to; ascending, each once. Names keep their order.
void check_values(const Parameter<ModelOptions>& row, TriedValues& tried) {
  for (const double number : tried.numbers)
    if (!(number >= row.low && number <= row.high) ||
        (row.type == ParameterType::whole_number && number != std::floor(number)))
      fail_usage("{} is out of range: {} given, {} {} to {} expected", row.name, number,
                 row.type == ParameterType::whole_number ? "a whole number from" : "a number from", row.low, row.high);
  std::sort(tried.numbers.begin(), tried.numbers.end());
  tried.numbers.erase(std::unique(tried.numbers.begin(), tried.numbers.end()), tried.numbers.end());
  std::vector<std::string> names;
  for (const auto& name : tried.names) {
    if (std::find(row.choices.begin(), row.choices.end(), name) == row.choices.end())
      fail_unknown(row.name, name, row.choices);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  tried.names = std::move(names);
}

void check_space(SearchSpace& space) {
  for (auto& [name, tried] : space.tried) {
    const auto& row = find_parameter(space.options, name);
    if (!row.list) fail_usage("{} has one value in a search; there is nothing to try", name);
    check_values(row, tried);
  }
}

void check_stack(const SearchSpace& space, const SearchOptions& options) {
  if (options.stack == 0) return;
  if (space.candidates.empty())
    fail_usage(
        "a stack is of several models; name them (model linear,svm,knn), or leave the choice to the data (auto)");
  if (options.stack == 1) fail_usage("a stack has two members or more; 1 is asked for");
  if (options.learning_curve) fail_usage("a learning curve is that of one point, not of a stack");
}

// A choice that was left to us leaves out models that take longer: a quarter of an hour on sixteen cores.
constexpr double most_operations = 2e13;

/// Why a model is not worth trying in a choice that was left to us; empty: it is.
template <class T>
std::string reason_to_leave_out(const Dataset<T>& dataset, const SearchSpace& space, const FamilyTraits& traits,
                                const SearchOptions& options) {
  if (options.score && info(*options.score).probabilities && !traits.probabilities)
    return fmt::format("{} needs probabilities, which it does not have", info(*options.score).name);
  const double folds = options.splits ? options.splits->count() : options.folds > 0 ? options.folds : default_folds;
  const auto work = space.options.family().search_work(space, summary_of(dataset, options.row_weights), folds,
                                                       options.outer + (options.full ? 1 : 0));
  if (work.operations <= most_operations) return {};
  return fmt::format("it would take some {:.0e} operations on so many rows; name it to try it", work.operations);
}

/// Sets the open options of each candidate. Traits that all candidates have become those of the search.
template <class T>
FamilyTraits decide_candidates(const Dataset<T>& dataset, SearchSpace& space, const SearchOptions& options) {
  FamilyTraits common;
  for (std::size_t k = 0; k < space.candidates.size(); ++k) {
    auto& candidate = space.candidates[k];
    check_space(candidate.space);
    decide_steps(dataset, candidate.space.options, candidate.pipeline);
    auto traits = candidate.space.options.family().decide(dataset, candidate.space, options.row_weights);
    if (const auto reason = reason_to_leave_out(dataset, candidate.space, traits, options);
        space.choose_candidates && !reason.empty() && space.candidates.size() > 1) {
      space.notes.push_back(fmt::format("the model {} is left out: {}", candidate.name, reason));
      space.candidates.erase(space.candidates.begin() + static_cast<std::ptrdiff_t>(k--));
      continue;
    }
    if (traits.open_grid) candidate.extend = true;
    if (candidate.strategy == Strategy::automatic)
      candidate.strategy = options.strategy == Strategy::automatic ? traits.default_strategy : options.strategy;
    traits.one_out_is_free = false;
    traits.open_grid = false;
    traits.default_strategy = Strategy::automatic;
    if (k == 0) {
      common = traits;
      continue;
    }
    if (common.regression != traits.regression || common.survival != traits.survival)
      fail_usage("the models {} and {} cannot be compared: they do not predict the same", space.candidates.front().name,
                 candidate.name);
    common.probabilities = common.probabilities && traits.probabilities;
    if (common.default_score != traits.default_score)
      common.default_score = common.regression ? Metric::r2 : Metric::accuracy;
  }
  common.title = "every model that is compared";
  return common;
}

}  // namespace

template <class T>
std::unique_ptr<FamilySearch> make_search(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                          const SearchOptions& options, const ColumnTransforms* seen) {
  if (needs_pipeline(dataset, options.pipeline)) return make_pipeline_search(context, dataset, space, options);
  return space.options.family().search(context, dataset, space,
                                       {options.row_weights, options.keep_decisions, options.folds, seen});
}

template std::unique_ptr<FamilySearch> make_search(const Context&, const Dataset<float>&, const SearchSpace&,
                                                   const SearchOptions&, const ColumnTransforms*);
template std::unique_ptr<FamilySearch> make_search(const Context&, const Dataset<double>&, const SearchSpace&,
                                                   const SearchOptions&, const ColumnTransforms*);

}  // namespace engine

template <class T>
void decide(const Dataset<T>& dataset, SearchSpace& space, SearchOptions& options) {
  if (space.choose_candidates && space.candidates.empty())
    space.candidates = engine::automatic_candidates(dataset, options);
  if (!space.candidates.empty() && !options.full) fail_usage("a study is of one model; name it");
  engine::check_stack(space, options);
  engine::check_space(space);
  engine::use_row_columns(dataset.row_columns, options);
  if (space.candidates.empty()) decide_steps(dataset, space.options, options.pipeline);
  const auto traits = space.candidates.empty() ? space.options.family().decide(dataset, space, options.row_weights)
                                               : engine::decide_candidates(dataset, space, options);
  if (traits.open_grid) options.extend = true;
  if (options.calibrate && traits.regression) fail_usage("probabilities are calibrated for classes, not for numbers");
  if (options.threshold && traits.regression) fail_usage("a threshold is for two classes, not for numbers");
  if (options.pipeline.select_share < 1)
    fail_usage("select-share is for a single fit; a search scores models on rows that its selections have not seen");
  if (options.stability_permutations > 0 && options.full)
    fail_usage("stability-permutations is for studies; a search over all rows has no stability");
  if (options.stack > 0 && traits.survival) fail_usage("a stack is for classes and numeric targets, not for survival");
  if (options.learning_curve && !options.full) fail_usage("a learning curve is that of a search over all rows");
  engine::decide_splits(traits, dataset, options, space.notes);
  engine::decide_score(traits, dataset.target, options, space.notes);
  engine::decide_strategy(traits, options);
  check_row_weights(options.row_weights, dataset.rows());
}

template <class T>
WorkEstimate search_work(const Dataset<T>& dataset, const SearchSpace& space, const SearchOptions& options) {
  const auto splits = static_cast<double>(options.splits ? options.splits->count() : options.folds);
  const double levels = options.outer + (options.full ? 1 : 0);
  const auto data = summary_of(dataset, options.row_weights);
  if (space.candidates.empty()) return space.options.family().search_work(space, data, splits, levels);
  WorkEstimate sum;
  for (const auto& candidate : space.candidates) {
    const auto work = candidate.space.options.family().search_work(candidate.space, data, splits, levels);
    sum.operations += work.operations;
    sum.data_bytes = std::max(sum.data_bytes, work.data_bytes);
  }
  return sum;
}

template WorkEstimate search_work(const Dataset<float>&, const SearchSpace&, const SearchOptions&);
template WorkEstimate search_work(const Dataset<double>&, const SearchSpace&, const SearchOptions&);
template void decide(const Dataset<float>&, SearchSpace&, SearchOptions&);
template void decide(const Dataset<double>&, SearchSpace&, SearchOptions&);

}  // namespace sheaf
