// A search from its dataset to its result: what is left open is decided, the engine searches, and what was chosen is
// analysed.
#include <algorithm>
#include <numeric>
#include <optional>

#include <sheaf/search.hpp>
#include <sheaf/solvers/profile.hpp>

#include "core/fail.hpp"
#include "data/budget.hpp"
#include "data/name_source.hpp"
#include "family/family.hpp"
#include "pipeline/learn.hpp"
#include "search/engine.hpp"
#include "search/journal/team_log.hpp"
#include "search/plan/make_search.hpp"
#include "search/plan/plan_rows.hpp"
#include "search/results/calibrated_scores.hpp"
#include "search/results/describe_model.hpp"
#include "search/results/held_out.hpp"
#include "search/results/learning_curve.hpp"
#include "search/results/notes.hpp"
#include "search/results/one_class.hpp"
#include "search/results/permutation_test.hpp"
#include "search/results/refit_path.hpp"
#include "search/results/result.hpp"
#include "search/results/stack.hpp"
#include "search/results/weights_effect.hpp"

namespace sheaf {
namespace engine {
namespace {

SearchOutcome outcome_of(const SearchResult& result) {
  SearchOutcome outcome;
  outcome.study = !result.options.full;
  if (result.model) outcome.chosen.push_back(result.chosen());
  for (const auto& fold : result.outer) {
    outcome.chosen.push_back(result.point(fold.level, fold.level.chosen.chosen));
    outcome.outer.push_back(&fold.scores);
  }
  return outcome;
}

std::vector<Metric> metrics_of(const FamilySearch& family) {
  std::vector<Metric> result;
  for (const auto& row : metrics())
    if (row.suits(static_cast<std::int32_t>(family.labels().class_names.size()), family.has_probabilities(),
                  !family.labels().events.empty()))
      result.push_back(row.metric);
  return result;
}

ComparedModel compared_model(const Candidate& candidate, const FamilySearch& search, std::size_t place) {
  const auto& own = *search.models()[place];
  ComparedModel result;
  result.candidate = candidate;
  result.title = own.title();
  result.size_words = candidate.space.options.family().size_words();
  // Values that tell the places of its axes from one another.
  Point numbers(own.space().axes.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const auto joined = search.joined_point(static_cast<std::int32_t>(place), numbers);
  result.axes.resize(numbers.size());
  for (std::size_t axis = 1; axis < joined.size(); ++axis)
    if (joined[axis] != SearchAxis::absent)
      result.axes[static_cast<std::size_t>(joined[axis])] = static_cast<std::int32_t>(axis);
  return result;
}

void check_rows_shared(const Context& context, const SearchSpace& space, const SearchOptions& options) {
  if (!options.extra_devices.empty()) fail_usage("processes that share rows use one device each; name one");
  if (space.candidates.empty()) return sheaf::check_rows_shared(context, space.options);
  for (const auto& candidate : space.candidates) sheaf::check_rows_shared(context, candidate.space.options);
}

/// What may mislead in the data, for the model or for those that are compared.
template <class T>
void add_findings(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                  const PipelineOptions& steps, SearchResult& result) {
  std::vector<Finding> found;
  if (space.candidates.empty()) found = pipeline::scale_warnings(context, dataset, space.options, steps);
  for (const auto& candidate : space.candidates)
    if (found.empty()) found = pipeline::scale_warnings(context, dataset, candidate.space.options, candidate.pipeline);
  for (auto& finding : data_findings(context, dataset)) found.push_back(std::move(finding));
  for (auto& finding : found)
    (finding.level == Finding::Level::warning ? result.warnings : result.notes).push_back(std::move(finding.message));
  result.notes.insert(result.notes.begin(), dataset.notes.begin(), dataset.notes.end());
}

/// Before anything has an entry for each feature.
template <class T>
void check_features(const Context& context, const Dataset<T>& dataset, const SearchSpace& space) {
  auto numbers = space.options.family().numbers_per_feature();
  for (const auto& candidate : space.candidates)
    numbers = std::max(numbers, candidate.space.options.family().numbers_per_feature());
  check_feature_memory(context, dataset, numbers * std::int64_t{sizeof(double)}, "the numbers that training keeps");
}

void check_threshold(const SearchOptions& options, const Labels& labels) {
  if (options.threshold && labels.class_names.size() != 2)
    fail_usage("a threshold is for two classes, and the dataset has {}", labels.class_names.size());
}

}  // namespace
}  // namespace engine

template <class T>
SearchResult search(const Context& given, const Dataset<T>& dataset, const SearchSpace& space,
                    const SearchOptions& options, SearchLog* log) {
  SearchResult result;
  SearchSpace decided = space;
  result.options = options;
  decide(dataset, decided, result.options);
  result.space = decided;
  result.notes = decided.notes;
  result.size_words = decided.options.family().size_words();
  if (options.keep_decisions && log != nullptr) fail_usage("a log keeps no decision values; search without one");
  const auto context = given.for_work(search_work(dataset, decided, result.options));
  engine::check_features(context, dataset, decided);
  std::optional<engine::TeamLog> of_team;
  if (context.team() != nullptr) {
    engine::check_rows_shared(context, decided, result.options);
    log = &of_team.emplace(*context.team(), log);
  }
  auto training = result.options;
  training.keep_decisions = training.keep_decisions || engine::chooses_by_calibrated(training);
  const auto trained = decided.candidates.empty()
                           ? engine::make_search(context, dataset, decided, training)
                           : engine::make_models_search(context, dataset, decided, training, result.notes);
  check_two_classes(trained->labels(), dataset.source);
  const auto planned = name_source(dataset.source, [&] {
    engine::check_threshold(result.options, trained->labels());
    return engine::plan_rows(context, dataset, trained->labels(), result.options);
  });
  const auto& plan = planned.plan;
  result.calibrated_scores =
      engine::chooses_by_calibrated(result.options) && engine::can_calibrate(plan, trained->labels());
  result.seed = context.seed();
  result.source = dataset.source;
  result.label = dataset.target.name;
  result.title = trained->title();
  result.rows = dataset.rows();
  result.features = dataset.features();
  result.groups = planned.groups;
  result.class_names = trained->labels().class_names;
  result.target_names = dataset.target.target_names();
  result.positive = trained->labels().positive;
  result.columns = trained->labels().columns();
  result.metrics = engine::metrics_of(*trained);
  result.axes = trained->space().axes;
  result.splits = plan.splits();
  std::vector<double> work;
  for (const auto& candidate : decided.candidates) {
    result.models.push_back(engine::compared_model(candidate, *trained, result.models.size()));
    work.push_back(search_work(dataset, candidate.space, result.options).operations);
  }
  const auto strategies = engine::strategies_of(decided, result.options, plan.splits(), context.seed());
  auto run_options = result.options;
  if (result.options.stack > 0) run_options.refit = false;  // the final model is the stack
  engine::run_search(context, *trained, plan, run_options, strategies, work, log, result);
  if (result.published_elsewhere) return result;
  if (result.options.stack > 0) engine::add_stack(context, dataset, *trained, plan, result);
  if (const auto* chosen = result.models.empty() ? nullptr : result.model_of(result.chosen())) {
    result.space = chosen->candidate.space;
    result.options.pipeline = chosen->candidate.pipeline;
    result.title = chosen->title;
    result.size_words = chosen->size_words;
  }
  if (result.model) engine::describe_model(context, dataset, trained->dataset_features(), result);
  if (result.model) engine::add_refit_path(context, *trained, result);
  if (result.model) result.model->take_annotations(dataset);
  result.annotations = annotations_of(dataset);
  if (!result.options.full) {
    if (needs_pipeline(dataset, result.options.pipeline)) {
      auto steps = result.options.pipeline;
      steps.select.clear();
      const auto prepared = apply_pipeline(context, learn_pipeline(context, dataset, steps), dataset);
      result.features = prepared.features();
      engine::add_stability(context, prepared, result);
    } else {
      engine::add_stability(context, dataset, result);
    }
  }
  if (!result.options.full) result.chance = engine::stability_by_chance(context, dataset, space, options);
  result.selection_binning = selection_binning(dataset, result.options.pipeline);
  const bool tries_threshold = engine::tries_threshold(plan.splits(), result);
  if (tries_threshold) result.options.threshold = ThresholdOptions{};
  const bool learns = result.options.refit && (result.options.calibrate || result.options.threshold);
  if (result.options.predictions || learns || result.options.permutation_importance > 0)
    engine::use_held_out(context, dataset, trained->labels(), plan, result);
  if (tries_threshold) engine::keep_useful_threshold(result);
  if (result.options.learning_curve)
    result.learning_curve = engine::learning_curve(
        context, *trained, plan, result.groups > 0 ? dataset.groups : std::vector<std::int32_t>(), result);
  result.weights_effect = engine::weights_effect(context, dataset, plan, result);
  if (result.options.permutation_test > 0)
    result.permutation_test = engine::permutation_test(context, dataset, space, options.pipeline, result);
  result.notes.insert(result.notes.end(), planned.notes.begin(), planned.notes.end());
  result.warnings.insert(result.warnings.begin(), planned.warnings.begin(), planned.warnings.end());
  engine::add_notes(trained->labels(), result);
  if (auto warning = engine::one_class_warning(result); !warning.empty()) result.warnings.push_back(std::move(warning));
  for (auto& note : pipeline_notes(dataset, result.options.pipeline)) result.notes.push_back(std::move(note));
  if (!result.stack)
    for (auto& note : trained->notes(engine::outcome_of(result))) result.notes.push_back(std::move(note));
  result.counts = trained->kernel_counts();
  if (!dataset.groups.empty() && result.groups == 0)
    result.notes.emplace_back(
        "the groups of rows are not kept together: rows of one group may stand on both sides of a split");
  if (result.options.refit) engine::add_findings(context, dataset, decided, result.options.pipeline, result);
  return result;
}

template SearchResult search(const Context&, const Dataset<float>&, const SearchSpace&, const SearchOptions&,
                             SearchLog*);
template SearchResult search(const Context&, const Dataset<double>&, const SearchSpace&, const SearchOptions&,
                             SearchLog*);

}  // namespace sheaf
