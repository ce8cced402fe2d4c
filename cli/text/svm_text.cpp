#include "text/model_text.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
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
  return shortened(model.class_names[i], 20) + " / " + shortened(model.class_names[i + 1 + svm], 20);
}

std::string pairs_text(const SvmModel& model) {
  std::vector<std::vector<std::string>> rows{
      {dim("classes"), dim("vectors"), dim("at bound"), dim("rho"), dim("objective"), dim("steps")}};
  const auto shown = std::min(model.fits.size(), most_svms);
  for (std::size_t m = 0; m < shown; ++m) {
    const auto& fit = model.fits[m];
    rows.push_back({pair_name(model, m), grouped(fit.support), grouped(fit.bounded),
                    fmt::format("{:.4g}", model.svms[m].rho), fmt::format("{:.6g}", fit.objective),
                    grouped(fit.iterations) + (fit.converged ? "" : ", unfinished")});
  }
  auto text = fmt::format("\n{}\n", bold("Binary SVMs")) + table(rows, "lrrrrr", 2);
  if (shown < model.fits.size()) text += fmt::format("  and {} more\n", model.fits.size() - shown);
  return text;
}

}  // namespace

std::string counts_text(const KernelCounts& counts) {
  if (counts.computed == 0 || counts.unshared <= counts.computed) return {};
  return fmt::format("\n{} kernel values computed; {} had every SVM computed its own ({:.1f} times as many)\n",
                     grouped(counts.computed), grouped(counts.unshared),
                     static_cast<double>(counts.unshared) / static_cast<double>(counts.computed));
}

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows) {
  auto text = fmt::format("{}\n  {} x {}", bold(source), counted(rows, "row"), counted(model.features, "feature"));
  if (model.has_classes()) text += fmt::format(", {}", counted(model.class_names.size(), "class"));
  text += fmt::format("\n  {}, {}", kind_text(model.kind), kernel_text(model.kernel));
  if (model.kind == SvmKind::c_svc || is_regression(model.kind)) text += fmt::format(", C = {:.6g}", model.cost);
  text += fmt::format("\n  {} support vectors\n", grouped(model.support_vectors()));
  return text + pairs_text(model) + counts_text(model.counts);
}

std::string svm_json(const SvmModel& model, const std::string& path, std::int64_t rows) {
  Json answer{{"model", path},
              {"type", to_string(model.kind)},
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
  return answer.dump(2) + "\n";
}

}  // namespace sheaf::cli
