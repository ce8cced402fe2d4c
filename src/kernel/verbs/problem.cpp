#include "kernel/verbs/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace sheaf::kernel {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double weight_of(const SvmSheaf& sheaf, const SvmTask& task, std::int64_t row) {
  if (sheaf.row_weights.empty()) return 1;
  return static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(row * sheaf.weight_columns + task.rows)]);
}

/// +1, -1, or 0 for a row of neither class.
int sign_of(const SvmSheaf& sheaf, const SvmTask& task, std::int64_t row) {
  if (!is_classification(sheaf.kind)) return 1;
  const std::int32_t c = sheaf.classes[static_cast<std::size_t>(row)];
  if (c == task.positive) return 1;
  if (c < 0) return 0;
  return task.negative == SvmTask::rest || c == task.negative ? -1 : 0;
}

/// Raises the variables of one sign to their bounds, one after the other, until their sum is `total`: LIBSVM's start.
void spend(TaskProblem& problem, bool positive, double total, std::int32_t task, double nu) {
  const double wanted = total;
  for (std::int64_t v = 0; v < problem.variables() && total > 0; ++v) {
    const auto at = static_cast<std::size_t>(v);
    const double bound = problem.bounds[at];
    if (bound == 0 || (bound > 0) != positive) continue;
    const double share = std::min(std::abs(bound), total);
    problem.start[at] = positive ? share : -share;
    total -= share;
  }
  if (total > 1e-12 * wanted)
    fail("task {}: nu = {} is too large for the rows and their weights; there is no solution", task + 1, nu);
}

/// The range of rho that a group of variables allows, and its mean over the free ones.
struct RhoBounds {
  double highest = infinity, lowest = -infinity, sum = 0;
  std::int64_t free = 0;

  void add(double bound, double beta, double gradient) {
    const bool can_rise = beta < std::max(bound, 0.0);
    const bool can_fall = beta > std::min(bound, 0.0);
    if (can_rise && can_fall) {
      sum += gradient;
      ++free;
    } else if (can_rise) {
      highest = std::min(highest, gradient);
    } else if (can_fall) {
      lowest = std::max(lowest, gradient);
    }
  }
  double middle() const {
    if (free > 0) return sum / static_cast<double>(free);
    if (std::isinf(highest) && std::isinf(lowest)) return 0;
    if (std::isinf(highest)) return lowest;
    if (std::isinf(lowest)) return highest;
    return (highest + lowest) / 2;
  }
};

void check_weights(const SvmSheaf& sheaf) {
  if (sheaf.row_weights.empty()) return;
  if (static_cast<std::int64_t>(sheaf.row_weights.size()) != sheaf.examples * sheaf.weight_columns)
    fail("there are {} row weights for {}", sheaf.row_weights.size(), counted(sheaf.examples, "row"));
  for (const float weight : sheaf.row_weights)
    if (!std::isfinite(weight) || weight < 0) fail("a row weight is {}; weights are 0 or more", weight);
}

void check_task(const SvmSheaf& sheaf, const SvmTask& task) {
  require(task.rows >= 0 && task.rows < std::max(sheaf.weight_columns, 1), "a task names no column of row weights");
  for (const double cost : {task.cost_positive, task.cost_negative})
    if (!std::isfinite(cost) || cost < 0) fail_usage("the cost is {}; it must be 0 or more", cost);
  const bool uses_nu = sheaf.kind != SvmKind::c_svc && sheaf.kind != SvmKind::epsilon_svr;
  if (uses_nu && !(task.nu > 0 && task.nu <= 1)) fail_usage("nu is {}; it must be above 0 and at most 1", task.nu);
  if (sheaf.kind == SvmKind::epsilon_svr && !(task.epsilon >= 0 && std::isfinite(task.epsilon)))
    fail_usage("epsilon is {}; it must be 0 or more", task.epsilon);
}

}  // namespace

std::vector<Range> RowOrder::parts() const {
  const auto count = static_cast<std::int64_t>(rows.size());
  if (classes.empty()) return {{0, count}};
  std::vector<Range> result = classes;
  result.push_back({classes.back().end, count});
  return result;
}

