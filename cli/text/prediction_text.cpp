#include "text/prediction_text.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/text.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/score_text.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_classes = 12;  // whose confusions are shown
constexpr std::size_t name_width = 20;

bool is_survival(const Model& model) { return model.trained().traits().survival; }

std::string headline(const Model& model, const Predictions& predictions, const std::optional<Score>& found) {
  if (is_survival(model)) return fmt::format("{}, logarithms of hazards", counted(predictions.rows, "row"));
  if (!found) return fmt::format("{}, no labels to compare with", counted(predictions.rows, "row"));
  const auto& score = *found;
  if (model.is_regression())
    return fmt::format("mean squared error {:.6g}, squared correlation {:.6g} ({}{})", score.squared_error,
                       score.squared_correlation, counted(score.rows, "row"),
                       model.target_names().empty() ? "" : "; means over the targets");
  return fmt::format("accuracy {} ({} of {})", percent(score.accuracy()), grouped(score.correct), grouped(score.rows));
}

/// The metrics that the model has, in the order of the table.
std::vector<Metric> metrics_of(const Model& model, const Scores& scores) {
  std::vector<Metric> list;
  for (const auto& row : metrics())
    if (row.suits(static_cast<std::int32_t>(model.class_names().size()), true, is_survival(model)) &&
        !std::isnan(scores.score(row.metric)))
      list.push_back(row.metric);
  return list;
}

std::string list_text(const Model& model, const Scores& scores) {
  const auto positive = model.positive();
  std::vector<std::vector<std::string>> rows;
  for (const auto metric : metrics_of(model, scores))
    if (info(metric).summary)
      rows.push_back(
          {metric_title(metric, positive < 0 ? std::string() : model.class_names()[static_cast<std::size_t>(positive)]),
           score_text(scores.score(metric))});
  return table(rows, "lr", 2);
}

/// Precision, recall and F1 of each class, from true class x predicted class.
std::string classes_text(const Model& model, const Scores& scores) {
  const auto& names = model.class_names();
  const auto n = names.size();
  std::vector<std::vector<std::string>> rows{
      {dim("class"), dim("rows"), dim("precision"), dim("recall"), dim("F1"), dim("predicted as")}};
  std::string alignment = "lrrrr";
  for (std::size_t c = 1; c < n; ++c) rows[0].emplace_back();
  rows.push_back({"", "", "", "", ""});
  for (const auto& name : names) rows.back().push_back(dim(shortened(name, name_width)));
  alignment.append(n, 'r');
  for (std::size_t c = 0; c < n; ++c) {
    double truth = 0;
    double predicted = 0;
    for (std::size_t other = 0; other < n; ++other) {
      truth += static_cast<double>(scores.confusion[c * n + other]);
      predicted += static_cast<double>(scores.confusion[other * n + c]);
    }
    const auto both = static_cast<double>(scores.confusion[c * n + c]);
    rows.push_back({shortened(names[c], name_width), fmt::format("{}", truth),
                    predicted > 0 ? score_text(both / predicted) : "-", truth > 0 ? score_text(both / truth) : "-",
                    truth + predicted > 0 ? score_text(2 * both / (truth + predicted)) : "-"});
    for (std::size_t other = 0; other < n; ++other) rows.back().push_back(grouped(scores.confusion[c * n + other]));
  }
  return fmt::format("\n{}", table(rows, alignment, 2));
}

std::string scores_text(const Model& model, const PredictionScores& found) {
  if (!found.all) return {};
  auto text = list_text(model, *found.all);
  const auto classes = model.class_names().size();
  if (classes > 1 && classes <= most_classes && found.all->confusion.size() == classes * classes)
    text += classes_text(model, *found.all);
  return text;
}

Json scores_json(const Model& model, const Scores& scores) {
  Json list = Json::object();
  for (const auto metric : metrics_of(model, scores)) list[std::string(info(metric).name)] = scores.score(metric);
  return list;
}

