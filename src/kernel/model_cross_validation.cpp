// Cross-validation as svm-train -v does it, all folds and machines one sheaf.
#include <algorithm>
#include <set>

#include <sheaf/error.hpp>
#include <sheaf/svm_model.hpp>

#include "kernel/machine_plan.hpp"
#include "kernel/model_folds.hpp"
#include "kernel/model_predict.hpp"
#include "kernel/platt.hpp"
#include "kernel/some_rows.hpp"

namespace sheaf {
namespace {

using kernel::ModelPlan;

std::vector<float> without(std::span<const std::int32_t> testers, std::int32_t fold) {
  std::vector<float> weights;
  weights.reserve(testers.size());
  for (const auto tester : testers) weights.push_back(tester == fold ? 0.0F : 1.0F);
  return weights;
}

std::int64_t count_support(const SvmFits& fits, const ModelPlan& plan) {
  std::set<std::int32_t> rows;
  for (const auto task : plan.tasks)
    if (task >= 0) {
      const auto& some = fits.tasks[static_cast<std::size_t>(task)].machine.rows;
      rows.insert(some.begin(), some.end());
    }
  return static_cast<std::int64_t>(rows.size());
}

/// The sigmoids of one fold's machines. Machines that a missing class leaves out have none to tell.
SvmModel sigmoids_of(const SvmModel& shape, const ModelPlan& plan, const Block<double>& decisions) {
  SvmModel model;
  model.class_names = shape.class_names;
  for (const auto& platt : plan.platt) {
    const auto sigmoid = kernel::fit_sigmoid(kernel::held_out_decisions(platt, decisions), platt.sides);
    model.sigmoid_a.push_back(sigmoid.a);
    model.sigmoid_b.push_back(sigmoid.b);
  }
  return model;
}

std::int32_t most_likely(const std::vector<double>& p) {
  return static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

}  // namespace

template <class T>
SvmCrossValidation cross_validate_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                      std::int32_t folds) {
  if (folds < 2) fail_usage("cross-validation takes 2 folds or more, not {}", folds);
  const auto labels = kernel::make_labels(dataset.target, dataset.source, dataset.rows(), options);
  const auto sides = kernel::sides_of(options.kind, labels.class_names.size(), options.multi_class);
  const bool probabilities = options.probabilities && is_classification(options.kind);
  kernel::CRandom random(context.seed());
  const auto dealt = kernel::deal_folds(labels, folds, random);
  const auto testers = dealt.testers();
  kernel::SheafPlan sheaf(labels, options);
  std::vector<ModelPlan> plans;
  for (std::int32_t f = 0; f < dealt.count(); ++f) {
    plans.push_back(sheaf.add_model(sheaf.add_rows(without(testers, f)), options.cost));
    if (probabilities) sheaf.add_platt(plans.back(), options.cost, random, dealt.order);
  }
  auto params = kernel::svm_params(options, dataset.features());
  params.decisions = true;
  SvmFits fits;
  const auto made = sheaf.finish();
  if (!made.tasks.empty()) fits = train_sheaf(context, dataset, made, params);

  SvmCrossValidation result;
  result.shape.kind = options.kind;
  result.shape.class_names = labels.class_names;
  result.shape.cost = options.cost;
  result.shape.class_weights = plans.front().class_weights;
  std::vector<SvmModel> sigmoids;
  for (const auto& plan : plans) {
    result.fits.emplace_back();
    for (std::size_t m = 0; m < plan.tasks.size(); ++m)
      if (plan.tasks[m] >= 0)
        result.fits.back().push_back(
            kernel::training_of(fits.tasks[static_cast<std::size_t>(plan.tasks[m])], plan.rows[m]));
    result.support.push_back(count_support(fits, plan));
    if (probabilities) sigmoids.push_back(sigmoids_of(result.shape, plan, fits.decisions));
  }
  auto& predictions = result.predictions;
  predictions.rows = dataset.rows();
  predictions.columns = static_cast<std::int32_t>(sides.size());
  predictions.decisions.resize(static_cast<std::size_t>(dataset.rows()) * sides.size());
  if (!is_regression(options.kind)) predictions.classes.resize(static_cast<std::size_t>(dataset.rows()));
  const bool pairs = sides.size() > 1 && options.multi_class == MultiClass::one_vs_one;
  for (std::size_t f = 0; f < plans.size(); ++f) {
    const auto rows = std::span(dealt.order).subspan(dealt.begins[f], dealt.begins[f + 1] - dealt.begins[f]);
    const auto block = kernel::decisions_of(context, dataset, params.kernel, fits, plans[f].tasks, rows, pairs);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = static_cast<std::size_t>(rows[k]);
      const auto decisions = std::span(predictions.decisions).subspan(row * sides.size(), sides.size());
      for (std::size_t m = 0; m < sides.size(); ++m)
        decisions[m] = block(static_cast<std::int64_t>(k), static_cast<std::int32_t>(m));
      if (options.kind == SvmKind::one_class)
        predictions.classes[row] = decisions[0] > 0 ? 0 : 1;
      else if (probabilities)
        predictions.classes[row] = most_likely(kernel::class_probabilities(sigmoids[f], decisions, sides));
      else if (is_classification(options.kind))
        predictions.classes[row] =
            kernel::choose_class(decisions, sides, labels.class_names.size(), options.rule, plans[f].present);
    }
  }
  if (const auto score = score_of(result.shape, predictions, dataset.target)) result.score = *score;
  return result;
}

template SvmCrossValidation cross_validate_svm(const Context&, const Dataset<float>&, const SvmOptions&, std::int32_t);
template SvmCrossValidation cross_validate_svm(const Context&, const Dataset<double>&, const SvmOptions&, std::int32_t);

}  // namespace sheaf
