// Paths of few features, each by itself (covariance_path.hpp), in place of the working sets of paths.cpp.
#include <algorithm>
#include <mutex>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/paths.hpp"

namespace sheaf::linear {

namespace {

/// Computed in double, whatever the features are.
constexpr double covariance_rounding = 1e-14;
/// Models whose decision values are returned together.
constexpr std::int32_t models_together = 8;

template <class T>
NetModel to_model(const CovariancePath& path, const CovarianceReport& report, bool keep_weights) {
  NetModel model;
  model.intercept = path.intercept();
  model.fit = {report.rows.loss + report.features.penalty(),
               report.gap,
               report.tolerance,
               static_cast<std::int32_t>(report.features.nonzeros),
               report.epochs,
               1,
               report.gap <= report.tolerance};
  if (!keep_weights) return model;
  const auto weights = path.weights();
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] == 0) continue;
    model.features.push_back(static_cast<std::int32_t>(j));
    model.weights.push_back(static_cast<double>(static_cast<T>(weights[j])));
  }
  return model;
}

/// Models that wait to be returned, with their decision values.
template <class T>
class Returned {
 public:
  Returned(std::int64_t rows, bool decisions, const UseNets<T>& use, std::mutex& mutex)
      : z_(decisions ? rows : 0, models_together), use_(use), mutex_(mutex) {}

  void add(NetModel model, CovariancePath& path) {
    if (z_.view().rows > 0) {
      const auto products = path.products();
      const auto column = static_cast<std::int32_t>(models_.size());
      for (std::int64_t i = 0; i < z_.view().rows; ++i)
        z_(i, column) = static_cast<T>(products[static_cast<std::size_t>(i)] + model.intercept);
    }
    models_.push_back(std::move(model));
    if (models_.size() == static_cast<std::size_t>(models_together)) flush();
  }
  void flush() {
    if (models_.empty()) return;
    auto view = std::as_const(z_).view();
    view.tasks = static_cast<std::int32_t>(models_.size());
    const std::lock_guard lock(mutex_);
    use_(models_, view);
    models_.clear();
  }

 private:
  Block<T> z_;
  const UseNets<T>& use_;
  std::mutex& mutex_;
  std::vector<NetModel> models_;
};

}  // namespace

template <class T>
void NetRun<T>::run_covariance_path(const CovarianceSolver<T>& solver, std::int32_t p, const ModelTask<T>& task,
                                    std::mutex& mutex) {
  const auto& path = sheaf_.paths[static_cast<std::size_t>(p)];
  const auto& null = nulls_[static_cast<std::size_t>(p)];
  const auto work = solver.path(params_.loss, task, null.intercepts[0]);
  Returned<T> returned(sheaf_.examples, watch_ == nullptr, use_, mutex);
  for (std::size_t a = 0; a < path.alphas.size(); ++a) {
    context_.check_stop();
    const auto report = work->solve(path.alphas[a], goal_of(p, a, covariance_rounding), params_.max_epochs);
    auto model = to_model<T>(*work, report, keep_weights_);
    model.path = p;
    model.alpha = static_cast<std::int32_t>(a);
    returned.add(std::move(model), *work);
    context_.progress().advance(progress_per_model);
    if (watch_ != nullptr && watch_->ends(null, a, report.rows.loss)) break;
  }
  returned.flush();
}

template <class T>
bool NetRun<T>::run_by_covariance(std::span<const std::int32_t> paths) {
  if (!context_.device().is_cpu() || params_.solver != NetSolver::automatic || classes() > 1) return false;
  const bool ridge = std::any_of(paths.begin(), paths.end(), [&](std::int32_t p) {
    const auto& path = sheaf_.paths[static_cast<std::size_t>(p)];
    return path.l1_ratio <= 0 || (!path.alphas.empty() && path.alphas.back() <= 0);
  });
  const auto solver = with_instruction_set(
      [&](auto set) { return make_covariance_solver_for<decltype(set), T>(dataset_, context_.threads()); });
  if (!solver->serves(params_.loss, ridge)) return false;
  std::vector<ModelTask<T>> tasks;
  for (const auto p : paths) {
    const auto& path = sheaf_.paths[static_cast<std::size_t>(p)];
    const auto& null = nulls_[static_cast<std::size_t>(p)];
    const auto task = ops_->task_on_cpu({path.rows, path.target, 0, 0, null.total, null.center, null.curvature, 0, 0,
                                         null.width, true, penalty_shape(path, null)});
    require(task.has_value(), "tables of models are not on the CPU");
    tasks.push_back(*task);
  }
  solver->share(params_.loss, tasks);
  std::mutex mutex;
  parallel_for(context_, static_cast<std::int64_t>(paths.size()), [&](std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    run_covariance_path(*solver, paths[at], tasks[at], mutex);
  });
  return true;
}

#define SHEAF_INSTANTIATE(T) template bool NetRun<T>::run_by_covariance(std::span<const std::int32_t>);
SHEAF_INSTANTIATE(float)
SHEAF_INSTANTIATE(double)
#undef SHEAF_INSTANTIATE

}  // namespace sheaf::linear
