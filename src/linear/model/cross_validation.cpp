#include <sheaf/solvers/linear.hpp>

#include <algorithm>
#include <cmath>

#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/name_source.hpp"
#include "data/row_subset.hpp"
#include "linear/dual/dual.hpp"
#include "linear/model/problem.hpp"

namespace sheaf {
namespace {

using linear::Problem;

// The limits of LIBLINEAR's -C.
constexpr double largest_cost = 1024;
constexpr double largest_regression_cost = 1048576;
constexpr int unchanged_costs = 5;
constexpr int epsilon_steps = 20;

/// Every fold's tasks side by side: task f * columns + c is that of decision value c without fold f.
struct Folds {
  Splits splits;
  Problem problem;
  std::int32_t columns = 0;
  std::vector<std::uint8_t> present;  // folds x classes: whether the fold trains on rows of the class
};

template <class T>
Folds make_folds(const Context& context, const Dataset<T>& dataset, const LinearOptions& options, std::int32_t count) {
  if (count < 2) fail_usage("cross-validation takes 2 folds or more, not {}", count);
  SplitOptions split;
  split.kind = count < dataset.rows() ? SplitKind::k_fold : SplitKind::leave_one_out;
  split.count = count;
  split.seed = context.seed();
  const std::int64_t bytes =
      dataset.rows() * std::min<std::int64_t>(count, dataset.rows()) * std::int64_t{sizeof(float)};
  if (bytes > context.memory())
    fail("the row weights of {} take {}, more than the {} that may be used; take fewer folds", counted(count, "fold"),
         format_bytes(bytes), format_bytes(context.memory()));
  Folds folds{name_source(dataset.source, [&] { return make_splits(dataset.rows(), {}, {}, split); }),
              linear::make_problem(context, dataset.target, dataset.source, dataset.rows(), options),
              0,
              {}};
  auto& sheaf = folds.problem.sheaf;
  const auto tasks = sheaf.tasks;
  folds.columns = static_cast<std::int32_t>(tasks.size());
  sheaf.tasks.clear();
  for (std::int32_t f = 0; f < folds.splits.count(); ++f)
    for (Task task : tasks) {
      task.rows = f;
      sheaf.tasks.push_back(task);
    }
  const auto weights = folds.splits.weights(0, folds.splits.count(), context.threads());
  sheaf.weight_columns = folds.splits.count();
  sheaf.row_weights.assign(weights.weights.begin(), weights.weights.end());
  return folds;
}

void find_present(Folds& folds) {
  const auto classes = folds.problem.labels.class_names.size();
  const auto count = static_cast<std::size_t>(folds.splits.count());
  std::vector<std::int64_t> total(classes, 0);
  std::vector<std::int64_t> tested(count * classes, 0);
  for (std::size_t i = 0; i < folds.problem.labels.classes.size(); ++i) {
    const auto c = static_cast<std::size_t>(folds.problem.labels.classes[i]);
    const auto fold = static_cast<std::size_t>(folds.splits.tester(static_cast<std::int64_t>(i)));
    ++total[c];
    ++tested[fold * classes + c];
  }
  for (std::size_t k = 0; k < tested.size(); ++k) folds.present.push_back(total[k % classes] > tested[k] ? 1 : 0);
}

Predictions without_decisions(const Folds& folds) {
  Predictions result;
  result.rows = folds.problem.sheaf.examples;
  result.columns = folds.columns;
  result.decisions.resize(static_cast<std::size_t>(result.rows * result.columns));
  return result;
}

/// Stores each row's decision values by the models that did not see it, for the tasks of the round.
template <class T>
void keep_held_out(const Folds& folds, const Round& round, const Block<T>& z, Predictions& result) {
  for (std::int64_t i = 0; i < result.rows; ++i)
    for (std::int32_t c = 0; c < folds.columns; ++c) {
      const std::int32_t task = folds.splits.tester(i) * folds.columns + c - round.first;
      if (task < 0 || task >= round.count) continue;
      result.decisions[static_cast<std::size_t>(i * result.columns + c)] = static_cast<double>(z(i, task));
    }
}

void choose_classes(const Folds& folds, Predictions& result) {
  const auto classes = folds.problem.labels.class_names.size();
  const auto columns = static_cast<std::size_t>(result.columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.rows) && classes > 0; ++i) {
    const auto fold = static_cast<std::size_t>(folds.splits.tester(static_cast<std::int64_t>(i)));
    result.classes.push_back(linear::choose_class(std::span(result.decisions).subspan(i * columns, columns), classes,
                                                  std::span(folds.present).subspan(fold * classes, classes)));
  }
}

/// Each row's decision values by the models that did not see it.
template <class T>
Predictions held_out(const Context& context, const Dataset<T>& dataset, const Folds& folds, const Block<T>& weights,
                     double bias) {
  auto result = without_decisions(folds);
  linear::for_decisions<T>(context, dataset, weights, static_cast<T>(bias),
                           [&](const Round& round, const Block<T>& z) { keep_held_out(folds, round, z, result); });
  choose_classes(folds, result);
  return result;
}

/// The same of models that the dual solver trains: their weights are not kept.
template <class T>
Predictions dual_held_out(const Context& context, const Dataset<T>& dataset, const Folds& folds,
                          const LinearOptions& options, std::vector<TaskFit>& fits) {
  const auto& sheaf = folds.problem.sheaf;
  const auto tasks = static_cast<std::int32_t>(sheaf.tasks.size());
  Block<T> z(dataset.rows(), tasks, context.device());
  fits = linear::train_dual<T>(context, dataset, sheaf, linear::dual_params(options), {{}, z.view()});
  auto result = without_decisions(folds);
  if (!z.device().is_cpu()) z = z.to(Device::cpu());
  keep_held_out(folds, {0, tasks}, z, result);
  choose_classes(folds, result);
  return result;
}

Score score_held_out(const Predictions& predictions, const Problem& problem) {
  if (problem.labels.class_names.empty()) return score_values(predictions.decisions, problem.sheaf.targets);
  Score score;
  score.rows = predictions.rows;
  for (std::size_t i = 0; i < problem.labels.classes.size(); ++i)
    score.correct += problem.labels.classes[i] == predictions.classes[i] ? 1 : 0;
  return score;
}

/// The largest squared length of a row, the bias included.
template <class T>
double largest_row(const Dataset<T>& dataset, double bias) {
  double largest = 0;
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    double sum = bias * bias;
    for_row_entries(dataset.x, i, [&](std::int64_t, T x) { sum += static_cast<double>(x) * static_cast<double>(x); });
    largest = std::max(largest, sum);
  }
  return largest;
}

