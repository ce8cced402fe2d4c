#include "kernel/family/trainer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "family/values.hpp"
#include "kernel/smo/train.hpp"
#include "kernel/verbs/ops.hpp"

namespace sheaf::engine {
namespace {

using kernel::ModelPlan;

/// All binary SVMs of a model as one. `rows`: of the dataset.
void add_training(const SvmFits& fits, const ModelPlan& plan, double tolerance, std::int64_t rows,
                  ModelScores& scores) {
  TaskFit all;
  all.tolerance = tolerance;
  all.converged = true;
  std::vector<std::uint8_t> supports(static_cast<std::size_t>(rows), 0);  // whether the row is a support vector
  for (const auto task : plan.tasks) {
    if (task < 0) continue;
    const auto& fit = fits.tasks[static_cast<std::size_t>(task)];
    all.objective += fit.objective;
    all.gradient_norm = std::max(all.gradient_norm, fit.violation);
    all.iterations =
        static_cast<int>(std::min<std::int64_t>(all.iterations + fit.iterations, std::numeric_limits<int>::max()));
    all.converged = all.converged && fit.converged;
    for (const auto row : fit.svm.rows) supports[static_cast<std::size_t>(row)] = 1;
  }
  scores.size = static_cast<double>(std::count(supports.begin(), supports.end(), 1));
  scores.fits = {all};
}

/// Some columns of a block.
template <class V>
BlockView<V> columns_of(BlockView<V> block, std::int32_t first, std::int32_t count) {
  return {block.data + first, block.rows, count, block.stride, block.device};
}

}  // namespace

/// The models of a call, those of one split side by side.
template <class T>
struct SvmTrainer<T>::Batch {
  std::vector<std::size_t> jobs;
  std::vector<std::int32_t> splits;
  std::vector<ModelPlan> plans;

