// Any family behind a pipeline: what the pipeline learns, it learns on the training rows of each split alone, and the
// family trains on all rows transformed for that split. A point is a point of the family and, if several numbers of
// selected features are tried, one of them.
//
// If the steps learn nothing, all splits train on one changed dataset. Families that take column transforms train all
// splits together on one dataset, if steps learn of each feature by itself, and on the selected features of one dataset
// behind a selection (selection.cpp); else the dataset is copied for each split.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/fail.hpp"
#include "core/memory/less_memory.hpp"
#include "data/budget.hpp"
#include "data/matrix_bytes.hpp"
#include "family/family.hpp"
#include "pipeline/learn.hpp"
#include "search/pipeline/selection.hpp"
#include "search/plan/make_search.hpp"

namespace sheaf::engine {
namespace {

using pipeline::PipelineLearner;
using pipeline::Prepared;

constexpr std::int32_t selected_together = 16;  // splits; a batch is what a kill can lose

template <class T>
std::vector<std::string> names_of(const Dataset<T>& dataset) {
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < dataset.features(); ++j) names.push_back(dataset.feature_name(j));
  return names;
}

/// A search whose models have steps before them.
class WithPipeline {
 public:
  WithPipeline() = default;
  WithPipeline(const WithPipeline&) = delete;
  WithPipeline& operator=(const WithPipeline&) = delete;
  virtual ~WithPipeline() = default;
  virtual Model refit_with_pipeline(const Context& context, const Point& point) const = 0;
};

template <class T>
class PipelineSearch;

template <class T>
class PipelineTrainer : public Trainer {
 public:
  PipelineTrainer(const Context& context, const PipelineSearch<T>& family) : context_(context), family_(family) {}

  void load(const SplitTable& table) override { table_ = &table; }
  std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) override;

 private:
  const Context& context_;
  const PipelineSearch<T>& family_;
  const SplitTable* table_ = nullptr;
};

/// Trains all splits on one dataset, each through its column transforms.
template <class T>
class TransformTrainer : public Trainer {
 public:
  TransformTrainer(const Context& context, const PipelineSearch<T>& family);

  void load(const SplitTable& table) override;
  std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) override;

 private:
  const Context& context_;
  const PipelineSearch<T>& family_;
  std::unique_ptr<Trainer> trainer_;
};

template <class T>
class PipelineSearch : public FamilySearch, public WithPipeline {
 public:
  PipelineSearch(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                 const SearchOptions& options)
      : dataset_(dataset), search_(space), options_(options), pipeline_(options.pipeline), counts_{pipeline_.counts} {
    options_.pipeline = {};  // the family itself has none
    if (!share_dataset(context)) {
      check_room(context);
      learner_.emplace(context, dataset, dataset, pipeline_);
      whole_ = learner_->with_count(context, counts_.largest());
      family_ = make_search(context, whole_.all, search_, options_);
      names_ = names_of(learner_->before_selection());
      learns_nothing_ = has_row_steps_alone();
      select_together(context);
    }
    space_ = with_counts(family_->space());
  }

