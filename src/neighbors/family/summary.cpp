// Summaries of models of neighbours, for people and as JSON.
#include "neighbors/family/summary.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/text.hpp"
#include "family/summary.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_weights = 10;

std::int64_t centre_count(const KnnModel& model) {
  const std::set<std::int32_t> centres(model.centres.begin(), model.centres.end());
  return std::ssize(centres);
}

std::string rule_text(const KnnModel& model) {
  if (model.rule == LocalRule::votes)
    return fmt::format("{} nearest neighbours, {} votes, {} distance", model.k, to_string(model.vote),
                       to_string(model.distance.metric));
  if (trains_svms(model.rule)) {
    auto text = fmt::format("local SVMs of {}, {} kernel, C = {:.6g}", counted(model.k, "neighbour"),
                            to_string(model.kernel), model.cost);
    if (model.kernel == LocalKernel::rbf) text += fmt::format(", gamma = {:.6g}", model.gamma);
    if (model.rule == LocalRule::falk_svm) text += fmt::format(", around {} centres", grouped(centre_count(model)));
    return text;
  }
  return fmt::format("{} of {} neighbours of each class, lambda = {:.6g}", to_string(model.rule), model.k,
                     model.lambda);
}

/// The features of the largest weights.
SummaryTable weights_table(const KnnModel& model) {
  const auto& weights = model.distance.weights;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
  SummaryTable table{"Weights of features", {{"feature", "weight"}}, "lr", true, {}};
  for (std::size_t k = 0; k < std::min(order.size(), most_weights); ++k)
    table.rows.push_back(
        {model.feature_name(static_cast<std::int64_t>(order[k])), fmt::format("{:.4g}", weights[order[k]])});
  if (order.size() > most_weights) table.note = fmt::format("and {} more", order.size() - most_weights);
  return table;
}

}  // namespace

ModelSummary model_summary(const KnnModel& model, std::int64_t rows) {
  ModelSummary summary{{shape_text(rows, model.features, model.class_names.size()), rule_text(model)}, {}, {}};
  if (!model.distance.weights.empty()) summary.tables.push_back(weights_table(model));
  return summary;
}

std::string model_summary_json(const KnnModel& model, std::int64_t rows) {
  Json answer{{"rule", to_string(model.rule)},
              {"k", model.k},
              {"vote", to_string(model.vote)},
              {"metric", to_string(model.distance.metric)},
              {"power", model.distance.power},
              {"weighting", to_string(model.weighting)},
              {"feature_weights", model.distance.weights},
              {"lambda", model.lambda},
              {"rows", rows},
              {"kept_rows", model.rows()},
              {"features", model.features},
              {"classes", model.class_names}};
  if (trains_svms(model.rule)) {
    answer["kernel"] = to_string(model.kernel);
    answer["cost"] = model.cost;
    answer["gamma"] = model.gamma;
    answer["tolerance"] = model.tolerance;
  }
  if (model.rule == LocalRule::falk_svm) answer["centres"] = centre_count(model);
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sheaf
