#include "text/model_text.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
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

/// The features that count most.
std::string weights_text(const KnnModel& model) {
  const auto& weights = model.distance.weights;
  if (weights.empty()) return {};
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
  std::vector<std::vector<std::string>> rows{{dim("feature"), dim("weight")}};
  for (std::size_t k = 0; k < std::min(order.size(), most_weights); ++k)
    rows.push_back({shortened(model.feature_name(static_cast<std::int64_t>(order[k])), 40),
                    fmt::format("{:.4g}", weights[order[k]])});
  auto text = fmt::format("\n{}\n", bold("Weights of features")) + table(rows, "lr", 2);
  if (order.size() > most_weights) text += fmt::format("  and {} more\n", order.size() - most_weights);
  return text;
}

}  // namespace

std::string knn_text(const KnnModel& model, const std::string& source, std::int64_t rows) {
  auto text = fmt::format("{}\n  {} x {}", bold(source), counted(rows, "row"), counted(model.features, "feature"));
  if (!model.is_regression()) text += fmt::format(", {}", counted(model.class_names.size(), "class"));
  text += fmt::format("\n  {}\n", rule_text(model));
  return text + weights_text(model);
}

std::string knn_json(const KnnModel& model, const std::string& path, std::int64_t rows) {
  Json answer{{"model", path},
              {"rule", to_string(model.rule)},
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
  return answer.dump(2) + "\n";
}

}  // namespace sheaf::cli
