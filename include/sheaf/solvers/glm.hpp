// Generalised linear models with an L2 penalty or none: one model of all classes (multinomial logistic regression),
// binary classes, counts, positive numbers, survival. Trained on a dataset as one sheaf of penalties and folds; a
// trained one is kept and applied as a LinearModel, with standard errors if there is no penalty.
#pragma once

#include <cstdint>
#include <functional>
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
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

/// One model of a GlmSheaf.
struct GlmTask {
  std::int32_t rows = 0;    ///< column of the row-weight table
  std::int32_t target = 0;  ///< column of the target table
  double alpha = 0;         ///< how much the penalty weighs against the mean loss
};

/// Tables as in Sheaf: table-minor; an empty row-weight table stands for one column of ones.
struct GlmSheaf {
  std::int64_t examples = 0;
  std::vector<GlmTask> tasks;
  std::int32_t weight_columns = 1;
  std::vector<float> row_weights;
  std::int32_t target_columns = 1;
  std::vector<double>
      targets;     ///< numbers; +1 / -1 for two classes; the number of the class for more; cox: 1 for events
  RiskTimes risk;  ///< cox
  std::vector<double> offsets;  ///< added to the decision values: examples x columns of a task; empty: none
};

struct GlmParams {
  Loss loss = Loss::logistic;  ///< of a single decision value
  /// 3 or more: a multinomial model with a decision value for each class, and `loss` is not used. Else 1.
  std::int32_t columns = 1;
  double parameter = 0;  ///< of the loss: power (Tweedie) or theta (negative binomial)
  Ties ties = Ties::efron;
  bool intercept = true;
  GlmSolver solver = GlmSolver::automatic;
  /// Stop when the gradient is at most this share of that at the start, the model without features. The gradient is
  /// measured in the solver's coordinates, in which the units of the features do not matter. 0: 1e-8 for newton, 1e-5
  /// for the others.
  double tolerance = 0;
  int max_iterations = 1000;
  /// Initial weights of all tasks, as the columns of one of them in the result; empty: the model without features.
  std::vector<double> start = {};
  /// Called with the number of a task and how far it has come, at the start and after each of its steps. A task that
  /// is done is `converged`, or has no step after it.
  std::function<void(std::int32_t task, const TaskFit&)> on_step;
};

/// For every task: min over w, b of 1 / sum s * sum over rows of s * loss + alpha / 2 * w'w, with row weights s; the
/// intercept b is not penalised, and does not matter to Cox models. The weights of a task are params.columns
/// neighbouring columns of the result.
template <class T>
Fits<T> train_glms(const Context& context, const Dataset<T>& dataset, const GlmSheaf& sheaf, const GlmParams& params);

/// The solver that `automatic` stands for with these tasks.
GlmSolver chosen_solver(const GlmParams& params, const GlmSheaf& sheaf, std::int64_t features);

struct GlmOptions {
  GlmFamily family = GlmFamily::automatic;
  GlmLink link = GlmLink::automatic;  ///< the first that glm_links() names
  double alpha = 0;                   ///< 0: no penalty
  double power = 1.5;                 ///< Tweedie
  double theta = 0;                   ///< negative binomial; 0: estimated
  Ties ties = GlmParams{}.ties;       ///< cox
  bool intercept = GlmParams{}.intercept;
  GlmSolver solver = GlmParams{}.solver;
  double tolerance = GlmParams{}.tolerance;
  int max_iterations = GlmParams{}.max_iterations;
  std::string reference;                                       ///< the class to compare with; empty: the last one
  StandardErrors standard_errors = StandardErrors::automatic;  ///< cox: observed for expected
  std::vector<std::pair<std::string, double>> class_weights;   ///< of the rows of a class; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
  /// On the scale of the link, for counts the logarithm of the exposure: one a row; multinomial: rows x classes.
  std::vector<double> offsets;
  /// Weights at which training begins: one a feature and, with an intercept, one more; multinomial: of each for all
  /// classes side by side. Empty: the model without features.
  std::vector<double> start;
};
const Family& family_of(const GlmOptions& options);

/// Whether a family has a likelihood, and with it an AIC and a BIC; else only means and variances are assumed.
bool has_likelihood(GlmFamily family);

/// The links of a family, its default first.
std::vector<GlmLink> glm_links(GlmFamily family);

/// With the family and the link decided. Labels that do not suit the family, and a link that it does not have, are
/// Errors.
GlmOptions decide_glm(const GlmOptions& options, const Target& target, const std::string& source);

/// Numbers that the family does not have (negative counts, ...) are an Error that names the row. Without a penalty, as
/// many weights as rows are an Error, and standard errors are computed. Warnings are in warnings_of().
template <class T>
LinearModel train_glm(const Context& context, const Dataset<T>& dataset, const GlmOptions& options,
                      std::span<const float> row_weights = {});

/// Over which times, areas or numbers of people counts were made, above 0, one to a line of a file. Their logarithms
/// are offsets.
std::vector<double> read_exposures(const std::string& path, std::int64_t rows);
/// Offsets: a line for each row, with as many numbers as the first line has, one space between them.
std::vector<double> read_offsets(const std::string& path, std::int64_t rows);

/// Weights at which training begins: a line for each feature and one for the intercept if there is one, with a number
/// for each decision value, one space between them.
std::vector<double> read_start(const std::string& path);

/// A weight, its standard error and the statistics derived from it.
struct GlmCoefficient {
  std::string name;    ///< of the feature, or "(intercept)"
  std::string versus;  ///< classes: the one whose odds it raises
  std::string label;   ///< multinomial: "class:feature"; else the name
  double estimate = 0;
  double error = 0;      ///< 0: the rows do not determine it, and the next members have no meaning
  double statistic = 0;  ///< estimate / error
  double p = 1;          ///< of a weight of 0: by the normal distribution or, if the dispersion is estimated, Student's
  double low = 0, high = 0;  ///< confidence interval
};
/// All weights (multinomial models: differences from the reference class); empty if there are no standard errors.
std::vector<GlmCoefficient> coefficient_table(const LinearModel& model, double confidence = 0.95);

/// By the labels of coefficient_table(). A model that has none is an Error.
WeightCovariance weight_covariance(const LinearModel& model);

/// Whether standard errors are withheld, for the features were selected by the labels of the same rows: a model without
/// a penalty, and with few enough weights, has none for no other reason.
bool withholds_errors(const LinearModel& model);
/// Why a model has no standard errors; empty: it has them.
std::string no_errors_reason(const LinearModel& model);

/// concordance() of scores.hpp over pairs of rows that were at risk together: of one stratum, and one entered before
/// the other's event. `weights`: pairs count by the products of theirs; empty: 1 each.
double concordance(std::span<const double> values, const RiskTimes& risk, std::span<const std::uint8_t> events,
                   std::span<const double> weights = {});

/// Compares two models without a penalty, one of which has all features of the other, trained on the same rows. Models
/// of other families, rows or targets, and models that are not nested, are Errors.
LikelihoodRatioTest likelihood_ratio_test(const LinearModel& first, const LinearModel& second);

double aic(const GlmTraining& glm);
double bic(const GlmTraining& glm);
/// McFadden's 1 - log-likelihood / that of the model without features; for other families than binomial and
/// multinomial, the share of the deviance that is explained.
double pseudo_r2(const GlmTraining& glm);

template <>
const std::vector<Parameter<GlmOptions>>& parameters();

}  // namespace sheaf
