// What the JSON of searches and studies has in common.
#pragma once

#include <cmath>
#include <string>

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

}  // namespace sheaf::search
