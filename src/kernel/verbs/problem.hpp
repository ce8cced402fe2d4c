// The dual problem of every kind of SVM:
//
//     min over beta of  beta' K beta / 2 + linear' beta,   sum of beta = const,   beta_v between 0 and bound_v
//
// with beta = y alpha, so that bounds carry the sign of y. Rows of regression have two variables, alpha and -alpha*,
// which share a kernel row. The gradient of variable v is g[row of v] + linear_v, with g = K beta: for a row that takes
// no part (bound 0), g is its decision value but for rho. The nu kinds keep the sums of positive and of negative bounds
// apart ("grouped").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/parallel.hpp"

namespace sheaf::kernel {

/// The order of rows during training: by class if tasks set one class against another, so that the rows of a task are
/// one or two ranges.
struct RowOrder {
  std::vector<std::int32_t> rows;  ///< position to row of the dataset
  std::vector<Range> classes;      ///< positions of each class; empty: as in the dataset

  /// The parts of a kernel row: one per class and one for the rest, or the row as one.
  std::vector<Range> parts() const;
};
RowOrder order_rows(const SvmSheaf& sheaf);

/// One task: its rows are the ranges of positions, one behind the other; variable v belongs to row v % rows.
struct TaskProblem {
  Range ranges[2];
  std::int32_t parts[2] = {0, -1};  ///< the numbers of the ranges among the order's parts; negative: none
  std::int64_t rows = 0;
  int sides = 1;  ///< variables per row
  bool grouped = false;
  double tolerance = 0;
  std::span<double> bounds, linear;  ///< rows * sides
  std::span<double> start;           ///< likewise; empty: all variables start at 0

  std::int64_t variables() const { return rows * sides; }
  std::int64_t position(std::int64_t row) const {
    const std::int64_t first = ranges[0].end - ranges[0].begin;
    return row < first ? ranges[0].begin + row : ranges[1].begin + row - first;
  }
};

/// Some tasks. The variables of each follow those of the one before in every array.
struct Problems {
  std::vector<TaskProblem> tasks;
  Array<double> bounds, linear, start;

  /// Makes room for the variables of the tasks, whose numbers of rows are set. `starts`: not all start at 0.
  void make_room(bool starts);
};

/// The problems of tasks first .. first + count - 1. Throws if one has no solution.
Problems make_problems(const Context& context, const SvmSheaf& sheaf, const RowOrder& order, std::int32_t first,
                       std::int32_t count, double tolerance);
/// The variables of the task, without making it.
std::int64_t count_variables(const SvmSheaf& sheaf, const RowOrder& order, std::int32_t task);

/// The decision values of a solved task: (g + offset) * scale - rho.
struct DecisionColumn {
  std::int32_t column = -1;  ///< of the block; -1: not asked for
  double offset = 0, scale = 1, rho = 0;
};
/// Writes those of one task, whose g by row is given, into a block in CPU memory.
void write_task_decisions(const TaskProblem& problem, std::span<const double> g, const DecisionColumn& column,
                          std::span<const std::int32_t> order, BlockView<double> decisions);

/// The SVM of a solved task, from its beta by variable and g by row.
SvmFit make_fit(const SvmSheaf& sheaf, const RowOrder& order, const TaskProblem& problem, std::span<const double> beta,
                std::span<const double> g);

/// Throws if the sheaf does not fit the dataset or a parameter is out of its range.
void check_sheaf(const SvmSheaf& sheaf, std::int64_t rows, std::int64_t features, const SvmParams& params);

}  // namespace sheaf::kernel
