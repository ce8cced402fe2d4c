#include "libsvm/libsvm.hpp"

#include <utility>

#include <fmt/format.h>

#include "liblinear/liblinear.hpp"

namespace sheaf::cli {
namespace {

/// The classes of an SVM: (0, 1), (0, 2) ... (1, 2) ...
std::pair<std::size_t, std::size_t> pair_of(std::size_t svm, std::size_t classes) {
  std::size_t i = 0;
  while (svm >= classes - 1 - i) svm -= classes - 1 - i++;
  return {i, i + 1 + svm};
}

/// LIBSVM's nu of an SVM if its two sides have one cost.
std::string nu_line(const SvmModel& model, const SvmTraining& fit, std::size_t svm) {
  if (model.kind == SvmKind::nu_svc) return fmt::format("C = {:f}\n", 1 / fit.margin);
  if (model.kind == SvmKind::nu_svr) return fmt::format("epsilon = {:f}\n", -fit.margin);
  if (model.kind == SvmKind::one_class) return {};
  double cost = model.cost;
  if (model.has_classes() && !model.class_weights.empty()) {
    const auto [i, j] = pair_of(svm, model.class_names.size());
    if (model.class_weights[i] != model.class_weights[j]) return {};
    cost *= model.class_weights[i];
  }
  return fmt::format("nu = {:f}\n", fit.alphas / (cost * static_cast<double>(fit.rows)));
}

}  // namespace

std::string training_lines(const SvmModel& model, const std::vector<SvmTraining>& fits, std::int64_t support) {
  std::string text;
  for (std::size_t m = 0; m < fits.size(); ++m) {
    const auto& fit = fits[m];
    text += fmt::format("*\noptimization finished, #iter = {}\n", fit.iterations) + nu_line(model, fit, m);
    text +=
        fmt::format("obj = {:f}, rho = {:f}\nnSV = {}, nBSV = {}\n", fit.objective, fit.rho, fit.support, fit.bounded);
  }
  if (model.has_classes()) text += fmt::format("Total nSV = {}\n", support);
  return text;
}

std::string libsvm_score(const SvmModel& model, const Score& score) {
  return score_lines(score, is_regression(model.kind), " (classification)");
}

std::string libsvm_predictions(const SvmModel& model, const Predictions& predictions) {
  static const std::vector<std::string> one_class{"normal", "outlier"};
  return prediction_lines(predictions, model.has_classes() ? model.class_names : one_class,
                          [&](std::size_t i) { return prediction_text(model, predictions, i); });
}

}  // namespace sheaf::cli
