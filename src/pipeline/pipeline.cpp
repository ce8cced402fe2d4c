#include <algorithm>

#include <sheaf/selection.hpp>

#include "core/fail.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/select_by_model.hpp"
#include "pipeline/split_selection.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace pipeline {
namespace {

template <class T>
void take_step(const Context& context, PipelineStep step, Prepared<T>& prepared) {
  std::visit(
      [&](const auto& one) {
        apply(context, one, prepared.all);
        if (prepared.trains_on_all)
          prepared.train = prepared.all.borrowed();
        else
          apply(context, one, prepared.train);
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

/// Bins of equal width are the same whatever the scale, but for values on their edges, which scaling moves by a
/// rounding error: states are those of the features before they are scaled.
bool selects_before_scaling(std::span<const PipelineStage> rest, const PipelineOptions& options) {
  return rest.size() > 1 && rest[0] == PipelineStage::scale && rest[1] == PipelineStage::select &&
         !options.select.empty() && selects_by_states(options);
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
    : options_(options), rest_(stages_of(options)) {
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
    learn(context, rest_.front(), before_);
    rest_.erase(rest_.begin());
  }
  if (rest_.empty()) return;
  rest_.erase(rest_.begin());
  if (!ranked) ranked_ = rank_features(context, before_.train, options);
}

template <class T>
void PipelineLearner<T>::learn(const Context& context, PipelineStage stage, Prepared<T>& prepared) const {
  const auto& train = prepared.train;
  switch (stage) {
    case PipelineStage::impute:
      if (options_.impute != Imputation::none) take_step(context, learn_impute(context, train, options_), prepared);
      return;
    case PipelineStage::encode:
      if (needs_pipeline(train, {})) take_step(context, learn_encode(train, options_.min_level_rows), prepared);
      return;
    case PipelineStage::transform:
      for (const auto transform : options_.transforms) take_step(context, RowStep{transform}, prepared);
      return;
    case PipelineStage::filter:
      if (options_.min_prevalence > 0 || options_.min_variance > 0)
        take_step(context, learn_filter(context, train, options_), prepared);
      return;
    case PipelineStage::scale:
      if (options_.scale) take_step(context, learn_scaling(context, train, *options_.scale), prepared);
      return;
    case PipelineStage::select:
      return;
  }
}

template <class T>
Prepared<T> PipelineLearner<T>::with_count(const Context& context, std::int64_t count) const {
  Prepared<T> prepared{before_.pipeline, before_.train.borrowed(), before_.all.borrowed(), before_.trains_on_all};
  if (!options_.select.empty()) {
    const auto taken = std::min(static_cast<std::size_t>(count), ranked_.size());
    take_step(context, TakeStep{{ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(taken)}}, prepared);
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
