#include "pipeline/split_selection.hpp"

#include <algorithm>

#include "information/select_splits.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/select_by_model.hpp"
#include "pipeline/steps.hpp"

namespace sheaf::pipeline {
namespace {

/// The features that a pipeline keeps, by their places in the dataset that it was learnt on.
std::vector<std::int64_t> kept_by(const Pipeline& pipeline) {
  std::vector<std::int64_t> features;
  for (std::int64_t j = 0; j < pipeline.features; ++j) features.push_back(j);
  for (const auto& step : pipeline.steps)
    if (const auto* taken = std::get_if<TakeStep>(&step)) {
      std::vector<std::int64_t> kept;
      for (const auto j : taken->features) kept.push_back(features[static_cast<std::size_t>(j)]);
      features = std::move(kept);
    }
  return features;
}

/// The features of each split's copy of its training rows.
template <class T>
std::vector<std::vector<std::int64_t>> rank_copies(const Context& context, const Dataset<T>& dataset,
                                                   std::span<const float> draws, std::size_t splits,
                                                   const PipelineOptions& options) {
  std::vector<std::vector<std::int64_t>> result;
  for (std::size_t s = 0; s < splits; ++s) {
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(dataset.rows()); ++i)
      rows.insert(rows.end(), static_cast<std::size_t>(draws[i * splits + s]), static_cast<std::int32_t>(i));
    const auto train = take_rows(dataset, rows, context.threads());
    result.push_back(kept_by(learn_pipeline(context, train, options)));
  }
  return result;
}

}  // namespace

bool selects_by_model(const PipelineOptions& options) {
  const auto& models = selecting_models();
  return std::find(models.begin(), models.end(), options.select) != models.end();
}

bool selects_by_states(const PipelineOptions& options) {
  return !selects_by_model(options) && !find_criterion(options.select).numeric;
}

SelectRequest selection_of(const PipelineOptions& options) {
  SelectRequest request;
  request.options.criterion = options.select;
  request.options.count = *std::max_element(options.counts.begin(), options.counts.end());
  return request;
}

template <class T>
std::vector<std::vector<std::int64_t>> rank_splits(const Context& context, const Dataset<T>& dataset,
                                                   std::span<const float> draws, std::int32_t splits,
                                                   const PipelineOptions& options) {
  if (!selects_by_states(options))
    return rank_copies(context, dataset, draws, static_cast<std::size_t>(splits), options);
  auto result = information::select_splits(
      context, dataset, draws, splits, selection_of(options).options,
      [&](const FeatureSummary& feature, double rows) { return is_kept(feature, rows, options); });
  const bool filtered = options.min_prevalence > 0 || options.min_variance > 0;
  for (const auto& ranked : result)
    if (ranked.empty() && filtered) fail_without_features(dataset.source, options);
  return result;
}

template std::vector<std::vector<std::int64_t>> rank_splits(const Context&, const Dataset<float>&,
                                                            std::span<const float>, std::int32_t,
                                                            const PipelineOptions&);
template std::vector<std::vector<std::int64_t>> rank_splits(const Context&, const Dataset<double>&,
                                                            std::span<const float>, std::int32_t,
                                                            const PipelineOptions&);

}  // namespace sheaf::pipeline
