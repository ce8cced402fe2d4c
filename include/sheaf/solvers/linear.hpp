// Linear models with an L2 penalty (or, as in LIBLINEAR, an L1 penalty): trained on a dataset, kept in a file, applied
// to other datasets, cross-validated. All classes, folds and costs of one call are trained together as one sheaf, by
// Newton's method or by coordinate descent on the dual variables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/task_fit.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

/// In the decision value z and the target y: log(1 + exp(-yz)); max(0, 1 - yz)^2; max(0, |y - z| - epsilon)^2; (y -
/// z)^2 / 2; then minus the log-likelihoods of generalised linear models (see glm.hpp), up to terms without z;
/// max(0, 1 - yz); max(0, |y - z| - epsilon); and, of the decision values z_c of all classes, the largest of
/// 1 + z_c - z_y over the classes c other than y, or 0 (Crammer and Singer), and minus the logarithm of the probability
/// of the row's class, exp(z_y) / sum of exp(z_c). For all rows together: minus the logarithm of Cox's partial
/// likelihood, which depends on the order of the rows' times. Last, of r = y - z: r^2 / 2 up to a threshold t of |r|
/// and t |r| - t^2 / 2 beyond (Huber 1964), and the check loss of a quantile q, q r if r > 0 and (q - 1) r elsewhere
/// (Koenker and Bassett 1978).
enum class Loss : std::uint8_t {
  logistic,
  squared_hinge,
  squared_tube,
  squared,
  probit,
  cloglog,
  poisson,
  gamma_log,
  gamma_inverse,
  inverse_gaussian,
  tweedie,
  negative_binomial,
  hinge,
  tube,
  crammer_singer,
  softmax,
  cox,
  huber,
  quantile,
  cauchit,
  log_binomial,
  poisson_identity,
  poisson_sqrt,
  gaussian_log,
  gaussian_inverse,
  gamma_identity,
  inverse_gaussian_identity,
  inverse_gaussian_inverse,
  inverse_gaussian_log,
};
std::string_view to_string(Loss loss);

/// Treatment of events at the same time in Cox's partial likelihood.
enum class Ties : std::uint8_t {
  breslow,  ///< each as if the others came later
  efron,    ///< as if they came one after another, the others at risk in part
};
std::string_view to_string(Ties ties);

/// How a linear model with an L2 penalty is trained. If both can train a model, they reach the same optimum.
enum class LinearMethod : std::uint8_t {
  automatic,  ///< by the loss, the shape of the data and the device
  newton,     ///< losses with a slope: logistic, squared_hinge, squared_tube
  dual,       ///< coordinate descent, one variable a row: logistic and all hinges and tubes
};
std::string_view to_string(LinearMethod method);

enum class LinearPenalty : std::uint8_t {
  l2,  ///< w'w / 2
  l1,  ///< sum of |w|; logistic and squared_hinge
};

enum class StepRule : std::uint8_t {
  trust_region,  ///< as LIBLINEAR up to 2.30
  line_search,   ///< as LIBLINEAR from 2.40 on
};

/// When training ends, by the tolerance t.
enum class StopRule : std::uint8_t {
  /// |g|^2 / 2 <= t * (f(0) - f(w)), with g the gradient: as f is strongly convex (modulus 1), the best objective is at
  /// most |g|^2 / 2 below f(w), so that at most a share t of the gain of training is left. With a bias without penalty
  /// g is the gradient at the best bias, and the gain of the bias is added, both to second order.
  suboptimality,
  /// |g| <= t * share * |g at w = 0|, where share is that of the rarer class among the task's rows (regression: 1), as
  /// in LIBLINEAR. Of the dual: by its projected gradients, as LIBLINEAR's dual solvers do.
  gradient,
  /// `gradient`, and |g|^2 / 2 <= t * f(w), so that at most a share t of the objective is left: with a small penalty
  /// and rows that can be separated, the least objective is a small share of that at w = 0, and so is its gradient long
  /// before.
  objective,
};

/// One linear model: which rows, which target, how strongly each class's losses count. A few dozen bytes, so that a
/// search of thousands of models costs nothing to describe.
struct Task {
  std::int32_t rows = 0;     ///< column of the row-weight table
  std::int32_t target = 0;   ///< column of the target table
  double cost_positive = 1;  ///< C times the class weight of y > 0 (regression: of every row)
  double cost_negative = 1;
  /// Parameter of the loss: width of the insensitive tube (support-vector regression), power (Tweedie), theta (negative
  /// binomial).
  double loss_parameter = 0.1;
  std::int32_t columns = 0;  ///< column of the table of column transforms, if there is one
};