RowOrder order_rows(const SvmSheaf& sheaf) {
  RowOrder order;
  order.rows.resize(static_cast<std::size_t>(sheaf.examples));
  std::iota(order.rows.begin(), order.rows.end(), 0);
  const bool pairs =
      is_classification(sheaf.kind) && std::any_of(sheaf.tasks.begin(), sheaf.tasks.end(),
                                                   [](const SvmTask& task) { return task.negative != SvmTask::rest; });
  if (!pairs) return order;
  std::int32_t classes = 0;
  for (const std::int32_t c : sheaf.classes) classes = std::max(classes, c + 1);
  for (const SvmTask& task : sheaf.tasks) classes = std::max({classes, task.positive + 1, task.negative + 1});
  order.classes.resize(static_cast<std::size_t>(classes));
  for (const std::int32_t c : sheaf.classes)
    if (c >= 0) ++order.classes[static_cast<std::size_t>(c)].end;
  std::int64_t at = 0;
  for (Range& range : order.classes) {
    range = {at, at + range.end};
    at = range.end;
  }
  std::stable_sort(order.rows.begin(), order.rows.end(), [&](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint32_t>(sheaf.classes[static_cast<std::size_t>(a)]) <
           static_cast<std::uint32_t>(sheaf.classes[static_cast<std::size_t>(b)]);  // rows without a class come last
  });
  return order;
}

namespace {

void place_rows(const SvmSheaf& sheaf, const RowOrder& order, const SvmTask& task, TaskProblem& problem) {
  problem.sides = is_regression(sheaf.kind) ? 2 : 1;
  problem.ranges[0] = {0, sheaf.examples};
  if (task.negative != SvmTask::rest && !order.classes.empty()) {
    problem.parts[0] = std::min(task.positive, task.negative);
    problem.ranges[0] = order.classes[static_cast<std::size_t>(problem.parts[0])];
    if (task.positive != task.negative) {
      problem.parts[1] = std::max(task.positive, task.negative);
      problem.ranges[1] = order.classes[static_cast<std::size_t>(problem.parts[1])];
    }
  }
  for (const Range& range : problem.ranges) problem.rows += range.end - range.begin;
}

}  // namespace

std::int64_t count_variables(const SvmSheaf& sheaf, const RowOrder& order, std::int32_t task) {
  TaskProblem problem;
  place_rows(sheaf, order, sheaf.tasks[static_cast<std::size_t>(task)], problem);
  return problem.variables();
}

void Problems::make_room(bool starts) {
  std::int64_t variables = 0;
  for (const TaskProblem& task : tasks) variables += task.variables();
  bounds = Array<double>(variables);
  linear = Array<double>(variables);
  start = Array<double>(starts ? variables : 0);
  std::size_t at = 0;
  for (TaskProblem& task : tasks) {
    const auto size = static_cast<std::size_t>(task.variables());
    task.bounds = bounds.span().subspan(at, size);
    task.linear = linear.span().subspan(at, size);
    if (starts) task.start = start.span().subspan(at, size);
    at += size;
  }
}

namespace {

/// Fills in the variables of a task whose rows are placed.
void fill_problem(const SvmSheaf& sheaf, const RowOrder& order, std::int32_t index, TaskProblem& problem) {
  const SvmTask& task = sheaf.tasks[static_cast<std::size_t>(index)];
  std::fill(problem.start.begin(), problem.start.end(), 0.0);
  double total = 0;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const std::int64_t row = order.rows[static_cast<std::size_t>(problem.position(i))];
    const double weight = weight_of(sheaf, task, row);
    const int sign = sign_of(sheaf, task, row);
    const auto at = static_cast<std::size_t>(i);
    if (sign != 0) total += weight;
    if (is_regression(sheaf.kind)) {
      const double target = sheaf.values[static_cast<std::size_t>(row)];
      const double tube = sheaf.kind == SvmKind::epsilon_svr ? task.epsilon : 0;
      const auto second = at + static_cast<std::size_t>(problem.rows);
      problem.bounds[at] = weight * task.cost_positive;
      problem.bounds[second] = -weight * task.cost_positive;
      problem.linear[at] = tube - target;
      problem.linear[second] = -tube - target;
    } else if (sheaf.kind == SvmKind::c_svc) {
      problem.bounds[at] = sign * weight * (sign > 0 ? task.cost_positive : task.cost_negative);
      problem.linear[at] = -sign;
    } else {
      problem.bounds[at] = sign * weight;
      problem.linear[at] = 0;
    }
  }
  if (sheaf.kind == SvmKind::one_class) {
    spend(problem, true, task.nu * total, index, task.nu);
  } else if (sheaf.kind == SvmKind::nu_svc || sheaf.kind == SvmKind::nu_svr) {
    const double half = task.nu * total / 2 * (sheaf.kind == SvmKind::nu_svr ? task.cost_positive : 1);
    spend(problem, true, half, index, task.nu);
    spend(problem, false, half, index, task.nu);
  }
}

}  // namespace

