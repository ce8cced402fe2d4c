// Paths of few features, each by itself (covariance_path.hpp), in place of the working sets of paths.cpp.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/paths.hpp"

namespace sheaf::linear {

namespace {

/// Computed in double, whatever the features are.
constexpr double covariance_rounding = 1e-14;
/// Models whose decision values are returned together, those of classes counted as one.
constexpr std::int32_t models_together = 8;

/// One model, or one a class.
template <class T>
std::vector<NetModel> to_models(const CovariancePath& path, const CovarianceReport& report) {
  std::vector<NetModel> models;
  const auto intercepts = path.intercepts();
  const std::size_t features = path.weights().size() / intercepts.size();
  for (std::size_t k = 0; k < intercepts.size(); ++k) {
    const auto weights = path.weights().subspan(k * features, features);
    const auto zeros = std::count(weights.begin(), weights.end(), 0.0);
    NetModel& model = models.emplace_back();
    model.column = static_cast<std::int32_t>(k);
    model.intercept = intercepts[k];
    model.fit = {report.rows.loss + report.features.penalty(),
                 report.gap,
                 report.tolerance,
                 static_cast<std::int32_t>(features) - static_cast<std::int32_t>(zeros),
                 report.epochs,
                 1,
                 report.gap <= report.tolerance};
    for (std::size_t j = 0; j < features; ++j) {
      if (weights[j] == 0) continue;
      model.features.push_back(static_cast<std::int32_t>(j));
      model.weights.push_back(static_cast<double>(static_cast<T>(weights[j])));
    }
  }
  return models;
}

/// Models of a path that wait to be returned, with their decision values.
template <class T>
class Returned {
 public:
  /// `rows`: those of `all` whose decision values are wanted.
  Returned(const CovarianceSolver<T>& solver, std::int64_t all, std::int32_t classes, std::vector<std::int32_t> rows,
           bool keep_weights, const UseNets<T>& use, std::mutex& mutex)
      : solver_(solver),
        rows_(std::move(rows)),
        z_(all, models_together * classes),
        keep_weights_(keep_weights),
        use_(use),
        mutex_(mutex) {}

  /// The models of the classes of a path at one alpha.
  void add(std::vector<NetModel> models, CovariancePath& path) {
    if (!rows_.empty()) {
      const auto products = path.products();
      undecided_ = products.empty();
      const std::size_t all = products.size() / models.size();
      for (std::size_t k = 0; k < models.size() && !undecided_; ++k) {
        const auto column = static_cast<std::int32_t>(models_.size() + k);
        for (const auto i : rows_)
          z_(i, column) = static_cast<T>(products[k * all + static_cast<std::size_t>(i)] + models[k].intercept);
      }
    }
    std::move(models.begin(), models.end(), std::back_inserter(models_));
    if (static_cast<std::int32_t>(models_.size()) == z_.view().tasks) flush();
  }
  void flush() {
    if (models_.empty()) return;
    auto view = z_.view();
    view.tasks = static_cast<std::int32_t>(models_.size());
    if (undecided_) solver_.decide(models_, rows_, view);
    for (auto& model : models_) {
      if (keep_weights_) continue;
      model.features.clear();
      model.weights.clear();
    }
    const std::lock_guard lock(mutex_);
    use_(models_, {view.data, view.rows, view.tasks, view.stride, view.device});
    models_.clear();
  }

 private:
  const CovarianceSolver<T>& solver_;
  std::vector<std::int32_t> rows_;
  Block<T> z_;
  bool keep_weights_;
  bool undecided_ = false;
  const UseNets<T>& use_;
  std::mutex& mutex_;
  std::vector<NetModel> models_;
};

}  // namespace

template <class T>
std::vector<std::int32_t> NetRun<T>::decision_rows(const NetPath& path) const {
  if (!wants_decisions_) return {};
  if (!sheaf_.decision_rows.empty()) return sheaf_.decision_rows[static_cast<std::size_t>(path.rows)];
  std::vector<std::int32_t> all(static_cast<std::size_t>(sheaf_.examples));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <class T>
void NetRun<T>::run_covariance_path(const CovarianceSolver<T>& solver, std::int32_t p, const ModelTask<T>& task,
                                    std::mutex& mutex) {
  const auto& path = sheaf_.paths[static_cast<std::size_t>(p)];
  const auto& null = nulls_[static_cast<std::size_t>(p)];
  const auto work = solver.path(params_.loss, task, null.intercepts);
  Returned<T> returned(solver, wants_decisions_ ? sheaf_.examples : 0, classes(), decision_rows(path), keep_weights_,
                       use_, mutex);
  for (std::size_t a = 0; a < path.alphas.size(); ++a) {
    context_.check_stop();
    const auto report = work->solve(path.alphas[a], goal_of(p, a, covariance_rounding), params_.max_epochs);
    auto models = to_models<T>(*work, report);
    for (auto& model : models) {
      model.path = p;
      model.alpha = static_cast<std::int32_t>(a);
    }
    returned.add(std::move(models), *work);
    context_.progress().advance(progress_per_model);
    if (watch_ != nullptr && watch_->ends(null, a, report.rows.loss)) break;
  }
  returned.flush();
}

template <class T>
bool NetRun<T>::run_by_covariance(std::span<const std::int32_t> paths) {
  if (!context_.device().is_cpu() || params_.solver != NetSolver::automatic) return false;
  const bool ridge = std::any_of(paths.begin(), paths.end(), [&](std::int32_t p) {
    const auto& path = sheaf_.paths[static_cast<std::size_t>(p)];
    return path.l1_ratio <= 0 || (!path.alphas.empty() && path.alphas.back() <= 0);
  });
  const auto solver = with_instruction_set(
      [&](auto set) { return make_covariance_solver_for<decltype(set), T>(dataset_, context_.threads()); });
  if (!solver->serves(params_.loss, classes(), ridge, params_.grouped)) return false;
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
