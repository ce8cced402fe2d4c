#include "linear/model/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"
#include "linear/dual/dual.hpp"
#include "linear/newton/row_space.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {
namespace {

/// Features from which on coordinate descent on the dual needs less time than Newton's method on sparse rows.
constexpr std::int64_t many_features = 2000;
/// Tasks from which on a GPU has enough blocks of them to train side by side.
constexpr std::int64_t many_tasks = 512;

template <class T>
LinearMethod suitable_method(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                             std::int64_t tasks) {
  if (linear_solver(*options.loss).method == LinearMethod::dual) return LinearMethod::dual;
  if (context.team() != nullptr) return LinearMethod::newton;
  if (options.loss != Loss::squared_hinge || !(*options.penalise_bias || options.bias == 0))
    return LinearMethod::newton;
  const bool text = is_sparse(dataset.x) && dataset.features() >= many_features;
  const bool worth = text && (context.device().is_cpu() || tasks >= many_tasks);
  return worth ? LinearMethod::dual : LinearMethod::newton;
}

void add_class_tasks(const LinearOptions& options, Problem& problem) {
  auto& sheaf = problem.sheaf;
  const auto& weight = problem.class_weights;
  const double cost = options.cost.value_or(1);
  const bool two = weight.size() == 2 && options.loss != Loss::crammer_singer;
  const auto columns = static_cast<std::int32_t>(two ? 1 : weight.size());
  sheaf.target_columns = columns;
  const auto& classes = problem.labels.classes;
  sheaf.targets.assign(classes.size() * static_cast<std::size_t>(columns), -1.0);
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i] < columns)
      sheaf.targets[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(classes[i])] = 1;
  for (std::int32_t c = 0; c < columns; ++c) {
    const double positive = cost * weight[static_cast<std::size_t>(c)];
    sheaf.tasks.push_back({0, c, positive, two ? cost * weight[1] : cost, options.epsilon.value_or(0)});
  }
}

void check_target_table(const Context& context, const Problem& problem, std::int64_t rows) {
  const auto classes = static_cast<std::int64_t>(problem.labels.class_names.size());
  const std::int64_t bytes = rows * classes * static_cast<std::int64_t>(sizeof(double));
  if (classes > 2 && bytes > context.memory())
    fail(
        "the targets of {} take {}, more than the {} that may be used; for a numeric target train a regression "
        "(svr)",
        counted(classes, "class"), format_bytes(bytes), format_bytes(context.memory()));
}

/// The weights of the tasks of a round, on a device.
template <class T>
Block<T> tasks_of(const Block<T>& weights, const Round& round, Device device) {
  if (round.count == weights.tasks()) return weights.to(device);
  Block<T> part(weights.rows(), round.count);
  for (std::int64_t j = 0; j < weights.rows(); ++j)
    for (std::int32_t t = 0; t < round.count; ++t) part(j, t) = weights(j, round.first + t);
  return part.to(device);
}

}  // namespace

Problem make_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                     const LinearOptions& options) {
  Problem problem;
  const bool regression = is_regression(*options.loss);
  problem.labels = make_labels(target, source, rows, regression, regression ? "logistic or svm" : "svr");
  problem.sheaf.examples = rows;
  if (regression) {
    if (!options.class_weights.empty() || options.balanced) fail_usage("class weights are for classes, not for svr");
    problem.sheaf.targets = problem.labels.values;
    const double cost = options.cost.value_or(1);
    problem.sheaf.tasks.push_back({0, 0, cost, cost, options.epsilon.value_or(0)});
    return problem;
  }
  check_target_table(context, problem, rows);
  problem.class_weights = weigh_classes({options.class_weights, options.balanced}, problem.labels.class_names,
                                        count_classes(problem.labels));
  add_class_tasks(options, problem);
  return problem;
}

void check_offsets(std::span<const double> offsets, std::int64_t rows, std::span<const std::string> class_names) {
  if (offsets.empty()) return;
  const auto columns = std::max<std::int64_t>(std::ssize(class_names), 1);
  if (columns > 1 && std::ssize(offsets) != rows * columns)
    fail("there are {} offsets for {}; a model of {} has one for each row and class ({})", offsets.size(),
         counted(rows, "row"), counted(columns, "class"), join_names(class_names));
  if (std::ssize(offsets) != rows * columns) fail("there are {} offsets for {}", offsets.size(), counted(rows, "row"));
  for (std::size_t e = 0; e < offsets.size(); ++e)
    if (!std::isfinite(offsets[e]))
      fail("the offset of row {} is {}; offsets are finite numbers (the logarithms of exposures above 0)",
           e / static_cast<std::size_t>(columns) + 1, offsets[e]);
}

template <class T>
LinearOptions with_method(const Context& context, const Dataset<T>& dataset, LinearOptions options,
                          std::int64_t tasks) {
  if (options.penalty == LinearPenalty::l1) {
    if (options.loss != Loss::logistic && options.loss != Loss::squared_hinge)
      fail_usage("an L1 penalty is for the losses logistic and svm, not for {}", to_string(*options.loss));
    options.method = LinearMethod::newton;
    return options;
  }
  if (options.method == LinearMethod::automatic) options.method = suitable_method(context, dataset, options, tasks);
  const bool dual_only = linear_solver(*options.loss).method == LinearMethod::dual;
  if (options.method == LinearMethod::newton && dual_only)
    fail_usage("Newton's method needs a loss with a slope everywhere, which {} has not; take the dual solver",
               to_string(*options.loss));
  if (options.method == LinearMethod::dual && options.bias > 0 && !*options.penalise_bias)
    fail_usage("the dual solver penalises the bias; {}", dual_only ? "leave it out of the penalty with another loss"
                                                                   : "take Newton's method for one without penalty");
  return options;
}

