#include "search/results/describe_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

#include "data/describe/split_summary.hpp"
#include "pipeline/learn.hpp"
#include "search/results/stack.hpp"

namespace sheaf::engine {
namespace {

/// Standard deviations of the features after some steps (at least one). Rows go through them in parts, so that no copy
/// of all is made.
template <class T>
std::vector<double> deviations_behind(const Context& context, const Pipeline& steps, const Dataset<T>& dataset) {
  constexpr std::int64_t rows_at_once = 4096;
  std::vector<double> means, squares;
  for (std::int64_t first = 0; first < dataset.rows(); first += rows_at_once) {
    std::vector<std::int32_t> rows;
    for (auto i = first; i < std::min(first + rows_at_once, dataset.rows()); ++i)
      rows.push_back(static_cast<std::int32_t>(i));
    const auto changed = apply_pipeline(context, steps, take_rows(dataset, rows, context.threads()));
    const auto features = summarize_features(context, changed);
    const auto before = static_cast<double>(first);
    const auto count = static_cast<double>(rows.size());
    means.resize(features.size(), 0);
    squares.resize(means.size(), 0);
    for (std::size_t j = 0; j < means.size(); ++j) {
      const double distance = features[j].mean - means[j];
      squares[j] += count * (features[j].standard_deviation * features[j].standard_deviation +
                             distance * distance * before / (before + count));
      means[j] += distance * count / (before + count);
    }
  }
  for (double& square : squares) square = std::sqrt(square / static_cast<double>(dataset.rows()));
  return squares;
}

/// Standard deviations of the features after the pipeline. Trailing scale and select steps are applied analytically.
template <class T>
std::vector<double> standard_deviations(const Context& context, const Model& model, const Dataset<T>& dataset,
                                        const std::function<std::vector<FeatureSummary>()>& summarize) {
  const auto known = [](const PipelineStep& step) {
    return std::holds_alternative<TakeStep>(step) || std::holds_alternative<Scaling>(step);
  };
  auto front = model.pipeline();
  std::vector<PipelineStep> last;
  for (auto& steps = front.steps; !steps.empty() && known(steps.back()); steps.pop_back()) last.push_back(steps.back());
  std::vector<double> deviations;
  if (front.empty())
    for (const auto& feature : summarize()) deviations.push_back(feature.standard_deviation);
  else
    deviations = deviations_behind(context, front, dataset);
  for (; !last.empty(); last.pop_back()) {
    if (const auto* scaling = std::get_if<Scaling>(&last.back())) {
      for (std::size_t j = 0; j < deviations.size(); ++j) deviations[j] *= std::abs(scaling->factor[j]);
      continue;
    }
    std::vector<double> taken;
    for (const auto j : std::get<TakeStep>(last.back()).features)
      taken.push_back(deviations[static_cast<std::size_t>(j)]);
    deviations = std::move(taken);
  }
  return deviations;
}

}  // namespace

template <class T>
void describe_model(const Context& context, const Dataset<T>& dataset, std::span<const FeatureSummary> known,
                    SearchResult& result) {
  std::vector<FeatureSummary> features(known.begin(), known.end());
  const auto summarize = [&] {
    if (features.empty()) features = summarize_features(context, dataset);
    return features;
  };
  if (result.stack) {  // whose members look at the features
    describe_stack(context, dataset, summarize, *result.model);
    return;
  }
  auto pipeline = result.model->pipeline();
  pipeline::describe_training(context, dataset, summarize, pipeline);
  result.model->set_pipeline(std::move(pipeline));
  if (result.model->coefficients())
    result.standard_deviations = standard_deviations(context, *result.model, dataset, summarize);
}

template void describe_model(const Context&, const Dataset<float>&, std::span<const FeatureSummary>, SearchResult&);
template void describe_model(const Context&, const Dataset<double>&, std::span<const FeatureSummary>, SearchResult&);

}  // namespace sheaf::engine
