#include <algorithm>

#include <sheaf/selection.hpp>

#include "core/fail.hpp"
#include "data/read/columns.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/origins.hpp"
#include "pipeline/select_by_model.hpp"
#include "pipeline/split_selection.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace pipeline {
namespace {

/// `learns_more`: a later step looks at the training rows.
template <class T>
void take_step(const Context& context, PipelineStep step, bool learns_more, Prepared<T>& prepared) {
  std::visit(
      [&](const auto& one) {
        apply(context, one, prepared.all);
        if (prepared.trains_on_all)
          prepared.train = prepared.all.borrowed();
        else if (learns_more)
          apply(context, one, prepared.train);
        else
          prepared.train = Dataset<T>();
      },
      step);
  prepared.pipeline.steps.push_back(std::move(step));
}

template <class T>
std::vector<std::int64_t> rank_features(const Context& context, const Dataset<T>& train,
                                        const PipelineOptions& options) {
  const auto request = selection_of(options);
  if (selects_by_model(options) && needs_pipeline(train, {}))
    fail_usage("--select {} weighs numbers, and {} has nominal features; put encode before select in --pipeline",
               options.select, train.source);
  if (selects_by_model(options)) return rank_by_model(context, train, options.select, request.options.count);
  return select(context, train, request).indices();
}

std::vector<std::int64_t> find_transformed(const TransformOption& option, const std::vector<std::string>& feature_names,
                                           std::int64_t features) {
  try {
    return find_features(option.features, feature_names, features);
  } catch (const UsageError& error) {
    std::string hint;
    for (int k = 0; k <= static_cast<int>(RowTransform::rank); ++k)
      if (const auto name = to_string(static_cast<RowTransform>(k)); name == option.features.back())
        hint = fmt::format("; to transform all columns behind named ones, write {}:", name);
    fail_usage("transform {}: {}{}", to_string(option.transform), error.what(), hint);
  }
}

/// Bins of equal width are the same whatever the scale, but for values on their edges, which scaling moves by a
/// rounding error: states are those of the features before they are scaled.
bool selects_before_scaling(std::span<const PipelineStage> rest, const PipelineOptions& options) {
  return rest.size() > 1 && rest[0] == PipelineStage::scale && rest[1] == PipelineStage::select &&
         !options.select.empty() && selects_by_states(options);
}

/// The transforms with the places of their features in the dataset. Names that it does not have, and nominal features,
/// are a UsageError.
template <class T>
std::vector<RowStep> find_transforms(const Dataset<T>& dataset, const PipelineOptions& options) {
  std::vector<RowStep> steps;
  for (const auto& one : options.transforms) {
    RowStep step{one.transform, find_transformed(one, dataset.feature_names, dataset.features())};
    for (const auto j : step.features)
      if (is_nominal(dataset, j))
        fail_usage("transform {}: '{}' holds levels ({}), and transforms are for numbers", to_string(one.transform),
                   dataset.feature_name(j), some_names(dataset.levels[static_cast<std::size_t>(j)]));
    std::sort(step.features.begin(), step.features.end());
    steps.push_back(std::move(step));
  }
  return steps;
}

/// The transform behind the steps that are there; none: they leave out all of its features.
std::optional<RowStep> transform_behind(const Pipeline& before, const RowStep& wanted) {
  if (wanted.features.empty()) return wanted;
  RowStep step{wanted.transform, {}};
  for (const auto j : wanted.features)
    if (const auto place = place_behind(before, j)) step.features.push_back(*place);
  std::sort(step.features.begin(), step.features.end());
  return step.features.empty() ? std::nullopt : std::optional(std::move(step));
}

}  // namespace

std::vector<PipelineStage> stages_of(const PipelineOptions& options) {
  using enum PipelineStage;
  std::vector<PipelineStage> stages = options.order;
  for (const auto stage : {impute, encode, transform, filter, scale, select})
    if (options.order.empty()) stages.push_back(stage);
  return stages;
}

template <class T>
PipelineLearner<T>::PipelineLearner(const Context& context, const Dataset<T>& train, const Dataset<T>& all,
                                    const PipelineOptions& options)
    : options_(options), rest_(stages_of(options)), transforms_(find_transforms(train, options)) {
  before_.pipeline = {train.features(), train.feature_names, train.levels, {}};
  before_.train = train.borrowed();
  before_.all = all.borrowed();
  before_.trains_on_all = &train == &all;
  bool ranked = false;
  while (!rest_.empty() && (rest_.front() != PipelineStage::select || options.select.empty())) {
    if (selects_before_scaling(rest_, options)) {
      ranked_ = rank_features(context, before_.train, options);
      ranked = true;
    }
    const auto stage = rest_.front();
    rest_.erase(rest_.begin());
    learn(context, stage, before_);
  }
  if (rest_.empty()) return;
  rest_.erase(rest_.begin());
  if (!ranked) ranked_ = rank_features(context, before_.train, options);
}

