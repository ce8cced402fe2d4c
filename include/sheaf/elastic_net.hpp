// Elastic nets: linear models with an L1 and an L2 penalty, trained as whole sheaves of paths.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/linear.hpp>

namespace sheaf {

enum class NetSolver : std::uint8_t {
  automatic,  ///< working sets: only features that may matter are visited
  cyclic,     ///< all features in turn
  shooting,   ///< one feature at random after another
  shotgun,    ///< several features at random at once
};
std::string_view to_string(NetSolver solver);

/// Models that differ in alpha alone. Each begins where the one before ended.
struct NetPath {
  std::int32_t rows = 0;    ///< column of the row-weight table
  std::int32_t target = 0;  ///< column of the target table
  double l1_ratio = 0.5;
  std::vector<double> alphas;  ///< descending
};

/// Tables as in Sheaf: table-minor; an empty row-weight table stands for one column of ones.
struct NetSheaf {
  std::int64_t examples = 0;
  std::vector<NetPath> paths;
  std::int32_t weight_columns = 1;
  std::vector<float> row_weights;
  std::int32_t target_columns = 1;
  std::vector<double> targets;          ///< amounts, or +1 / -1
  std::vector<double> penalty_factors;  ///< one a feature, 0 or more; empty: all 1
};

struct NetParams {
  Loss loss = Loss::squared;  ///< squared or logistic
  NetSolver solver = NetSolver::automatic;
  /// Stop once the duality gap is at most tolerance times the deviance of the model without features: sum of squared
  /// distances from the mean / sum of weights (logistic: twice the mean loss), as in scikit-learn.
  double tolerance = 1e-4;
  int max_epochs = 10000;     ///< passes over the features of one model
  bool intercept = true;      ///< not penalised
  bool standardise = false;   ///< penalise each weight as if its feature had standard deviation 1 in the path's rows
  std::int32_t parallel = 0;  ///< shotgun: features updated at once; 0: estimated
  std::int32_t models_at_once = 0;  ///< 0: as many as are worth it and fit
};

/// How the training of one model ended.
struct NetFit {
  double objective = 0;
  double gap = 0;        ///< no weights have an objective below objective - gap
  double tolerance = 0;  ///< what the gap had to reach
  std::int32_t nonzeros = 0;
  std::int32_t epochs = 0;    ///< passes over the features in work
  std::int32_t parallel = 1;  ///< features updated at once at the end
  bool converged = false;
};

/// Decision values are z = x'w + intercept.
struct NetModel {
  std::int32_t path = 0;
  std::int32_t alpha = 0;  ///< position in the path
  double intercept = 0;
  NetFit fit;
  std::vector<std::int32_t> features;  ///< those with a weight, ascending; empty where weights are not kept
  std::vector<double> weights;
};

/// Models that ended together, with the decision values of all rows of the dataset (their own and those left out), one
/// column a model, on the context's device. They come in any order.
template <class T>
using UseNets = std::function<void(std::span<NetModel> models, BlockView<const T> decisions)>;

/// For every path and alpha: min over w, b of 1 / (2 sum s) * sum over examples of s (y - b - x'w)^2 + alpha * l1 * sum
/// over features of f |w| + alpha * (1 - l1) / 2 * sum of f w^2, with row weights s and penalty factors f; in place of
/// the squares, for the logistic loss, 1 / sum s * sum of s log(1 + exp(-y (b + x'w))). A path whose rows are all of
/// one class is an Error for the logistic loss. That a model did not converge is no error: see its fit.
template <class T>
void elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
                  bool keep_weights, const UseNets<T>& use);

/// The same, all models in the order of paths and alphas, with weights.
template <class T>
std::vector<NetModel> elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params);

/// The same on several devices at once, paths handed out to each as it gets done. `use` hears which of the contexts
/// trained the models; it is called from several threads, one at a time.
template <class T>
using UseNetsOn = std::function<void(std::size_t context, std::span<NetModel> models, BlockView<const T> decisions)>;
template <class T>
void elastic_nets(std::span<const Context> contexts, const Dataset<T>& dataset, const NetSheaf& sheaf,
                  const NetParams& params, bool keep_weights, const UseNetsOn<T>& use);

/// For each path: the smallest alpha at which all weights are 0. For l1_ratio < 0.001 that of 0.001, as glmnet does.
template <class T>
std::vector<double> largest_alphas(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params);

/// `count` alphas from `largest` down to smallest_share * largest, equal steps of the logarithm.
std::vector<double> alpha_path(double largest, double smallest_share, std::int32_t count);

}  // namespace sheaf
