#include <algorithm>
#include <numeric>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "data/checks/row_weights.hpp"
#include "data/row_subset.hpp"
#include "kernel/model/plan.hpp"
#include "kernel/model/platt.hpp"

namespace sheaf {
namespace {

using kernel::ModelPlan;
using kernel::SheafPlan;

std::vector<float> weights_of(std::span<const float> given, std::int64_t rows) {
  check_row_weights(given, rows);
  std::vector<float> weights(given.begin(), given.end());
  if (given.empty()) weights.assign(static_cast<std::size_t>(rows), 1.0F);
  return weights;
}

void check_present(const Labels& labels, const ModelPlan& plan) {
  for (std::size_t c = 0; c < plan.present.size(); ++c)
    if (plan.present[c] == 0) fail("no row of class {} has a weight above 0", labels.class_names[c]);
}

/// The support vectors of all SVMs, by class, ascending within each.
std::vector<std::int32_t> support_rows(const SvmFits& fits, const ModelPlan& plan, const Labels& labels) {
  std::vector<std::int32_t> rows;
  for (const auto task : plan.tasks) {
    const auto& some = fits.tasks[static_cast<std::size_t>(task)].svm.rows;
    rows.insert(rows.end(), some.begin(), some.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  if (!labels.classes.empty())
    std::stable_sort(rows.begin(), rows.end(), [&](std::int32_t a, std::int32_t b) {
      return labels.classes[static_cast<std::size_t>(a)] < labels.classes[static_cast<std::size_t>(b)];
    });
  return rows;
}

/// The SVM with its support vectors numbered as in the model.
BinarySvm placed(const BinarySvm& svm, const std::vector<std::int32_t>& place) {
  std::vector<std::pair<std::int32_t, double>> pairs;
  for (std::size_t k = 0; k < svm.rows.size(); ++k)
    pairs.emplace_back(place[static_cast<std::size_t>(svm.rows[k])], svm.coefficients[k]);
  std::sort(pairs.begin(), pairs.end());
  BinarySvm result;
  result.rho = svm.rho;
  for (const auto& [row, coefficient] : pairs) {
    result.rows.push_back(row);
    result.coefficients.push_back(coefficient);
  }
  return result;
}

template <class T>
void keep_support(const Dataset<T>& dataset, const Labels& labels, const std::vector<std::int32_t>& rows,
                  SvmModel& model) {
  if (model.kernel.type == KernelType::precomputed)
    model.serials = rows;
  else
    model.support = some_rows<double>(dataset.x, rows);
  for (const auto row : rows)
    if (!labels.classes.empty()) model.support_classes.push_back(labels.classes[static_cast<std::size_t>(row)]);
  model.support_rows = rows;
}

void keep_svms(const SvmFits& fits, const ModelPlan& plan, const std::vector<std::int32_t>& rows, SvmModel& model) {
  std::vector<std::int32_t> place(
      rows.empty() ? 0 : static_cast<std::size_t>(*std::max_element(rows.begin(), rows.end())) + 1);
  for (std::size_t s = 0; s < rows.size(); ++s) place[static_cast<std::size_t>(rows[s])] = static_cast<std::int32_t>(s);
  for (std::size_t m = 0; m < plan.tasks.size(); ++m) {
    const auto& fit = fits.tasks[static_cast<std::size_t>(plan.tasks[m])];
    model.svms.push_back(placed(fit.svm, place));
    model.fits.push_back(kernel::training_of(fit, plan.rows[m]));
  }
  model.counts = fits.counts;
}

void keep_probabilities(const Context& context, const SvmFits& fits, const ModelPlan& plan, const Labels& labels,
                        SvmModel& model) {
  for (const auto& platt : plan.platt) {
    context.check_stop();
    auto values = kernel::held_out_decisions(platt, fits.decisions);
    if (model.has_classes()) {
      const auto sigmoid = fit_sigmoid(values, platt.sides);
      model.sigmoid_a.push_back(sigmoid.a);
      model.sigmoid_b.push_back(sigmoid.b);
    } else {
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = labels.values[static_cast<std::size_t>(platt.rows[k])] - values[k];
      model.sigmoid_a.push_back(kernel::laplace_width(values));
    }
  }
}

/// One-class: the density of its decision values on the training rows.
void keep_density(const SvmFits& fits, std::span<const float> weights, SvmModel& model) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < fits.decisions.rows(); ++i)
    if (weights[static_cast<std::size_t>(i)] > 0) values.push_back(fits.decisions(i, 0));
  model.density_marks = kernel::density_marks(std::move(values));
}

}  // namespace

template <class T>
SvmModel train_svm(const Context& context, const Dataset<T>& dataset, const SvmOptions& given,
                   std::span<const float> row_weights) {
  const auto options = with_defaults(given, dataset.target, row_weights);
  const auto weights = weights_of(row_weights, dataset.rows());
  const auto labels = kernel::make_svm_labels(dataset.target, dataset.source, dataset.rows(), options, weights);
  auto params = kernel::svm_params(options, dataset.features());
  params.decisions = options.probabilities;
  SvmModel model;
  model.kind = *options.kind;
  model.kernel = params.kernel;
  model.multi_class = options.multi_class;
  model.rule = options.rule;
  model.class_names = labels.class_names;
  model.features = dataset.features();
  model.feature_names = dataset.feature_names;
  model.cost = *options.cost;
  model.nu = options.nu;
  model.epsilon = options.epsilon.value_or(0);
  SheafPlan sheaf(labels, options);
  auto plan = sheaf.add_model(sheaf.add_rows(weights), *options.cost);
  check_present(labels, plan);
  if (!all_one(plan.class_weights)) model.class_weights = plan.class_weights;
  const bool sigmoids = options.probabilities && options.kind != SvmKind::one_class;
  kernel::CRandom random(context.seed());
  if (sigmoids) sheaf.add_platt(plan, *options.cost, random);
  SvmFits fits;
  if (!plan.tasks.empty()) fits = train_sheaf(context, dataset, sheaf.finish(), params);
  const auto rows = support_rows(fits, plan, labels);
  keep_support(dataset, labels, rows, model);
  keep_svms(fits, plan, rows, model);
  if (sigmoids) keep_probabilities(context, fits, plan, labels, model);
  if (options.probabilities && options.kind == SvmKind::one_class) keep_density(fits, weights, model);
  return model;
}

template SvmModel train_svm(const Context&, const Dataset<float>&, const SvmOptions&, std::span<const float>);
template SvmModel train_svm(const Context&, const Dataset<double>&, const SvmOptions&, std::span<const float>);

}  // namespace sheaf
