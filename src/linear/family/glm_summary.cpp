// Summaries of generalised linear models, for people and as JSON.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/text.hpp"
#include "linear/family/summary.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 60;  // of the table of weights

std::string glm_kind_text(const LinearModel& model) {
  const auto& glm = *model.glm;
  auto text = fmt::format("generalised linear model, family {}, link {}", to_string(glm.family), to_string(glm.link));
  if (const auto name = info(glm.family).parameter.name; !name.empty())
    text += fmt::format(", {} {:.6g}", name, glm.parameter);
  if (glm.family == GlmFamily::cox) text += fmt::format(", ties by {}", glm.ties == Ties::efron ? "Efron" : "Breslow");
  text += glm.alpha > 0 ? fmt::format(", alpha = {}", glm.alpha) : ", no penalty";
  if (model.bias == 0 && glm.family != GlmFamily::cox) text += ", no intercept";
  return text;
}

SummaryTable training_note(const GlmTraining& glm) {
  return {"Training",
          {},
          {},
          false,
          fmt::format("{} in {} of {}: mean loss and penalty {:.6g}, gradient {:.3g} of the one at the start",
                      glm.fit.converged ? "converged" : "not converged", counted(glm.fit.iterations, "step"),
                      to_string(glm.solver), glm.fit.objective, glm.fit.gradient_norm)};
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

SummaryTable coefficients_table(const LinearModel& model) {
  const auto all = coefficient_table(model);
  SummaryTable table{
      "Weights", {{"", "estimate", "std. error", "statistic", "p", "95 % from", "to", ""}}, "lrrrrrrl", true, {}};
  for (std::size_t k = 0; k < all.size() && k < most_rows; ++k) {
    const auto& row = all[k];
    if (row.error == 0) {
      table.rows.push_back({row.label, fmt::format("{:.6g}", row.estimate), "not determined", "", "", "", "", ""});
      continue;
    }
    table.rows.push_back({row.label, fmt::format("{:.6g}", row.estimate), fmt::format("{:.4g}", row.error),
                          fmt::format("{:.3f}", row.statistic), p_text(row.p), fmt::format("{:.4g}", row.low),
                          fmt::format("{:.4g}", row.high), stars(row.p)});
  }
  const auto reference = model.glm->statistics.reference;
  if (reference >= 0)
    table.title +=
        fmt::format(" (log odds {}against class {})", model.columns == 1 ? "of class " + all.front().versus + " " : "",
                    model.class_names[static_cast<std::size_t>(reference)]);
  if (const auto from = errors_text(*model.glm); !from.empty()) table.title += fmt::format(", {}", from);
  if (all.size() > most_rows) table.note = fmt::format("and {} more, with --json", all.size() - most_rows);
  return table;
}

/// A test that all weights are 0.
std::vector<std::string> test_row(std::string_view name, double statistic, double freedom) {
  return {std::string(name), fmt::format("{:.6g}", statistic),
          fmt::format("on {} degrees of freedom, p {}", freedom, p_text(chi_squared_tail(statistic, freedom)))};
}

SummaryTable survival_table(const GlmTraining& glm) {
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
  return {"Fit", std::move(rows), "lrl", false, {}};
}

SummaryTable statistics_table(const GlmTraining& glm) {
  if (glm.family == GlmFamily::cox) return survival_table(glm);
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
  return {"Fit", std::move(rows), "lrl", false, {}};
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

ModelSummary glm_summary(const LinearModel& model, std::string shape) {
  const auto& glm = *model.glm;
  return {{std::move(shape), glm_kind_text(model)},
          {training_note(glm), glm.statistics.errors.empty() ? largest_weights_table(model) : coefficients_table(model),
           statistics_table(glm)},
          {}};
}

std::string glm_json(const LinearModel& model, std::int64_t rows) {
  const auto& glm = *model.glm;
  const auto& s = glm.statistics;
  Json answer{{"family", to_string(glm.family)}, {"link", to_string(glm.link)},    {"rows", rows},
              {"features", model.features},      {"classes", model.class_names},   {"alpha", glm.alpha},
              {"intercept", model.bias > 0},     {"solver", to_string(glm.solver)}};
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
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sheaf