DualParams dual_params(const LinearOptions& options) {
  DualParams params;
  params.loss = *options.loss;
  params.stop = options.stop;
  if (options.tolerance > 0)
    params.tolerance = options.tolerance;
  else
    params.tolerance = options.stop == StopRule::suboptimality ? 1e-4 : 0.1;
  params.max_iterations = options.max_iterations;
  params.bias = options.bias;
  return params;
}

template <class T>
Fits<T> train_tasks(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                    const LinearOptions& options) {
  if (options.penalty == LinearPenalty::l1) return train_l1(context, dataset, sheaf, options);
  if (options.method == LinearMethod::dual) return dual_descent(context, dataset, sheaf, dual_params(options));
  return newton_by_row_space(context, dataset, sheaf, newton_params(options));
}

NewtonParams newton_params(const LinearOptions& options) {
  NewtonParams params;
  params.loss = *options.loss;
  params.rule = options.rule;
  params.stop = options.stop;
  if (options.tolerance > 0)
    params.tolerance = options.tolerance;
  else
    params.tolerance = options.stop == StopRule::suboptimality || is_regression(*options.loss) ? 1e-4 : 0.01;
  params.max_iterations = options.max_iterations;
  params.bias = options.bias;
  params.penalise_bias = *options.penalise_bias;
  return params;
}

std::int32_t choose_class(std::span<const double> decisions, std::size_t classes,
                          std::span<const std::uint8_t> present) {
  const auto there = [&](std::size_t c) { return present.empty() || present[c] != 0; };
  if (decisions.size() == 1 && classes == 2) {
    const std::int32_t chosen = decisions[0] > 0 ? 0 : 1;
    return there(static_cast<std::size_t>(chosen)) ? chosen : 1 - chosen;
  }
  std::size_t best = decisions.size();
  for (std::size_t c = 0; c < decisions.size(); ++c)
    if (there(c) && (best == decisions.size() || decisions[c] > decisions[best])) best = c;
  return static_cast<std::int32_t>(best < decisions.size() ? best : 0);
}

template <class T>
void for_device_decisions(const Context& context, const Dataset<T>& dataset, const Block<T>& weights, T bias,
                          std::int32_t group, std::int64_t reserved, const UseDecisions<T>& use,
                          const ChangeDecisions<T>& change, const Sheaf* seen) {
  require(weights.tasks() % group == 0, "a group of tasks is not complete");
  const std::int64_t per_group =
      (weights.rows() + dataset.rows()) * static_cast<std::int64_t>(sizeof(T)) * block_stride(group);
  const bool transformed = seen != nullptr && seen->column_transforms > 0;
  const bool hidden_bias = transformed && !(bias > 0);
  const auto ops = make_ops<T>(context, dataset, hidden_bias ? T(1) : bias, per_group + reserved);
  if (hidden_bias) ops->hide_bias();
  if (transformed) ops->load_tables(*seen);
  require(weights.rows() == ops->weights(), "weights were made for another dataset");
  for (const Round& groups :
       plan_rounds(weights.tasks() / group, ops->data_bytes() + reserved, per_group, context.memory())) {
    context.check_stop();
    const Round round{groups.first * group, groups.count * group};
    if (transformed)
      ops->choose_tasks(
          std::span(seen->tasks).subspan(static_cast<std::size_t>(round.first), static_cast<std::size_t>(round.count)));
    const auto w = tasks_of(weights, round, ops->device());
    Block<T> z(ops->examples(), round.count, ops->device());
    ops->multiply(w.view(), z.view());
    if (change) change(*ops, z);
    ops->synchronize();
    use(round, ops->all_examples_of(std::move(z)));
  }
}

template <class T>
void for_decisions(const Context& context, const Dataset<T>& dataset, const Block<T>& weights, T bias,
                   const UseDecisions<T>& use) {
  for_device_decisions<T>(context, dataset, weights, bias, 1, 0, [&](const Round& round, const Block<T>& z) {
    if (z.device().is_cpu())
      use(round, z);
    else
      use(round, z.to(Device::cpu()));
  });
}

template LinearOptions with_method(const Context&, const Dataset<float>&, LinearOptions, std::int64_t);
template LinearOptions with_method(const Context&, const Dataset<double>&, LinearOptions, std::int64_t);
template Fits<float> train_tasks(const Context&, const Dataset<float>&, const Sheaf&, const LinearOptions&);
template Fits<double> train_tasks(const Context&, const Dataset<double>&, const Sheaf&, const LinearOptions&);
template void for_decisions(const Context&, const Dataset<float>&, const Block<float>&, float,
                            const UseDecisions<float>&);
template void for_decisions(const Context&, const Dataset<double>&, const Block<double>&, double,
                            const UseDecisions<double>&);
template void for_device_decisions(const Context&, const Dataset<float>&, const Block<float>&, float, std::int32_t,
                                   std::int64_t, const UseDecisions<float>&, const ChangeDecisions<float>&,
                                   const Sheaf*);
template void for_device_decisions(const Context&, const Dataset<double>&, const Block<double>&, double, std::int32_t,
                                   std::int64_t, const UseDecisions<double>&, const ChangeDecisions<double>&,
                                   const Sheaf*);

}  // namespace sheaf::linear
