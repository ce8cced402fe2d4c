#include "text/model_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_weights = 5;   // of each decision value, on the terminal
constexpr std::size_t most_classes = 10;  // whose weights are shown there
constexpr std::size_t json_weights = 20;
constexpr std::size_t name_width = 28;

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
  return row < model.features ? model.feature_name(row) : model.net ? "(intercept)" : "(bias)";
}

std::string net_text(const LinearModel& model) {
  return fmt::format("\n  {}, alpha = {}, l1-ratio {}{}{}{}", about(model), model.net->alpha, model.net->l1_ratio,
                     model.net->relax < 1 ? fmt::format(", relax {}", model.net->relax) : "",
                     model.net->standardised ? ", standardised" : "", model.bias > 0 ? "" : ", no intercept");
}

std::string net_training_text(const LinearModel& model) {
  std::vector<std::vector<std::string>> rows{
      {std::string(column_kind(model)), "features", "epochs", "objective", "duality gap", "tolerance", ""}};
  for (std::size_t c = 0; c < model.net->fits.size(); ++c) {
    const auto& fit = model.net->fits[c];
    rows.push_back({shortened(column_name(model, static_cast<std::int32_t>(c)), name_width),
                    fmt::format("{} of {}", grouped(fit.nonzeros), grouped(model.features)), grouped(fit.epochs),
                    fmt::format("{:.6g}", fit.objective), fmt::format("{:.3g}", fit.gap),
                    fmt::format("{:.3g}", fit.tolerance), fit.converged ? "converged" : yellow("not converged")});
  }
  return fmt::format("\n{}\n", bold("Training")) + table(rows, "lrrrrrl", 2);
}

std::string heading_text(const LinearModel& model, const std::string& source, std::int64_t rows) {
  std::string text =
      fmt::format("{}\n  {} x {}", bold(source), counted(rows, "row"), counted(model.features, "feature"));
  if (!model.is_regression()) text += fmt::format(", {}", counted(model.class_names.size(), "class"));
  if (!model.target_names.empty()) text += fmt::format(", {}", counted(model.target_names.size(), "target"));
  if (model.net) return text + net_text(model) + '\n';
  text += fmt::format("\n  {}, C = {}", about(model), model.cost);
  if (model.is_regression()) text += fmt::format(", epsilon {}", model.epsilon);
  if (model.bias > 0) text += fmt::format(", bias {}{}", model.bias, model.penalise_bias ? ", penalised" : "");
  return text + '\n';
}

std::string training_text(const LinearModel& model) {
  if (model.net) return net_training_text(model);
  std::vector<std::vector<std::string>> rows{{model.is_regression() ? "" : "class",
                                              model.is_dual() ? "passes" : "steps", "objective",
                                              model.is_dual() ? "residual" : "|gradient|", "tolerance", ""}};
  for (std::size_t c = 0; c < model.fits.size(); ++c) {
    const auto& fit = model.fits[c];
    rows.push_back({shortened(column_name(model, static_cast<std::int32_t>(c)), name_width),
                    std::to_string(fit.iterations), fmt::format("{:.6g}", fit.objective),
                    fmt::format("{:.3g}", fit.gradient_norm), fmt::format("{:.3g}", fit.tolerance),
                    fit.converged ? "converged" : yellow("not converged")});
  }
  return fmt::format("\n{}\n", bold("Training")) + table(rows, "lrrrrl", 2);
}

std::string weights_text(const LinearModel& model) {
  std::vector<std::vector<std::string>> rows;
  const auto columns = std::min<std::size_t>(static_cast<std::size_t>(model.columns), most_classes);
  for (std::size_t c = 0; c < columns; ++c) {
    auto name = shortened(column_name(model, static_cast<std::int32_t>(c)), name_width);
    for (const auto j : largest_weights(model, static_cast<std::int32_t>(c), most_weights, true))
      rows.push_back({std::exchange(name, ""), shortened(row_name(model, j), name_width),
                      fmt::format("{:+.4g}", model.weight(j, static_cast<std::int32_t>(c)))});
  }
  auto text = fmt::format("\n{}\n", bold("Largest weights")) + table(rows, "llr", 2);
  if (columns < static_cast<std::size_t>(model.columns))
    text += fmt::format("  and those of {} more {}\n", static_cast<std::size_t>(model.columns) - columns,
                        model.target_names.empty() ? "classes" : "targets");
  return text;
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

std::string linear_text(const LinearModel& model, const std::string& source, std::int64_t rows) {
  return heading_text(model, source, rows) + training_text(model) + weights_text(model);
}

std::string linear_json(const LinearModel& model, const std::string& path, std::int64_t rows) {
  Json answer{{"model", path},
              {"solver", model.solver},
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
  return answer.dump(2) + "\n";
}

}  // namespace sheaf::cli
