// SVMs as users meet them: a model of one or several binary SVMs, trained on a dataset, kept in a file, applied to
// other datasets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/parameters.hpp>
#include <sheaf/predictions.hpp>
#include <sheaf/svm.hpp>

namespace sheaf {

/// How binary SVMs choose among three classes or more. Two classes are one SVM either way.
enum class MultiClass : std::uint8_t {
  one_vs_one,   ///< one SVM for each pair of classes, as in LIBSVM
  one_vs_rest,  ///< one SVM for each class
};

enum class ClassRule : std::uint8_t {
  automatic,  ///< votes for pairs, the winner for one against the rest
  votes,      ///< each SVM votes for the side it decides for; of equals the first class
  winner,     ///< the largest decision value; of pairs the largest sum
};

struct SvmOptions {
  SvmKind kind = SvmKind::c_svc;
  KernelType kernel = KernelType::rbf;
  int degree = 3;
  double gamma = 0;  ///< 0: 1 / features
  double coef0 = 0;
  double cost = 1;
  double nu = 0.5;
  double epsilon = 0.1;
  double tolerance = SvmParams{}.tolerance;
  MultiClass multi_class = MultiClass::one_vs_one;
  ClassRule rule = ClassRule::automatic;
  bool probabilities = false;  ///< by five-fold cross-validation within the training rows (Platt), as LIBSVM
  std::vector<std::pair<std::string, double>> class_weights;  ///< factors of the cost; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
};

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
  std::vector<std::int32_t> serials;          ///< precomputed kernels: which column of a table is each one's, from 0
  std::vector<BinarySvm> svms;                ///< their rows are support vectors

  /// Probabilities, where they were trained: P(first side) = 1 / (1 + exp(a z + b)), by SVM. A regression has the
  /// width of its errors' Laplace distribution in `a` alone. Of one class: the marks of decision values.
  std::vector<double> sigmoid_a, sigmoid_b, density_marks;

  // How it was trained; a model from another program knows nothing of it.
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

/// One sentence for each SVM that did not converge.
std::vector<std::string> warnings_of(const SvmModel& model);
/// What in a table makes training slow or poor: features of very different size.
template <class T>
std::vector<std::string> warnings_before(const Dataset<T>& dataset, const SvmOptions& options);

/// Features that the table lacks are 0. Where both are named, every feature of the model must stand in the table under
/// its name. `decisions` has one column per SVM. Of one class, classes are 0 (within) and 1. Kernel values are
/// computed in blocks.
template <class T>
Predictions predict_svm(const Context& context, const SvmModel& model, const Dataset<T>& dataset,
                        bool probabilities = false);
/// Nothing where the table has no labels, or for a regression labels that are no numbers. Of one class, 1 is within and
/// -1 is not.
std::optional<Score> score_of(const SvmModel& model, const Predictions& predictions, const Target& target);
/// What is written for row i: the class as spelled, the amount, or 1 and -1 of one class.
std::string prediction_text(const SvmModel& model, const Predictions& predictions, std::size_t row);

/// The predictions of each row by models that did not see it.
struct SvmCrossValidation {
  SvmModel shape;  ///< kind, class names, cost and class weights; no SVMs
  Predictions predictions;
  Score score;
  std::vector<std::vector<SvmTraining>> fits;  ///< fold by fold, SVM by SVM
  std::vector<std::int64_t> support;           ///< by fold: support vectors of all SVMs, each once
};
/// Folds are those that LIBSVM deals where its random numbers are those of Linux and begin with the context's seed (0
/// is its default, 1): stratified for classes.
template <class T>
SvmCrossValidation cross_validate_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                      std::int32_t folds);

/// Whether LIBSVM's model files can hold a model with these labels, before it is trained; else an Error says why not.
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

}  // namespace sheaf
