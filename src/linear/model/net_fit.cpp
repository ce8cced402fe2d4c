#include <algorithm>
#include <tuple>

#include <sheaf/solvers/net_path.hpp>

#include "linear/model/net_problem.hpp"

#include "core/fail.hpp"

namespace sheaf {
namespace {

NetSheaf sheaf_of(linear::NetProblem& made, const NetOptions& options, std::int64_t features) {
  NetSheaf sheaf;
  sheaf.examples = made.problem.sheaf.examples;
  sheaf.row_weights = std::move(made.row_weights);
  sheaf.target_columns = made.problem.sheaf.target_columns;
  sheaf.targets = std::move(made.problem.sheaf.targets);
  if (options.loss == Loss::cox) sheaf.risk = made.problem.labels.risk_times();
  sheaf.offsets = options.offsets;
  sheaf.penalty_factors = options.penalty_factors;
  linear::add_limits(options, features, sheaf);
  linear::add_paths({0, 0, options.l1_ratio, {options.alpha.value_or(0)}}, options, sheaf);
  return sheaf;
}

/// Training on all rows.
struct WholeProblem {
  linear::NetProblem made;
  NetSheaf sheaf;
};

/// `options` as decide_net() returns them.
template <class T>
WholeProblem whole_problem(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                           std::span<const float> row_weights, const ColumnTransforms* seen) {
  auto made = linear::make_net_problem(context, dataset.target, dataset.source, dataset.rows(), options, row_weights);
  auto sheaf = sheaf_of(made, options, dataset.features());
  if (seen != nullptr) sheaf.column_factors = seen->factors;
  return {std::move(made), std::move(sheaf)};
}

template <class T>
double largest_of(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetOptions& options) {
  const auto alphas = largest_alphas(context, dataset, sheaf, linear::net_params(options));
  return *std::max_element(alphas.begin(), alphas.end());
}

[[noreturn]] void ask_for_alpha(double largest) {
  fail_usage(
      "--alpha is missing: how much the penalty weighs; from {:.4g} on all weights are 0 here, and a hundredth of that "
      "is small; sheaf select --model finds it by cross-validation",
      largest);
}

void take_weights(const std::vector<NetModel>& nets, bool intercept, LinearModel& model) {
  model.weights.assign(static_cast<std::size_t>(model.rows() * model.columns), 0.0);
  const auto columns = static_cast<std::size_t>(model.columns);
  for (std::size_t c = 0; c < nets.size(); ++c) {
    for (std::size_t k = 0; k < nets[c].features.size(); ++k)
      model.weights[static_cast<std::size_t>(nets[c].features[k]) * columns + c] = nets[c].weights[k];
    if (intercept) model.weights[static_cast<std::size_t>(model.features) * columns + c] = nets[c].intercept;
    model.net->fits.push_back(nets[c].fit);
  }
}

/// Keeps the weights of some features, ascending.
void keep_weights(std::span<const std::int32_t> features, NetModel& net) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < net.features.size(); ++k) {
    if (!std::binary_search(features.begin(), features.end(), net.features[k])) continue;
    net.features[kept] = net.features[k];
    net.weights[kept++] = net.weights[k];
  }
  net.features.resize(kept);
  net.weights.resize(kept);
}

}  // namespace

template <class T>
std::vector<NetModel> linear::train_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                         const NetOptions& options) {
  auto nets = elastic_nets(context, dataset, sheaf, net_params(options));
  if (options.relax < 1) {
    const auto relaxed = relaxed_nets(context, dataset, sheaf, net_params(options), std::span(nets));
    for (std::size_t m = 0; m < nets.size(); ++m) nets[m] = mix_nets(nets[m], relaxed[m], options.relax);
  }
  return nets;
}

template <class T>
std::vector<NetModel> linear::net_path_seen(const Context& context, const Dataset<T>& dataset, const NetOptions& given,
                                            std::span<const double> alphas, std::span<const float> row_weights,
                                            const ColumnTransforms* seen, std::span<const std::int32_t> features) {
  const auto options = decide_net(given, dataset.target, dataset.source, row_weights);
  auto sheaf = whole_problem(context, dataset, options, row_weights, seen).sheaf;
  for (auto& path : sheaf.paths) path.alphas.assign(alphas.begin(), alphas.end());
  std::vector<NetModel> nets;
  if (options.relax < 1) {
    nets = train_nets(context, dataset, sheaf, options);
    for (auto& net : nets) keep_weights(features, net);
  } else {  // at once, for the weights of all features at all alphas may not fit in memory
    elastic_nets<T>(context, dataset, sheaf, net_params(options), true,
                    [&](std::span<NetModel> models, BlockView<const T>) {
                      for (auto& net : models) {
                        keep_weights(features, net);
                        nets.push_back(std::move(net));
                      }
                    });
    std::sort(nets.begin(), nets.end(), [](const NetModel& a, const NetModel& b) {
      return std::tuple(a.alpha, a.path, a.column) < std::tuple(b.alpha, b.path, b.column);
    });
  }
  if (seen != nullptr)
    for (auto& net : nets) see_weights(*seen, 0, net);
  return nets;
}

