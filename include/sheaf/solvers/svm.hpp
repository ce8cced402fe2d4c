// SVMs with kernels: a model of one or several binary SVMs, trained on a dataset, kept in a file, applied to other
// datasets, cross-validated. All SVMs of one call are trained together as one sheaf and share every kernel value.
#pragma once

#include <cstdint>
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
#include <sheaf/solvers/kernel_counts.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

/// kernel_functions() describes each. Precomputed: feature j of row i is the kernel value of row i and training row j.
enum class KernelType : std::uint8_t { linear, polynomial, rbf, sigmoid, precomputed };

struct KernelParams {
  KernelType type = KernelType::rbf;
  int degree = 3;
  double gamma = 1;
  double coef0 = 0;
};

/// A kernel function as users see it.
struct KernelFunction {
  KernelType type;
  std::string_view name;   ///< as users and model files spell it
  std::string_view title;  ///< in sentences
  std::string_view formula;
  bool has_gamma = false;
  bool has_degree = false;
  bool has_coef0 = false;
  int libsvm = -1;  ///< its number in LIBSVM; -1: LIBSVM has no such kernel
};

/// All there are. Precomputed is the last.
std::span<const KernelFunction> kernel_functions();
const KernelFunction& kernel_function(KernelType type);
/// Its name.
std::string_view to_string(KernelType type);

enum class SvmKind : std::uint8_t { c_svc, nu_svc, one_class, epsilon_svr, nu_svr };

/// One binary SVM to train: its rows, its two classes and their costs. A few dozen bytes.
struct SvmTask {
  static constexpr std::int32_t rest = -1;

  std::int32_t rows = 0;         ///< column of the row-weight table
  std::int32_t positive = 0;     ///< classification: rows of this class have y = +1
  std::int32_t negative = rest;  ///< rows of this class have y = -1; `rest`: all other classes. Other rows take no part
  double cost_positive = 1;      ///< C times the class weight; SVR: C. The nu kinds of classification have none
  double cost_negative = 1;
  double nu = 0.5;       ///< the nu kinds and one-class
  double epsilon = 0.1;  ///< width of the tube (epsilon_svr)
};

/// Tasks of one kind over one dataset. A row's weight multiplies its upper bound: weight 0 leaves it out, so that folds
/// are columns of the table. An empty table stands for one column of ones.
struct SvmSheaf {
  SvmKind kind = SvmKind::c_svc;
  std::int64_t examples = 0;
  std::vector<SvmTask> tasks;
  std::int32_t weight_columns = 1;
  std::vector<float> row_weights;     // examples x weight_columns, or empty
  std::vector<std::int32_t> classes;  // c_svc, nu_svc: class of each row; negative: none
  std::vector<double> values;         // epsilon_svr, nu_svr: target of each row
};

struct SvmParams {
  KernelParams kernel;
  double tolerance = 1e-3;  ///< stop when the largest violation of the optimality conditions is below it, as in LIBSVM
  std::int64_t max_iterations = 0;  ///< pair steps of one task; 0: max(10,000,000, 100 rows), as in LIBSVM
  bool decisions = false;           ///< also the decision values of every row of the dataset under every SVM
};

/// A trained binary SVM. The decision value of x is sum over k of coefficients[k] K(support vector rows[k], x) - rho.
struct BinarySvm {
  std::vector<std::int32_t> rows;    ///< ascending
  std::vector<double> coefficients;  ///< y alpha; SVR: alpha - alpha*
  double rho = 0;
};

/// How the training of one task ended.
struct SvmFit {
  BinarySvm svm;
  double objective = 0;  ///< of the dual, to be minimised, as LIBSVM prints it
  double violation = 0;  ///< m - M of the stopping rule
  double margin = 1;     ///< the nu kinds of classification: the divisor of alpha and rho; nu_svr: -epsilon
  std::int64_t iterations = 0;
  std::int32_t rounds = 0;
  std::int32_t bounded = 0;  ///< support vectors at their upper bound
  bool converged = false;
};

struct SvmFits {
  std::vector<SvmFit> tasks;  ///< in the order of the sheaf
  KernelCounts counts;
  Block<double> decisions;  ///< if requested: examples x tasks, in CPU memory
};

