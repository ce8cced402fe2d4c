// Summaries of SVMs, for people and as JSON.
#include "kernel/family/summary.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/text.hpp"
#include "family/summary.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_svms = 15;

std::string kernel_text(const KernelParams& kernel) {
  const auto& function = kernel_function(kernel.type);
  std::string text(function.title);
  if (function.has_degree) text += fmt::format(", degree {}", kernel.degree);
  if (function.has_gamma) text += fmt::format(", gamma {:.6g}", kernel.gamma);
  if (function.has_coef0) text += fmt::format(", coef0 {:.6g}", kernel.coef0);
  return text;
}

std::string_view kind_text(SvmKind kind) {
  constexpr std::string_view names[] = {"C-SVC", "nu-SVC", "one-class SVM", "epsilon-SVR", "nu-SVR"};
  return names[static_cast<std::size_t>(kind)];
}

/// "setosa / virginica", or "setosa" against the rest.
std::string pair_name(const SvmModel& model, std::size_t svm) {
  const auto classes = model.class_names.size();
  if (!model.has_classes()) return "";
  if (model.multi_class == MultiClass::one_vs_rest && classes > 2) return model.class_names[svm];
  std::size_t i = 0;
  while (svm >= classes - 1 - i) svm -= classes - 1 - i++;
  return model.class_names[i] + " / " + model.class_names[i + 1 + svm];
}

SummaryTable svms_table(const SvmModel& model) {
  SummaryTable table{
      "Binary SVMs", {{"classes", "vectors", "at bound", "rho", "objective", "steps"}}, "lrrrrr", true, {}};
  const auto shown = std::min(model.fits.size(), most_svms);
  for (std::size_t m = 0; m < shown; ++m) {
    const auto& fit = model.fits[m];
    table.rows.push_back({pair_name(model, m), grouped(fit.support), grouped(fit.bounded),
                          fmt::format("{:.4g}", model.svms[m].rho), fmt::format("{:.6g}", fit.objective),
                          grouped(fit.iterations) + (fit.converged ? "" : ", unfinished")});
  }
  if (shown < model.fits.size()) table.note = fmt::format("and {} more", model.fits.size() - shown);
  return table;
}

}  // namespace

ModelSummary model_summary(const SvmModel& model, std::int64_t rows) {
  auto kind = fmt::format("{}, {}", kind_text(model.kind), kernel_text(model.kernel));
  if (model.kind == SvmKind::c_svc || is_regression(model.kind)) kind += fmt::format(", C = {:.6g}", model.cost);
  return {{shape_text(rows, model.features, model.has_classes() ? model.class_names.size() : 0), std::move(kind),
           grouped(model.support_vectors()) + " support vectors"},
          {svms_table(model)},
          counts_text(model.counts)};
}

std::string model_summary_json(const SvmModel& model, std::int64_t rows) {
  Json answer{{"type", to_string(model.kind)},
              {"kernel",
               {{"type", to_string(model.kernel.type)},
                {"degree", model.kernel.degree},
                {"gamma", model.kernel.gamma},
                {"coef0", model.kernel.coef0}}},
              {"rows", rows},
              {"features", model.features},
              {"classes", model.class_names},
              {"cost", model.cost},
              {"nu", model.nu},
              {"epsilon", model.epsilon},
              {"support_vectors", model.support_vectors()},
              {"probabilities", model.has_probabilities()},
              {"kernel_values", {{"computed", model.counts.computed}, {"unshared", model.counts.unshared}}},
              {"training", Json::array()}};
  for (std::size_t m = 0; m < model.fits.size(); ++m) {
    const auto& fit = model.fits[m];
    answer["training"].push_back({{"classes", model.has_classes() ? Json(pair_name(model, m)) : Json()},
                                  {"support_vectors", fit.support},
                                  {"at_bound", fit.bounded},
                                  {"rho", model.svms[m].rho},
                                  {"objective", fit.objective},
                                  {"violation", fit.violation},
                                  {"iterations", fit.iterations},
                                  {"converged", fit.converged}});
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sheaf
