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

std::string score_text(const Prediction& prediction) {
  if (!prediction.score) return fmt::format("{} rows, no labels to compare with", prediction.predictions.rows);
  const auto& score = *prediction.score;
  if (prediction.regression)
    return fmt::format("mean squared error {:.6g}, squared correlation {:.6g} ({} rows)", score.squared_error,
                       score.squared_correlation, grouped(score.rows));
  return fmt::format("accuracy {} ({} of {})", percent(score.accuracy()), grouped(score.correct), grouped(score.rows));
}

std::string score_json(const Prediction& prediction) {
  Json answer{{"rows", prediction.predictions.rows},
              {"output", prediction.output.empty() ? Json() : Json(prediction.output)}};
  if (prediction.score && prediction.regression) {
    answer["mean_squared_error"] = prediction.score->squared_error;
    answer["squared_correlation"] = prediction.score->squared_correlation;
  } else if (prediction.score) {
    answer["correct"] = prediction.score->correct;
    answer["accuracy"] = prediction.score->accuracy();
  }
  return answer.dump(2) + "\n";
}

}  // namespace

void hand_out(const Prediction& prediction, const Common& common) {
  const bool to_output = prediction.output == "-";
  if (to_output)
    print(prediction.csv());
  else if (!prediction.output.empty())
    write_text_file(prediction.output, prediction.csv());
  if (common.json()) return print(score_json(prediction));
  if (common.quiet()) return;
  if (to_output)
    say(score_text(prediction));
  else
    print(score_text(prediction) + "\n");
}

}  // namespace sheaf::cli
