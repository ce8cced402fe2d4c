#include "pipeline/split_selection.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "data/name_source.hpp"
#include "data/prepare/binning.hpp"
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
  request.binning = options.binning;
  return request;
}

template <class T>
std::vector<std::vector<std::int64_t>> rank_splits(const Context& context, const Dataset<T>& dataset,
                                                   std::span<const float> draws, std::int32_t splits,
                                                   const PipelineOptions& options) {
  const bool as_they_lie = selects_by_states(options) && bins::need_no_copy(options.binning);
  if (!as_they_lie) return rank_copies(context, dataset, draws, static_cast<std::size_t>(splits), options);
  auto result = information::select_splits(
      context, dataset, draws, splits, selection_of(options).options, options.binning,
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

namespace sheaf {

template <class T>
std::optional<BinningOptions> selection_binning(const Dataset<T>& dataset, const PipelineOptions& options) {
  const bool states = !options.select.empty() && !pipeline::selects_by_model(options) && options.select != "relieff";
  if (!states) return std::nullopt;
  const auto target = name_source(dataset.source, [&] { return bin_target(dataset.target, options.binning); });
  const auto rows = static_cast<double>(dataset.rows()) * options.select_share;
  return with_bins(options.binning, static_cast<std::int64_t>(std::round(rows)), &target);
}

template <class T>
std::vector<std::string> pipeline_notes(const Dataset<T>& dataset, const PipelineOptions& options) {
  std::vector<std::string> notes;
  const auto binning = selection_binning(dataset, options);
  if (binning && has_automatic_bins(options.binning))
    notes.push_back(
        fmt::format("--select {}: {} (--bins N sets another)", options.select, describe_bins(*binning, true)));
  if (!options.select.empty() && options.select_share < 1)
    notes.push_back(fmt::format("features are selected on {:g} % of the rows, and the model is trained on the others",
                                100 * options.select_share));
  return notes;
}

template std::optional<BinningOptions> selection_binning(const Dataset<float>&, const PipelineOptions&);
template std::optional<BinningOptions> selection_binning(const Dataset<double>&, const PipelineOptions&);
template std::vector<std::string> pipeline_notes(const Dataset<float>&, const PipelineOptions&);
template std::vector<std::string> pipeline_notes(const Dataset<double>&, const PipelineOptions&);

}  // namespace sheaf