std::string json_text(const Model& model, const Predictions& predictions, const PredictionScores& found,
                      const std::string& output) {
  const auto& score = found.score;
  Json answer{{"rows", predictions.rows}, {"output", output.empty() ? Json() : Json(output)}};
  if (score && model.is_regression()) {
    answer["mean_squared_error"] = score->squared_error;
    answer["squared_correlation"] = score->squared_correlation;
  } else if (score) {
    answer["correct"] = score->correct;
    answer["accuracy"] = score->accuracy();
  }
  if (found.weights_effect) {
    const auto& effect = *found.weights_effect;
    answer["feature_weights"] = {
        {"neighbours", effect.neighbours}, {"neighbours_kept", effect.kept}, {"predictions_changed", effect.changed}};
  }
  if (found.all) {
    const auto positive = model.positive();
    answer["positive_class"] = positive < 0 ? Json() : Json(model.class_names()[static_cast<std::size_t>(positive)]);
    answer["scores"] = scores_json(model, *found.all);
    answer["classes"] = model.class_names();
    answer["targets"] = model.target_names();
    answer["confusion"] = found.all->confusion;
    answer["roc"] = found.all->roc;
    answer["precision_recall"] = found.all->precision_recall;
  }
  return answer.dump(2) + "\n";
}

/// The effect of feature weights.
std::string weights_text(const PredictionScores& found) {
  if (!found.weights_effect) return {};
  const auto& effect = *found.weights_effect;
  return fmt::format(
      "the feature weights changed {} of {} predictions; {} of {} neighbours would decide without them too\n",
      grouped(effect.changed), grouped(effect.rows), grouped(effect.kept), grouped(effect.neighbours));
}

/// A field of a CSV line, in quotes if it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// The names of the decision values: classes, pairs of classes, or none.
std::vector<std::string> decision_names(const Model& model, const Predictions& predictions) {
  const auto& names = model.class_names();
  const auto columns = static_cast<std::size_t>(predictions.columns);
  if (columns == 1) return {names.empty() ? "decision" : "decision for " + names[0]};
  std::vector<std::string> result;
  for (const auto& target : model.target_names()) result.push_back("decision for " + target);
  const bool pairs = model.trained().traits().pairs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!pairs) result.push_back("decision for " + names[i]);
    for (std::size_t j = i + 1; j < names.size() && pairs; ++j)
      result.push_back(fmt::format("decision for {} against {}", names[i], names[j]));
  }
  return result;
}

/// A heading, then one line a row: kept columns, the prediction and, if requested, decision values and the
/// probabilities of all classes.
std::string predictions_csv(const Model& model, const Predictions& predictions, const PredictionColumns& columns) {
  const auto rows = static_cast<std::size_t>(predictions.rows);
  const bool probabilities = !predictions.probabilities.empty();
  const auto names = model.class_names().empty() ? std::vector<std::string>{"1", "-1"} : model.class_names();
  const auto values = static_cast<std::size_t>(predictions.columns);
  std::string text;
  for (const auto& column : columns.kept) text += csv_field(column.name) + ',';
  std::vector<std::string> predicted;
  for (const auto& target : model.target_names()) predicted.push_back(csv_field("prediction of " + target));
  text += is_survival(model)  ? "log hazard,hazard"
          : predicted.empty() ? "prediction"
                              : fmt::format("{}", fmt::join(predicted, ","));
  if (columns.decisions)
    for (const auto& name : decision_names(model, predictions)) text += ',' + csv_field(name);
  for (std::size_t c = 0; c < names.size() && probabilities; ++c) text += ',' + csv_field("probability of " + names[c]);
  text += '\n';
  for (std::size_t i = 0; i < rows; ++i) {
    for (const auto& column : columns.kept) text += csv_field(column.values[i]) + ',';
    text +=
        predicted.empty() ? csv_field(model.prediction_text(predictions, i)) : model.prediction_text(predictions, i);
    if (is_survival(model)) text += fmt::format(",{}", std::exp(predictions.decisions[i]));
    for (std::size_t c = 0; c < values && columns.decisions; ++c)
      text += fmt::format(",{}", predictions.decisions[i * values + c]);
    for (std::size_t c = 0; c < names.size() && probabilities; ++c)
      text += fmt::format(",{}", predictions.probabilities[i * names.size() + c]);
    text += '\n';
  }
  return text;
}

}  // namespace