/// Tables are table-minor: row i's entries for all row-weight vectors stand side by side. An empty row-weight table
/// stands for one column of ones.
struct Sheaf {
  std::int64_t examples = 0;
  std::vector<Task> tasks;
  std::int32_t weight_columns = 1;
  std::vector<float> row_weights;  // examples x weight_columns, or empty
  std::int32_t target_columns = 1;
  std::vector<double> targets;  // examples x target_columns; +1 / -1 for classes
  /// Tasks use (x - shift) * factor instead of x; a factor of 0 removes a feature. The dataset is not changed; weights
  /// are those of the transformed features.
  std::int32_t column_transforms = 0;
  std::vector<double> shifts, factors;  // features x column_transforms
};

struct NewtonParams {
  Loss loss = Loss::logistic;
  StepRule rule = StepRule::trust_region;
  StopRule stop = StopRule::gradient;
  double tolerance = 0.01;  ///< of the rule
  int max_iterations = 1000;
  double bias = 0;  ///< value of an extra feature after the last; 0: none
  bool penalise_bias = true;
  /// Tasks that differ in the cost alone are trained one after another, from the smallest cost on, each beginning where
  /// the ones before it ended. They take fewer products; blocks are narrower, which is slower on GPUs.
  bool along_costs = false;
};

template <class T>
struct Fits {
  Block<T> weights;  ///< in CPU memory: features (and the bias) x tasks, in the order of the sheaf
  std::vector<TaskFit> tasks;
};

/// For every task of the sheaf: min over w of w'w / 2 + sum over rows of cost * row weight * loss. `start`, if
/// given, holds the first weights (CPU memory, one column per task; along costs, those of the smallest cost count).
/// Tasks that do not fit the context's memory together are trained in several rounds.
template <class T>
Fits<T> newton(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const NewtonParams& params,
               const Block<T>* start = nullptr);

struct DualParams {
  Loss loss = Loss::squared_hinge;  ///< squared_hinge, hinge, logistic, squared_tube, tube or crammer_singer
  StopRule stop = StopRule::gradient;
  double tolerance = 0.1;  ///< of the rule
  int max_iterations = 1000;
  double bias = 0;  ///< value of an extra feature after the last, which is penalised; 0: none
};

/// The objective of newton(), for the losses of DualParams, by coordinate descent on the dual variables. Rows are
/// visited in an order drawn from the context's seed. Sheaves with column transforms are not taken. crammer_singer:
/// each `target_columns` tasks in a row are one model, with a task for each class in the order of the targets and the
/// cost of a row that of its class (cost_positive); all of them have the TaskFit of the model.
template <class T>
Fits<T> dual_descent(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const DualParams& params);

/// One of LIBLINEAR's solvers, a kind of elastic net, or a generalised linear model. Sheaf trains those with a loss
/// here and the nets, and applies the models of all.
struct LinearSolver {
  int id;                 ///< LIBLINEAR's -s; below 0: not one of its solvers
  std::string_view name;  ///< in model files
  std::string_view about;
  bool regression = false;
  bool probabilities = false;
  std::optional<Loss> loss = {};     ///< that Sheaf trains it with; none: it is only applied
  std::string_view applied_as = {};  ///< nets: the solver of LIBLINEAR whose models predict alike
  LinearMethod method = LinearMethod::newton;
  LinearPenalty penalty = LinearPenalty::l2;

  bool net() const { return id == -1; }
  bool glm() const { return id == -2; }
};
std::span<const LinearSolver> linear_solvers();
/// The solver Sheaf trains a loss with; automatic: Newton's method if it can. The squared loss has none.
const LinearSolver& linear_solver(Loss loss, LinearMethod method = LinearMethod::automatic);
/// The same with an L1 penalty: logistic or squared_hinge.
const LinearSolver& l1_solver(Loss loss);