Problems make_problems(const Context& context, const SvmSheaf& sheaf, const RowOrder& order, std::int32_t first,
                       std::int32_t count, double tolerance) {
  Problems problems;
  problems.tasks.resize(static_cast<std::size_t>(count));
  const bool grouped = sheaf.kind == SvmKind::nu_svc || sheaf.kind == SvmKind::nu_svr;
  for (std::int32_t t = 0; t < count; ++t) {
    TaskProblem& problem = problems.tasks[static_cast<std::size_t>(t)];
    place_rows(sheaf, order, sheaf.tasks[static_cast<std::size_t>(first + t)], problem);
    problem.grouped = grouped;
    problem.tolerance = tolerance;
  }
  problems.make_room(grouped || sheaf.kind == SvmKind::one_class);
  parallel_for(context.threads(), count, [&](std::int64_t t) {
    context.check_stop();
    fill_problem(sheaf, order, first + static_cast<std::int32_t>(t), problems.tasks[static_cast<std::size_t>(t)]);
  });
  return problems;
}

SvmFit make_fit(const SvmSheaf& sheaf, const RowOrder& order, const TaskProblem& problem, std::span<const double> beta,
                std::span<const double> g) {
  SvmFit fit;
  RhoBounds above;
  RhoBounds below;
  std::vector<std::pair<std::int32_t, double>> support;  // ascending within each of the two ranges
  std::ptrdiff_t of_first_range = 0;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    if (i == problem.ranges[0].end - problem.ranges[0].begin) of_first_range = std::ssize(support);
    double coefficient = 0;
    for (int side = 0; side < problem.sides; ++side) {
      const auto v = static_cast<std::size_t>(side * problem.rows + i);
      if (problem.bounds[v] == 0) continue;
      const double gradient = g[static_cast<std::size_t>(i)] + problem.linear[v];
      (problem.grouped && problem.bounds[v] < 0 ? below : above).add(problem.bounds[v], beta[v], gradient);
      fit.objective += beta[v] * (gradient + problem.linear[v]) / 2;
      fit.bounded += beta[v] == problem.bounds[v] ? 1 : 0;
      coefficient += beta[v];
    }
    if (coefficient != 0) support.emplace_back(order.rows[static_cast<std::size_t>(problem.position(i))], coefficient);
  }
  std::inplace_merge(support.begin(), support.begin() + of_first_range, support.end());
  fit.svm.rows.reserve(support.size());
  fit.svm.coefficients.reserve(support.size());
  fit.svm.rho = above.middle();
  double scale = 1;
  if (problem.grouped) {
    const double positive = above.middle();
    const double negative = below.middle();
    fit.svm.rho = (positive + negative) / 2;
    fit.margin = (positive - negative) / 2;
    if (sheaf.kind == SvmKind::nu_svc && fit.margin > 0) scale = 1 / fit.margin;
  }
  fit.svm.rho *= scale;
  fit.objective *= scale * scale;
  for (const auto& [row, coefficient] : support) {
    fit.svm.rows.push_back(row);
    fit.svm.coefficients.push_back(coefficient * scale);
  }
  return fit;
}

void write_task_decisions(const TaskProblem& problem, std::span<const double> g, const DecisionColumn& column,
                          std::span<const std::int32_t> order, BlockView<double> decisions) {
  if (column.column < 0) return;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const std::int64_t row = order[static_cast<std::size_t>(problem.position(i))];
    decisions.data[row * decisions.stride + column.column] =
        (g[static_cast<std::size_t>(i)] + column.offset) * column.scale - column.rho;
  }
}

void check_sheaf(const SvmSheaf& sheaf, std::int64_t rows, std::int64_t features, const SvmParams& params) {
  require(sheaf.examples == rows, "a sheaf was made for another dataset");
  if (rows == 0) fail("there are no rows to train on");
  if (is_classification(sheaf.kind))
    require(static_cast<std::int64_t>(sheaf.classes.size()) == rows, "rows lack classes");
  if (is_regression(sheaf.kind)) require(static_cast<std::int64_t>(sheaf.values.size()) == rows, "rows lack targets");
  for (const double value : sheaf.values)
    if (!std::isfinite(value)) fail("a target is {}; targets must be finite", value);
  check_weights(sheaf);
  for (const SvmTask& task : sheaf.tasks) check_task(sheaf, task);
  if (!(params.tolerance > 0)) fail_usage("the tolerance is {}; it must be above 0", params.tolerance);
  if (params.kernel.type == KernelType::precomputed && features < rows)
    fail("a precomputed kernel of {} needs {}; there are {}", counted(rows, "row"), counted(rows, "column"), features);
  if (params.kernel.degree < 0) fail_usage("the degree is {}; it must be 0 or more", params.kernel.degree);
  if (!std::isfinite(params.kernel.gamma) || params.kernel.gamma < 0)
    fail_usage("gamma is {}; it must be 0 or more", params.kernel.gamma);
}

}  // namespace sheaf::kernel