/// The power of two below which the losses hardly move the weights. For a regression the largest cost at which, by a
/// bound of LIBLINEAR's, the losses fall by less than a tenth of what they could.
template <class T>
double smallest_cost(const Dataset<T>& dataset, const LinearOptions& options, std::span<const double> targets) {
  const double longest = largest_row(dataset, options.bias);
  double cost = 1 / (static_cast<double>(dataset.rows()) * longest);
  if (options.loss == Loss::squared_hinge) cost /= 2;
  if (linear_solver(*options.loss).regression) {
    double losses = 0;
    double sum = 0;
    for (const double y : targets) {
      const double excess = std::max(std::abs(y) - *options.epsilon, 0.0);
      losses += excess * excess;
      sum += std::abs(y);
    }
    if (losses == 0) return largest_regression_cost;
    cost = 0.01 * losses / (8 * sum * sum * longest);
  }
  return longest > 0 ? std::exp2(std::floor(std::log2(cost))) : 1;
}

bool is_better(const Score& score, const Score& best, bool regression) {
  return regression ? score.squared_error < best.squared_error : score.correct > best.correct;
}

/// LIBLINEAR's search for the cost at one epsilon.
template <class T>
class CostLoop {
 public:
  CostLoop(const Context& context, const Dataset<T>& dataset, Folds& plan, const LinearOptions& options,
           CostSearch& search, const std::function<void(const CostTrial&)>& listen)
      : context_(context), dataset_(dataset), plan_(plan), options_(options), search_(search), listen_(listen) {}