  std::int32_t models() const { return static_cast<std::int32_t>(jobs.size()); }
  /// Calls visit(split, first model, models of the split).
  template <class Visit>
  void for_splits(const Visit& visit) const {
    for (std::int32_t first = 0; first < models();) {
      const auto split = splits[static_cast<std::size_t>(first)];
      const auto end = std::upper_bound(splits.begin() + first, splits.end(), split) - splits.begin();
      visit(split, first, static_cast<std::int32_t>(end) - first);
      first = static_cast<std::int32_t>(end);
    }
  }
};

template <class T>
SvmTrainer<T>::SvmTrainer(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                          const SvmOptions& options, bool keep_decisions)
    : context_(context),
      dataset_(dataset),
      labels_(labels),
      options_(options),
      choice_(kernel::ClassChoice::of(*options.kind, labels.class_names.size(), options.multi_class, options.rule)),
      scorer_(context, truth_of(labels), false) {
  if (keep_decisions) scorer_.keep_decisions();
}

template <class T>
void SvmTrainer<T>::load(const SplitTable& table) {
  table_ = &table;
  scorer_.load_tests(tests_of(table, labels_));
}

/// The models of some jobs, as tasks of the sheaf.
template <class T>
typename SvmTrainer<T>::Batch SvmTrainer<T>::plan(std::span<const SvmJob> jobs, kernel::SheafPlan& sheaf) const {
  const auto splits = table_->splits.size();
  for (std::size_t s = 0; s < splits; ++s) {
    std::vector<float> weights(static_cast<std::size_t>(labels_.rows));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = table_->weights[i * splits + s];
    sheaf.add_rows(std::move(weights));
  }
  Batch batch;
  batch.jobs.resize(jobs.size());
  std::iota(batch.jobs.begin(), batch.jobs.end(), 0);
  std::stable_sort(batch.jobs.begin(), batch.jobs.end(), [&](auto a, auto b) { return jobs[a].split < jobs[b].split; });
  std::vector<ModelPlan> plans;
  for (const auto& job : jobs) plans.push_back(sheaf.add_model(job.split, job.cost));
  for (const auto job : batch.jobs) {
    batch.splits.push_back(jobs[job].split);
    batch.plans.push_back(std::move(plans[job]));
  }
  return batch;
}

/// The columns of decision values that the tasks of a sheaf leave behind.
template <class T>
std::vector<std::int32_t> SvmTrainer<T>::columns_of_tasks(const Batch& batch, std::size_t tasks) const {
  std::vector<std::int32_t> columns(tasks, -1);
  for (std::int32_t m = 0; m < batch.models(); ++m)
    for (std::int32_t k = 0; k < choice_.svms(); ++k) {
      const auto task = batch.plans[static_cast<std::size_t>(m)].tasks[static_cast<std::size_t>(k)];
      if (task >= 0) columns[static_cast<std::size_t>(task)] = m * choice_.svms() + k;
    }
  return columns;
}

template <class T>
std::vector<ModelScores> SvmTrainer<T>::train(double gamma, int degree, std::span<const SvmJob> jobs,
                                              KernelCounts& counts) {
  auto options = options_;
  options.gamma = gamma;
  options.degree = degree;
  kernel::SheafPlan plans(labels_, options);
  const auto batch = plan(jobs, plans);
  const auto sheaf = plans.finish();
  const auto params = kernel::svm_params(options, dataset_.features());
  const bool pairs = choice_.svms() > 1 && !choice_.rest;
  const auto columns = pairs ? std::vector<std::int32_t>() : columns_of_tasks(batch, sheaf.tasks.size());
  Block<double> z(labels_.rows, batch.models() * choice_.svms(), context_.device());
  auto fits = kernel::train_tasks(context_, dataset_, sheaf, params, {columns, z.view()}, &kept_);
  counts.computed += fits.counts.computed;
  counts.unshared += fits.counts.unshared;
  std::vector<ModelScores> result(jobs.size());
  parallel_for(context_.threads(), batch.models(), [&](std::int64_t m) {
    const auto k = static_cast<std::size_t>(m);
    add_training(fits, batch.plans[k], params.tolerance, labels_.rows, result[batch.jobs[k]]);
  });
  if (pairs) decide_pairs(batch, fits, params.kernel, z.view());
  auto scores = score_models(batch, z.view());
  for (std::size_t m = 0; m < scores.size(); ++m) static_cast<Scores&>(result[batch.jobs[m]]) = std::move(scores[m]);
  return result;
}

/// Few rows take part in the SVM of a pair: decision values are computed for the test rows alone. Takes the SVMs out of
/// the fits.
template <class T>
void SvmTrainer<T>::decide_pairs(const Batch& batch, SvmFits& fits, const KernelParams& kernel,
                                 BlockView<double> z) const {
  batch.for_splits([&](std::int32_t split, std::int32_t first, std::int32_t count) {
    std::vector<BinarySvm> svms;
    for (std::int32_t m = first; m < first + count; ++m)
      for (const auto task : batch.plans[static_cast<std::size_t>(m)].tasks)
        svms.push_back(task < 0 ? BinarySvm{} : std::move(fits.tasks[static_cast<std::size_t>(task)].svm));
    kernel::decide_rows(context_, kernel, dataset_, svms, kernel::Queries<T>{dataset_, table_->tests.list(split)},
                        columns_of(z, first * choice_.svms(), count * choice_.svms()));
  });
}

/// `z`: rows x binary SVMs of all models, on the device, where classes are chosen and scored.
template <class T>
std::vector<Scores> SvmTrainer<T>::score_models(const Batch& batch, BlockView<const double> z) {
  if (choice_.classes == 0) return scorer_.score(z, batch.splits);
  const bool single = choice_.columns() == 1;  // the decision values are those of the classes
  Block<double> values(labels_.rows, single ? 0 : batch.models() * choice_.columns(), context_.device());
  Block<std::int32_t> predicted(labels_.rows, batch.models(), context_.device());
  batch.for_splits([&](std::int32_t split, std::int32_t first, std::int32_t count) {
    std::vector<std::uint8_t> present;
    for (std::int32_t m = first; m < first + count; ++m) {
      const auto& own = batch.plans[static_cast<std::size_t>(m)].present;
      present.insert(present.end(), own.begin(), own.end());
    }
    kernel::choose_classes(
        context_, choice_,
        {table_->tests.list(split), present, columns_of(z, first * choice_.svms(), count * choice_.svms()),
         columns_of(values.view(), single ? 0 : first * choice_.columns(), single ? 0 : count * choice_.columns()),
         columns_of(predicted.view(), first, count)});
  });
  return scorer_.score(single ? z : std::as_const(values).view(), batch.splits, std::as_const(predicted).view());
}

template class SvmTrainer<float>;
template class SvmTrainer<double>;

}  // namespace sheaf::engine
