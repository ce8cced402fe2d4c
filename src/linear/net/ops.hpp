// The verbs of elastic nets, besides those of linear models (products/ops.hpp): the device work of a solver of paths.
// Column t of every block belongs to the t-th active model: one that is being trained. The classes of a softmax model
// are so many neighbouring columns, and active models but for choose_features() and solve(), which take them together.
// If penalties are grouped, feature_sums() takes them together as well: a part of a model is what has penalties of its
// own, one of its classes or all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <sheaf/solvers/elastic_net.hpp>

#include "linear/net/model/softmax_solver.hpp"
#include "linear/net/model/working_set.hpp"
#include "linear/products/ops.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {

/// The blocks of all models: weights and X'u over features; decision values and u = row weight * residual over
/// examples.
template <class T>
struct NetBlocks {
  BlockView<T> w;
  BlockView<T> g;
  BlockView<T> z;
  BlockView<T> u;
};

template <class T>
class NetOps {
 public:
  NetOps() = default;
  NetOps(const NetOps&) = delete;
  NetOps& operator=(const NetOps&) = delete;
  virtual ~NetOps() = default;

  /// Row weights, targets, penalty factors, limits, risk sets (Cox), and the moments of all features under each column
  /// of row weights.
  virtual void load_tables(const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
                           std::span<const double> totals) = 0;
  /// The same tables for other models, which one thread trains at the same time, with its own `linear`. Null: models
  /// are better trained together.
  virtual std::unique_ptr<NetOps> clone_for_thread(LinearOps<T>& /*linear*/) const { return nullptr; }
  /// The task of a model, with tables that the CPU reads. Empty if they are on another device.
  virtual std::optional<ModelTask<T>> task_on_cpu(const ActiveModel& /*model*/) const { return {}; }
  /// Means of the features (0 without an intercept) and 1 / the square roots of their curvatures (0 if that is 0), for
  /// the first columns of row weights.
  virtual void normalisers(BlockView<T> means, BlockView<T> scales) = 0;
  /// From now on, column t of every block belongs to models[t].
  virtual void choose_models(std::span<const ActiveModel> models) = 0;
  /// The residuals u have changed. Block g becomes X'u, or whatever serves the backend in its stead in what follows.
  virtual void update_gradients(LinearOps<T>& linear, const NetBlocks<T>& blocks) {
    linear.multiply_transposed(blocks.u, blocks.g);
    linear.synchronize();
  }
  /// Sums over the features for the gap of each wanted part of a model, from blocks w, u and g. Others may be computed
  /// as well.
  virtual void feature_sums(const NetBlocks<T>& blocks, Wanted wanted, std::span<FeatureSums> out) = 0;
  /// The dual value of scales[t] * u, for each model: the weighted mean over its examples. Cox: from z, whose residuals
  /// u are.
  virtual void dual_values(Loss loss, const NetBlocks<T>& blocks, std::span<const double> scales,
                           std::span<double> out) = 0;
  /// Makes the working sets of some models; `sizes` are theirs. With several classes, the union of their sets.
  virtual void choose_features(const NetBlocks<T>& blocks, std::span<const FeatureChoice> choices,
                               std::span<std::int32_t> sizes) = 0;
  /// Trains the models of the last choose_features() on their working sets: their columns of w, z and u, and
  /// `intercepts`, one for each column. Once the context's work is to end it returns early, and its results are of no
  /// use.
  virtual void solve(Loss loss, const NetBlocks<T>& blocks, std::span<const SolveOrder> orders,
                     std::span<double> intercepts, std::span<SolveReport> out) = 0;
};

/// The task of the first columns of a sheaf's tables, which are on the device; `weights` is null if all are 1.
template <class T>
ModelTask<T> first_task(const NetSheaf& sheaf, const NetParams& params, const float* weights, const Array<T>& targets,
                        const Array<T>& factors, const Array<T>& means, const Array<T>& variances) {
  return {.examples = sheaf.examples,
          .targets = targets.data(),
          .target_stride = sheaf.target_columns,
          .offset_stride = sheaf.classes,
          .weights = weights,
          .weight_stride = sheaf.weight_columns,
          .factors = factors.data(),
          .limits_seen = !sheaf.column_factors.empty(),
          .means = means.data(),
          .variances = variances.data(),
          .risk = {},
          .loss = {params.loss_parameter, 0},
          .intercept = params.intercept || params.loss == Loss::cox,
          .balanced = params.loss != Loss::softmax};
}

/// The units of features under each column of row weights, in CPU memory: those of the sheaf's column factors, or room
/// for standard deviations if features are standardised; empty: all are 1.
template <class T>
Array<T> units_of(const NetSheaf& sheaf, const NetParams& params, std::int64_t features);
/// The lower and the upper limit of each feature's weight, in CPU memory; empty: there are none.
template <class T>
Array<T> limits_of(const NetSheaf& sheaf, std::int64_t features);
inline bool has_limits(const NetSheaf& sheaf) { return !sheaf.lower_limits.empty() || !sheaf.upper_limits.empty(); }

/// `linear` is the backend of the same device for the same dataset, without a bias; both must outlive the result.
template <class T>
std::unique_ptr<NetOps<T>> make_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear);

// The backends, for make_net_ops alone.
template <class Set, class T>
std::unique_ptr<NetOps<T>> make_cpu_net_ops_for(const Context& context, const Dataset<T>& dataset,
                                                LinearOps<T>& linear);
template <class T>
std::unique_ptr<NetOps<T>> make_cuda_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear);

}  // namespace sheaf::linear
