#include <nlohmann/json.hpp>

#include <sheaf/report.hpp>

#include "data/describe/remedy.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

Json target_json(const Profile& p) {
  if (!p.labelled) return nullptr;
  Json target{{"name", p.target_name}, {"kind", p.classification ? "classes" : "numbers"}};
  if (p.classification) {
    auto classes = Json::array();
    for (std::size_t c = 0; c < p.class_names.size(); ++c)
      classes.push_back({{"name", p.class_names[c]}, {"count", p.summary.class_counts[c]}});
    target["classes"] = std::move(classes);
    return target;
  }
  target.update(Json{{"minimum", p.summary.target_minimum},
                     {"maximum", p.summary.target_maximum},
                     {"mean", p.summary.target_mean},
                     {"standard_deviation", p.summary.target_standard_deviation}});
  for (const auto& [name, values] : p.summary.further_targets)
    target["further"].push_back({{"name", name},
                                 {"minimum", values.minimum},
                                 {"maximum", values.maximum},
                                 {"mean", values.mean},
                                 {"standard_deviation", values.standard_deviation}});
  return target;
}

Json feature_json(const Profile& p, const Highlight& highlight) {
  const auto j = static_cast<std::size_t>(highlight.feature);
  const auto& f = p.summary.per_feature[j];
  Json feature{{"position", highlight.feature + 1},
               {"name", p.feature_name(highlight.feature)},
               {"nonzeros", f.nonzeros},
               {"minimum", f.minimum},
               {"maximum", f.maximum},
               {"mean", f.mean},
               {"standard_deviation", f.standard_deviation}};
  if (!p.associations.empty()) feature["correlation"] = p.associations.correlation[j];
  if (!p.associations.auc.empty()) feature["auc"] = p.associations.auc[j];
  if (!highlight.class_means.empty()) {
    feature["class_means"] = highlight.class_means;
    feature["class_prevalence"] = highlight.class_prevalence;
  }
  return feature;
}

Json features_json(const Profile& p, const std::vector<Highlight>& highlights) {
  auto list = Json::array();
  for (const auto& highlight : highlights) list.push_back(feature_json(p, highlight));
  return list;
}

Json memory_json(const Profile& p) {
  auto devices = Json::array();
  for (const auto& fit : p.fits)
    devices.push_back({{"device", to_string(fit.device.device)},
                       {"need_bytes", fit.need},
                       {"budget_bytes", fit.budget},
                       {"models", fit.models}});
  return {{"element_bytes", p.element_bytes},
          {"matrix_bytes", p.memory.matrix_cpu},
          {"per_model_bytes", p.memory.per_task},
          {"devices", std::move(devices)}};
}

Json remedy_json(const std::optional<Remedy>& remedy) {
  if (!remedy) return nullptr;
  Json settings = Json::object();
  for (const auto& [name, text] : remedy->settings) settings[name] = text;
  return {{"title", remedy->title}, {"settings", std::move(settings)}};
}

Json findings_json(const Profile& p) {
  auto list = Json::array();
  for (const auto& finding : p.findings)
    list.push_back({{"level", finding.level == Finding::Level::warning ? "warning" : "note"},
                    {"code", finding.code},
                    {"message", finding.message},
                    {"remedy", remedy_json(remedy_of(finding, p))}});
  return list;
}

}  // namespace

std::string profile_json(const Profile& p) {
  const auto& s = p.summary;
  const double cells = static_cast<double>(s.rows) * static_cast<double>(s.features);
  const Json answer{{"source", p.source},
                    {"rows", s.rows},
                    {"features", s.features},
                    {"sparse", s.sparse},
                    {"stored", s.stored},
                    {"nonzeros", s.nonzeros},
                    {"density", cells > 0 ? static_cast<double>(s.nonzeros) / cells : 0},
                    {"minimum", s.minimum},
                    {"maximum", s.maximum},
                    {"integers_only", s.integers_only},
                    {"constant_features", s.constant_features},
                    {"zero_features", s.zero_features},
                    {"empty_rows", s.empty_rows},
                    {"shortest_row", s.shortest_row},
                    {"longest_row", s.longest_row},
                    {"row_nonzeros_histogram", s.row_nonzeros_histogram},
                    {"groups", s.groups},
                    {"label", target_json(p)},
                    {"chance", {{"correlation", p.associations.chance}, {"shuffles", p.associations.shuffles}}},
                    {"strongest", features_json(p, p.strongest)},
                    {"varying", features_json(p, p.varying)},
                    {"memory", memory_json(p)},
                    {"findings", findings_json(p)}};
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sheaf
