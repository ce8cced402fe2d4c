#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/search.hpp>

#include "report/largest_weights.hpp"
#include "report/result_json.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;
using search::summary_json;

constexpr std::size_t most_weights = 50;

Json costs_json(const SearchResult& result) {
  Json list = Json::array();
  for (std::size_t c = 0; c < result.options.costs.size(); ++c) {
    Json row{{"cost", result.options.costs[c]}};
    search::add_candidate(result, c, row);
    list.push_back(std::move(row));
  }
  return list;
}

Json chosen_json(const SearchResult& result) {
  const auto chosen = result.chosen.chosen;
  Json row{{"cost", result.cost()}, {"best_cost", result.options.costs[result.chosen.best]}};
  for (const auto metric : result.known())
    row[std::string(info(metric).name)] = summary_json(result.summary(chosen, metric));
  return row;
}

Json weights_json(const SearchResult& result) {
  Json list = Json::array();
  const auto& model = result.model;
  for (std::int32_t c = 0; c < model.columns; ++c) {
    Json weights = Json::array();
    for (const auto j : search::largest_weights(model, c, most_weights))
      weights.push_back({{"position", j + 1}, {"name", model.feature_name(j)}, {"weight", model.weight(j, c)}});
    list.push_back({{"class", model.is_regression() ? Json() : Json(model.class_names[static_cast<std::size_t>(c)])},
                    {"weights", std::move(weights)}});
  }
  return list;
}

}  // namespace

std::string search_json(const SearchResult& result) {
  const auto& options = result.options;
  const auto chosen_cost = [&](const auto& fold) { return Json{{"cost", options.costs[fold.chosen]}}; };
  const Json answer{{"rows", result.rows},
                    {"features", result.features},
                    {"classes", result.class_names},
                    {"positive_class", search::positive_json(result)},
                    {"solver", linear_solver(options.linear.loss).name},
                    {"split", to_string(*options.split)},
                    {"splits", result.splits},
                    {"seed", result.seed},
                    {"score", info(*options.score).name},
                    {"choose", options.choice == Choice::best ? "best" : "one-standard-error"},
                    {"chosen", chosen_json(result)},
                    {"costs", costs_json(result)},
                    {"outer", search::outer_json(result, chosen_cost)},
                    {"largest_weights", weights_json(result)},
                    {"warnings", result.warnings},
                    {"notes", result.notes}};
  return search::document(answer);
}

std::string search_csv(const SearchResult& result) {
  std::string text = "cost,split";
  for (const auto metric : result.known()) text += fmt::format(",{}", info(metric).name);
  text += ",iterations,converged\n";
  for (std::size_t m = 0; m < result.models.size(); ++m) {
    const auto& model = result.models[m];
    const auto splits = static_cast<std::size_t>(result.splits);
    text += fmt::format("{},{}", result.options.costs[m / splits], m % splits + 1);
    text += search::scores_csv(result, model);
    int iterations = 0;
    bool converged = true;
    for (const auto& fit : model.fits) {
      iterations += fit.iterations;
      converged = converged && fit.converged;
    }
    text += fmt::format(",{},{}\n", iterations, converged ? "yes" : "no");
  }
  return text;
}

}  // namespace sheaf
