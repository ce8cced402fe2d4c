// Elastic nets: linear models with an L1 and an L2 penalty. Whole paths of alphas are trained together as one sheaf. A
// trained net is kept and applied as a LinearModel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/survival.hpp>

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
  std::int32_t target = 0;  ///< column of the target table; the first one, with several classes or targets in one model
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
  /// Numbers, or +1 / -1; softmax: 1 in the column of the row's class, else 0; cox: 1 if the event came, else 0.
  std::vector<double> targets;
  RiskTimes risk;  ///< cox
  /// How many decision values a model has, and columns its target: the classes of softmax, or several targets under
  /// squares with grouped penalties.
  std::int32_t classes = 1;
  /// poisson, logistic, cox, softmax: added to the row's decision values, examples x classes; empty: all 0.
  std::vector<double> offsets;
  std::vector<double> penalty_factors;  ///< one a feature, 0 or more; empty: all 1
  /// Weights stay between these: one a feature, 0 or less and 0 or more, infinite: no limit; empty: none. They hold for
  /// the feature's weight in every class or target. With column factors they are limits of the weights of the features
  /// times these factors.
  std::vector<double> lower_limits, upper_limits;
  /// Paths are trained on the features times these numbers, 0: without the feature; weights are those of the features
  /// as they are. Features x weight_columns; empty: all 1. Not beside NetParams::standardise.
  std::vector<double> column_factors;
  /// The rows whose decision values are wanted of paths with a column of row weights, one list a column; empty: all
  /// rows. Those of other rows may be any numbers.
  std::vector<std::vector<std::int32_t>> decision_rows;
};

struct NetParams {
  Loss loss = Loss::squared;  ///< squared, logistic, squared_hinge, poisson, softmax, cox, huber or quantile
  double loss_parameter = 0;  ///< huber: the threshold, above 0; quantile: above 0 and below 1
  Ties ties = Ties::breslow;  ///< cox
  NetSolver solver = NetSolver::automatic;
  /// Stop once the duality gap is at most tolerance times the deviance of the model without features: sum of squared
  /// distances from the mean / sum of weights, as in scikit-learn (other losses: twice the mean loss above that of a
  /// perfect fit). Half of it is left to rounding the corner of the quantile loss, whose objective is then at most
  /// tolerance times the deviance above the least.
  double tolerance = 1e-4;
  int max_epochs = 10000;    ///< passes over the features of one model
  bool intercept = true;     ///< not penalised; cox: there is none, and features are always centred
  bool standardise = false;  ///< penalise each weight as if its feature had standard deviation 1 in the path's rows
  bool grouped = false;      ///< of several classes or targets: penalise a feature's weights in all of them together
  /// squared, huber and quantile: the L2 penalty is divided by the standard deviation of the path's targets (without an
  /// intercept: from 0), as glmnet does for one target, so that alpha alone carries their unit. With several targets:
  /// by the root of the mean of their variances.
  bool relative_l2 = false;
  std::int32_t parallel = 0;        ///< shotgun: features updated at once; 0: estimated
  std::int32_t models_at_once = 0;  ///< 0: as many as are worth it and fit
};

/// Decision values are z = x'w + intercept, without offsets. There is one NetModel for each class of a softmax model
/// and for each target of a model of several targets.
struct NetModel {
  std::int32_t path = 0;
  std::int32_t alpha = 0;   ///< position in the path
  std::int32_t column = 0;  ///< the class or target; 0 if models have one decision value
  double intercept = 0;
  NetFit fit;
  std::vector<std::int32_t> features;  ///< those with a weight, ascending; empty if weights are not kept
  std::vector<double> weights;
};

/// Models that ended together, with the decision values of the rows of the dataset (training rows and held-out rows;
/// see NetSheaf::decision_rows), one column a NetModel, on the context's device. They come in any order, but the
/// classes of a model side by side.
template <class T>
using UseNets = std::function<void(std::span<NetModel> models, BlockView<const T> decisions)>;

/// For every path and alpha: min over w, b of 1 / (2 sum s) * sum over rows of s (y - b - x'w)^2 + alpha * l1 * sum
/// over features of f |w| + alpha * (1 - l1) / 2 * sum of f w^2, with row weights s and penalty factors f, the weights
/// w within their limits; in place of the squares, for other losses, 1 / sum s * sum of s loss(b + x'w, y): log(1 +
/// exp(-y z)) (logistic), max(0, 1 - yz)^2 (squared_hinge), exp(z) - y z (poisson), log sum over classes of exp(z_k) -
/// sum of y_k z_k (softmax; w and f |w| are of each class; with grouped penalties |w| is the length of the feature's
/// weights in all classes), minus the logarithm of the partial likelihood for all rows together (cox), those of Loss
/// (huber, quantile). A path whose rows are all of one class, if there is an intercept, and targets that the loss
/// does not have, are Errors. That a model did not converge is no error: see its fit. Softmax: of all weights that
/// predict alike those of the least penalty (at an alpha of 0: of what it would be at any other), within their limits,
/// and intercepts of sum 0. Squares of several targets, with grouped penalties: the sum of the squares of all of them
/// (glmnet's family mgaussian, scikit-learn's MultiTaskElasticNet).
template <class T>
void elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
                  bool keep_weights, const UseNets<T>& use);

/// The same, all models in the order of paths, alphas and classes, with weights.
template <class T>
std::vector<NetModel> elastic_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params);