template <class T>
void PipelineLearner<T>::learn(const Context& context, PipelineStage stage, Prepared<T>& prepared) const {
  const auto& train = prepared.train;
  const bool more = learns_more(stage, train);
  switch (stage) {
    case PipelineStage::impute:
      if (options_.impute != Imputation::none)
        take_step(context, learn_impute(context, train, options_), more, prepared);
      return;
    case PipelineStage::encode:
      if (needs_pipeline(train, {})) take_step(context, learn_encode(train, options_.min_level_rows), more, prepared);
      return;
    case PipelineStage::transform:
      for (const auto& transform : transforms_)
        if (auto step = transform_behind(prepared.pipeline, transform))
          take_step(context, std::move(*step), more, prepared);
      return;
    case PipelineStage::filter:
      if (options_.min_prevalence > 0 || options_.min_variance > 0)
        take_step(context, learn_filter(context, train, options_), more, prepared);
      return;
    case PipelineStage::scale:
      if (options_.scale) take_step(context, learn_scaling(context, train, *options_.scale), more, prepared);
      return;
    case PipelineStage::select:
      return;
  }
}

/// Whether a stage behind `stage` looks at the training rows: if none does, they take no more memory.
template <class T>
bool PipelineLearner<T>::learns_more(PipelineStage stage, const Dataset<T>& train) const {
  const auto stages = stages_of(options_);
  const auto learns = [&](PipelineStage later) {
    switch (later) {
      case PipelineStage::impute:
        return options_.impute != Imputation::none;
      case PipelineStage::encode:
        return needs_pipeline(train, {});
      case PipelineStage::transform:
        return !transforms_.empty();
      case PipelineStage::filter:
        return options_.min_prevalence > 0 || options_.min_variance > 0;
      case PipelineStage::scale:
        return options_.scale.has_value();
      case PipelineStage::select:
        return !options_.select.empty();
    }
    return true;
  };
  const auto at = std::find(stages.begin(), stages.end(), stage);
  return (stage == PipelineStage::transform && transforms_.size() > 1) ||
         (at != stages.end() && std::any_of(at + 1, stages.end(), learns));
}

template <class T>
Prepared<T> PipelineLearner<T>::with_count(const Context& context, std::int64_t count) const {
  Prepared<T> prepared{before_.pipeline, before_.train.borrowed(), before_.all.borrowed(), before_.trains_on_all};
  if (!options_.select.empty()) {
    const auto taken = std::min(static_cast<std::size_t>(count), ranked_.size());
    take_step(context, TakeStep{{ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(taken)}},
              learns_more(PipelineStage::select, prepared.train), prepared);
  }
  for (const auto stage : rest_) learn(context, stage, prepared);
  return prepared;
}

template class PipelineLearner<float>;
template class PipelineLearner<double>;

}  // namespace pipeline

bool PipelineOptions::empty() const {
  return impute == Imputation::none && transforms.empty() && min_prevalence <= 0 && min_variance <= 0 && !scale &&
         select.empty();
}

template <class T>
Pipeline learn_pipeline(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options) {
  const pipeline::PipelineLearner<T> learner(context, dataset, dataset, options);
  return learner.with_count(context, options.counts.empty() ? 0 : options.counts.back()).pipeline;
}

template <class T>
Dataset<T> apply_pipeline(const Context& context, const Pipeline& pipeline, const Dataset<T>& dataset) {
  auto result = dataset.borrowed();
  for (const auto& step : pipeline.steps)
    std::visit([&](const auto& one) { pipeline::apply(context, one, result); }, step);
  return result;
}

template Pipeline learn_pipeline(const Context&, const Dataset<float>&, const PipelineOptions&);
template Pipeline learn_pipeline(const Context&, const Dataset<double>&, const PipelineOptions&);
template Dataset<float> apply_pipeline(const Context&, const Pipeline&, const Dataset<float>&);
template Dataset<double> apply_pipeline(const Context&, const Pipeline&, const Dataset<double>&);

}  // namespace sheaf