struct LinearOptions {
  /// logistic, squared_hinge, hinge, crammer_singer, squared_tube or tube. None: logistic for classes, least squares
  /// (squared_tube with an epsilon of 0) for numbers.
  std::optional<Loss> loss = {};
  LinearMethod method = LinearMethod::automatic;
  /// l1: trained as elastic nets are, until the duality gap is at most the tolerance times the losses at w = 0;
  /// `method`, `stop` and `rule` do not matter. Searches do not take it: see NetOptions.
  LinearPenalty penalty = LinearPenalty::l2;
  std::optional<double> cost = {};     ///< none: 1, of epsilon-insensitive regression the target's standard deviation
  std::optional<double> epsilon = {};  ///< regression: errors up to it cost nothing; none: 0.1, of an open loss 0
  /// 0: 0.0001; of the rule `gradient` LIBLINEAR's: Newton's method 0.01 for classes and 0.0001 for regression, the
  /// dual 0.1.
  double tolerance = 0;
  StopRule stop = StopRule::suboptimality;
  int max_iterations = NewtonParams{}.max_iterations;
  double bias = 1;  ///< value of a constant feature; 0: none
  /// Whether the penalty includes the weight of the bias, as in LIBLINEAR. None: only if the solver cannot leave it
  /// out, that is for the solver dual and the losses that have no other.
  std::optional<bool> penalise_bias = {};
  StepRule rule = NewtonParams{}.rule;
  std::vector<std::pair<std::string, double>> class_weights;  ///< factors of the cost; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
  /// Searches with Newton's method: the models of a cost begin where those of the smaller costs ended. On CPU cores
  /// that takes half the time or less; models are the same within the tolerance, not to the last digit.
  bool warm_starts = false;
};
const Family& family_of(const LinearOptions& options);

/// The options with everything that was left open decided by the target. A loss that does not suit labels of a stated
/// kind is a UsageError.
LinearOptions with_defaults(LinearOptions options, const Target& target);

/// How the training of one elastic net ended.
struct NetFit {
  double objective = 0;
  double gap = 0;        ///< no weights have an objective below objective - gap
  double tolerance = 0;  ///< the gap to reach
  std::int32_t nonzeros = 0;
  std::int32_t epochs = 0;    ///< passes over the features in work
  std::int32_t parallel = 1;  ///< features updated at once at the end
  bool converged = false;
};

/// How an elastic net was trained; see NetSheaf for the objective.
struct NetTraining {
  double alpha = 0;
  double l1_ratio = 0;
  bool standardised = false;
  std::vector<NetFit> fits;   ///< one a column
  Ties ties = Ties::breslow;  ///< Cox
  bool grouped = false;       ///< a feature's weights in all columns were penalised together
  double parameter = 0;       ///< of the loss: threshold (Huber) or quantile; else 0
  double relax = 1;           ///< the share of the penalised model; see NetOptions
};

/// The distribution of the target in a generalised linear model.
enum class GlmFamily : std::uint8_t {
  automatic,  ///< two classes: binomial; more: multinomial; numbers: gaussian; survival: cox
  gaussian,
  binomial,
  multinomial,
  poisson,
  gamma,
  inverse_gaussian,
  tweedie,            ///< variance mean^power, power above 1 and below 2
  negative_binomial,  ///< variance mean + mean^2 / theta
  cox,                ///< proportional hazards: the target is survival, and there is no intercept
  quasi_binomial,     ///< as binomial, times a dispersion that is estimated; no likelihood
  quasi_poisson,      ///< as poisson, likewise
};
/// The function of the mean that is linear in the features.
enum class GlmLink : std::uint8_t {
  automatic,
  identity,
  logit,
  probit,
  cloglog,
  log,
  inverse,
  inverse_square,
  cauchit,
  sqrt
};
enum class GlmSolver : std::uint8_t {
  automatic,    ///< newton if there are few weights, else lbfgs
  newton,       ///< the whole Hessian, decomposed by Cholesky
  newton_cg,    ///< Newton's method by conjugate gradients, in the coordinates of lbfgs
  lbfgs,        ///< L-BFGS in coordinates in which the features are uncorrelated or, if they are many, scaled
  saga,         ///< SAGA on batches of rows, in the same coordinates; not for Cox models
  gradient,     ///< gradient descent with a line search, in the same coordinates
  accelerated,  ///< Nesterov's accelerated gradient, which starts anew when it does not lead down, likewise
};
/// Source of the covariance of a generalised linear model's weights, and so of their standard errors.
enum class StandardErrors : std::uint8_t {
  expected,  ///< the expected information, as by R's glm
  observed,  ///< the second derivatives of the log-likelihood; with canonical links the same
  hc0,       ///< the sandwich estimator, which holds whatever the variance of the target is (White 1980)
  hc1,       ///< hc0 times rows / (rows - parameters)
  /// The sandwich of sums over groups of rows (Liang and Zeger 1986), times groups / (groups - 1), as by R's vcovCL;
  /// Cox: without that factor, as by R's coxph.
  cluster,
  automatic,  ///< cluster if rows have groups, else expected
};
std::string_view to_string(GlmFamily family);
std::string_view to_string(GlmLink link);
std::string_view to_string(GlmSolver solver);
std::string_view to_string(StandardErrors errors);