  void run(double start) {
    const bool regression = plan_.problem.labels.class_names.empty();
    const double largest = regression ? largest_regression_cost : largest_cost;
    const auto tasks = plan_.problem.sheaf.tasks;
    Block<T> weights;
    int unchanged = 0;
    for (double cost = std::min(start, largest); cost <= largest && unchanged < unchanged_costs; cost *= 2) {
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        auto& task = plan_.problem.sheaf.tasks[t];
        task.cost_positive = tasks[t].cost_positive * cost;
        task.cost_negative = tasks[t].cost_negative * cost;
        task.loss_parameter = *options_.epsilon;
      }
      auto fits = newton(context_, dataset_, plan_.problem.sheaf, linear::newton_params(options_),
                         weights.tasks() == 0 ? nullptr : &weights);
      weights = std::move(fits.weights);
      const bool moved =
          std::any_of(fits.tasks.begin(), fits.tasks.end(), [](const auto& fit) { return fit.iterations > 0; });
      unchanged = moved ? 0 : unchanged + 1;
      const auto predictions = held_out(context_, dataset_, plan_, weights, options_.bias);
      keep({cost, regression ? *options_.epsilon : 0, score_held_out(predictions, plan_.problem)}, regression);
    }
    plan_.problem.sheaf.tasks = tasks;
    search_.reached_maximum = search_.reached_maximum || unchanged < unchanged_costs;
  }

 private:
  void keep(const CostTrial& trial, bool regression) {
    if (search_.trials.empty() || is_better(trial.score, search_.best.score, regression)) search_.best = trial;
    search_.trials.push_back(trial);
    if (listen_) listen_(trial);
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  Folds& plan_;
  const LinearOptions& options_;
  CostSearch& search_;
  const std::function<void(const CostTrial&)>& listen_;
};

/// From just below the largest target, or from `largest` if that is above 0, down to 0.
std::vector<double> epsilons_of(std::span<const double> targets, double largest) {
  double most = 0;
  for (const double y : targets) most = std::max(most, std::abs(y));
  int first = epsilon_steps - 1;
  if (largest > 0 && most > 0)
    first = static_cast<int>(std::min(std::floor(largest / (most / epsilon_steps)), static_cast<double>(first)));
  std::vector<double> epsilons;
  for (int k = first; k >= 0; --k) epsilons.push_back(k * most / epsilon_steps);
  return epsilons;
}

}  // namespace

template <class T>
CrossValidation cross_validate_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& given,
                                      std::int32_t folds) {
  const auto asked = with_defaults(given, dataset.target);
  auto plan = make_folds(context, dataset, asked, folds);
  const auto options =
      linear::with_method(context, dataset, asked, static_cast<std::int64_t>(plan.problem.sheaf.tasks.size()));
  find_present(plan);
  CrossValidation result;
  Fits<T> fits;
  if (options.method == LinearMethod::dual) {
    result.predictions = dual_held_out(context, dataset, plan, options, fits.tasks);
  } else {
    fits = linear::train_tasks(context, dataset, plan.problem.sheaf, options);
    result.predictions = held_out(context, dataset, plan, fits.weights, options.bias);
  }
  result.score = score_held_out(result.predictions, plan.problem);
  result.unconverged =
      std::count_if(fits.tasks.begin(), fits.tasks.end(), [](const auto& fit) { return !fit.converged; });
  result.class_names = std::move(plan.problem.labels.class_names);
  return result;
}

template <class T>
CostSearch search_cost(const Context& context, const Dataset<T>& dataset, const LinearOptions& given,
                       std::int32_t folds, double start, double largest_epsilon,
                       const std::function<void(const CostTrial&)>& listen) {
  const auto options = with_defaults(given, dataset.target);
  if (options.penalty == LinearPenalty::l1) fail_usage("the cost is searched for models with an L2 penalty");
  if (options.method == LinearMethod::dual || linear_solver(*options.loss).method == LinearMethod::dual)
    fail_usage("models that start from those of the cost before are trained by Newton's method, not by the dual");
  auto unit = options;
  unit.cost = 1;
  auto plan = make_folds(context, dataset, unit, folds);
  find_present(plan);
  const auto& targets = plan.problem.labels.values;
  const bool regression = linear_solver(*options.loss).regression;
  CostSearch search;
  for (const double epsilon : regression ? epsilons_of(targets, largest_epsilon) : std::vector{*unit.epsilon}) {
    unit.epsilon = epsilon;
    CostLoop<T>(context, dataset, plan, unit, search, listen)
        .run(start > 0 ? start : smallest_cost(dataset, unit, targets));
  }
  return search;
}

template CrossValidation cross_validate_linear(const Context&, const Dataset<float>&, const LinearOptions&,
                                               std::int32_t);
template CrossValidation cross_validate_linear(const Context&, const Dataset<double>&, const LinearOptions&,
                                               std::int32_t);
template CostSearch search_cost(const Context&, const Dataset<float>&, const LinearOptions&, std::int32_t, double,
                                double, const std::function<void(const CostTrial&)>&);
template CostSearch search_cost(const Context&, const Dataset<double>&, const LinearOptions&, std::int32_t, double,
                                double, const std::function<void(const CostTrial&)>&);

}  // namespace sheaf
