// Linear models with an L2 penalty, trained as whole sheaves by Newton's method.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// Of the decision value z and the target y: log(1 + exp(-yz)); max(0, 1 - yz)^2; max(0, |y - z| - epsilon)^2; (y -
/// z)^2 / 2.
enum class Loss : std::uint8_t { logistic, squared_hinge, squared_tube, squared };
std::string_view to_string(Loss loss);

enum class StepRule : std::uint8_t {
  trust_region,  ///< as LIBLINEAR up to 2.30
  line_search,   ///< as LIBLINEAR from 2.40 on
};

/// One linear model: which rows, which target, how strongly each class's losses count. A few dozen bytes, so that a
/// search of thousands of models costs nothing to describe.
struct Task {
  std::int32_t rows = 0;     ///< column of the row-weight table
  std::int32_t target = 0;   ///< column of the target table
  double cost_positive = 1;  ///< C times the class weight of y > 0 (regression: of every row)
  double cost_negative = 1;
  double epsilon = 0.1;  ///< width of the insensitive tube (support-vector regression)
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
};

struct NewtonParams {
  Loss loss = Loss::logistic;
  StepRule rule = StepRule::trust_region;
  /// Stop at |gradient| <= tolerance * share * |gradient at w = 0|, where share is that of the rarer class among the
  /// task's rows (regression: 1), as in LIBLINEAR.
  double tolerance = 0.01;
  int max_iterations = 1000;
  double bias = 0;  ///< value of an extra feature after the last; 0: none
  bool penalise_bias = true;
};

/// How the training of one task ended.
struct TaskFit {
  double objective = 0;
  double gradient_norm = 0;
  double tolerance = 0;  ///< what the norm had to reach
  int iterations = 0;    ///< Newton steps taken
  int products = 0;      ///< Hessian products
  bool converged = false;
};

template <class T>
struct Fits {
  Block<T> weights;  ///< in CPU memory: features (and the bias) x tasks, in the order of the sheaf
  std::vector<TaskFit> tasks;
};

/// For every task of the sheaf: min over w of w'w / 2 + sum over examples of cost * row weight * loss. `start`, where
/// given, holds weights to begin with (CPU memory, one column per task). Tasks that do not fit the context's memory
/// together are trained in several rounds.
template <class T>
Fits<T> newton(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const NewtonParams& params,
               const Block<T>* start = nullptr);

}  // namespace sheaf