/// Statistics of a Cox model, as in R's coxph.
struct SurvivalStatistics {
  double events = 0;       ///< rows with a weight above 0 whose event came
  double wald = 0;         ///< test that all weights are 0: w' (inverse of their covariance) w; 0: not computed
  double score = 0;        ///< the same by the slope of the likelihood at weights of 0
  double concordance = 0;  ///< see concordance() in scores.hpp, pairs by their weights; 0: no pairs to compare
};

/// Statistics of a generalised linear model and its training rows, as in R's glm.
struct GlmStatistics {
  double rows = 0;            ///< with a weight above 0
  double log_likelihood = 0;  ///< minus half the deviance if a family has no likelihood; Cox: the partial one
  double deviance = 0;        ///< Cox: minus twice the log-likelihood
  double null_deviance = 0;   ///< of the model without features
  double dispersion = 1;      ///< Pearson's statistic over its degrees of freedom; 1 if the family fixes it
  double parameters = 0;      ///< that the rows determine; penalised: effective ones, or all of many
  /// Multinomial: the class that the others are compared with; else -1.
  std::int32_t reference = -1;
  /// Standard errors, feature-major: LinearModel::rows() x classes but the reference. 0: the rows do not determine this
  /// weight. Empty: none, for the model is penalised or has too many weights.
  std::vector<double> errors;
  StandardErrors errors_from = StandardErrors::expected;  ///< Cox: not expected
  /// Covariances of the weights in the order of `errors`, squared; 0 if one of the two is not determined. Empty: as
  /// `errors`, and in a model that was read from a file.
  std::vector<double> covariance;
  SurvivalStatistics survival;  ///< Cox
};

/// How a generalised linear model was trained.
struct GlmTraining {
  GlmFamily family = GlmFamily::gaussian;
  GlmLink link = GlmLink::identity;
  double alpha = 0;
  double parameter = 0;        ///< power (Tweedie) or theta (negative binomial); else 0
  double parameter_error = 0;  ///< standard error of an estimated theta, at these weights; 0: none
  GlmSolver solver = GlmSolver::newton;
  TaskFit fit;  ///< gradient_norm and tolerance: in the solver's coordinates, as a share of those at the start
  GlmStatistics statistics;
  /// Weights would grow without end: some rows' classes are certain, or the likelihood of a Cox model rises forever.
  bool separated = false;
  Ties ties = Ties::efron;  ///< Cox
};

/// Decision values of a row x: z_c = sum over j of x_j w_jc + bias * w_bias,c. Generalised linear models: the mean that
/// z stands for or, for classes, the log odds of each class against all others. Cox models: the logarithm of the
/// hazard's ratio to that of a row of zeros.
struct LinearModel {
  std::string solver = "L2R_LR";               ///< the name of one of linear_solvers()
  std::vector<std::string> class_names;        ///< regression: none
  std::vector<std::string> target_names = {};  ///< of an elastic net of several targets; else none
  std::int64_t features = 0;                   ///< without the bias
  /// Decision values: one for two classes (of a coupled model: two), one a target, else one a class.
  std::int32_t columns = 1;
  double bias = 0;              ///< value of a constant feature behind the others; 0: none
  std::vector<double> weights;  ///< feature-major: rows() x columns
  /// Empty: named by position. In an elastic net the names of features without a weight may be left empty.
  std::vector<std::string> feature_names;

  // How it was trained; a model from another program lacks it.
  double cost = 0;  ///< 0: not known
  double epsilon = 0.1;
  bool penalise_bias = true;
  std::vector<double> class_weights;  ///< one a class; empty: all 1
  std::vector<TaskFit> fits;          ///< one a column
  std::optional<NetTraining> net;     ///< elastic nets only; they have no cost, epsilon and fits
  std::optional<GlmTraining> glm;     ///< generalised linear models only; likewise

  std::int64_t rows() const { return features + (bias > 0 ? 1 : 0); }
  double weight(std::int64_t row, std::int32_t column) const {
    return weights[static_cast<std::size_t>(row * columns + column)];
  }
  bool is_regression() const;
  bool has_probabilities() const;
  bool is_dual() const;      ///< whether coordinate descent on the dual trained it
  bool is_survival() const;  ///< whether it is a Cox model
  bool is_coupled() const;   ///< whether its decision values were trained as one problem (Crammer and Singer)
  /// The class or the target that a large decision value favours; empty for a single target.
  std::string column_name(std::int32_t column) const {
    const auto& names = target_names.empty() ? class_names : target_names;
    return names.empty() ? std::string() : names[static_cast<std::size_t>(column)];
  }
  std::string feature_name(std::int64_t j) const {
    const bool named = !feature_names.empty() && !feature_names[static_cast<std::size_t>(j)].empty();
    return named ? feature_names[static_cast<std::size_t>(j)] : std::to_string(j + 1);
  }
};

