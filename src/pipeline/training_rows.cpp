// Properties of the training rows that a model keeps, and the comparison of other rows with them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "data/describe/moments.hpp"
#include "data/describe/split_summary.hpp"
#include "data/labels.hpp"
#include "data/read/columns.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t most_features = 100000;
constexpr double far = 10;      // spreads
constexpr double often = 0.05;  // share of the training rows that a feature must not be 0 in for its scale to be known
constexpr double many = 0.1;    // share of the rows that must be far for a warning
constexpr double slack = 0.01;  // for what rounding takes off

/// To so many digits of `size`, so that model files stay small. Short numbers remain short in decimal notation.
double rounded(double value, double size, int digits) {
  if (!std::isfinite(value)) return 0;
  if (size == 0 || !std::isfinite(size)) return value;
  const double exponent = std::floor(std::log10(std::abs(size))) - (digits - 1);
  const double unit = std::pow(10, std::abs(exponent));
  const double result = exponent < 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
  return std::isfinite(result) ? result : value;
}
/// 4 digits are enough for a scale.
double rounded(double value) { return rounded(value, value, 4); }
/// Explanations compare values with it: its error is to be small relative to their differences.
double rounded_mean(const FeatureSummary& feature) { return rounded(feature.mean, feature.standard_deviation, 6); }

/// For each feature, the share of the rows at each of its levels.
template <class T>
std::vector<std::vector<double>> level_shares(const Dataset<T>& dataset) {
  std::vector<std::vector<double>> shares;
  for (const auto& counts : pipeline::count_levels(dataset)) {
    const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    auto& own = shares.emplace_back();
    for (const auto count : counts) own.push_back(all > 0 ? rounded(static_cast<double>(count) / all, 1, 7) : 0);
  }
  return shares;
}

/// The features with missing values, summarised over the values that are there, in place of their summaries in
/// `features`. Returns how many values of each feature are there.
template <class T>
std::vector<std::int64_t> leave_out_missing(const Context& context, const Dataset<T>& dataset,
                                            std::vector<FeatureSummary>& features) {
  std::vector<std::int64_t> counts(features.size(), dataset.rows());
  const auto incomplete = [&](std::size_t j) { return std::isnan(features[j].mean); };
  bool any = false;
  for (std::size_t j = 0; j < features.size(); ++j) any = any || incomplete(j);
  if (!any) return counts;
  std::vector<Moments> moments(features.size());
  const auto add = [&](std::int64_t feature, T stored) {
    const auto j = static_cast<std::size_t>(feature);
    if (!incomplete(j)) return;
    if (std::isnan(stored))
      --counts[j];
    else
      moments[j].add(static_cast<double>(stored));
  };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    constexpr std::int64_t features_at_once = 64;
    parallel_ranges(context, dense->columns, features_at_once, [&](Range range) {
      for (std::int64_t i = 0; i < dense->rows; ++i)
        for (auto j = range.begin; j < range.end; ++j) add(j, dense->values[i * dense->columns + j]);
    });
  } else {
    const auto& sparse = std::get<SparseMatrix<T>>(dataset.x);
    for (std::int64_t i = 0; i < sparse.rows; ++i) pipeline::for_row(sparse, i, add);
  }
  for (std::size_t j = 0; j < features.size(); ++j)
    if (incomplete(j)) {
      moments[j].add_zeros(counts[j] - moments[j].count);
      features[j] = moments[j].summary();
    }
  return counts;
}

}  // namespace

template <class T>
void describe_training(const Context& context, const Dataset<T>& dataset, Pipeline& pipeline) {
  pipeline::describe_training(
      context, dataset, [&] { return summarize_features(context, dataset); }, pipeline);
}

template <class T>
void pipeline::describe_training(const Context& context, const Dataset<T>& dataset,
                                 const std::function<std::vector<FeatureSummary>()>& summarize, Pipeline& pipeline) {
  const auto& target = dataset.target;
  pipeline.label = target.name;
  const auto positive = target.looks_like_classes() ? positive_of(target) : -1;
  if (positive >= 0) pipeline.positive = target.class_names[static_cast<std::size_t>(positive)];
  if (dataset.features() == 0 || dataset.features() > most_features || dataset.rows() == 0) return;
  auto features = summarize();
  const auto counts = leave_out_missing(context, dataset, features);
  for (std::size_t j = 0; j < features.size(); ++j) {
    const auto& feature = features[j];
    const bool constant = counts[j] == 0 || is_nominal(dataset, static_cast<std::int64_t>(j));
    const double reach = std::max(feature.maximum - feature.mean, feature.mean - feature.minimum);
    const bool rare = static_cast<double>(feature.nonzeros) < often * static_cast<double>(counts[j]);
    const bool varies = !constant && !rare && reach > 1e-12 * std::abs(feature.mean);
    pipeline.means.push_back(constant ? 0 : rounded_mean(feature));
    pipeline.spreads.push_back(varies ? rounded(std::max(feature.standard_deviation, reach / far)) : 0);
  }
  pipeline.level_shares = level_shares(dataset);
}

template <class T>
std::vector<std::string> warn_of_scale(const Pipeline& pipeline, const Dataset<T>& dataset) {
  if (pipeline.means.empty() || std::ssize(pipeline.means) != dataset.features() || dataset.rows() == 0) return {};
  std::vector<std::int64_t> away(pipeline.means.size(), 0);
  std::visit(
      [&](const auto& x) {
        for (std::int64_t i = 0; i < x.rows; ++i)
          pipeline::for_row(x, i, [&](std::int64_t feature, T value) {
            const auto j = static_cast<std::size_t>(feature);
            const double distance = std::abs(static_cast<double>(value) - pipeline.means[j]);
            if (distance > (1 + slack) * far * pipeline.spreads[j]) ++away[j];
          });
      },
      dataset.x);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < away.size(); ++j)
    if (pipeline.spreads[j] > 0 && static_cast<double>(away[j]) >= many * static_cast<double>(dataset.rows()))
      names.push_back(fmt::format("'{}'", dataset.feature_name(static_cast<std::int64_t>(j))));
  if (names.empty()) return {};
  return {fmt::format(
      "{}: the values of {} feature{} are on another scale than those the model was trained on, in {:.0f} % "
      "of the rows or more by over {} standard deviations: {}",
      dataset.source, names.size(), names.size() == 1 ? "" : "s", 100 * many, far, some_names(names))};
}

template void describe_training(const Context&, const Dataset<float>&, Pipeline&);
template void describe_training(const Context&, const Dataset<double>&, Pipeline&);
template void pipeline::describe_training(const Context&, const Dataset<float>&,
                                          const std::function<std::vector<FeatureSummary>()>&, Pipeline&);
template void pipeline::describe_training(const Context&, const Dataset<double>&,
                                          const std::function<std::vector<FeatureSummary>()>&, Pipeline&);
template std::vector<std::string> warn_of_scale(const Pipeline&, const Dataset<float>&);
template std::vector<std::string> warn_of_scale(const Pipeline&, const Dataset<double>&);

}  // namespace sheaf