  const Labels& labels() const override { return family_->labels(); }
  std::string title() const override { return family_->title(); }
  bool has_probabilities() const override { return family_->has_probabilities(); }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return family_->tasks(); }
  std::int64_t least_rows() const override { return family_->least_rows(); }
  /// All points of a split are trained together if the pipeline is learnt for them, and all splits of a level if they
  /// select together.
  BatchLimits limits(const Context& context, const SplitCounts& splits) const override {
    auto limits = family_->limits(context, splits);
    limits.whole_grids = limits.whole_grids || !(shares_dataset_ || learns_nothing_);
    if (selection_)
      limits.tasks = std::max(limits.tasks, space_.size() * tasks() * std::min(splits.of_level, selected_together));
    return limits;
  }
  Point shared_part(const Point& point) const override {
    return learns_nothing_ ? family_->shared_part(point) : FamilySearch::shared_part(point);
  }
  std::vector<double> complexity(const Point& point, double size) const override {
    auto keys = family_->complexity(counts_.own_part(point), size);
    if (counts_.searched()) keys.insert(keys.begin(), point.front());
    return keys;
  }
  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    if (learns_nothing_) return family_->trainer(context);
    if (shares_dataset_) return std::make_unique<TransformTrainer<T>>(context, *this);
    if (selection_)
      return make_selection_trainer<T>(
          context, *selection_, [this](const Dataset<T>& split, ModelScores& model) { name_weights(split, model); });
    return std::make_unique<PipelineTrainer<T>>(context, *this);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    return refit_with_pipeline(context, point).take_trained();
  }
  Model refit_with_pipeline(const Context& context, const Point& point) const override {
    if (shares_dataset_) return refit_shared(context, point);
    const auto prepared = learner_->with_count(context, counts_.of(point));
    const auto family = make_search(context, prepared.all, search_, options_);
    Model model(family->refit(context, counts_.own_part(point)));
    model.set_pipeline(prepared.pipeline);
    if (!pipeline_.select.empty()) model.withhold_tests();
    return model;
  }
  std::vector<PathStep> refit_path(const Context& context, const Point& point,
                                   std::span<const std::int32_t> features) const override {
    if (!shares_dataset_) {
      const auto prepared = learner_->with_count(context, counts_.of(point));
      return make_search(context, prepared.all, search_, options_)
          ->refit_path(context, counts_.own_part(point), features);
    }
    std::vector<std::int32_t> kept;
    for (const auto j : features) kept.push_back(static_cast<std::int32_t>(kept_[static_cast<std::size_t>(j)]));
    auto steps = family_->refit_path(context, counts_.own_part(point), kept);
    for (auto& step : steps)
      for (auto& one : step.weights)
        for (auto& j : one.features)
          j = features[static_cast<std::size_t>(std::lower_bound(kept.begin(), kept.end(), j) - kept.begin())];
    return steps;
  }
  std::vector<PathStep> path(const Context& context, const SplitTable& table, const Point& point) const override {
    const auto train = take_rows(dataset_, table.training_rows(options_.row_weights), context.threads());
    const PipelineLearner<T> learner(context, train, dataset_, pipeline_);
    const auto prepared = learner.with_count(context, counts_.of(point));
    auto steps = make_search(context, prepared.all, search_, options_)->path(context, table, counts_.own_part(point));
    if (shares_dataset_ && prepared.all.features() != std::ssize(kept_))
      return {};  // filters kept others of this split
    for (auto& step : steps) {
      if (shares_dataset_) break;
      ModelScores model;
      model.weights = std::move(step.weights);
      name_weights(prepared.all, model);
      step.weights = std::move(model.weights);
    }
    return steps;
  }
  std::string failure(const TaskFit& fit) const override { return family_->failure(fit); }
  std::span<const FeatureSummary> dataset_features() const override { return features_; }
  std::vector<std::string> notes(const SearchOutcome& outcome) const override { return family_->notes(outcome); }
  KernelCounts kernel_counts() const override { return family_->kernel_counts(); }

  const SelectedCounts& counts() const { return counts_; }

  /// Trains jobs of one split, all of them with `count` selected features.
  std::vector<ModelScores> train(const Context& context, const PipelineLearner<T>& learner, std::int64_t count,
                                 const SplitTable& split, std::span<const Point> points, bool chosen) const {
    const auto prepared = learner.with_count(context, count);
    const auto family = make_search(context, prepared.all, search_, options_);
    const auto trainer = family->trainer(context);
    trainer->load(split);
    std::map<Point, std::vector<std::size_t>> together;  // one call trains points that share their kernel, or the like
    for (std::size_t k = 0; k < points.size(); ++k) together[family->shared_part(points[k])].push_back(k);
    std::vector<ModelScores> scores(points.size());
    for (const auto& [shared, members] : together) {
      std::vector<Job> jobs;
      for (const auto k : members) jobs.push_back({&points[k], 0});
      auto some = trainer->train(jobs, chosen);
      for (std::size_t k = 0; k < members.size(); ++k) scores[members[k]] = std::move(some[k]);
    }
    for (auto& model : scores) name_weights(prepared.all, model);
    return scores;
  }

  /// Weights belong to features of this split; in the result they belong to those of all rows before any are selected,
  /// which are found by name.
  void name_weights(const Dataset<T>& split, ModelScores& model) const {
    if (model.weights.empty()) return;
    const auto own = names_of(split);
    if (own == names_) return;
    std::map<std::string, std::int32_t> places;
    for (std::size_t j = 0; j < names_.size(); ++j) places.try_emplace(names_[j], static_cast<std::int32_t>(j));
    move_weights(model, [&](std::int32_t feature) {
      const auto found = places.find(own[static_cast<std::size_t>(feature)]);
      return found != places.end() ? std::optional(found->second) : std::nullopt;
    });
  }

  /// For a dataset that the splits share: keeps the weights of the features that filters keep on all rows.
  void keep_weights(ModelScores& model) const {
    if (std::ssize(kept_) == whole_.all.features()) return;
    move_weights(model, [&](std::int32_t feature) {
      const auto found = std::lower_bound(kept_.begin(), kept_.end(), std::int64_t{feature});
      return found != kept_.end() && *found == feature ? std::optional(static_cast<std::int32_t>(found - kept_.begin()))
                                                       : std::nullopt;
    });
  }

  const FamilySearch& family() const { return *family_; }
  /// For all rows.
  const PipelineLearner<T>& learner() const { return *learner_; }
  /// The dataset that all splits share.
  const Dataset<T>& shared_dataset() const { return whole_.all; }
  const Dataset<T>& dataset() const { return dataset_; }
  const SearchOptions& options() const { return options_; }
  const PipelineOptions& pipeline() const { return pipeline_; }

 private:
  /// Steps are applied to a copy of all rows, and to another one for a split if it learns them for itself.
  void check_room(const Context& context) const {
    const bool by_split = pipeline_.impute != Imputation::none || pipeline_.scale || pipeline_.min_prevalence > 0 ||
                          pipeline_.min_variance > 0;
    const auto need = owned_bytes(dataset_.x) + matrix_bytes(dataset_.x) * (by_split ? 2 : 1);
    const auto budget = cpu_budget(context);
    if (need <= budget || can_select_together()) return;
    constexpr double unit = 1 << 20;
    const double rounded = std::ceil(static_cast<double>(need) / unit);
    fail(
        "{}: with the copies that the steps before the model make it takes {:.0f} MiB, and the memory budget is {}; "
        "give "
        "--memory {:.0f}M, or take fewer steps (--scale none)",
        dataset_.source, rounded, format_bytes(budget), rounded);
  }

  /// The family over the dataset as it is but for steps that learn nothing, if all splits can share it.
  bool share_dataset(const Context& context) {
    if (!search_.options.family().takes_transforms(search_.options) || !pipeline::changes_features_alone(pipeline_))
      return false;
    learner_.emplace(context, dataset_, dataset_, pipeline::without_learnt_steps(pipeline_));
    auto prepared = learner_->with_count(context, 0);
    auto learnt = pipeline::learn_whole_transforms(context, prepared.all, pipeline_);
    if (!pipeline::transforms_are_accurate<T>(learnt.transforms)) return false;
    whole_ = std::move(prepared);
    family_ = make_search(context, whole_.all, search_, options_, &learnt.transforms);
    kept_ = std::move(learnt.kept);
    if (whole_.pipeline.steps.empty()) features_ = std::move(learnt.features);
    for (auto& step : learnt.steps) whole_.pipeline.steps.push_back(std::move(step));
    return shares_dataset_ = true;
  }

  /// Filters and selections are no row steps: they depend on the rows, even if they keep all features on all rows.
  bool has_row_steps_alone() const {
    if (!pipeline_.select.empty() || pipeline_.min_prevalence > 0 || pipeline_.min_variance > 0) return false;
    return std::all_of(whole_.pipeline.steps.begin(), whole_.pipeline.steps.end(),
                       [](const auto& step) { return std::holds_alternative<RowStep>(step); });
  }

  /// Whether only steps that learn nothing, or of each feature by itself, come before a selection.
  bool can_select_together() const {
    auto steps = pipeline_;
    steps.select.clear();
    return !pipeline_.select.empty() && search_.options.family().takes_transforms(search_.options) &&
           pipeline::changes_features_alone(steps);
  }

  /// Prepares selection of all splits from one dataset.
  void select_together(const Context& context) {
    auto steps = pipeline_;
    steps.select.clear();
    if (!can_select_together()) return;
    for (const auto& step : whole_.pipeline.steps)
      if (const auto* scaling = std::get_if<Scaling>(&step);
          scaling != nullptr && !pipeline::transforms_are_accurate<T>({1, scaling->shift, scaling->factor}))
        return;
    unlearnt_.emplace(context, dataset_, dataset_, pipeline::without_learnt_steps(steps));
    auto learnt = pipeline_;
    learnt.transforms.clear();
    selection_ = SelectionSetup<T>{&unlearnt_->before_selection(), search_, options_, std::move(learnt), counts_};
  }

  /// On the dataset that the splits share too, in place of a scaled copy.
  Model refit_shared(const Context& context, const Point& point) const {
    Model model(family_->refit(context, counts_.own_part(point))->with_features(kept_));
    model.set_pipeline(whole_.pipeline);
    return model;
  }

  /// `place_of(feature)` is where the weight of a feature goes, if anywhere.
  template <class PlaceOf>
  static void move_weights(ModelScores& model, const PlaceOf& place_of) {
    for (auto& one : model.weights) {
      std::map<std::int32_t, double> moved;
      for (std::size_t k = 0; k < one.features.size(); ++k)
        if (const std::optional<std::int32_t> place = place_of(one.features[k])) moved[*place] = one.weights[k];
      one.features.clear();
      one.weights.clear();
      for (const auto& [feature, weight] : moved) {
        one.features.push_back(feature);
        one.weights.push_back(weight);
      }
    }
  }

  Space with_counts(const Space& own) const {
    if (!counts_.searched()) return own;
    Space space = own;
    std::vector<double> values;
    for (const auto count : counts_.counts) values.push_back(static_cast<double>(count));
    space.axes.insert(space.axes.begin(), {"features", "features", false, false});
    space.shape.insert(space.shape.begin(), static_cast<std::int32_t>(values.size()));
    if (!space.values.empty()) space.values.insert(space.values.begin(), values);
    if (!space.finer.empty()) space.finer.insert(space.finer.begin(), Refinement{});
    space.lattice.clear();
    for (const double count : values)
      for (auto point : own.lattice) {
        point.insert(point.begin(), count);
        space.lattice.push_back(std::move(point));
      }
    return space;
  }

  const Dataset<T>& dataset_;
  SearchSpace search_;
  SearchOptions options_;
  PipelineOptions pipeline_;
  SelectedCounts counts_;
  bool shares_dataset_ = false;
  bool learns_nothing_ = false;                 // each row changes by itself: all splits train on the changed rows
  std::optional<PipelineLearner<T>> unlearnt_;  // of steps that learn nothing, if splits select together
  std::optional<SelectionSetup<T>> selection_;  // over its dataset
  std::optional<PipelineLearner<T>> learner_;   // on all rows; of a shared dataset: of steps that learn nothing
  Prepared<T> whole_;                           // all rows, over the memory of the learner
  std::vector<std::int64_t> kept_;              // features of a shared dataset that filters keep
  std::vector<FeatureSummary> features_;        // of a shared dataset that no step changes before
  std::vector<std::string> names_;              // of the features before a selection; none of a shared dataset
  std::unique_ptr<FamilySearch> family_;        // on all rows
  Space space_;
};

