#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/text.hpp"
#include "statistics/distributions.hpp"
#include "terminal.hpp"
#include "text/model_text.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 60;  // of the table of weights on the terminal
constexpr std::size_t most_weights = 5;
constexpr std::int32_t most_classes = 10;
constexpr std::size_t name_width = 28;

std::string heading_text(const LinearModel& model, const std::string& source, std::int64_t rows) {
  const auto& glm = *model.glm;
  std::string text =
      fmt::format("{}\n  {} x {}", bold(source), counted(rows, "row"), counted(model.features, "feature"));
  if (!model.is_regression()) text += fmt::format(", {}", counted(model.class_names.size(), "class"));
  text += fmt::format("\n  generalised linear model, family {}, link {}", to_string(glm.family), to_string(glm.link));
  if (const auto name = info(glm.family).parameter.name; !name.empty())
    text += fmt::format(", {} {:.6g}", name, glm.parameter);
  if (glm.family == GlmFamily::cox) text += fmt::format(", ties by {}", glm.ties == Ties::efron ? "Efron" : "Breslow");
  text += glm.alpha > 0 ? fmt::format(", alpha = {}", glm.alpha) : ", no penalty";
  if (model.bias == 0 && glm.family != GlmFamily::cox) text += ", no intercept";
  return text + '\n';
}

std::string training_text(const GlmTraining& glm) {
  return fmt::format("\n{}\n  {} in {} of {}: mean loss and penalty {:.6g}, gradient {:.3g} of the one at the start\n",
                     bold("Training"), glm.fit.converged ? "converged" : yellow("not converged"),
                     counted(glm.fit.iterations, "step"), to_string(glm.solver), glm.fit.objective,
                     glm.fit.gradient_norm);
}

std::string stars(double p) { return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : ""; }

std::string p_text(double p) { return p < 2e-16 ? "< 2e-16" : fmt::format("{:.3g}", p); }

/// The basis of the standard errors, if it is not the usual one.
std::string errors_text(const GlmTraining& glm) {
  switch (glm.statistics.errors_from) {
    case StandardErrors::observed:
      return glm.family == GlmFamily::cox ? "" : "standard errors from the observed information";
    case StandardErrors::hc0:
      return "robust standard errors (HC0)";
    case StandardErrors::hc1:
      return "robust standard errors (HC1)";
    case StandardErrors::cluster:
      return "robust standard errors (rows of a group belong together)";
    default:
      return "";
  }
}

std::string coefficients_text(const LinearModel& model) {
  const auto all = coefficient_table(model);
  if (all.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"", "estimate", "std. error", "statistic", "p", "95 % from", "to", ""}};
  for (std::size_t k = 0; k < all.size() && k < most_rows; ++k) {
    const auto& row = all[k];
    auto name = shortened(row.label, name_width);
    if (row.error == 0) {
      rows.push_back({name, fmt::format("{:.6g}", row.estimate), "not determined", "", "", "", "", ""});
      continue;
    }
    rows.push_back({name, fmt::format("{:.6g}", row.estimate), fmt::format("{:.4g}", row.error),
                    fmt::format("{:.3f}", row.statistic), p_text(row.p), fmt::format("{:.4g}", row.low),
                    fmt::format("{:.4g}", row.high), stars(row.p)});
  }
  std::string title = "Weights";
  const auto reference = model.glm->statistics.reference;
  if (reference >= 0)
    title +=
        fmt::format(" (log odds {}against class {})", model.columns == 1 ? "of class " + all.front().versus + " " : "",
                    model.class_names[static_cast<std::size_t>(reference)]);
  if (const auto from = errors_text(*model.glm); !from.empty()) title += fmt::format(", {}", from);
  auto text = fmt::format("\n{}\n", bold(title)) + table(rows, "lrrrrrrl", 2);
  if (all.size() > most_rows) text += fmt::format("  and {} more, with --json\n", all.size() - most_rows);
  return text;
}

/// The largest weights of a model without standard errors.
std::string largest_text(const LinearModel& model) {
  std::vector<std::vector<std::string>> rows;
  for (std::int32_t c = 0; c < std::min(model.columns, most_classes); ++c) {
    std::string name = model.is_regression() ? "value" : model.class_names[static_cast<std::size_t>(c)];
    for (const auto j : largest_weights(model, c, most_weights, true))
      rows.push_back({std::exchange(name, ""),
                      shortened(j < model.features ? model.feature_name(j) : "(intercept)", name_width),
                      fmt::format("{:+.4g}", model.weight(j, c))});
  }
  return fmt::format("\n{}\n", bold("Largest weights")) + table(rows, "llr", 2);
}

/// A test that all weights are 0.
std::vector<std::string> test_row(std::string_view name, double statistic, double freedom) {
  return {std::string(name), fmt::format("{:.6g}", statistic),
          fmt::format("on {} degrees of freedom, p {}", freedom, p_text(chi_squared_tail(statistic, freedom)))};
}

