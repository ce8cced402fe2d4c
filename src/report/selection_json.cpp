#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/report.hpp>

#include "information/stability_json.hpp"
#include "report/annotation_columns.hpp"
#include "report/csv_text.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json feature_json(const SelectionResult& r, const ReportedFeature& row) {
  Json json{{"index", row.feature.index},
            {"name", row.name},
            {"score", number(row.feature.score)},
            {"gain", number(row.feature.gain)},
            {"relevance", number(row.feature.relevance)},
            {"redundancy", number(row.feature.redundancy)}};
  if (row.votes) {
    json["mean_rank"] = row.votes->mean_rank;
    json["borda"] = row.votes->borda;
    json["frequency"] = row.votes->frequency;
  }
  report::add_annotations(r.annotations, row.name, json);
  return json;
}

Json request_json(const SelectionResult& r) {
  const auto& o = r.options;
  Json json{{"criterion", o.criterion}, {"count", o.count}};
  const auto& row = find_criterion(o.criterion);
  if (row.uses_beta) json["beta"] = o.beta;
  if (row.uses_gamma) json["gamma"] = o.gamma;
  if (row.uses_threshold) json["threshold"] = o.threshold;
  if (row.uses_neighbours) json["neighbours"] = o.neighbours;
  json["min_gain"] = number(o.min_gain);
  json["match"] = o.match == Match::feast ? "feast" : "fast";
  json["preselected"] = r.preselected;
  return json;
}

Json binning_json(const SelectionResult& r) {
  const bool counted = r.cuts.method != BinMethod::mdlp && r.cuts.method != BinMethod::as_given;
  return {{"method", to_string(r.cuts.method)},
          {"bins", counted ? Json(r.binning.bins) : Json()},
          {"automatic", r.automatic_bins},
          {"missing", r.cuts.missing == MissingState::own ? "bin" : "error"},
          {"target_bins", r.binning.target_bins > 0 ? Json(r.binning.target_bins) : Json()}};
}

Json ensemble_json(const SelectionResult& r) {
  if (!r.combined) return nullptr;
  Json members = Json::array();
  for (const auto& member : r.members) {
    Json selected = Json::array();
    for (const auto& feature : member.selection.selected) selected.push_back(feature.index);
    members.push_back({{"criterion", member.selection.criterion},
                       {"resample", member.resample < 0 ? Json() : Json(member.resample)},
                       {"selected", std::move(selected)}});
  }
  return {{"combine", to_string(r.ensemble.combination)},
          {"resamples", r.ensemble.resamples},
          {"stability", number(r.stability)},
          {"stability_by_chance", information::chance_json(r.chance)},
          {"members", std::move(members)}};
}

}  // namespace

std::string selection_json(const SelectionResult& r) {
  Json selected = Json::array();
  for (const auto& row : r.selected) selected.push_back(feature_json(r, row));
  Json classes = Json::array();
  for (std::size_t c = 0; c < r.class_names.size(); ++c)
    classes.push_back({{"name", r.class_names[c]}, {"count", r.class_counts[c]}});
  const Json answer{{"source", r.source},
                    {"rows", r.rows},
                    {"features", r.features},
                    {"classes", std::move(classes)},
                    {"asked", request_json(r)},
                    {"binning", binning_json(r)},
                    {"seed", r.seed},
                    {"selected", std::move(selected)},
                    {"ensemble", ensemble_json(r)},
                    {"counting", r.counting},
                    {"pairs", {{"possible", r.work.pairs_possible}, {"counted", r.work.pairs_counted}}},
                    {"notes", r.notes}};
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string selection_csv(const SelectionResult& r) {
  std::string text = "rank,index,name,score,gain,relevance,redundancy";
  text += (r.combined ? ",mean_rank,borda,frequency" : "") + report::annotation_heading(r.annotations) + '\n';
  for (std::size_t k = 0; k < r.selected.size(); ++k) {
    const auto& [feature, name, votes] = r.selected[k];
    text += fmt::format("{},{},{},{},{},{},{}", k + 1, feature.index, csv_field(name), feature.score, feature.gain,
                        feature.relevance, feature.redundancy);
    if (votes) text += fmt::format(",{},{},{}", votes->mean_rank, votes->borda, votes->frequency);
    text += report::annotation_fields(r.annotations, name) + '\n';
  }
  return text;
}

}  // namespace sheaf
