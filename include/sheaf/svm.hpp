// SVMs with kernels, trained as sheaves: all tasks share every kernel value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/kernel.hpp>

namespace sheaf {

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
  double tolerance = 1e-3;  ///< stop where the largest violation of the optimality conditions is below it, as in LIBSVM
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
  double margin = 1;     ///< the nu kinds of classification: what alpha and rho were divided by; nu_svr: -epsilon
  std::int64_t iterations = 0;
  std::int32_t rounds = 0;
  std::int32_t bounded = 0;  ///< support vectors at their upper bound
  bool converged = false;
};

/// Kernel values that sharing saved.
struct KernelCounts {
  std::int64_t computed = 0;  ///< kernel values computed
  std::int64_t unshared = 0;  ///< had every task its own cache of the same size, over the rows of its own problem
};

struct SvmFits {
  std::vector<SvmFit> tasks;  ///< in the order of the sheaf
  KernelCounts counts;
  Block<double> decisions;  ///< where asked for: examples x tasks, in CPU memory
};

/// Trains every task of the sheaf. Kernel rows are computed once for all of them and kept within the context's memory;
/// where they do not fit, those used longest ago are given up and computed again when needed. A problem without a
/// solution (nu too large, no row at all) is an Error that names the task.
template <class T>
SvmFits train_sheaf(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params);

/// Decision values of every row of `queries` under every SVM, whose `rows` are rows of `support`: queries x SVMs.
/// Kernel values are computed in blocks, once for all SVMs, and not kept.
template <class T>
Block<double> decision_values(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                              std::span<const BinarySvm> svms, const Dataset<T>& queries);

}  // namespace sheaf