/// Trains every task of the sheaf. Kernel rows are computed once for all of them and kept within the context's memory;
/// if they do not fit, those used longest ago are discarded and computed again when needed. A problem without a
/// solution (nu too large, no row at all) is an Error that names the task.
template <class T>
SvmFits train_sheaf(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params);

/// Decision values of every row of `queries` under every SVM, whose `rows` are rows of `support`: queries x SVMs.
/// Kernel values are computed in blocks, once for all SVMs, and not kept.
template <class T>
Block<double> decision_values(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                              std::span<const BinarySvm> svms, const Dataset<T>& queries);

/// How binary SVMs choose among three classes or more. Two classes are one SVM either way.
enum class MultiClass : std::uint8_t {
  one_vs_one,   ///< one SVM for each pair of classes, as in LIBSVM
  one_vs_rest,  ///< one SVM for each class
};

enum class ClassRule : std::uint8_t {
  automatic,  ///< votes for pairs, the winner for one against the rest
  votes,      ///< each SVM votes for the side it decides for; the first class of equals wins
  winner,     ///< the largest decision value; of pairs the largest sum
};

struct SvmOptions {
  std::optional<SvmKind> kind = {};  ///< none: c_svc for classes, epsilon_svr for numbers
  KernelType kernel = KernelType::rbf;
  int degree = 3;
  double gamma = 0;  ///< 0: 1 / features
  double coef0 = 0;
  std::optional<double> cost = {};  ///< none: 1, of regressions the standard deviation of the target
  double nu = 0.5;
  std::optional<double> epsilon = {};  ///< epsilon_svr; none: a tenth of the standard deviation of the target
  double tolerance = SvmParams{}.tolerance;
  std::int64_t max_iterations = SvmParams{}.max_iterations;  ///< as in SvmParams
  MultiClass multi_class = MultiClass::one_vs_one;
  ClassRule rule = ClassRule::automatic;
  bool probabilities = false;  ///< by five-fold cross-validation within the training rows (Platt), as LIBSVM
  std::vector<std::pair<std::string, double>> class_weights;  ///< factors of the cost; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
  /// Searches: LIBSVM's grid: log2 C from -5 to 15 and log2 gamma from 3 to -15, in steps of 2.
  bool easy = false;
  std::int32_t refine = 3;  ///< searches by Strategy::refine: how often the step of a factor of 16 is made its root
};
const Family& family_of(const SvmOptions& options);

/// The options with everything that was left open decided by the target and how much each row counts (none: 1). A kind
/// that does not suit labels of a stated kind is a UsageError.
SvmOptions with_defaults(SvmOptions options, const Target& target, std::span<const float> row_weights = {});

std::string_view to_string(SvmKind kind);  ///< as model files spell it: c_svc, nu_svc ...
bool is_classification(SvmKind kind);
bool is_regression(SvmKind kind);

/// How the training of one SVM ended.
struct SvmTraining {
  double objective = 0;
  double violation = 0;
  double margin = 1;  ///< see SvmFit
  std::int64_t iterations = 0;
  std::int32_t support = 0, bounded = 0;
  std::int64_t rows = 0;  ///< that took part
  double rho = 0;
  double alphas = 0;  ///< sum of the coefficients' sizes; not kept in files
  bool converged = true;
};

/// SVM m of classes is that of the m-th pair (0, 1), (0, 2) ... (1, 2) ..., or that of class m against the rest.
struct SvmModel {
  SvmKind kind = SvmKind::c_svc;
  KernelParams kernel;
  MultiClass multi_class = MultiClass::one_vs_one;
  ClassRule rule = ClassRule::automatic;
  std::vector<std::string> class_names;  ///< classification only
  std::int64_t features = 0;
  std::vector<std::string> feature_names;  ///< empty: named by position

  Matrix<double> support;                     ///< the support vectors of all SVMs, each once
  std::vector<std::int32_t> support_classes;  ///< of each, ascending; classification only
  std::vector<std::int32_t> support_rows;     ///< of each, its row of the training dataset; not kept in files
  std::vector<std::int32_t> serials;          ///< precomputed kernels: which column of a table is each one's, from 0
  std::vector<BinarySvm> svms;                ///< their rows are support vectors

  /// Probabilities, if they were trained: P(first side) = 1 / (1 + exp(a z + b)), by SVM. A regression has the width of
  /// its errors' Laplace distribution in `a` alone. One class: the marks of decision values.
  std::vector<double> sigmoid_a, sigmoid_b, density_marks;

