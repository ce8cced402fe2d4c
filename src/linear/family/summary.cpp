// Summaries of linear models and elastic nets, for people and as JSON.
#include "linear/family/summary.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "family/summary.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_weights = 5;    // of each decision value, for people
constexpr std::int32_t most_columns = 10;  // decision values whose weights are shown there
constexpr std::size_t json_weights = 20;

std::string_view about(const LinearModel& model) {
  for (const auto& solver : linear_solvers())
    if (solver.name == model.solver) return solver.about;
  return model.solver;
}

/// The class or target that a large decision value favours.
std::string column_name(const LinearModel& model, std::int32_t column) {
  const auto name = model.column_name(column);
  return name.empty() ? "value" : name;
}

/// The meaning of the columns of a model.
std::string_view column_kind(const LinearModel& model) {
  return !model.target_names.empty() ? "target" : model.is_regression() ? "" : "class";
}

std::string row_name(const LinearModel& model, std::int64_t row) {
  return row < model.features ? model.feature_name(row) : model.net || model.glm ? "(intercept)" : "(bias)";
}

std::string status_text(bool converged) { return converged ? "converged" : "not converged"; }

std::string linear_kind_text(const LinearModel& model) {
  if (model.net)
    return fmt::format("{}, alpha = {}, l1-ratio {}{}{}{}", about(model), model.net->alpha, model.net->l1_ratio,
                       model.net->relax < 1 ? fmt::format(", relax {}", model.net->relax) : "",
                       model.net->standardised ? ", standardised" : "", model.bias > 0 ? "" : ", no intercept");
  auto text = fmt::format("{}, C = {}", about(model), model.cost);
  if (model.is_regression()) text += fmt::format(", epsilon {}", model.epsilon);
  if (model.bias > 0) text += fmt::format(", bias {}{}", model.bias, model.penalise_bias ? ", penalised" : "");
  return text;
}

SummaryTable training_table(const LinearModel& model) {
  if (model.net) {
    SummaryTable table{
        "Training",
        {{std::string(column_kind(model)), "features", "epochs", "objective", "duality gap", "tolerance", ""}},
        "lrrrrrl",
        true,
        {}};
    for (std::size_t c = 0; c < model.net->fits.size(); ++c) {
      const auto& fit = model.net->fits[c];
      table.rows.push_back({column_name(model, static_cast<std::int32_t>(c)),
                            fmt::format("{} of {}", grouped(fit.nonzeros), grouped(model.features)),
                            grouped(fit.epochs), fmt::format("{:.6g}", fit.objective), fmt::format("{:.3g}", fit.gap),
                            fmt::format("{:.3g}", fit.tolerance), status_text(fit.converged)});
    }
    return table;
  }
  SummaryTable table{"Training",
                     {{model.is_regression() ? "" : "class", model.is_dual() ? "passes" : "steps", "objective",
                       model.is_dual() ? "residual" : "|gradient|", "tolerance", ""}},
                     "lrrrrl",
                     true,
                     {}};
  for (std::size_t c = 0; c < model.fits.size(); ++c) {
    const auto& fit = model.fits[c];
    table.rows.push_back({column_name(model, static_cast<std::int32_t>(c)), std::to_string(fit.iterations),
                          fmt::format("{:.6g}", fit.objective), fmt::format("{:.3g}", fit.gradient_norm),
                          fmt::format("{:.3g}", fit.tolerance), status_text(fit.converged)});
  }
  return table;
}

Json weights_json(const LinearModel& model, std::int32_t column) {
  Json list = Json::array();
  for (const auto j : largest_weights(model, column, json_weights, true))
    list.push_back({{"position", j + 1}, {"name", row_name(model, j)}, {"weight", model.weight(j, column)}});
  return list;
}

void add_parameters(const LinearModel& model, Json& answer) {
  if (model.net)
    answer.update({{"alpha", model.net->alpha},
                   {"l1_ratio", model.net->l1_ratio},
                   {"relax", model.net->relax},
                   {"standardised", model.net->standardised},
                   {"intercept", model.bias > 0}});
  else
    answer.update({{"cost", model.cost}, {"bias", model.bias}, {"penalise_bias", model.penalise_bias}});
}

Json fit_json(const LinearModel& model, std::size_t column) {
  if (model.net) {
    const auto& fit = model.net->fits[column];
    return {{"epochs", fit.epochs},      {"nonzeros", fit.nonzeros},   {"objective", fit.objective},
            {"duality_gap", fit.gap},    {"tolerance", fit.tolerance}, {"parallel", fit.parallel},
            {"converged", fit.converged}};
  }
  const auto& fit = model.fits[column];
  return {{"iterations", fit.iterations},       {"products", fit.products},   {"objective", fit.objective},
          {"gradient_norm", fit.gradient_norm}, {"tolerance", fit.tolerance}, {"converged", fit.converged}};
}

}  // namespace

SummaryTable largest_weights_table(const LinearModel& model) {
  SummaryTable table{"Largest weights", {}, "llr", false, {}};
  const auto columns = std::min(model.columns, most_columns);
  for (std::int32_t c = 0; c < columns; ++c) {
    auto name = column_name(model, c);
    for (const auto j : largest_weights(model, c, most_weights, true))
      table.rows.push_back({std::exchange(name, ""), row_name(model, j), fmt::format("{:+.4g}", model.weight(j, c))});
  }
  if (columns < model.columns)
    table.note = fmt::format(
        "and those of {}", counted(model.columns - columns, model.target_names.empty() ? "more class" : "more target"));
  return table;
}

ModelSummary model_summary(const LinearModel& model, std::int64_t rows) {
  const auto classes = model.is_regression() ? 0 : model.class_names.size();
  auto shape = shape_text(rows, model.features, classes, model.target_names.size());
  if (model.glm) return glm_summary(model, std::move(shape));
  return {{std::move(shape), linear_kind_text(model)}, {training_table(model), largest_weights_table(model)}, {}};
}

std::string model_summary_json(const LinearModel& model, std::int64_t rows) {
  if (model.glm) return glm_json(model, rows);
  Json answer{{"solver", model.solver},
              {"rows", rows},
              {"features", model.features},
              {"classes", model.class_names},
              {"targets", model.target_names}};
  add_parameters(model, answer);
  answer["training"] = Json::array();
  for (std::int32_t c = 0; c < model.columns; ++c) {
    Json training{{"class", model.column_name(c).empty() ? Json() : Json(model.column_name(c))}};
    training.update(fit_json(model, static_cast<std::size_t>(c)));
    training["largest_weights"] = weights_json(model, c);
    answer["training"].push_back(std::move(training));
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sheaf