std::string survival_text(const GlmTraining& glm) {
  const auto& s = glm.statistics;
  std::vector<std::vector<std::string>> rows{
      {"log partial likelihood", fmt::format("{:.6g}", s.log_likelihood), ""},
      {"without features", fmt::format("{:.6g}", -s.null_deviance / 2), ""},
      {"concordance", fmt::format("{:.4f}", s.survival.concordance), counted(s.survival.events, "event")}};
  if (!s.errors.empty()) {
    rows.push_back(test_row("likelihood-ratio test", s.null_deviance - s.deviance, s.parameters));
    rows.push_back(test_row("Wald test", s.survival.wald, s.parameters));
    rows.push_back(test_row("score test", s.survival.score, s.parameters));
    rows.push_back({"AIC", fmt::format("{:.6g}", aic(glm)), ""});
    rows.push_back({"BIC", fmt::format("{:.6g}", bic(glm)), ""});
  }
  return fmt::format("\n{}\n", bold("Fit")) + table(rows, "lrl", 2);
}

std::string statistics_text(const GlmTraining& glm) {
  if (glm.family == GlmFamily::cox) return survival_text(glm);
  const auto& distribution = info(glm.family);
  const auto& s = glm.statistics;
  std::vector<std::vector<std::string>> rows{
      {"deviance", fmt::format("{:.6g}", s.deviance),
       fmt::format("on {:.10g} degrees of freedom", s.rows - s.parameters)},
      {"deviance without features", fmt::format("{:.6g}", s.null_deviance), ""},
      {distribution.classes && distribution.likelihood ? "McFadden's R2" : "deviance explained",
       fmt::format("{:.4f}", pseudo_r2(glm)), ""}};
  if (s.dispersion != 1) rows.push_back({"dispersion", fmt::format("{:.6g}", s.dispersion), ""});
  if (glm.alpha == 0 && has_likelihood(glm.family)) {
    rows.push_back({"AIC", fmt::format("{:.6g}", aic(glm)), ""});
    rows.push_back({"BIC", fmt::format("{:.6g}", bic(glm)), ""});
  }
  return fmt::format("\n{}\n", bold("Fit")) + table(rows, "lrl", 2);
}

Json coefficients_json(const LinearModel& model) {
  Json list = Json::array();
  for (const auto& row : coefficient_table(model)) {
    Json one{{"name", row.label}, {"feature", row.name}};
    if (!row.versus.empty()) one["class"] = row.versus;
    one["estimate"] = row.estimate;
    if (row.error > 0)
      one.update({{"standard_error", row.error},
                  {"statistic", row.statistic},
                  {"p", row.p},
                  {"interval", {row.low, row.high}}});
    else
      one["standard_error"] = nullptr;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string glm_text(const LinearModel& model, const std::string& source, std::int64_t rows) {
  const auto weights = model.glm->statistics.errors.empty() ? largest_text(model) : coefficients_text(model);
  return heading_text(model, source, rows) + training_text(*model.glm) + weights + statistics_text(*model.glm);
}

std::string glm_json(const LinearModel& model, const std::string& path, std::int64_t rows) {
  const auto& glm = *model.glm;
  const auto& s = glm.statistics;
  Json answer{{"model", path},      {"family", to_string(glm.family)}, {"link", to_string(glm.link)},
              {"rows", rows},       {"features", model.features},      {"classes", model.class_names},
              {"alpha", glm.alpha}, {"intercept", model.bias > 0},     {"solver", to_string(glm.solver)}};
  if (const auto name = info(glm.family).parameter.name; !name.empty()) answer[std::string(name)] = glm.parameter;
  answer["training"] = {{"iterations", glm.fit.iterations},
                        {"objective", glm.fit.objective},
                        {"gradient", glm.fit.gradient_norm},
                        {"tolerance", glm.fit.tolerance},
                        {"converged", glm.fit.converged}};
  answer["deviance"] = s.deviance;
  answer["null_deviance"] = s.null_deviance;
  answer["degrees_of_freedom"] = s.rows - s.parameters;
  answer["dispersion"] = s.dispersion;
  answer["pseudo_r2"] = pseudo_r2(glm);
  const bool likelihood = glm.alpha == 0 && has_likelihood(glm.family);
  answer["log_likelihood"] = likelihood ? Json(s.log_likelihood) : Json();
  answer["aic"] = likelihood ? Json(aic(glm)) : Json();
  answer["bic"] = likelihood ? Json(bic(glm)) : Json();
  if (glm.family == GlmFamily::cox) {
    const bool tests = !s.errors.empty();
    answer["ties"] = to_string(glm.ties);
    answer["null_log_likelihood"] = -s.null_deviance / 2;
    answer["events"] = s.survival.events;
    answer["concordance"] = s.survival.concordance;
    answer["likelihood_ratio_test"] = tests ? Json(s.null_deviance - s.deviance) : Json();
    answer["wald_test"] = tests ? Json(s.survival.wald) : Json();
    answer["score_test"] = tests ? Json(s.survival.score) : Json();
  }
  answer["separated"] = glm.separated;
  answer["standard_errors"] = s.errors.empty() ? Json() : Json(to_string(s.errors_from));
  if (withholds_errors(model)) answer["standard_errors_withheld"] = no_errors_reason(model);
  answer["reference"] = s.reference >= 0 ? Json(model.class_names[static_cast<std::size_t>(s.reference)]) : Json();
  answer["coefficients"] = coefficients_json(model);
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sheaf::cli
