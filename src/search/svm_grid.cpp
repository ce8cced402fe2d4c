#include "search/svm_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "kernel/model/row_subset.hpp"
#include "score/terms.hpp"

namespace sheaf::search {
namespace {

using kernel::ModelPlan;

double& at(ModelScores& scores, Metric metric) { return scores.values[static_cast<std::size_t>(metric)]; }

/// The larger number, or the name that appears second; of three classes or more none.
std::int32_t positive_class(const kernel::SvmLabels& labels, const Target& target) {
  if (labels.class_names.size() != 2) return -1;
  if (target.values.empty()) return 1;
  for (std::size_t i = 0; i < labels.classes.size(); ++i)
    if (labels.classes[i] != labels.classes[0])
      return target.values[i] > target.values[0] ? labels.classes[i] : labels.classes[0];
  return 1;
}

/// All machines of a model as one.
void tell_training(const SvmFits& fits, const ModelPlan& plan, double tolerance, ModelScores& scores) {
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
    rows.insert(rows.end(), fit.machine.rows.begin(), fit.machine.rows.end());
  }
  std::sort(rows.begin(), rows.end());
  scores.support = std::unique(rows.begin(), rows.end()) - rows.begin();
  scores.fits = {all};
}

}  // namespace

template <class T>
SvmGrid<T>::SvmGrid(const Dataset<T>& dataset, const kernel::SvmLabels& labels, const SvmOptions& options)
    : dataset_(dataset),
      labels_(labels),
      options_(options),
      sides_(kernel::sides_of(options.kind, labels.class_names.size(), options.multi_class)),
      positive_(positive_class(labels, dataset.target)) {}

template <class T>
std::vector<ModelScores> SvmGrid<T>::train(const Context& context, double gamma, int degree, const SplitRows& splits,
                                           std::span<const GridModel> models) {
  auto options = options_;
  options.gamma = gamma;
  options.degree = degree;
  kernel::SheafPlan sheaf(labels_, options);
  for (const auto& weights : splits.weights) sheaf.add_rows(weights);
  std::vector<ModelPlan> plans;
  plans.reserve(models.size());
  for (const auto& model : models) plans.push_back(sheaf.add_model(model.split, model.cost));
  auto params = kernel::svm_params(options, dataset_.features());
  const bool pairs = sides_.size() > 1 && options.multi_class == MultiClass::one_vs_one;
  params.decisions = !pairs;
  const auto fits = train_sheaf(context, dataset_, sheaf.finish(), params);
  {
    const std::lock_guard lock(mutex_);
    counts_.computed += fits.counts.computed;
    counts_.unshared += fits.counts.unshared;
  }

  std::vector<ModelScores> result(models.size());
  for (std::size_t s = 0; s < splits.tests.size(); ++s) {
    std::vector<std::size_t> mine;
    std::vector<std::int32_t> tasks;
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (models[m].split != static_cast<std::int32_t>(s)) continue;
      mine.push_back(m);
      tasks.insert(tasks.end(), plans[m].tasks.begin(), plans[m].tasks.end());
    }
    if (mine.empty()) continue;
    const auto decisions = kernel::decisions_of(context, dataset_, params.kernel, fits, tasks, splits.tests[s], !pairs);
    parallel_for(context.threads(), static_cast<std::int64_t>(mine.size()), [&](std::int64_t k) {
      const auto m = mine[static_cast<std::size_t>(k)];
      result[m] = judge(splits.tests[s], plans[m], decisions, static_cast<std::int32_t>(k) * machines());
      tell_training(fits, plans[m], params.tolerance, result[m]);
    });
  }
  return result;
}

/// `first` is the column of the model's first machine.
template <class T>
ModelScores SvmGrid<T>::judge(std::span<const std::int32_t> rows, const ModelPlan& plan, const Block<double>& decisions,
                              std::int32_t first) const {
  ModelScores scores;
  if (!labels_.class_names.empty()) {
    judge_classes(rows, plan, decisions, first, scores);
    return scores;
  }
  std::vector<double> predicted;
  std::vector<double> truth;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    predicted.push_back(decisions(static_cast<std::int64_t>(k), first));
    truth.push_back(labels_.values[static_cast<std::size_t>(rows[k])]);
  }
  at(scores, Metric::r2) = r_squared(predicted, truth);
  at(scores, Metric::rmse) = root_mean_squared_error(predicted, truth);
  return scores;
}

template <class T>
void SvmGrid<T>::judge_classes(std::span<const std::int32_t> rows, const ModelPlan& plan,
                               const Block<double>& decisions, std::int32_t first, ModelScores& scores) const {
  const auto classes = labels_.class_names.size();
  const bool two = classes == 2;
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  std::vector<double> values;  // one a class, or one for two
  std::vector<double> z(sides_.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::int32_t m = 0; m < machines(); ++m)
      z[static_cast<std::size_t>(m)] = decisions(static_cast<std::int64_t>(k), first + m);
    truth.push_back(labels_.classes[static_cast<std::size_t>(rows[k])]);
    predicted.push_back(kernel::choose_class(z, sides_, classes, options_.rule, plan.present));
    if (two) {
      values.push_back(z[0]);
      continue;
    }
    const auto by_class = kernel::class_values(z, sides_, classes, plan.present);
    values.insert(values.end(), by_class.begin(), by_class.end());
  }
  at(scores, Metric::accuracy) = accuracy(truth, predicted);
  at(scores, Metric::balanced_accuracy) = balanced_accuracy(truth, predicted, static_cast<std::int32_t>(classes));
  at(scores, Metric::f1) = f1(truth, predicted, static_cast<std::int32_t>(classes), positive_);
  at(scores, Metric::auc) = auc_of_classes(values, two ? 1 : static_cast<std::int32_t>(classes), truth);
  if (two) {
    std::vector<std::uint8_t> positive;
    positive.reserve(truth.size());
    for (const auto c : truth) positive.push_back(c == positive_ ? 1 : 0);
    for (double& value : values) value = positive_ == 0 ? value : -value;
    scores.roc = roc_curve(values, positive, roc_points);
  }
  if (classes > score::most_confused) return;
  scores.confusion.assign(classes * classes, 0);
  for (std::size_t k = 0; k < truth.size(); ++k)
    ++scores.confusion[static_cast<std::size_t>(truth[k]) * classes + static_cast<std::size_t>(predicted[k])];
}

template class SvmGrid<float>;
template class SvmGrid<double>;

}  // namespace sheaf::search