void return_predictions(const Model& model, const Predictions& predictions, const PredictionColumns& columns,
                        const PredictionScores& scores, const std::string& output, const Common& common) {
  const bool to_output = output == "-";
  if (to_output)
    print_data(predictions_csv(model, predictions, columns));
  else if (!output.empty())
    write_text_file(output, predictions_csv(model, predictions, columns));
  if (common.json()) return print_data(json_text(model, predictions, scores, output));
  if (common.quiet()) return;
  const auto text = headline(model, predictions, scores.score);
  if (to_output)
    say(text);
  else
    print(text + "\n" + scores_text(model, scores) + weights_text(scores));
}

std::string explanations_csv(const Model& model, const std::vector<Explanation>& explanations,
                             const Predictions& predictions, const std::vector<KeptColumn>& kept) {
  const auto known = model.known_columns();
  const auto feature_name = [&](std::int64_t j) {
    return known.features.empty() ? std::to_string(j + 1) : known.features[static_cast<std::size_t>(j)];
  };
  const auto value_text = [&](const Contribution& one) {
    const auto j = static_cast<std::size_t>(one.feature);
    const bool nominal = !known.levels.empty() && !known.levels[j].empty() && one.value >= 0 &&
                         one.value < static_cast<double>(known.levels[j].size());
    return nominal ? known.levels[j][static_cast<std::size_t>(one.value)] : fmt::format("{}", one.value);
  };
  std::string text;
  for (const auto& column : kept) text += csv_field(column.name) + ',';
  const auto& annotations = model.annotations();
  const std::string none(annotations.columns.size(), ',');
  text += "row,prediction,decision for,feature,value,contribution";
  for (const auto& name : annotations.columns) text += ',' + csv_field(name);
  text += '\n';
  const auto targets = model.target_names().size();
  for (std::size_t k = 0; k < explanations.size(); ++k) {
    const auto& explanation = explanations[k];
    const auto i = targets == 0 ? k : k / targets;
    std::string start;
    for (const auto& column : kept) start += csv_field(column.values[i]) + ',';
    const auto prediction =
        targets == 0 ? csv_field(model.prediction_text(predictions, i)) : fmt::format("{}", predictions.decisions[k]);
    start += fmt::format("{},{},{},", i + 1, prediction, csv_field(model.decision_name(explanation.column)));
    text += fmt::format("{}(intercept),,{}{}\n", start, explanation.intercept, none);
    for (const auto& one : explanation.largest) {
      const auto name = feature_name(one.feature);
      text += fmt::format("{}{},{},{}", start, csv_field(name), csv_field(value_text(one)), one.amount);
      for (const auto& field : annotations.of(name)) text += ',' + csv_field(field);
      text += '\n';
    }
    text += fmt::format("{}(others),,{}{}\n", start, explanation.rest, none);
  }
  return text;
}

std::string deciding_rows_csv(const Model& model, const std::vector<std::vector<DecidingRow>>& lists,
                              const Predictions& predictions, const Predictions* without,
                              const std::vector<KeptColumn>& kept) {
  std::string text;
  for (const auto& column : kept) text += csv_field(column.name) + ',';
  text += "row,prediction,neighbour,label,distance,vote";
  text += without == nullptr ? "\n" : ",rank without weights,prediction without weights\n";
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::string start;
    for (const auto& column : kept) start += csv_field(column.values[i]) + ',';
    start += fmt::format("{},{},", i + 1, csv_field(model.prediction_text(predictions, i)));
    const auto other = without == nullptr ? std::string() : csv_field(model.prediction_text(*without, i));
    for (const auto& one : lists[i]) {
      text += fmt::format("{}{},{},{},{}", start, one.row + 1, csv_field(model.trained().deciding_label(one.row)),
                          one.distance, std::isnan(one.vote) ? std::string() : fmt::format("{}", one.vote));
      if (without != nullptr) {
        const auto rank = one.rank_without_weights;
        text += fmt::format(",{},{}", rank > 0 ? std::to_string(rank) : std::string(), other);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace sheaf::cli
