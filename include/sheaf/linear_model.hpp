// Linear models as users meet them: trained on a table, kept in a file, applied to other tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/elastic_net.hpp>
#include <sheaf/linear.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/predictions.hpp>

namespace sheaf {

/// One of LIBLINEAR's solvers, or a kind of elastic net. Sheaf trains those with a loss here and the nets, and applies
/// the models of all.
struct LinearSolver {
  int id;                 ///< LIBLINEAR's -s; below 0: not one of its solvers
  std::string_view name;  ///< in model files
  std::string_view about;
  bool regression = false;
  bool probabilities = false;
  std::optional<Loss> loss = {};
  std::string_view applied_as = {};  ///< nets: the solver of LIBLINEAR whose models predict alike

  bool net() const { return id < 0; }
};
std::span<const LinearSolver> linear_solvers();
/// The solver Sheaf trains a loss with. The squared loss has none.
const LinearSolver& linear_solver(Loss loss);

struct LinearOptions {
  Loss loss = Loss::logistic;  ///< logistic, squared_hinge or squared_tube
  double cost = 1;
  double epsilon = 0.1;  ///< regression: errors up to it cost nothing
  double tolerance = 0;  ///< 0: LIBLINEAR's default, 0.01 for classes and 0.0001 for regression
  int max_iterations = NewtonParams{}.max_iterations;
  double bias = 1;  ///< value of a constant feature; 0: none
  bool penalise_bias = true;
  StepRule rule = NewtonParams{}.rule;
  std::vector<std::pair<std::string, double>> class_weights;  ///< factors of the cost; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
};

/// How an elastic net was trained; see NetSheaf for the objective.
struct NetTraining {
  double alpha = 0;
  double l1_ratio = 0;
  bool standardised = false;
  std::vector<NetFit> fits;  ///< one a column
};

/// Decision values of an example x: z_c = sum over j of x_j w_jc + bias * w_bias,c.
struct LinearModel {
  std::string solver = "L2R_LR";         ///< the name of one of linear_solvers()
  std::vector<std::string> class_names;  ///< regression: none
  std::int64_t features = 0;             ///< without the bias
  std::int32_t columns = 1;              ///< decision values: one for two classes and for regression, else one a class
  double bias = 0;                       ///< value of a constant feature behind the others; 0: none
  std::vector<double> weights;           ///< feature-major: rows() x columns
  /// Empty: named by position. In an elastic net the names of features without a weight may be left empty.
  std::vector<std::string> feature_names;

  // How it was trained; a model from another program knows nothing of it.
  double cost = 0;  ///< 0: not known
  double epsilon = 0.1;
  bool penalise_bias = true;
  std::vector<double> class_weights;  ///< one a class; empty: all 1
  std::vector<TaskFit> fits;          ///< one a column
  std::optional<NetTraining> net;     ///< elastic nets only; they have no cost, epsilon and fits

  std::int64_t rows() const { return features + (bias > 0 ? 1 : 0); }
  double weight(std::int64_t row, std::int32_t column) const {
    return weights[static_cast<std::size_t>(row * columns + column)];
  }
  bool is_regression() const;
  bool has_probabilities() const;
  std::string feature_name(std::int64_t j) const {
    const bool named = !feature_names.empty() && !feature_names[static_cast<std::size_t>(j)].empty();
    return named ? feature_names[static_cast<std::size_t>(j)] : std::to_string(j + 1);
  }
};

/// Trains all classes as one sheaf: one class against the rest for three or more, one task for two. Classes stand in
/// the order of their first rows, but for -1 before +1, which are swapped, as in LIBLINEAR. `row_weights` (one a row, 0
/// or more) multiply the cost of each row; none: 1. Labels that do not suit the loss are an Error. That training did
/// not converge is no error: see warnings_of().
template <class T>
LinearModel train_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                         std::span<const float> row_weights = {});

/// One sentence for each task that did not converge, with its class and cost.
std::vector<std::string> warnings_of(const LinearModel& model);

/// Features that the table lacks are 0 and those behind the model's last are ignored, as LIBLINEAR does. Where both are
/// named, every feature of the model must stand in the table under its name, or that is an Error. Probabilities of a
/// model that has none are a UsageError.
template <class T>
Predictions predict_linear(const Context& context, const LinearModel& model, const Dataset<T>& dataset,
                           bool probabilities = false);

/// Nothing where the table has no labels, or for a regression labels that are no numbers.
std::optional<Score> score_of(const LinearModel& model, const Predictions& predictions, const Target& target);

template <>
const std::vector<Parameter<LinearOptions>>& parameters();

}  // namespace sheaf
