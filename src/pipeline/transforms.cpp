// Pipelines that change each feature by itself, as a shift and a factor of each split.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/fail.hpp"
#include "data/describe/split_summary.hpp"
#include "data/prepare/scaling.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/steps.hpp"

namespace sheaf::pipeline {
namespace {

/// A feature that is constant in the rows of a split becomes 0 by these methods: it may as well be left out.
bool constants_vanish(ScaleMethod method) {
  return method == ScaleMethod::standard || method == ScaleMethod::unit_interval;
}

template <class T>
ScaleStep step_of(const Dataset<T>& dataset, std::int64_t j, const FeatureSummary& feature, double rows,
                  const PipelineOptions& options) {
  constexpr ScaleStep left_out{0, 0};
  if (!is_kept(feature, rows, options)) return left_out;
  if (!options.scale) return {};
  if (feature.minimum == feature.maximum && constants_vanish(*options.scale)) return left_out;
  return scale_step(dataset, j, feature, *options.scale);
}

}  // namespace

bool changes_features_alone(const PipelineOptions& options) {
  return options.order.empty() && options.impute == Imputation::none && options.min_level_rows <= 1 &&
         options.select.empty() && options.scale != ScaleMethod::robust;
}

PipelineOptions without_learnt_steps(PipelineOptions options) {
  options.scale.reset();
  options.min_prevalence = options.min_variance = 0;
  return options;
}

template <class T>
bool transforms_are_accurate(const ColumnTransforms& transforms) {
  // x - shift is computed from sums over x: as many digits are lost as the shift has more than it.
  constexpr double most = sizeof(T) == sizeof(float) ? 1e2 : 1e6;
  for (std::size_t k = 0; k < transforms.shifts.size(); ++k)
    if (std::abs(transforms.shifts[k] * transforms.factors[k]) > most) return false;
  return true;
}

template <class T>
WholeTransforms learn_whole_transforms(const Context& context, const Dataset<T>& dataset,
                                       const PipelineOptions& options) {
  const auto rows = static_cast<double>(dataset.rows());
  const std::vector<float> once(static_cast<std::size_t>(dataset.rows()), 1.0F);
  WholeTransforms whole;
  whole.features = summarize_splits(context, dataset, once, 1);
  whole.transforms.splits = 1;
  Scaling scaling;
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto& feature = whole.features[static_cast<std::size_t>(j)];
    const auto step = step_of(dataset, j, feature, rows, options);
    whole.transforms.shifts.push_back(step.shift);
    whole.transforms.factors.push_back(step.factor);
    if (!is_kept(feature, rows, options)) continue;
    whole.kept.push_back(j);
    if (!options.scale) continue;
    const auto scale = scale_step(dataset, j, feature, *options.scale);
    scaling.shift.push_back(scale.shift);
    scaling.factor.push_back(scale.factor);
    if (!dataset.feature_names.empty()) scaling.feature_names.push_back(dataset.feature_name(j));
  }
  if (whole.kept.empty()) fail_without_features(dataset.source, options);
  if (options.min_prevalence > 0 || options.min_variance > 0) whole.steps.emplace_back(TakeStep{whole.kept});
  if (options.scale) {
    scaling.method = *options.scale;
    whole.steps.emplace_back(std::move(scaling));
  }
  return whole;
}

template <class T>
ColumnTransforms learn_transforms(const Context& context, const Dataset<T>& dataset, std::span<const float> draws,
                                  std::int32_t splits, const PipelineOptions& options) {
  const auto columns = static_cast<std::size_t>(splits);
  const auto size = static_cast<std::size_t>(dataset.features()) * columns;
  ColumnTransforms transforms{splits, std::vector<double>(size), std::vector<double>(size)};
  std::vector<double> rows;
  std::vector<std::atomic<std::uint8_t>> any(columns);
  const auto learn = [&](std::int64_t j, std::span<const FeatureSummary> of_splits) {
    for (std::size_t s = 0; s < columns; ++s) {
      const auto k = static_cast<std::size_t>(j) * columns + s;
      const auto step = step_of(dataset, j, of_splits[s], rows[s], options);
      transforms.shifts[k] = step.shift;
      transforms.factors[k] = step.factor;
      if (any[s].load(std::memory_order_relaxed) == 0 && is_kept(of_splits[s], rows[s], options)) any[s] = 1;
    }
  };
  for_split_summaries(context, dataset, draws, splits, learn, &rows);
  if (std::find(any.begin(), any.end(), 0) != any.end()) fail_without_features(dataset.source, options);
  return transforms;
}

template bool transforms_are_accurate<float>(const ColumnTransforms&);
template bool transforms_are_accurate<double>(const ColumnTransforms&);
template WholeTransforms learn_whole_transforms(const Context&, const Dataset<float>&, const PipelineOptions&);
template WholeTransforms learn_whole_transforms(const Context&, const Dataset<double>&, const PipelineOptions&);
template ColumnTransforms learn_transforms(const Context&, const Dataset<float>&, std::span<const float>, std::int32_t,
                                           const PipelineOptions&);
template ColumnTransforms learn_transforms(const Context&, const Dataset<double>&, std::span<const float>, std::int32_t,
                                           const PipelineOptions&);

}  // namespace sheaf::pipeline
