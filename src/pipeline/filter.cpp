#include "core/fail.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {

bool pipeline::is_kept(const FeatureSummary& feature, double rows, const PipelineOptions& options) {
  const double variance = feature.standard_deviation * feature.standard_deviation;
  return static_cast<double>(feature.nonzeros) >= options.min_prevalence * rows && variance >= options.min_variance;
}

void pipeline::fail_without_features(const std::string& source, const PipelineOptions& options) {
  fail("{}: no feature is left with a prevalence of {} and a variance of {} or more", source, options.min_prevalence,
       options.min_variance);
}

template <class T>
TakeStep pipeline::learn_filter(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options) {
  TakeStep step;
  const auto summary = summarize(context, dataset);
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto& feature = summary.per_feature[static_cast<std::size_t>(j)];
    if (is_nominal(dataset, j) || is_kept(feature, static_cast<double>(dataset.rows()), options))
      step.features.push_back(j);
  }
  if (step.features.empty()) fail_without_features(dataset.source, options);
  return step;
}

template <class T>
void pipeline::apply(const Context& context, const TakeStep& step, Dataset<T>& dataset) {
  dataset = take_features(dataset, step.features, context.threads());
}

template <class T>
void pipeline::apply(const Context& context, const Scaling& step, Dataset<T>& dataset) {
  apply_scaling(context, step, dataset);
}

template TakeStep pipeline::learn_filter(const Context&, const Dataset<float>&, const PipelineOptions&);
template TakeStep pipeline::learn_filter(const Context&, const Dataset<double>&, const PipelineOptions&);
template void pipeline::apply(const Context&, const TakeStep&, Dataset<float>&);
template void pipeline::apply(const Context&, const TakeStep&, Dataset<double>&);
template void pipeline::apply(const Context&, const Scaling&, Dataset<float>&);
template void pipeline::apply(const Context&, const Scaling&, Dataset<double>&);

}  // namespace sheaf
