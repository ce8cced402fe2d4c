#include "text/svm_text.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/text.hpp>

#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_machines = 15;
constexpr std::size_t most_points = 12;  // of a search, that the terminal shows

std::string kernel_text(const KernelParams& kernel) {
  const auto& function = kernel_function(kernel.type);
  std::string text(function.title);
  if (function.has_degree) text += fmt::format(", degree {}", kernel.degree);
  if (function.has_gamma) text += fmt::format(", gamma {:.6g}", kernel.gamma);
  if (function.has_coef0) text += fmt::format(", coef0 {:.6g}", kernel.coef0);
  return text;
}

std::string kind_text(SvmKind kind) {
  switch (kind) {
    case SvmKind::c_svc:
      return "C-SVC";
    case SvmKind::nu_svc:
      return "nu-SVC";
    case SvmKind::one_class:
      return "one-class SVM";
    case SvmKind::epsilon_svr:
      return "epsilon-SVR";
    case SvmKind::nu_svr:
      break;
  }
  return "nu-SVR";
}

/// "setosa / virginica", or "setosa" against the rest.
std::string machine_name(const SvmModel& model, std::size_t machine) {
  const auto classes = model.class_names.size();
  if (!model.has_classes()) return "";
  if (model.multi_class == MultiClass::one_vs_rest && classes > 2) return model.class_names[machine];
  std::size_t i = 0;
  while (machine >= classes - 1 - i) machine -= classes - 1 - i++;
  return shortened(model.class_names[i], 20) + " / " + shortened(model.class_names[i + 1 + machine], 20);
}

std::string machines_text(const SvmModel& model) {
  std::vector<std::vector<std::string>> rows{
      {dim("machine"), dim("vectors"), dim("at bound"), dim("rho"), dim("objective"), dim("steps")}};
  const auto shown = std::min(model.fits.size(), most_machines);
  for (std::size_t m = 0; m < shown; ++m) {
    const auto& fit = model.fits[m];
    rows.push_back({machine_name(model, m), grouped(fit.support), grouped(fit.bounded),
                    fmt::format("{:.4g}", model.machines[m].rho), fmt::format("{:.6g}", fit.objective),
                    grouped(fit.iterations) + (fit.converged ? "" : ", unfinished")});
  }
  auto text = fmt::format("\n{}\n", bold("Machines")) + table(rows, "lrrrrr", 2);
  if (shown < model.fits.size()) text += fmt::format("  and {} more\n", model.fits.size() - shown);
  return text;
}

/// A field of a CSV line, in quotes where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string score_cell(double score) { return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-"; }

bool shows_gamma(const SvmSearchResult& r) { return kernel_function(r.options.svm.kernel).has_gamma; }

std::string gamma_cell(const SvmSearchResult& r, const SvmPoint& point) {
  const double gamma = point.gamma > 0 ? point.gamma : 1 / static_cast<double>(r.features);
  return fmt::format("{:.6g}", gamma);
}

/// The best points, best first; a search may have hundreds.
std::string points_text(const SvmSearchResult& r) {
  const auto metric = *r.options.common.score;
  const double sign = info(metric).larger_is_better ? 1 : -1;
  std::vector<std::size_t> order(r.points.size());
  std::vector<Summarised> summaries;
  for (std::size_t p = 0; p < order.size(); ++p) {
    order[p] = p;
    summaries.push_back(r.summary(p, metric));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return sign * summaries[a].mean > sign * summaries[b].mean; });
  const bool gamma = shows_gamma(r);
  const bool degrees = r.options.degrees.size() > 1;
  std::vector<std::vector<std::string>> rows{{"", dim("C")}};
  if (gamma) rows[0].push_back(dim("gamma"));
  if (degrees) rows[0].push_back(dim("degree"));
  for (const auto& name : {std::string(info(metric).title), std::string("deviation"), std::string("vectors")})
    rows[0].push_back(dim(name));
  for (std::size_t k = 0; k < std::min(order.size(), most_points); ++k) {
    const auto p = order[k];
    const bool chosen = p == r.chosen.chosen;
    rows.push_back({chosen ? ">" : p == r.chosen.best ? "*" : "", fmt::format("{:.6g}", r.points[p].cost)});
    if (gamma) rows.back().push_back(gamma_cell(r, r.points[p]));
    if (degrees) rows.back().push_back(std::to_string(r.points[p].degree));
    rows.back().push_back(chosen ? bold(score_cell(summaries[p].mean)) : score_cell(summaries[p].mean));
    rows.back().push_back(score_cell(summaries[p].deviation));
    rows.back().push_back(fmt::format("{:.0f}", r.support(p)));
  }
  std::string alignment(rows[0].size(), 'r');
  alignment[0] = 'l';
  auto text = fmt::format("\n{}\n", bold("The best points")) + table(rows, alignment, 2);
  if (order.size() > most_points) text += fmt::format("  and {} more, in scores.csv\n", order.size() - most_points);
  return text;
}

