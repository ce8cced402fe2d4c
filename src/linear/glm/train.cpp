// Chooses the solver, and the tasks that fit the memory together.
#include <algorithm>
#include <memory>

#include <sheaf/error.hpp>
#include <sheaf/solvers/glm.hpp>

#include "core/fail.hpp"
#include "linear/glm/gradient.hpp"
#include "linear/glm/lbfgs.hpp"
#include "linear/glm/newton_cg.hpp"
#include "linear/glm/newton_cholesky.hpp"
#include "linear/glm/saga.hpp"

namespace sheaf {
namespace {

/// Weights of a model up to which the whole Hessian is cheaper than many steps without it.
constexpr std::int64_t few_weights = 200;
/// Rows times weights from which on some steps with a Hessian of some rows cost less than one with that of all rows.
/// Without a penalty, Newton's steps find the weights to more digits, and detect features that depend on others.
constexpr std::int64_t many_entries = 4'000'000;
/// Columns for which memory is kept before the data get the rest: fewer side by side would waste each pass over X.
constexpr std::int32_t fewest_worth_room = 8;

/// Device bytes of one column of a task.
template <class T>
std::int64_t column_bytes(GlmSolver solver, std::int64_t rows, std::int64_t weights) {
  switch (solver) {
    case GlmSolver::newton:
      return linear::NewtonCholesky<T>::bytes(rows, weights);
    case GlmSolver::newton_cg:
      return linear::NewtonCg<T>::bytes(rows, weights);
    case GlmSolver::saga:
      return linear::Saga<T>::bytes(rows, weights);
    case GlmSolver::gradient:
    case GlmSolver::accelerated:
      return linear::Gradient<T>::bytes(rows, weights);
    default:
      return linear::Lbfgs<T>::bytes(rows, weights);
  }
}

template <class T>
std::unique_ptr<linear::Descent<T>> make_descent(GlmSolver solver, const Context& context, const Dataset<T>& dataset,
                                                 linear::Objective<T>& objective, Round round) {
  switch (solver) {
    case GlmSolver::newton:
      return std::make_unique<linear::NewtonCholesky<T>>(context, objective, round);
    case GlmSolver::newton_cg:
      return std::make_unique<linear::NewtonCg<T>>(context, dataset, objective, round);
    case GlmSolver::saga:
      return std::make_unique<linear::Saga<T>>(context, dataset, objective, round);
    case GlmSolver::gradient:
    case GlmSolver::accelerated:
      return std::make_unique<linear::Gradient<T>>(context, dataset, objective, round,
                                                   solver == GlmSolver::accelerated);
    default:
      return std::make_unique<linear::Lbfgs<T>>(context, dataset, objective, round);
  }
}

}  // namespace

GlmSolver chosen_solver(const GlmParams& params, const GlmSheaf& sheaf, std::int64_t features) {
  if (params.solver != GlmSolver::automatic) return params.solver;
  const std::int64_t size = features + (params.intercept ? 1 : 0);
  const std::int64_t weights = size * params.columns;
  if (weights > few_weights) {
    // With classes, curvatures fall far below those at the start, by which features are scaled, and many steps are
    // short.
    const bool classes = params.columns > 1 || params.loss == Loss::logistic;
    const auto columns = static_cast<std::int64_t>(sheaf.tasks.size()) * params.columns;
    return classes && !linear::decorrelates(size, sheaf.examples, columns) ? GlmSolver::newton_cg : GlmSolver::lbfgs;
  }
  const bool penalised = std::all_of(sheaf.tasks.begin(), sheaf.tasks.end(), [](auto& task) { return task.alpha > 0; });
  const bool cox = params.loss == Loss::cox && params.columns == 1;
  return penalised && !cox && sheaf.examples * weights >= many_entries ? GlmSolver::lbfgs : GlmSolver::newton;
}

template <class T>
Fits<T> train_glms(const Context& context, const Dataset<T>& dataset, const GlmSheaf& sheaf, const GlmParams& params) {
  if (sheaf.examples != dataset.rows()) throw InternalError("a sheaf was made for another dataset");
  const GlmSolver solver = chosen_solver(params, sheaf, dataset.features());
  if (solver == GlmSolver::saga && params.loss == Loss::cox && params.columns == 1)
    fail_usage("saga is not for Cox models, whose loss is not a sum over rows; take newton, newton-cg or lbfgs");
  const auto tasks = static_cast<std::int32_t>(sheaf.tasks.size());
  const std::int64_t weights = dataset.features() + (params.intercept ? 1 : 0);
  const std::int64_t per_column = column_bytes<T>(solver, dataset.rows(), weights);
  const std::int64_t blocks = per_column * block_stride(std::max(params.columns, fewest_worth_room));
  // The batches of saga have rows of their own.
  const std::int64_t batches = solver == GlmSolver::saga ? matrix_bytes(dataset.x) * (is_sparse(dataset.x) ? 2 : 1) : 0;
  const auto ops = linear::make_ops<T>(context, dataset, params.intercept ? T(1) : T(0), blocks + batches);
  linear::Objective<T> objective(*ops, sheaf, params);
  Fits<T> fits{Block<T>(weights, tasks * params.columns), std::vector<TaskFit>(sheaf.tasks.size())};
  Stage stage(context.progress(), "training", tasks * progress_per_model);
  for (const Round& round :
       plan_rounds(tasks, batches + ops->data_bytes(), per_column * params.columns, context.memory()))
    make_descent(solver, context, dataset, objective, round)->run(fits);
  return fits;
}

template Fits<float> train_glms(const Context&, const Dataset<float>&, const GlmSheaf&, const GlmParams&);
template Fits<double> train_glms(const Context&, const Dataset<double>&, const GlmSheaf&, const GlmParams&);

}  // namespace sheaf
