// Cross-validation as svm-train -v does it, all folds and SVMs one sheaf.
#include <algorithm>
#include <numeric>
#include <set>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "kernel/model/folds.hpp"
#include "kernel/model/plan.hpp"
#include "kernel/model/platt.hpp"
#include "kernel/model/predict.hpp"
#include "kernel/values/class_choice.hpp"
#include "kernel/verbs/ops.hpp"

namespace sheaf {
namespace {

using kernel::ModelPlan;
using kernel::Sides;

std::vector<float> without(std::span<const std::int32_t> fold_of, std::int32_t fold) {
  std::vector<float> weights;
  weights.reserve(fold_of.size());
  for (const auto own : fold_of) weights.push_back(own == fold ? 0.0F : 1.0F);
  return weights;
}

std::int64_t count_support(const SvmFits& fits, const ModelPlan& plan) {
  std::set<std::int32_t> rows;
  for (const auto task : plan.tasks)
    if (task >= 0) {
      const auto& some = fits.tasks[static_cast<std::size_t>(task)].svm.rows;
      rows.insert(some.begin(), some.end());
    }
  return static_cast<std::int64_t>(rows.size());
}

/// The sigmoids of one fold's SVMs.
SvmModel sigmoids_of(const Context& context, const SvmModel& shape, const ModelPlan& plan,
                     const Block<double>& decisions) {
  SvmModel model;
  model.class_names = shape.class_names;
  for (const auto& platt : plan.platt) {
    context.check_stop();
    const auto sigmoid = fit_sigmoid(kernel::held_out_decisions(platt, decisions), platt.sides);
    model.sigmoid_a.push_back(sigmoid.a);
    model.sigmoid_b.push_back(sigmoid.b);
  }
  return model;
}

std::int32_t most_likely(const std::vector<double>& p) {
  return static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

/// Shared by all folds.
struct Folds {
  const Labels& labels;
  const SvmOptions& options;
  std::vector<Sides> sides;
  std::vector<ModelPlan> plans;
  std::vector<SvmModel> sigmoids;  // with probabilities
  kernel::ClassChoice choice;

  bool probabilities() const { return options.probabilities && is_classification(*options.kind); }

  std::int32_t choose(std::size_t fold, std::span<const double> decisions) const {
    if (options.kind == SvmKind::one_class) return decisions[0] > 0 ? 0 : 1;
    if (probabilities()) return most_likely(kernel::class_probabilities(sigmoids[fold], decisions, sides));
    return choice.choose(decisions.data(), plans[fold].present.data());
  }
};

/// Stores the decision values and classes of a fold's rows. `columns`: of its SVMs in the block; -1: the SVM is
/// missing.
void keep_fold(const Folds& folds, std::size_t fold, std::span<const std::int32_t> rows, const Block<double>& block,
               std::span<const std::int32_t> columns, Predictions& predictions) {
  const std::size_t svms = folds.sides.size();
  for (const auto number : rows) {
    const auto row = static_cast<std::size_t>(number);
    const auto decisions = std::span(predictions.decisions).subspan(row * svms, svms);
    for (std::size_t m = 0; m < svms; ++m) decisions[m] = columns[m] < 0 ? 0 : block(number, columns[m]);
    if (!is_regression(*folds.options.kind)) predictions.classes[row] = folds.choose(fold, decisions);
  }
}

/// The decision values of the folds' rows under SVMs of pairs: rows x SVMs.
template <class T>
Block<double> decide_pairs(const Context& context, const Dataset<T>& dataset, const KernelParams& kernel,
                           const Folds& folds, const kernel::LibsvmFolds& dealt, const SvmFits& fits) {
  Block<double> block(dataset.rows(), static_cast<std::int32_t>(folds.sides.size()), context.device());
  for (std::int32_t f = 0; f < dealt.count(); ++f) {
    std::vector<BinarySvm> svms;
    for (const auto task : folds.plans[static_cast<std::size_t>(f)].tasks)
      svms.push_back(task < 0 ? BinarySvm{} : fits.tasks[static_cast<std::size_t>(task)].svm);
    kernel::decide_rows(context, kernel, dataset, svms, kernel::Queries<T>{dataset, dealt.rows(f)}, block.view());
  }
  return block.device().is_cpu() ? std::move(block) : block.to(Device::cpu());
}

void report_folds(const Context& context, Folds& folds, const SvmFits& fits, SvmCrossValidation& result) {
  result.shape.kind = *folds.options.kind;
  result.shape.class_names = folds.labels.class_names;
  result.shape.cost = *folds.options.cost;
  result.shape.class_weights = folds.plans.front().class_weights;
  for (const auto& plan : folds.plans) {
    result.fits.emplace_back();
    for (std::size_t m = 0; m < plan.tasks.size(); ++m)
      if (plan.tasks[m] >= 0)
        result.fits.back().push_back(
            kernel::training_of(fits.tasks[static_cast<std::size_t>(plan.tasks[m])], plan.rows[m]));
    result.support.push_back(count_support(fits, plan));
    if (folds.probabilities()) folds.sigmoids.push_back(sigmoids_of(context, result.shape, plan, fits.decisions));
  }
}

}  // namespace

template <class T>
SvmCrossValidation cross_validate_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& given,
                                      std::int32_t count) {
  const auto options = with_defaults(given, dataset.target);
  if (count < 2) fail_usage("cross-validation takes 2 folds or more, not {}", count);
  const auto labels = kernel::make_svm_labels(dataset.target, dataset.source, dataset.rows(), options);
  Folds folds{labels,
              options,
              kernel::sides_of(*options.kind, labels.class_names.size(), options.multi_class),
              {},
              {},
              kernel::ClassChoice::of(*options.kind, labels.class_names.size(), options.multi_class, options.rule)};
  kernel::CRandom random(context.seed());
  const auto dealt = kernel::deal_folds(labels, count, random);
  const auto fold_of = dealt.fold_of_rows();
  kernel::SheafPlan sheaf(labels, options);
  for (std::int32_t f = 0; f < dealt.count(); ++f) {
    folds.plans.push_back(sheaf.add_model(sheaf.add_rows(without(fold_of, f)), *options.cost));
    if (folds.probabilities()) sheaf.add_platt(folds.plans.back(), *options.cost, random, dealt.order);
  }
  auto params = kernel::svm_params(options, dataset.features());
  const bool pairs = folds.sides.size() > 1 && options.multi_class == MultiClass::one_vs_one;
  params.decisions = !pairs || folds.probabilities();
  SvmFits fits;
  const auto made = sheaf.finish();
  if (!made.tasks.empty()) fits = train_sheaf(context, dataset, made, params);

  SvmCrossValidation result;
  report_folds(context, folds, fits, result);
  auto& predictions = result.predictions;
  predictions.rows = dataset.rows();
  predictions.columns = static_cast<std::int32_t>(folds.sides.size());
  predictions.decisions.resize(static_cast<std::size_t>(dataset.rows()) * folds.sides.size());
  if (!is_regression(*options.kind)) predictions.classes.resize(static_cast<std::size_t>(dataset.rows()));
  std::vector<std::int32_t> columns(folds.sides.size());
  std::iota(columns.begin(), columns.end(), 0);
  const auto decided = pairs ? decide_pairs(context, dataset, params.kernel, folds, dealt, fits) : Block<double>();
  for (std::size_t f = 0; f < folds.plans.size(); ++f)
    keep_fold(folds, f, dealt.rows(static_cast<std::int32_t>(f)), pairs ? decided : fits.decisions,
              pairs ? columns : folds.plans[f].tasks, predictions);
  if (const auto score = score_of(result.shape, predictions, dataset.target)) result.score = *score;
  return result;
}

template SvmCrossValidation cross_validate_svm(const Context&, const Dataset<float>&, const SvmOptions&, std::int32_t);
template SvmCrossValidation cross_validate_svm(const Context&, const Dataset<double>&, const SvmOptions&, std::int32_t);

}  // namespace sheaf