std::string chosen_text(const SvmSearchResult& r) {
  auto what = fmt::format("Chosen: C = {:.6g}", r.point().cost);
  if (shows_gamma(r)) what += ", gamma = " + gamma_cell(r, r.point());
  if (kernel_function(r.options.svm.kernel).has_degree) what += fmt::format(", degree {}", r.point().degree);
  auto text = fmt::format(
      "\n{}{}\n", bold(what),
      dim(fmt::format("  {} support vectors when trained on all rows", grouped(r.model.support_vectors()))));
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : r.known()) {
    const auto summary = r.summary(r.chosen.chosen, metric);
    if (summary.splits == 0) continue;
    rows.push_back({std::string(info(metric).title), score_cell(summary.mean), "+-", score_cell(summary.deviation)});
  }
  return text + table(rows, "lrlr", 2);
}

std::string outer_text(const SvmSearchResult& r) {
  if (r.outer.empty()) return {};
  const auto metric = *r.options.common.score;
  std::vector<double> scores;
  std::vector<std::vector<std::string>> rows{{dim("fold"), dim("C"), dim("gamma"), dim("inner"), dim("outer")}};
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    scores.push_back(fold.scores.score(metric));
    rows.push_back({std::to_string(k + 1), fmt::format("{:.6g}", fold.chosen.cost),
                    shows_gamma(r) ? gamma_cell(r, fold.chosen) : "", score_cell(fold.inner.mean),
                    score_cell(scores.back())});
  }
  const auto summary = summarise(scores);
  return fmt::format("\n{}{}\n", bold("Nested validation"),
                     dim(fmt::format("  {} {} +- {}", info(metric).title, score_cell(summary.mean),
                                     score_cell(summary.deviation)))) +
         table(rows, "rrrrr", 2);
}

/// What sharing saved, where this run computed something and shared it.
std::string counts_text(const KernelCounts& counts) {
  if (counts.computed == 0 || counts.unshared <= counts.computed) return {};
  return fmt::format("\n{} kernel values computed; {} were every machine to compute its own ({:.1f} times as many)\n",
                     grouped(counts.computed), grouped(counts.unshared),
                     static_cast<double>(counts.unshared) / static_cast<double>(counts.computed));
}

}  // namespace

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows) {
  auto text = fmt::format("{}\n  {} examples x {} features", bold(source), grouped(rows), grouped(model.features));
  if (model.has_classes()) text += fmt::format(", {} classes", model.class_names.size());
  text += fmt::format("\n  {}, {}", kind_text(model.kind), kernel_text(model.kernel));
  if (model.kind == SvmKind::c_svc || is_regression(model.kind)) text += fmt::format(", C = {:.6g}", model.cost);
  text += fmt::format("\n  {} support vectors\n", grouped(model.support_vectors()));
  return text + machines_text(model) + counts_text(model.counts);
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
    answer["training"].push_back({{"machine", model.has_classes() ? Json(machine_name(model, m)) : Json()},
                                  {"support_vectors", fit.support},
                                  {"at_bound", fit.bounded},
                                  {"rho", model.machines[m].rho},
                                  {"objective", fit.objective},
                                  {"violation", fit.violation},
                                  {"iterations", fit.iterations},
                                  {"converged", fit.converged}});
  }
  return answer.dump(2) + "\n";
}

std::string svm_predictions_csv(const SvmModel& model, const Predictions& predictions) {
  const auto rows = static_cast<std::size_t>(predictions.rows);
  const bool probabilities = !predictions.probabilities.empty();
  const auto names = model.has_classes() ? model.class_names : std::vector<std::string>{"1", "-1"};
  std::string text = "prediction";
  for (std::size_t c = 0; c < names.size() && probabilities; ++c) text += ',' + csv_field("probability of " + names[c]);
  text += '\n';
  for (std::size_t i = 0; i < rows; ++i) {
    text += is_regression(model.kind) ? fmt::format("{}", predictions.decisions[i])
                                      : csv_field(prediction_text(model, predictions, i));
    for (std::size_t c = 0; c < names.size() && probabilities; ++c)
      text += fmt::format(",{}", predictions.probabilities[i * names.size() + c]);
    text += '\n';
  }
  return text;
}

std::string svm_search_text(const SvmSearchResult& r) {
  auto text = fmt::format("{}\n  {} examples x {} features", bold(r.source), grouped(r.rows), grouped(r.features));
  if (!r.class_names.empty()) text += fmt::format(", {} classes", r.class_names.size());
  text += fmt::format("\n  {}, {} kernel, {} points x {} splits ({})\n", kind_text(r.options.svm.kind),
                      to_string(r.options.svm.kernel), r.points.size(), r.splits, to_string(*r.options.common.split));
  text += points_text(r) + chosen_text(r) + outer_text(r) + counts_text(r.counts);
  for (const auto& note : r.notes) text += fmt::format("\n  {} {}\n", dim("-"), wrapped(note, 4));
  return text;
}

}  // namespace sheaf::cli
