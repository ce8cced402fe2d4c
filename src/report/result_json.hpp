// What the JSON of searches and studies has in common.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

namespace sheaf::search {

/// JSON has no NaN.
inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

inline nlohmann::ordered_json summary_json(const Summarised& summary) {
  return {{"mean", number(summary.mean)},
          {"deviation", number(summary.deviation)},
          {"standard_error", number(summary.standard_error)},
          {"splits", summary.splits}};
}

/// Every score that the result knows, of one model.
template <class Result>
nlohmann::ordered_json scores_json(const Result& result, const ModelScores& model) {
  auto scores = nlohmann::ordered_json::object();
  for (const auto metric : result.known()) scores[std::string(info(metric).name)] = number(model.score(metric));
  return scores;
}

/// Adds what the splits made of the candidate in place `c` of a search: for each score its summary and its values.
template <class Result>
void add_candidate(const Result& result, std::size_t c, nlohmann::ordered_json& row) {
  for (const auto metric : result.known()) {
    auto summary = summary_json(result.summary(c, metric));
    summary["by_split"] = nlohmann::ordered_json::array();
    for (const double score : result.scores(c, metric)) summary["by_split"].push_back(number(score));
    row[std::string(info(metric).name)] = std::move(summary);
  }
}

/// The outer folds of a nested search, each begun by what `choice` tells of it; null where there are none.
template <class Result, class ChoiceJson>
nlohmann::ordered_json outer_json(const Result& result, const ChoiceJson& choice) {
  if (result.outer.empty()) return nullptr;
  auto folds = nlohmann::ordered_json::array();
  for (const auto& fold : result.outer) {
    nlohmann::ordered_json row = choice(fold);
    row["inner"] = summary_json(fold.inner);
    row["scores"] = scores_json(result, fold.scores);
    folds.push_back(std::move(row));
  }
  nlohmann::ordered_json answer{{"folds", std::move(folds)}};
  for (const auto metric : result.known()) {
    std::vector<double> scores;
    for (const auto& fold : result.outer) scores.push_back(fold.scores.score(metric));
    answer[std::string(info(metric).name)] = summary_json(summarise(scores));
  }
  return answer;
}

/// The class whose decisions are above 0; null where there are not two.
template <class Result>
nlohmann::ordered_json positive_json(const Result& result) {
  if (result.class_names.size() != 2) return nullptr;
  return result.class_names[static_cast<std::size_t>(result.positive)];
}

inline std::string document(const nlohmann::ordered_json& answer) {
  return answer.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// ",0.5,,0.25": the scores of one model, nothing where one is not known.
template <class Result>
std::string scores_csv(const Result& result, const ModelScores& model) {
  std::string text;
  for (const auto metric : result.known()) {
    const double score = model.score(metric);
    text += std::isfinite(score) ? fmt::format(",{}", score) : ",";
  }
  return text;
}

}  // namespace sheaf::search
