#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/study.hpp>

#include "report/csv_text.hpp"
#include "report/result_json.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;
using search::number;
using search::scores_json;
using search::summary_json;

/// Of amounts and two classes one number, else one for each class.
Json by_class(const StudyResult& r, const std::vector<double>& values) {
  if (r.columns == 1) return number(values.front());
  Json list = Json::object();
  for (std::size_t c = 0; c < values.size(); ++c) list[r.class_names[c]] = number(values[c]);
  return list;
}

Json feature_json(const StudyResult& r, const StudyFeature& feature) {
  return {{"index", feature.index},
          {"name", feature.name},
          {"frequency", feature.frequency},
          {"mean_weight", by_class(r, feature.mean_weight)},
          {"sign_agreement", by_class(r, feature.sign_agreement)},
          {"median_rank", feature.median_rank},
          {"deviation", feature.deviation}};
}

Json nets_json(const StudyResult& r, const StudySplit& split) {
  Json list = Json::array();
  for (std::size_t c = 0; c < split.nets.size(); ++c) {
    const auto& net = split.nets[c];
    Json weights = Json::array();
    for (std::size_t k = 0; k < net.features.size(); ++k) weights.push_back({net.features[k], number(net.weights[k])});
    list.push_back({{"class", r.class_names.empty() ? Json() : Json(r.class_names[c])},
                    {"intercept", number(net.intercept)},
                    {"weights", std::move(weights)},
                    {"objective", number(net.fit.objective)},
                    {"duality_gap", number(net.fit.gap)},
                    {"tolerance", number(net.fit.tolerance)},
                    {"epochs", net.fit.epochs},
                    {"converged", net.fit.converged}});
  }
  return list;
}

Json splits_json(const StudyResult& r) {
  Json list = Json::array();
  for (const auto& split : r.splits) {
    const auto pair =
        static_cast<std::size_t>(split.l1_ratio) * r.alpha_count() + static_cast<std::size_t>(split.alpha);
    list.push_back({{"alpha", r.alpha_of(split)},
                    {"l1_ratio", r.l1_ratio_of(split)},
                    {"within", summary_json(r.within(split, pair))},
                    {"left_out", scores_json(r, split.left_out)},
                    {"models", nets_json(r, split)}});
  }
  return list;
}

/// The pairs that some split tried.
Json surface_json(const StudyResult& r) {
  Json list = Json::array();
  for (std::size_t pair = 0; pair < r.pairs(); ++pair) {
    const auto summary = r.surface(pair);
    if (summary.splits == 0) continue;
    const auto l1 = pair / r.alpha_count();
    Json row{{"alpha", r.alphas[l1][pair % r.alpha_count()]}, {"l1_ratio", r.options.l1_ratios[l1]}};
    row.update(summary_json(summary));
    list.push_back(std::move(row));
  }
  return list;
}

Json left_out_json(const StudyResult& r) {
  Json scores = Json::object();
  for (const auto metric : r.known()) scores[std::string(info(metric).name)] = summary_json(r.left_out(metric));
  return scores;
}

Json asked_json(const StudyResult& r) {
  const auto& options = r.options;
  return {{"loss", options.net.loss == Loss::logistic ? "logistic" : "squared"},
          {"standardise", options.net.standardise},
          {"intercept", options.net.intercept},
          {"solver", to_string(options.net.solver)},
          {"tolerance", options.net.tolerance},
          {"splits", options.splits},
          {"split", to_string(options.split)},
          {"test_fraction", options.test_fraction},
          {"folds", options.folds},
          {"l1_ratios", options.l1_ratios},
          {"alphas", r.alphas},
          {"score", info(*options.score).name},
          {"choose", options.choice == Choice::best ? "best" : "one-standard-error"},
          {"strategy", to_string(options.strategy)},
          {"min_frequency", options.min_frequency}};
}

/// A field of a CSV line, empty where a score is not defined.
std::string field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

std::string study_json(const StudyResult& r) {
  const bool two = r.class_names.size() == 2;
  Json selected = Json::array();
  for (const auto& feature : r.selected()) selected.push_back(feature.name);
  Json chosen = Json::array();
  for (const auto& feature : r.chosen) chosen.push_back(feature_json(r, feature));
  const auto best = static_cast<std::size_t>(r.best_l1_ratio);
  const Json answer{
      {"source", r.source},
      {"rows", r.rows},
      {"features", r.features},
      {"groups", r.groups > 0 ? Json(r.groups) : Json()},
      {"classes", r.class_names},
      {"positive_class", search::positive_json(r)},
      {"positive_weights_speak_for", two ? Json(r.class_names[0]) : Json()},
      {"seed", r.seed},
      {"asked", asked_json(r)},
      {"left_out", left_out_json(r)},
      {"stability",
       {{"value", number(r.stability.value)},
        {"interval", {number(r.stability.low), number(r.stability.high)}},
        {"standard_error", number(r.stability.standard_error)}}},
      {"best",
       {{"alpha", r.alphas[best][static_cast<std::size_t>(r.best_alpha)]}, {"l1_ratio", r.options.l1_ratios[best]}}},
      {"selected", std::move(selected)},
      {"chosen", std::move(chosen)},
      {"splits", splits_json(r)},
      {"surface", surface_json(r)},
      {"warnings", r.warnings},
      {"notes", r.notes}};
  return search::document(answer);
}

std::string study_features_csv(const StudyResult& r) {
  std::string text = "index,name,frequency,median_rank,deviation";
  for (std::int32_t c = 0; c < r.columns; ++c) {
    const auto of = r.columns == 1 ? "" : " of " + r.class_names[static_cast<std::size_t>(c)];
    text += ',' + csv_field("mean_weight" + of) + ',' + csv_field("sign_agreement" + of);
  }
  text += '\n';
  for (const auto& feature : r.chosen) {
    text += fmt::format("{},{},{},{},{}", feature.index, csv_field(feature.name), feature.frequency,
                        feature.median_rank, feature.deviation);
    for (std::size_t c = 0; c < feature.mean_weight.size(); ++c)
      text += fmt::format(",{},{}", feature.mean_weight[c], feature.sign_agreement[c]);
    text += '\n';
  }
  return text;
}

std::string study_splits_csv(const StudyResult& r) {
  std::string text = "split,alpha,l1_ratio,features,within";
  for (const auto metric : r.known()) text += fmt::format(",{}", info(metric).name);
  text += ",converged\n";
  for (std::size_t s = 0; s < r.splits.size(); ++s) {
    const auto& split = r.splits[s];
    const auto pair =
        static_cast<std::size_t>(split.l1_ratio) * r.alpha_count() + static_cast<std::size_t>(split.alpha);
    std::int64_t nonzeros = 0;
    bool converged = true;
    for (const auto& net : split.nets) {
      nonzeros += net.fit.nonzeros;
      converged = converged && net.fit.converged;
    }
    text += fmt::format("{},{},{},{},{}", s + 1, r.alpha_of(split), r.l1_ratio_of(split), nonzeros,
                        field(r.within(split, pair).mean));
    for (const auto metric : r.known()) text += ',' + field(split.left_out.score(metric));
    text += fmt::format(",{}\n", converged ? "yes" : "no");
  }
  return text;
}

}  // namespace sheaf
