#include "text/prediction_text.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/io.hpp>

#include "core/text.hpp"
#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string score_text(const Model& model, const Predictions& predictions, const std::optional<Score>& found) {
  if (!found) return fmt::format("{} rows, no labels to compare with", predictions.rows);
  const auto& score = *found;
  if (model.is_regression())
    return fmt::format("mean squared error {:.6g}, squared correlation {:.6g} ({} rows)", score.squared_error,
                       score.squared_correlation, grouped(score.rows));
  return fmt::format("accuracy {} ({} of {})", percent(score.accuracy()), grouped(score.correct), grouped(score.rows));
}

std::string score_json(const Model& model, const Predictions& predictions, const std::optional<Score>& score,
                       const std::string& output) {
  Json answer{{"rows", predictions.rows}, {"output", output.empty() ? Json() : Json(output)}};
  if (score && model.is_regression()) {
    answer["mean_squared_error"] = score->squared_error;
    answer["squared_correlation"] = score->squared_correlation;
  } else if (score) {
    answer["correct"] = score->correct;
    answer["accuracy"] = score->accuracy();
  }
  return answer.dump(2) + "\n";
}

/// A field of a CSV line, in quotes where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// A heading, then one line a row: the prediction and, where they were asked for, the probabilities of all classes.
std::string predictions_csv(const Model& model, const Predictions& predictions) {
  const auto rows = static_cast<std::size_t>(predictions.rows);
  const bool probabilities = !predictions.probabilities.empty();
  const auto names = model.class_names().empty() ? std::vector<std::string>{"1", "-1"} : model.class_names();
  std::string text = "prediction";
  for (std::size_t c = 0; c < names.size() && probabilities; ++c) text += ',' + csv_field("probability of " + names[c]);
  text += '\n';
  for (std::size_t i = 0; i < rows; ++i) {
    text += csv_field(model.prediction_text(predictions, i));
    for (std::size_t c = 0; c < names.size() && probabilities; ++c)
      text += fmt::format(",{}", predictions.probabilities[i * names.size() + c]);
    text += '\n';
  }
  return text;
}

}  // namespace

void return_predictions(const Model& model, const Predictions& predictions, const std::optional<Score>& score,
                        const std::string& output, const Common& common) {
  const bool to_output = output == "-";
  if (to_output)
    print(predictions_csv(model, predictions));
  else if (!output.empty())
    write_text_file(output, predictions_csv(model, predictions));
  if (common.json()) return print(score_json(model, predictions, score, output));
  if (common.quiet()) return;
  if (to_output)
    say(score_text(model, predictions, score));
  else
    print(score_text(model, predictions, score) + "\n");
}

}  // namespace sheaf::cli
