#include "kernel/family/trainer.hpp"

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "family/values.hpp"
#include "kernel/model/row_subset.hpp"
#include "score/scorer.hpp"

namespace sheaf::engine {
namespace {

using kernel::ModelPlan;

/// All binary SVMs of a model as one.
void add_training(const SvmFits& fits, const ModelPlan& plan, double tolerance, ModelScores& scores) {
  TaskFit all;
  all.tolerance = tolerance;
  all.converged = true;
  std::vector<std::int32_t> rows;
  for (const auto task : plan.tasks) {
    if (task < 0) continue;
    const auto& fit = fits.tasks[static_cast<std::size_t>(task)];
    all.objective += fit.objective;
    all.gradient_norm = std::max(all.gradient_norm, fit.violation);
    all.iterations =
        static_cast<int>(std::min<std::int64_t>(all.iterations + fit.iterations, std::numeric_limits<int>::max()));
    all.converged = all.converged && fit.converged;
    rows.insert(rows.end(), fit.svm.rows.begin(), fit.svm.rows.end());
  }
  std::sort(rows.begin(), rows.end());
  scores.size = static_cast<double>(std::unique(rows.begin(), rows.end()) - rows.begin());
  scores.fits = {all};
}

}  // namespace

template <class T>
SvmTrainer<T>::SvmTrainer(const Dataset<T>& dataset, const Labels& labels, const SvmOptions& options,
                          bool keep_decisions)
    : dataset_(dataset),
      labels_(labels),
      options_(options),
      keep_decisions_(keep_decisions),
      sides_(kernel::sides_of(*options.kind, labels.class_names.size(), options.multi_class)) {}

template <class T>
std::vector<ModelScores> SvmTrainer<T>::train(const Context& context, double gamma, int degree, const SplitTable& table,
                                              std::span<const SvmJob> jobs) {
  auto options = options_;
  options.gamma = gamma;
  options.degree = degree;
  kernel::SheafPlan sheaf(labels_, options);
  const auto splits = table.splits.size();
  for (std::size_t s = 0; s < splits; ++s) {
    std::vector<float> weights(static_cast<std::size_t>(labels_.rows));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = table.weights[i * splits + s];
    sheaf.add_rows(std::move(weights));
  }
  std::vector<ModelPlan> plans;
  plans.reserve(jobs.size());
  for (const auto& job : jobs) plans.push_back(sheaf.add_model(job.split, job.cost));
  auto params = kernel::svm_params(options, dataset_.features());
  const bool pairs = sides_.size() > 1 && options.multi_class == MultiClass::one_vs_one;
  params.decisions = !pairs;
  const auto fits = train_sheaf(context, dataset_, sheaf.finish(), params);
  {
    const std::lock_guard lock(mutex_);
    counts_.computed += fits.counts.computed;
    counts_.unshared += fits.counts.unshared;
  }
  std::vector<ModelScores> result(jobs.size());
  for (std::size_t s = 0; s < splits; ++s) {
    std::vector<std::size_t> mine;
    std::vector<std::int32_t> tasks;
    std::vector<const ModelPlan*> of;
    for (std::size_t m = 0; m < jobs.size(); ++m) {
      if (jobs[m].split != static_cast<std::int32_t>(s)) continue;
      mine.push_back(m);
      of.push_back(&plans[m]);
      tasks.insert(tasks.end(), plans[m].tasks.begin(), plans[m].tasks.end());
    }
    if (mine.empty()) continue;
    const auto rows = table.tests.list(static_cast<std::int32_t>(s));
    const auto decisions = kernel::decisions_of(context, dataset_, params.kernel, fits, tasks, rows, !pairs);
    auto scores = score(context, rows, of, decisions);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      result[mine[k]] = std::move(scores[k]);
      add_training(fits, *of[k], params.tolerance, result[mine[k]]);
    }
  }
  return result;
}

/// `decisions`: rows x binary SVMs of all models. The classes' values that follow from them are scored on the context's
/// device.
template <class T>
std::vector<ModelScores> SvmTrainer<T>::score(const Context& context, std::span<const std::int32_t> rows,
                                              std::span<const ModelPlan* const> plans,
                                              const Block<double>& decisions) const {
  const auto labels = labels_of(labels_, rows);
  const auto classes = labels.class_names.size();
  const auto columns = labels.columns();
  const auto models = static_cast<std::int32_t>(plans.size());
  const auto count = static_cast<std::int64_t>(rows.size());
  Block<double> values(count, models * columns);
  Block<std::int32_t> predicted(count, classes > 0 ? models : 0);
  parallel_ranges(context.threads(), count, 64, [&](Range range) {
    std::vector<double> z(sides_.size());
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t m = 0; m < models; ++m) {
        for (std::int32_t k = 0; k < tasks(); ++k) z[static_cast<std::size_t>(k)] = decisions(i, m * tasks() + k);
        const auto& present = plans[static_cast<std::size_t>(m)]->present;
        if (classes > 0) predicted(i, m) = kernel::choose_class(z, sides_, classes, options_.rule, present);
        if (columns == 1) {
          values(i, m) = z[0];
          continue;
        }
        const auto by_class = kernel::class_values(z, sides_, classes, present);
        for (std::int32_t c = 0; c < columns; ++c) values(i, m * columns + c) = by_class[static_cast<std::size_t>(c)];
      }
  });
  return score_rows(context, labels, values, predicted, keep_decisions_);
}

template class SvmTrainer<float>;
template class SvmTrainer<double>;

}  // namespace sheaf::engine