/// Trains all classes as one sheaf: one class against the rest for three or more, one task for two. Classes stand in
/// the target's order; if that is not fixed, -1 before +1 are swapped, as in LIBLINEAR. `row_weights` (one a row, 0 or
/// more) multiply the cost of each row; none: 1. Labels that do not suit the loss are an Error. That training did not
/// converge is no error: see warnings_of().
template <class T>
LinearModel train_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                         std::span<const float> row_weights = {});

struct OneClassOptions {
  double nu = 0.5;              ///< the share of rows that may be outliers; above 0, at most 1
  double tolerance = 1e-4;      ///< of the duality gap, relative to w'w / 2
  int max_iterations = 100000;  ///< passes over the rows of each problem on the way
};

/// The one-class SVM: min over w, rho of w'w / 2 - nu * S * rho + sum over rows of s * max(0, rho - x'w), with row
/// weights s (none: 1) and their sum S. The classes of the model are 1 and -1, the outliers, and its bias, of value 1,
/// has the weight -rho. Labels are ignored.
template <class T>
LinearModel train_one_class(const Context& context, const Dataset<T>& dataset, const OneClassOptions& options,
                            std::span<const float> row_weights = {});

/// Features with the largest weights of one decision value, largest first, up to `most`, without zeros. `with_bias`:
/// the bias takes part too, as number `features`.
std::vector<std::int64_t> largest_weights(const LinearModel& model, std::int32_t column, std::size_t most,
                                          bool with_bias = false);

/// A linear model, elastic net or generalised linear model as a model of any family.
std::unique_ptr<TrainedModel> trained_model(LinearModel model);
std::unique_ptr<TrainedModel> trained_model(const LinearModel* model);

/// One sentence for each task that did not converge, with its class and cost.
std::vector<std::string> warnings_of(const LinearModel& model);

/// Features that the dataset lacks are 0 and those behind the model's last are ignored, as LIBLINEAR does. If both are
/// named, every feature of the model must be in the dataset under its name, or that is an Error. Probabilities of a
/// model that has none are a UsageError. `offsets` are added to the decision values, rows x columns; empty: none. They
/// are for generalised linear models and the nets that can be trained with them.
template <class T>
Predictions predict_linear(const Context& context, const LinearModel& model, const Dataset<T>& dataset,
                           bool probabilities = false, std::span<const double> offsets = {});

/// None if the dataset has no labels, if those of a regression are not numbers, if they are not as many targets as the
/// model predicts, or if it is a Cox model. The mean over several targets.
std::optional<Score> score_of(const LinearModel& model, const Predictions& predictions, const Target& target);

template <>
const std::vector<Parameter<LinearOptions>>& parameters();

/// The prediction for each row by the models that did not see it.
struct CrossValidation {
  std::vector<std::string> class_names;
  Predictions predictions;
  Score score;
  std::int64_t unconverged = 0;  ///< tasks that did not converge
};

/// Rows are dealt to the folds at random by the context's seed, classes or not, as LIBLINEAR does. More folds than rows
/// leave out one row each.
template <class T>
CrossValidation cross_validate_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                                      std::int32_t folds);

struct CostTrial {
  double cost = 0;
  double epsilon = 0;  ///< regression
  Score score;
};
struct CostSearch {
  std::vector<CostTrial> trials;
  CostTrial best;                ///< the most accurate, or that of the smallest squared error; the first of equals
  bool reached_maximum = false;  ///< models still changed at the largest cost
};

/// LIBLINEAR's -C, by Newton's method: doubles the cost from `start` (0: a cost so small that all models are nearly
/// alike) up to 1024 and starts each model from that of the cost before; ends early once no model changed for five
/// costs in a row. A regression (squared_tube) does so, up to a cost of 2^20, for each epsilon of twenty equal steps
/// from just below the largest target, or from `largest_epsilon` if that is above 0, down to 0. `listen`, if given, is
/// called after each trial.
template <class T>
CostSearch search_cost(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                       std::int32_t folds, double start, double largest_epsilon = 0,
                       const std::function<void(const CostTrial&)>& listen = {});

}  // namespace sheaf
