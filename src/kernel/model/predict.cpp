#include <algorithm>
#include <cmath>
#include <type_traits>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/borrowed.hpp"
#include "data/predictions.hpp"
#include "kernel/model/plan.hpp"
#include "kernel/model/platt.hpp"
#include "kernel/model/predict.hpp"
#include "kernel/values/class_choice.hpp"
#include "kernel/values/range.hpp"

namespace sheaf {
namespace kernel {

std::vector<double> class_probabilities(const SvmModel& model, std::span<const double> decisions,
                                        std::span<const Sides> sides) {
  constexpr double least = 1e-7;
  const std::size_t classes = model.class_names.size();
  std::vector<double> alone(classes, 1.0);  // of one class against the rest
  if (sides.empty()) return alone;
  const bool rest = sides.front().negative == SvmTask::rest;
  std::vector<double> pairs(classes * classes, 0.0);
  for (std::size_t m = 0; m < sides.size(); ++m) {
    const double raw = PlattSigmoid{model.sigmoid_a[m], model.sigmoid_b[m]}(decisions[m]);
    const double p = std::clamp(raw, least, 1 - least);
    const auto i = static_cast<std::size_t>(sides[m].positive);
    if (rest) {
      alone[i] = p;
      continue;
    }
    const auto j = static_cast<std::size_t>(sides[m].negative);
    pairs[i * classes + j] = p;
    pairs[j * classes + i] = 1 - p;
  }
  if (classes == 2) return {pairs[1], pairs[2]};
  if (!rest) return couple(pairs, classes);
  double sum = 0;
  for (const double p : alone) sum += p;
  for (double& p : alone) p /= sum;
  return alone;
}

}  // namespace kernel

namespace {

/// The SVMs with their rows as columns of the dataset if the kernel is precomputed.
template <class T>
std::vector<BinarySvm> svms_for(const SvmModel& model, const Dataset<T>& dataset) {
  auto svms = model.svms;
  if (model.kernel.type != KernelType::precomputed) return svms;
  for (auto& svm : svms)
    for (auto& row : svm.rows) {
      row = model.serials[static_cast<std::size_t>(row)];
      if (row >= dataset.features())
        fail("{}: has {}; the model needs the kernel value with training row {}", dataset.source,
             counted(dataset.features(), "column"), row + 1);
    }
  return svms;
}

/// Borrows the model's memory if that has the precision.
Dataset<double> support_of(const SvmModel& model, std::type_identity<double> /*precision*/, int /*threads*/) {
  Dataset<double> support;
  support.x = borrowed(model.support);
  return support;
}

Dataset<float> support_of(const SvmModel& model, std::type_identity<float> /*precision*/, int threads) {
  Dataset<float> support;
  support.x = convert_precision<float>(model.support, threads);
  return support;
}

void check_probabilities(const SvmModel& model) {
  if (model.has_probabilities() || !model.density_marks.empty()) return;
  if (model.has_classes() && model.svms.empty()) return;
  fail_usage(
      "the SVM has no probabilities; train it with them (--probability yes; svm-train: -b 1), or learn them from "
      "held-out rows in a search (--calibrate platt)");
}

void add_probabilities(const Context& context, const SvmModel& model, std::span<const kernel::Sides> sides,
                       Predictions& result) {
  const auto columns = static_cast<std::size_t>(result.columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.rows); ++i) {
    context.check_stop();
    const auto decisions = std::span(result.decisions).subspan(i * columns, columns);
    if (model.has_classes()) {
      const auto p = kernel::class_probabilities(model, decisions, sides);
      result.probabilities.insert(result.probabilities.end(), p.begin(), p.end());
      result.classes[i] = static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
    } else if (model.kind == SvmKind::one_class) {
      const double p = kernel::density_probability(model.density_marks, decisions[0]);
      result.probabilities.insert(result.probabilities.end(), {p, 1 - p});
    }
  }
}

}  // namespace

template <class T>
Predictions predict_svm(const Context& context, const SvmModel& model, const Dataset<T>& dataset, bool probabilities) {
  if (probabilities) check_probabilities(model);
  check_feature_names(model.feature_names, dataset.feature_names, dataset.source);
  const auto sides = kernel::sides_of(model.kind, model.class_names.size(), model.multi_class);
  Predictions result;
  result.rows = dataset.rows();
  result.columns = static_cast<std::int32_t>(model.svms.size());
  result.decisions.reserve(static_cast<std::size_t>(result.rows * result.columns));
  if (result.columns > 0) {
    const auto support = support_of(model, std::type_identity<T>{}, context.threads());
    const auto svms = svms_for(model, dataset);
    kernel::check_kernel_values(dataset, {}, model.kernel, kernel::largest_square(support.x, context.threads()),
                                context.threads());
    const auto block = decision_values<T>(context, model.kernel, support, svms, dataset);
    for (std::int64_t i = 0; i < result.rows; ++i)
      for (std::int32_t m = 0; m < result.columns; ++m) result.decisions.push_back(block(i, m));
  }
  const auto choice = kernel::ClassChoice::of(model.kind, model.class_names.size(), model.multi_class, model.rule);
  for (std::int64_t i = 0; i < result.rows && !is_regression(model.kind); ++i) {
    const double* z = result.decisions.data() + i * result.columns;
    result.classes.push_back(model.kind == SvmKind::one_class ? (z[0] > 0 ? 0 : 1) : choice.choose(z, nullptr));
  }
  if (probabilities) add_probabilities(context, model, sides, result);
  return result;
}

std::optional<Score> score_of(const SvmModel& model, const Predictions& predictions, const Target& target) {
  static const std::vector<std::string> inside_and_outside{"1", "-1"};
  const auto& names = model.kind == SvmKind::one_class ? inside_and_outside : model.class_names;
  return score_predictions(is_regression(model.kind) ? nullptr : &names, predictions, target);
}

std::string prediction_text(const SvmModel& model, const Predictions& predictions, std::size_t row) {
  if (is_regression(model.kind)) return fmt::format("{:.17g}", predictions.decisions[row]);
  if (model.kind == SvmKind::one_class) return predictions.classes[row] == 0 ? "1" : "-1";
  return model.class_names[static_cast<std::size_t>(predictions.classes[row])];
}

template Predictions predict_svm(const Context&, const SvmModel&, const Dataset<float>&, bool);
template Predictions predict_svm(const Context&, const SvmModel&, const Dataset<double>&, bool);

}  // namespace sheaf