void linear::see_weights(const ColumnTransforms& transforms, std::int32_t split, NetModel& net) {
  for (std::size_t k = 0; k < net.features.size(); ++k) {
    const auto at = static_cast<std::size_t>(std::int64_t{net.features[k]} * transforms.splits + split);
    net.intercept += transforms.shifts[at] * net.weights[k];
    net.weights[k] /= transforms.factors[at];
  }
}

template <class T>
LinearModel linear::train_net_seen(const Context& context, const Dataset<T>& dataset, const NetOptions& given,
                                   std::span<const float> row_weights, const ColumnTransforms* seen) {
  const auto options = decide_net(given, dataset.target, dataset.source, row_weights);
  auto [made, sheaf] = whole_problem(context, dataset, options, row_weights, seen);
  if (!options.alpha) ask_for_alpha(largest_of(context, dataset, sheaf, options));
  auto nets = train_nets(context, dataset, sheaf, options);
  if (seen != nullptr)
    for (auto& net : nets) see_weights(*seen, 0, net);
  LinearModel model;
  model.solver = net_solver(options.loss, !made.problem.labels.class_names.empty()).name;
  model.class_names = std::move(made.problem.labels.class_names);
  model.target_names = dataset.target.target_names();
  model.features = dataset.features();
  model.columns = sheaf.target_columns;
  const bool intercept = options.intercept && options.loss != Loss::cox;
  model.bias = intercept ? 1 : 0;
  model.penalise_bias = false;
  model.feature_names = dataset.feature_names;
  model.net = NetTraining{*options.alpha,
                          options.l1_ratio,
                          options.standardise,
                          {},
                          options.ties,
                          options.grouped,
                          linear::net_params(options).loss_parameter,
                          options.relax};
  take_weights(nets, intercept, model);
  return model;
}

template <class T>
LinearModel train_net(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                      std::span<const float> row_weights) {
  return linear::train_net_seen(context, dataset, options, row_weights, nullptr);
}

template <class T>
double largest_alpha(const Context& context, const Dataset<T>& dataset, const NetOptions& given,
                     std::span<const float> row_weights) {
  const auto options = decide_net(given, dataset.target, dataset.source, row_weights);
  return largest_of(context, dataset, whole_problem(context, dataset, options, row_weights, nullptr).sheaf, options);
}

template double largest_alpha(const Context&, const Dataset<float>&, const NetOptions&, std::span<const float>);
template double largest_alpha(const Context&, const Dataset<double>&, const NetOptions&, std::span<const float>);
template std::vector<NetModel> linear::train_nets(const Context&, const Dataset<float>&, const NetSheaf&,
                                                  const NetOptions&);
template std::vector<NetModel> linear::train_nets(const Context&, const Dataset<double>&, const NetSheaf&,
                                                  const NetOptions&);
template std::vector<NetModel> linear::net_path_seen(const Context&, const Dataset<float>&, const NetOptions&,
                                                     std::span<const double>, std::span<const float>,
                                                     const ColumnTransforms*, std::span<const std::int32_t>);
template std::vector<NetModel> linear::net_path_seen(const Context&, const Dataset<double>&, const NetOptions&,
                                                     std::span<const double>, std::span<const float>,
                                                     const ColumnTransforms*, std::span<const std::int32_t>);
template LinearModel linear::train_net_seen(const Context&, const Dataset<float>&, const NetOptions&,
                                            std::span<const float>, const ColumnTransforms*);
template LinearModel linear::train_net_seen(const Context&, const Dataset<double>&, const NetOptions&,
                                            std::span<const float>, const ColumnTransforms*);
template LinearModel train_net(const Context&, const Dataset<float>&, const NetOptions&, std::span<const float>);
template LinearModel train_net(const Context&, const Dataset<double>&, const NetOptions&, std::span<const float>);

}  // namespace sheaf
