#include "text/model_info.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/names.hpp"
#include "core/text.hpp"
#include "family/family.hpp"
#include "report/weights_json.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_weights = 10;  // of each decision value, on the terminal
constexpr std::size_t most_columns = 10;  // decision values whose weights are shown there
constexpr std::int64_t most_inputs = 20'000;
constexpr std::size_t name_width = 40;

/// "impute", "scale standard" ...
std::string step_text(const PipelineStep& step) {
  if (std::holds_alternative<ImputeStep>(step)) return "fill in missing values";
  if (std::holds_alternative<EncodeStep>(step)) return "one feature for each level of nominal ones";
  if (const auto* row = std::get_if<RowStep>(&step)) return fmt::format("transform {}", to_string(row->transform));
  if (const auto* take = std::get_if<TakeStep>(&step))
    return fmt::format("keep {}", counted(std::ssize(take->features), "feature"));
  return fmt::format("scale {}", to_string(std::get<Scaling>(step).method));
}

std::vector<std::string> step_texts(const Model& model) {
  std::vector<std::string> texts;
  for (const auto& step : model.pipeline().steps) texts.push_back(step_text(step));
  return texts;
}

std::int64_t input_features(const Model& model) {
  return model.pipeline().empty() ? model.features() : model.pipeline().features;
}

/// The weights that the model multiplies features with, or those of features in a distance.
Coefficients weights_of(const Model& model) {
  if (auto weights = model.coefficients()) return std::move(*weights);
  const auto learnt = model.trained().distance_weights();
  if (!learnt || learnt->values.empty()) return {};
  Coefficients weights{model.trained().feature_names(), {""}, learnt->values, {}, {}, {}};
  for (auto j = std::ssize(weights.feature_names); j < std::ssize(weights.values); ++j)
    weights.feature_names.push_back(std::to_string(j + 1));
  return weights;
}

/// "2 classes (ill, well)"; of many the first ones.
std::string names_text(const std::vector<std::string>& names, std::string_view what) {
  constexpr std::size_t most = 8;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
  return fmt::format("{} {} ({}{})", names.size(), what, fmt::join(names.begin(), end, ", "),
                     names.size() > most ? " ..." : "");
}

std::string heading_text(const Model& model, const std::string& source) {
  auto text = fmt::format("{}\n  model of the family {}: {}", bold(source), model.family(),
                          counted(input_features(model), "feature"));
  if (const auto& classes = model.class_names(); !classes.empty()) text += ", " + names_text(classes, "classes");
  if (const auto targets = model.target_names(); !targets.empty()) text += ", " + names_text(targets, "targets");
  if (const auto size = model.trained().size())
    text += fmt::format("; {} {}", grouped(*size), find_family(model.family())->size_words().words);
  text += '\n';
  if (!model.pipeline().label.empty()) text += fmt::format("  predicts {}\n", model.pipeline().label);
  if (const auto steps = step_texts(model); !steps.empty())
    text += fmt::format("  steps before it: {}\n", fmt::join(steps, ", "));
  if (const auto& calibration = model.calibration())
    text += fmt::format("  probabilities calibrated by {}\n", to_string(calibration->method));
  if (const auto& threshold = model.threshold())
    text += fmt::format("  decision threshold {:.6g}, chosen by {}\n", threshold->value, to_string(threshold->options));
  if (const auto& annotations = model.annotations(); !annotations.empty())
    text += fmt::format("  annotations of {}: {}\n", counted(std::ssize(annotations.texts), "feature"),
                        join_names(annotations.columns));
  return text;
}

std::string weights_text(const Model& model) {
  const auto weights = weights_of(model);
  if (weights.values.empty()) return {};
  const auto& annotations = model.annotations();
  std::vector<std::vector<std::string>> rows{{"", dim("feature"), dim("weight")}};
  for (const auto& name : annotations.columns) rows[0].push_back(dim(shortened(name, name_width)));
  const auto shown = std::min(most_columns, weights.columns.size());
  for (std::size_t c = 0; c < shown; ++c) {
    auto column = shortened(weights.columns[c], name_width);
    for (const auto j : weights.largest(static_cast<std::int32_t>(c), most_weights)) {
      const auto& name = weights.feature_names[static_cast<std::size_t>(j)];
      rows.push_back({std::exchange(column, ""), shortened(name, name_width),
                      fmt::format("{:+.4g}", weights.weight(j, static_cast<std::int32_t>(c)))});
      for (const auto& text : annotations.of(name)) rows.back().push_back(shortened(text, name_width));
    }
  }
  auto text = fmt::format("\n{}\n", bold("Largest weights"));
  if (rows.size() == 1) return text + "  all are 0\n";
  text += table(rows, "llr" + std::string(annotations.columns.size(), 'l'), 2);
  if (shown < weights.columns.size())
    text +=
        fmt::format("  and those of {}, with --json\n", counted(weights.columns.size() - shown, "more decision value"));
  return text;
}

/// The columns that the model reads, in its order; those without levels are numbers. Of features without a weight model
/// files may not keep the names.
Json inputs_json(const Model& model) {
  const auto known = model.known_columns();
  Json columns = Json::array();
  std::int64_t total = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(known.count); ++j) {
    const auto name = known.features.empty() ? std::to_string(j + 1) : known.features[j];
    if (name.empty()) continue;
    if (++total <= most_inputs)
      columns.push_back({{"name", name}, {"levels", j < known.levels.size() ? Json(known.levels[j]) : Json::array()}});
  }
  return {{"total", total}, {"columns", std::move(columns)}};
}

}  // namespace

std::string model_info_text(const Model& model, const std::string& source) {
  return heading_text(model, source) + weights_text(model);
}

std::string model_info_json(const Model& model, const std::string& source) {
  Json answer{{"source", source},
              {"model", model.family()},
              {"features", input_features(model)},
              {"classes", model.class_names()},
              {"targets", model.target_names()},
              {"label", report::column_json(model.pipeline().label)},
              {"steps", step_texts(model)},
              {"probabilities", model.has_probabilities()},
              {"threshold", model.threshold() ? Json(model.threshold()->value) : Json()}};
  if (const auto size = model.trained().size())
    answer[std::string(find_family(model.family())->size_words().key)] = *size;
  answer["inputs"] = inputs_json(model);
  answer["annotations"] = model.annotations().columns;
  answer["largest_weights"] = report::largest_weights_json(weights_of(model), model.annotations());
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sheaf::cli
