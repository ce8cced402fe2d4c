// Relaxed elastic nets (Meinshausen, Relaxed Lasso): models without a penalty of the features that nets have.
#include <algorithm>
#include <map>
#include <tuple>

#include "linear/model/net_problem.hpp"

namespace sheaf::linear {
namespace {

using Features = std::vector<std::int32_t>;
/// A model without a penalty: its row weights, target and l1-ratio (by which softmax chooses weights that predict
/// alike), and its features, ascending.
using Relaxed = std::tuple<std::int32_t, std::int32_t, double, Features>;

/// The features that a model has in some class.
Features features_in_some_class(std::span<const NetModel> classes) {
  Features all;
  for (const auto& one : classes) all.insert(all.end(), one.features.begin(), one.features.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The number of features that the rows with a weight can determine without a penalty, as in glmnet.
std::vector<std::int64_t> most_features(const NetSheaf& sheaf) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(sheaf.weight_columns), sheaf.examples - 3);
  for (std::size_t k = 0; k < sheaf.row_weights.size(); ++k)
    if (!(sheaf.row_weights[k] > 0)) --counts[k % counts.size()];
  return counts;
}

/// The models of a sheaf that have such features, by the first of their classes.
std::map<Relaxed, std::vector<std::size_t>> models_by_features(const NetSheaf& sheaf, std::span<const NetModel> nets) {
  const auto classes = static_cast<std::size_t>(sheaf.classes);
  const auto most = most_features(sheaf);
  std::map<Relaxed, std::vector<std::size_t>> models;
  for (std::size_t m = 0; m < nets.size(); m += classes) {
    const auto& path = sheaf.paths[static_cast<std::size_t>(nets[m].path)];
    auto features = features_in_some_class(nets.subspan(m, classes));
    if (features.empty() || std::ssize(features) > most[static_cast<std::size_t>(path.rows)]) continue;
    models[{path.rows, path.target, path.l1_ratio, std::move(features)}].push_back(m);
  }
  return models;
}

/// The sheaf of such models: one column of row weights each, and column factors of 0 for the features it does not have.
NetSheaf masked_sheaf(const NetSheaf& from, std::span<const Relaxed> models, std::int64_t features) {
  NetSheaf sheaf = from;
  const auto columns = models.size();
  const auto before = static_cast<std::size_t>(from.weight_columns);
  sheaf.paths.clear();
  sheaf.penalty_factors.clear();
  sheaf.decision_rows.clear();
  sheaf.weight_columns = static_cast<std::int32_t>(columns);
  sheaf.row_weights.assign(static_cast<std::size_t>(from.examples) * columns, 1.0F);
  sheaf.column_factors.assign(static_cast<std::size_t>(features) * columns, 0.0);
  for (std::size_t c = 0; c < columns; ++c) {
    const auto& [rows, target, l1_ratio, set] = models[c];
    const auto old = static_cast<std::size_t>(rows);
    sheaf.paths.push_back({static_cast<std::int32_t>(c), target, l1_ratio, {0.0}});
    for (std::size_t i = 0; i < static_cast<std::size_t>(from.examples) && !from.row_weights.empty(); ++i)
      sheaf.row_weights[i * columns + c] = from.row_weights[i * before + old];
    for (const auto j : set) {
      const auto at = static_cast<std::size_t>(j);
      sheaf.column_factors[at * columns + c] =
          from.column_factors.empty() ? 1.0 : from.column_factors[at * before + old];
    }
  }
  return sheaf;
}

/// Without a penalty the objective may be flat, so that the gap bounds weights less.
template <class T>
NetParams without_penalty(NetParams params) {
  constexpr double close = 1e-10;
  params.standardise = false;
  params.solver = NetSolver::automatic;
  if (sizeof(T) > sizeof(float)) params.tolerance = std::min(params.tolerance, close);
  return params;
}

}  // namespace

template <class T>
std::vector<NetModel> relaxed_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params, std::span<const NetModel> nets) {
  constexpr std::int64_t tables_share = 16;  // of the memory
  // Without a penalty one weight after another comes near the best ones slowly; CPUs solve for all of them at once.
  const auto cpu = context.with({.device = Device::cpu()});
  std::vector<NetModel> relaxed(nets.begin(), nets.end());
  const auto uses = models_by_features(sheaf, nets);
  std::vector<Relaxed> models;
  models.reserve(uses.size());
  for (const auto& [model, members] : uses) models.push_back(model);
  const std::int64_t column = dataset.features() * 4 * static_cast<std::int64_t>(sizeof(double)) +
                              dataset.rows() * static_cast<std::int64_t>(sizeof(float));
  const auto together = static_cast<std::size_t>(std::max<std::int64_t>(1, cpu.memory() / tables_share / column));
  const auto classes = static_cast<std::size_t>(sheaf.classes);
  for (std::size_t first = 0; first < models.size(); first += together) {
    const auto some = std::span(models).subspan(first, std::min(together, models.size() - first));
    const auto trained =
        elastic_nets(cpu, dataset, masked_sheaf(sheaf, some, dataset.features()), without_penalty<T>(params));
    for (std::size_t k = 0; k < trained.size(); ++k)
      for (const auto m : uses.at(some[k / classes])) {
        auto& one = relaxed[m + k % classes];
        one.intercept = trained[k].intercept;
        one.fit = trained[k].fit;
        one.features = trained[k].features;
        one.weights = trained[k].weights;
      }
  }
  return relaxed;
}

NetModel mix_nets(const NetModel& penalised, const NetModel& relaxed, double share) {
  const auto mix = [share](double one, double other) { return other + share * (one - other); };  // exact if the same
  std::map<std::int32_t, std::pair<double, double>> weights;                                     // of both models
  for (std::size_t k = 0; k < penalised.features.size(); ++k)
    weights[penalised.features[k]].first = penalised.weights[k];
  for (std::size_t k = 0; k < relaxed.features.size(); ++k) weights[relaxed.features[k]].second = relaxed.weights[k];
  NetModel mixed = penalised;
  mixed.intercept = mix(penalised.intercept, relaxed.intercept);
  mixed.features.clear();
  mixed.weights.clear();
  for (const auto& [feature, both] : weights) {
    const double weight = mix(both.first, both.second);
    if (weight == 0) continue;
    mixed.features.push_back(feature);
    mixed.weights.push_back(weight);
  }
  mixed.fit.nonzeros = static_cast<std::int32_t>(mixed.features.size());
  mixed.fit.epochs += relaxed.fit.epochs;
  mixed.fit.converged = mixed.fit.converged && relaxed.fit.converged;
  return mixed;
}

template std::vector<NetModel> relaxed_nets(const Context&, const Dataset<float>&, const NetSheaf&, const NetParams&,
                                            std::span<const NetModel>);
template std::vector<NetModel> relaxed_nets(const Context&, const Dataset<double>&, const NetSheaf&, const NetParams&,
                                            std::span<const NetModel>);

}  // namespace sheaf::linear