template <class T>
TransformTrainer<T>::TransformTrainer(const Context& context, const PipelineSearch<T>& family)
    : context_(context), family_(family), trainer_(family.family().trainer(context)) {}

template <class T>
void TransformTrainer<T>::load(const SplitTable& table) {
  const auto draws = table.draws(family_.options().row_weights);
  const auto splits = static_cast<std::int32_t>(table.splits.size());
  trainer_->load_transformed(
      table, pipeline::learn_transforms(context_, family_.shared_dataset(), draws, splits, family_.pipeline()));
}

template <class T>
std::vector<ModelScores> TransformTrainer<T>::train(std::span<const Job> jobs, bool chosen) {
  auto scores = trainer_->train(jobs, chosen);
  for (auto& model : scores) family_.keep_weights(model);
  return scores;
}

/// The rows that a leave-one-out split trains on.
bool is_each_row_once(std::span<const std::int32_t> rows, std::int64_t all) {
  if (std::ssize(rows) != all) return false;
  for (std::int64_t i = 0; i < all; ++i)
    if (rows[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

template <class T>
std::vector<ModelScores> PipelineTrainer<T>::train(std::span<const Job> jobs, bool chosen) {
  std::map<std::int32_t, std::map<std::int64_t, std::vector<std::size_t>>> groups;  // split, count, jobs
  for (std::size_t k = 0; k < jobs.size(); ++k) groups[jobs[k].split][family_.counts().of(*jobs[k].point)].push_back(k);
  std::vector<ModelScores> result(jobs.size());
  for (const auto& [column, by_count] : groups) {
    const auto split = take_splits(*table_, std::vector{static_cast<std::size_t>(column)});
    const auto rows = split.training_rows(family_.options().row_weights);
    Dataset<T> train;
    std::optional<PipelineLearner<T>> own;
    if (!is_each_row_once(rows, family_.dataset().rows())) {
      train = take_rows(family_.dataset(), rows, context_.threads());
      own.emplace(context_, train, family_.dataset(), family_.pipeline());
      if (!own->keeps_training_rows()) train = Dataset<T>();
    }
    const auto& learner = own ? *own : family_.learner();
    for (const auto& [count, members] : by_count) {
      std::vector<Point> points;
      for (const auto k : members) points.push_back(family_.counts().own_part(*jobs[k].point));
      auto scores = family_.train(context_, learner, count, split, points, chosen);
      for (std::size_t m = 0; m < members.size(); ++m) result[members[m]] = std::move(scores[m]);
    }
  }
  return result;
}

}  // namespace

Model refit_model(const Context& context, const FamilySearch& all, const Point& joined) {
  const auto [model, point] = all.own_point(joined);
  const auto& search = *all.models()[static_cast<std::size_t>(model)];
  const auto* steps = dynamic_cast<const WithPipeline*>(&search);
  std::vector<std::string> warnings;
  auto result = retry_in_less_memory(
      context,
      [&, own = point](const Context& where) {
        return steps != nullptr ? steps->refit_with_pipeline(where, own) : Model(search.refit(where, own));
      },
      [&](std::string note) { warnings.push_back(std::move(note)); });
  for (auto& warning : warnings) result.add_training_warning(std::move(warning));
  return result;
}

template <class T>
std::unique_ptr<FamilySearch> make_pipeline_search(const Context& context, const Dataset<T>& dataset,
                                                   const SearchSpace& space, const SearchOptions& options) {
  return std::make_unique<PipelineSearch<T>>(context, dataset, space, options);
}

template std::unique_ptr<FamilySearch> make_pipeline_search(const Context&, const Dataset<float>&, const SearchSpace&,
                                                            const SearchOptions&);
template std::unique_ptr<FamilySearch> make_pipeline_search(const Context&, const Dataset<double>&, const SearchSpace&,
                                                            const SearchOptions&);

}  // namespace sheaf::engine
