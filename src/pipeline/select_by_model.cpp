#include "pipeline/select_by_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "data/labels.hpp"

namespace sheaf::pipeline {
namespace {

constexpr std::int32_t path_steps = 100;
constexpr double smallest_share = 1e-3;  // of the first alpha, as glmnet's for more features than rows is 0.01
constexpr std::int32_t steps_at_once = 10;

/// Indices of the largest values above 0, the first of equals.
std::vector<std::int64_t> largest(const std::vector<double>& values, std::int64_t count) {
  std::vector<std::int64_t> order;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (values[j] > 0) order.push_back(static_cast<std::int64_t>(j));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
  return order;
}

/// Shifts are left to the intercept, so that sparse data stay sparse.
template <class T>
Dataset<T> with_unit_deviations(const Context& context, const Dataset<T>& dataset) {
  auto result = dataset.borrowed();
  Scaling scaling;
  for (const auto& feature : summarize(context, dataset).per_feature) {
    scaling.shift.push_back(0);
    scaling.factor.push_back(feature.standard_deviation > 0 ? 1 / feature.standard_deviation : 1);
  }
  apply_scaling(context, scaling, result);
  return result;
}

template <class T>
std::vector<std::int64_t> by_weights(const Context& context, const Dataset<T>& dataset, std::int64_t count) {
  LinearOptions options;
  options.bias = 1;
  options.penalise_bias = false;
  const auto model = train_linear(context, with_unit_deviations(context, dataset), options);
  std::vector<double> sizes;
  for (std::int64_t j = 0; j < model.features; ++j) {
    sizes.push_back(0);
    for (std::int32_t c = 0; c < model.columns; ++c) sizes.back() += model.weight(j, c) * model.weight(j, c);
  }
  return largest(sizes, count);
}

/// One path for each decision value.
template <class T>
NetSheaf paths_of(const Dataset<T>& dataset, const Labels& labels, double l1_ratio) {
  NetSheaf sheaf;
  sheaf.examples = dataset.rows();
  sheaf.target_columns = labels.columns();
  for (std::int64_t i = 0; i < dataset.rows(); ++i)
    for (std::int32_t c = 0; c < sheaf.target_columns; ++c) {
      const auto row = static_cast<std::size_t>(i);
      sheaf.targets.push_back(labels.regression() ? labels.values[row] : labels.classes[row] == c ? 1.0 : -1.0);
    }
  for (std::int32_t c = 0; c < sheaf.target_columns; ++c) sheaf.paths.push_back({0, c, l1_ratio, {}});
  return sheaf;
}

/// In the order in which features get a weight as alpha falls; of those of one alpha the larger weight first.
template <class T>
std::vector<std::int64_t> by_path(const Context& context, const Dataset<T>& dataset, double l1_ratio,
                                  std::int64_t count) {
  const bool regression = !dataset.target.looks_like_classes();
  const auto labels = make_labels(dataset.target, dataset.source, dataset.rows(), regression, "--task regression");
  const auto unit = with_unit_deviations(context, dataset);
  auto sheaf = paths_of(unit, labels, l1_ratio);
  NetParams params;
  params.loss = regression ? Loss::squared : Loss::logistic;
  params.relative_l2 = regression;
  const auto largest_alpha = largest_alphas(context, unit, sheaf, params);
  std::vector<std::int64_t> ranked;
  std::vector<bool> taken(static_cast<std::size_t>(unit.features()), false);
  for (std::int32_t end = steps_at_once; end <= path_steps && std::ssize(ranked) < count; end += steps_at_once) {
    for (std::size_t c = 0; c < sheaf.paths.size(); ++c) {
      sheaf.paths[c].alphas = alpha_path(largest_alpha[c], smallest_share, path_steps);
      sheaf.paths[c].alphas.resize(static_cast<std::size_t>(end));
    }
    std::map<std::int32_t, std::map<std::int64_t, double>> entered;  // by step: features and their largest weights
    for (const auto& model : elastic_nets(context, unit, sheaf, params))
      for (std::size_t k = 0; k < model.features.size(); ++k) {
        if (taken[static_cast<std::size_t>(model.features[k])]) continue;
        auto& size = entered[model.alpha][model.features[k]];
        size = std::max(size, std::abs(model.weights[k]));
      }
    for (const auto& [step, features] : entered) {
      std::vector<std::pair<double, std::int64_t>> fresh;
      for (const auto& [feature, size] : features)
        if (!taken[static_cast<std::size_t>(feature)]) fresh.emplace_back(-size, feature);
      std::sort(fresh.begin(), fresh.end());
      for (const auto& [size, feature] : fresh) {
        taken[static_cast<std::size_t>(feature)] = true;
        ranked.push_back(feature);
      }
    }
  }
  ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(count)));
  return ranked;
}

}  // namespace

const std::vector<std::string_view>& selecting_models() {
  static const std::vector<std::string_view> names{"linear", "elastic-net", "lasso"};
  return names;
}

template <class T>
std::vector<std::int64_t> rank_by_model(const Context& context, const Dataset<T>& dataset, std::string_view model,
                                        std::int64_t count) {
  if (model == "linear") return by_weights(context, dataset, count);
  return by_path(context, dataset, model == "lasso" ? 1.0 : 0.5, count);
}

template std::vector<std::int64_t> rank_by_model(const Context&, const Dataset<float>&, std::string_view, std::int64_t);
template std::vector<std::int64_t> rank_by_model(const Context&, const Dataset<double>&, std::string_view,
                                                 std::int64_t);

}  // namespace sheaf::pipeline