  // How it was trained; a model from another program lacks it.
  double cost = 0, nu = 0, epsilon = 0;  ///< 0: not known
  std::vector<double> class_weights;     ///< one a class; empty: all 1
  std::vector<SvmTraining> fits;         ///< one per SVM
  KernelCounts counts;                   ///< of the training; not kept in files

  std::int64_t support_vectors() const {
    return serials.empty() ? rows(support) : static_cast<std::int64_t>(serials.size());
  }
  bool has_classes() const { return is_classification(kind); }
  bool has_probabilities() const { return !sigmoid_a.empty(); }
  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }
};

/// Trains all SVMs as one sheaf; with probabilities, those of their cross-validation too. Classes stand in the
/// order of their first rows, but for -1 before +1, which are swapped, as in LIBSVM. `row_weights` (one a row, 0 or
/// more) multiply the cost of each row. Labels that do not suit the kind are an Error.
template <class T>
SvmModel train_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                   std::span<const float> row_weights = {});

/// An SVM as a model of any family.
std::unique_ptr<TrainedModel> trained_model(SvmModel model);
std::unique_ptr<TrainedModel> trained_model(const SvmModel* model);

/// One sentence for each SVM that did not converge.
std::vector<std::string> warnings_of(const SvmModel& model);
/// Warnings about data that make training slow or the model poor: features of very different size.
template <class T>
std::vector<std::string> warnings_before(const Dataset<T>& dataset, const SvmOptions& options);

/// Features that the dataset lacks are 0. If both are named, every feature of the model must be in the dataset under
/// its name. `decisions` has one column per SVM. One class: classes are 0 (within) and 1. Kernel values are computed in
/// blocks.
template <class T>
Predictions predict_svm(const Context& context, const SvmModel& model, const Dataset<T>& dataset,
                        bool probabilities = false);
/// None if the dataset has no labels, or if those of a regression are not numbers. One class: 1 is within and -1 is
/// not.
std::optional<Score> score_of(const SvmModel& model, const Predictions& predictions, const Target& target);
/// The prediction for row i as text: the class as spelled, the number, or 1 and -1 of one class.
std::string prediction_text(const SvmModel& model, const Predictions& predictions, std::size_t row);

/// The predictions of each row by models that did not see it.
struct SvmCrossValidation {
  SvmModel shape;  ///< kind, class names, cost and class weights; no SVMs
  Predictions predictions;
  Score score;
  std::vector<std::vector<SvmTraining>> fits;  ///< fold by fold, SVM by SVM
  std::vector<std::int64_t> support;           ///< by fold: support vectors of all SVMs, each once
};
/// Folds are those that LIBSVM makes if its random numbers are those of Linux and begin with the context's seed (0 is
/// its default, 1): stratified for classes.
template <class T>
SvmCrossValidation cross_validate_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                      std::int32_t folds);

/// Whether LIBSVM's model files can hold a model with these labels, before it is trained; else an Error states why not.
void check_libsvm_format(const Target& target, const SvmOptions& options);

/// A table of kernel values in LIBSVM's format.
struct KernelTable {
  Dataset<double> dataset;
  std::vector<std::int32_t> serials;  ///< the N of the 0:N that each row begins with; 0: none
};
KernelTable read_kernel_table(const Context& context, const std::string& path);
/// For training: column j becomes the one that the serial of row j names. A row without serial, or one beyond the
/// columns, is an Error.
void order_by_serials(KernelTable& table);

template <>
const std::vector<Parameter<SvmOptions>>& parameters();

/// One pair of C and gamma of LIBSVM's grid.py.
struct GridRate {
  double log2_cost = 0, log2_gamma = 0;
  double rate = 0;  ///< per cent of the rows, or the mean squared error
};
/// Equals grid.py with svm-train -v: every pair is scored on the same folds, those of svm-train; all costs of one gamma
/// are one sheaf. Results are in the order of grid.py.
template <class T>
std::vector<GridRate> libsvm_grid(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                  std::int32_t folds);
/// The best as grid.py finds it: later ones must be better, or as good with the same gamma and a smaller cost.
GridRate best_of(std::span<const GridRate> rates);

}  // namespace sheaf