/// The same on several devices at once, each device takes the next path when it is free. `use` gets the number of
/// the context that trained the models; it is called from several threads, one at a time.
template <class T>
using UseNetsOn = std::function<void(std::size_t context, std::span<NetModel> models, BlockView<const T> decisions)>;
template <class T>
void elastic_nets(std::span<const Context> contexts, const Dataset<T>& dataset, const NetSheaf& sheaf,
                  const NetParams& params, bool keep_weights, const UseNetsOn<T>& use);

/// Whether targets of this loss are numbers in some unit, which the loss is linear or quadratic in.
bool has_target_unit(Loss loss);

/// For each path: the smallest alpha at which all weights are 0. For l1_ratio < 0.001 that of 0.001, as glmnet does.
template <class T>
std::vector<double> largest_alphas(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params);

/// `count` alphas from `largest` down to smallest_share * largest, equal steps of the logarithm.
std::vector<double> alpha_path(double largest, double smallest_share, std::int32_t count);

/// The elastic net and its corners, by their usual names.
struct NetKind {
  std::string_view name;
  std::string_view about;
  Loss loss = Loss::squared;
  std::optional<double> l1_ratio = {};  ///< if the name implies it
};
std::span<const NetKind> net_kinds();
/// nullptr: no such kind.
const NetKind* find_net_kind(std::string_view name);
/// The name of a net with this loss in model files.
const LinearSolver& net_solver(Loss loss, bool classes);
/// The loss that a net was trained with.
Loss net_loss(const LinearModel& model);

struct NetOptions {
  Loss loss = Loss::squared;     ///< squared, logistic, poisson, softmax, cox, huber or quantile
  Ties ties = NetParams{}.ties;  ///< cox
  double quantile = 0.5;         ///< quantile: above 0 and below 1
  double huber_threshold = 0;    ///< huber: errors beyond it count by their size; 0: see huber_threshold()
  std::optional<double> alpha;   ///< how much the penalty weighs; must be given to train one model
  double l1_ratio = NetPath{}.l1_ratio;
  /// The share of the penalised model, from 0 to 1. The rest is of the relaxed one: without a penalty, of the features
  /// that have a weight. Models of more features than the rows with a weight less 3 are not relaxed.
  double relax = 1;
  /// Two classes are +1 and -1; of three or more each one is set against the rest. The logistic loss and softmax are
  /// for classes; softmax of two classes is the logistic loss. Poisson, huber and quantile are for numbers, cox for
  /// survival.
  LabelKind labels = LabelKind::automatic;
  bool intercept = NetParams{}.intercept;
  bool standardise = NetParams{}.standardise;
  /// Numeric targets: see NetParams. If false, the objective is scikit-learn's, which depends on the unit of the
  /// target.
  bool relative_l2 = true;
  NetSolver solver = NetParams{}.solver;
  std::int32_t parallel = NetParams{}.parallel;
  double tolerance = NetParams{}.tolerance;
  int max_epochs = NetParams{}.max_epochs;
  std::vector<double> penalty_factors;  ///< one a feature; empty: all 1
  std::optional<double> lower_limit;    ///< of all weights: 0 or less
  std::optional<double> upper_limit;    ///< likewise: 0 or more
  /// See NetSheaf; if not empty, in place of those of all weights.
  std::vector<double> lower_limits, upper_limits;
  /// poisson, cox, softmax: added to the row's decision values, rows x classes; empty: all 0.
  std::vector<double> offsets;
  std::vector<std::pair<std::string, double>> class_weights;  ///< of the rows of a class; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
  /// Softmax of three classes or more; see NetParams. Always for several targets, which the squared loss takes.
  bool grouped = NetParams{}.grouped;
  std::vector<std::string> unpenalised;  ///< features without a penalty, by name or by position from 1
  // Searches without given alphas: from the smallest alpha that leaves no weights downwards, for each l1-ratio.
  std::int32_t alpha_count = 30;
  /// The last alpha as a share of the first. 0: 0.0001 if there are more rows than features, else 0.01, as glmnet has
  /// it; at an l1-ratio of 0, whose first alpha is a thousand times that of the lasso, the square of it.
  double smallest_share = 0;
};
const Family& family_of(const NetOptions& options);

/// Whether the labels are classes for these options. Labels that do not suit the loss are an Error.
bool takes_classes(const NetOptions& options, const Target& target, const std::string& source);
/// A tenth of the interquartile range of the targets, as hqreg has it (Yi and Huang 2017); a row of weight 2 counts as
/// two rows. An Error if the range is 0.
double huber_threshold(std::span<const double> targets, const std::string& source,
                       std::span<const float> row_weights = {});
/// The options with the loss that is trained: softmax of two classes is logistic, squared of survival cox. The L2
/// penalty of classes, counts and survival is not divided (relative_l2). A threshold of 0 becomes huber_threshold().
/// Penalties of several targets become grouped; for one target and another loss than softmax these are a UsageError.
/// Several targets under another loss than squares are an Error.
NetOptions decide_net(NetOptions options, const Target& target, const std::string& source,
                      std::span<const float> row_weights = {});

/// Limits of weights: for each feature a line with the lower one, 0 or less, a space, and the upper one, 0 or more;
/// -inf and inf if there is none. "-" is standard input; anything else is a ParseError with its place. The lower ones,
/// and the upper ones.
std::pair<std::vector<double>, std::vector<double>> read_weight_limits(const std::string& path, std::int64_t features);

/// All classes, or several targets, as one sheaf; the order of classes, and the class or target that a decision value
/// favours, as train_linear(). Without an alpha a UsageError names the alpha from which on all weights are 0. That
/// training did not converge is no error: see warnings_of().
template <class T>
LinearModel train_net(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                      std::span<const float> row_weights = {});

template <>
const std::vector<Parameter<NetOptions>>& parameters();

}  // namespace sheaf
