#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <sheaf/svm_search.hpp>

#include "report/result_json.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;
using search::summary_json;

Json point_json(const SvmSearchResult& result, const SvmPoint& point) {
  const double gamma = point.gamma > 0 ? point.gamma : 1 / static_cast<double>(result.features);
  const auto& kernel = kernel_function(result.options.svm.kernel);
  Json json{{"cost", point.cost}};
  if (kernel.has_gamma) json["gamma"] = gamma;
  if (kernel.has_degree) json["degree"] = point.degree;
  return json;
}

Json points_json(const SvmSearchResult& result) {
  Json list = Json::array();
  for (std::size_t p = 0; p < result.points.size(); ++p) {
    auto row = point_json(result, result.points[p]);
    row["support_vectors"] = result.support(p);
    search::add_candidate(result, p, row);
    list.push_back(std::move(row));
  }
  return list;
}

Json chosen_json(const SvmSearchResult& result) {
  auto row = point_json(result, result.point());
  row["best"] = point_json(result, result.points[result.chosen.best]);
  row["support_vectors"] = result.model.support_vectors();
  for (const auto metric : result.known())
    row[std::string(info(metric).name)] = summary_json(result.summary(result.chosen.chosen, metric));
  return row;
}

const char* grid_name(SvmGridKind kind) {
  return kind == SvmGridKind::automatic ? "automatic" : kind == SvmGridKind::easy ? "easy" : "given";
}

}  // namespace

std::string options_json(const SvmSearchOptions& options) {
  const auto& svm = options.svm;
  Json weights = Json::array();
  for (const auto& [name, weight] : svm.class_weights) weights.push_back({name, weight});
  const auto* rule = svm.rule == ClassRule::votes ? "votes" : svm.rule == ClassRule::winner ? "winner" : "automatic";
  const Json json{{"model", "svm"},
                  {"type", to_string(svm.kind)},
                  {"kernel", to_string(svm.kernel)},
                  {"grid", grid_name(grid_kind(options))},
                  {"gammas", options.gammas},
                  {"degrees", options.degrees},
                  {"refine", options.refine},
                  {"coef0", svm.coef0},
                  {"nu", svm.nu},
                  {"epsilon", svm.epsilon},
                  {"tolerance", svm.tolerance},
                  {"multi_class", svm.multi_class == MultiClass::one_vs_one ? "one-vs-one" : "one-vs-rest"},
                  {"decide", rule},
                  {"probabilities", svm.probabilities},
                  {"class_weights", weights},
                  {"balanced", svm.balanced}};
  return json.dump();
}

std::string search_json(const SvmSearchResult& result) {
  const auto& options = result.options;
  const auto chosen_point = [&](const auto& fold) { return point_json(result, fold.chosen); };
  const Json answer{{"rows", result.rows},
                    {"features", result.features},
                    {"classes", result.class_names},
                    {"positive_class", search::positive_json(result)},
                    {"model", "svm"},
                    {"type", to_string(options.svm.kind)},
                    {"kernel", to_string(options.svm.kernel)},
                    {"grid", grid_name(grid_kind(options))},
                    {"split", to_string(*options.common.split)},
                    {"splits", result.splits},
                    {"seed", result.seed},
                    {"score", info(*options.common.score).name},
                    {"choose", options.common.choice == Choice::best ? "best" : "one-standard-error"},
                    {"chosen", chosen_json(result)},
                    {"points", points_json(result)},
                    {"outer", search::outer_json(result, chosen_point)},
                    {"warnings", result.warnings},
                    {"notes", result.notes}};
  return search::document(answer);
}

std::string search_csv(const SvmSearchResult& result) {
  std::string text = "cost,gamma,degree,split";
  for (const auto metric : result.known()) text += fmt::format(",{}", info(metric).name);
  text += ",support_vectors,iterations,converged\n";
  const auto splits = static_cast<std::size_t>(result.splits);
  for (std::size_t m = 0; m < result.models.size(); ++m) {
    const auto& model = result.models[m];
    const auto point = point_json(result, result.points[m / splits]);
    text += fmt::format("{},{},{},{}", result.points[m / splits].cost,
                        point.contains("gamma") ? fmt::format("{}", point["gamma"].get<double>()) : "",
                        point.contains("degree") ? point["degree"].dump() : "", m % splits + 1);
    text += search::scores_csv(result, model);
    text += fmt::format(",{},{},{}\n", model.support, model.fits.front().iterations,
                        model.fits.front().converged ? "yes" : "no");
  }
  return text;
}

}  // namespace sheaf
