#include "search/journal/journal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/parameter_json.hpp"

namespace sheaf::engine {
namespace {

using Json = nlohmann::json;

/// JSON writes the fewest digits that read back as the same number, but knows neither NaN nor infinity.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_string()) return (json == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  return json.get<double>();
}

Json numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

std::vector<double> numbers_from(const Json& json) {
  std::vector<double> values;
  values.reserve(json.size());
  for (const auto& value : json) values.push_back(number(value));
  return values;
}

Json weights_json(const FeatureWeights& of) {
  return {{"intercept", number(of.intercept)}, {"features", of.features}, {"weights", numbers(of.weights)}};
}

FeatureWeights weights_from(const Json& json) {
  return {number(json.at("intercept")), json.at("features").get<std::vector<std::int32_t>>(),
          numbers_from(json.at("weights"))};
}

/// Tables of many classes are nearly empty: pairs of place and count of what is not 0.
Json confusion_json(const std::vector<std::int64_t>& table) {
  constexpr std::size_t few = 2500;
  if (table.size() <= few) return table;
  Json counts = Json::array();
  for (std::size_t k = 0; k < table.size(); ++k)
    if (table[k] != 0) counts.push_back({k, table[k]});
  return {{"size", table.size()}, {"counts", std::move(counts)}};
}

std::vector<std::int64_t> confusion_from(const Json& json) {
  if (json.is_array()) return json.get<std::vector<std::int64_t>>();
  constexpr std::size_t most = std::size_t{1} << 20U;
  std::vector<std::int64_t> table(std::min(json.at("size").get<std::size_t>(), most), 0);
  for (const auto& pair : json.at("counts"))
    if (const auto place = pair.at(0).get<std::size_t>(); place < table.size())
      table[place] = pair.at(1).get<std::int64_t>();
  return table;
}

Json place_json(const ModelPlace& place) {
  auto point = Json::object();
  for (const auto& setting : place.settings)
    point[json_name(setting.parameter)] = setting.name.empty() ? number(setting.value) : Json(setting.name);
  return {{"level", place.level}, {"split", place.split}, {"point", std::move(point)}};
}

ModelPlace place_from(const Json& json) {
  ModelPlace place{json.at("level").get<std::int32_t>(), json.at("split").get<std::int32_t>(), {}};
  for (const auto& [name, value] : json.at("point").items()) {
    const bool named = value.is_string() && value != "inf" && value != "-inf";
    place.settings.push_back({name, named ? 0 : number(value), named ? value.get<std::string>() : std::string()});
  }
  return place;
}

Json model_json(const ModelScores& model) {
  Json json{{"scores", numbers(model.values)}};
  for (const auto& fit : model.fits)
    json["fits"].push_back({number(fit.objective), number(fit.gradient_norm), number(fit.tolerance), fit.iterations,
                            fit.products, fit.converged});
  for (const auto& weights : model.weights) json["weights"].push_back(weights_json(weights));
  if (!model.roc.empty()) json["roc"] = model.roc;
  if (!model.precision_recall.empty()) json["precision_recall"] = numbers(model.precision_recall);
  if (!model.recall.empty()) json["recall"] = numbers(model.recall);
  if (!model.confusion.empty()) json["confusion"] = confusion_json(model.confusion);
  if (model.size >= 0) json["size"] = model.size;
  if (model.place) json["place"] = place_json(*model.place);
  return json;
}

ModelScores model_from(const Json& json) {
  ModelScores model;
  for (std::size_t k = 0; k < model.values.size(); ++k) model.values[k] = number(json.at("scores").at(k));
  model.roc = json.value("roc", std::vector<double>{});
  if (json.contains("precision_recall")) model.precision_recall = numbers_from(json["precision_recall"]);
  if (json.contains("recall")) model.recall = numbers_from(json["recall"]);
  if (json.contains("confusion")) model.confusion = confusion_from(json["confusion"]);
  model.size = json.value("size", -1.0);
  for (const auto& fit : json.value("fits", Json::array()))
    model.fits.push_back({number(fit.at(0)), number(fit.at(1)), number(fit.at(2)), fit.at(3).get<int>(),
                          fit.at(4).get<int>(), fit.at(5).get<bool>()});
  for (const auto& weights : json.value("weights", Json::array())) model.weights.push_back(weights_from(weights));
  if (json.contains("place")) model.place = place_from(json["place"]);
  return model;
}

}  // namespace

Json to_json(const std::vector<ModelScores>& models) {
  Json list = Json::array();
  for (const auto& model : models) list.push_back(model_json(model));
  return list;
}

std::vector<ModelScores> models_from(const Json& json) {
  std::vector<ModelScores> models;
  if (!json.is_array()) throw queue::DamagedRecord();
  for (const auto& model : json) models.push_back(model_from(model));
  return models;
}

}  // namespace sheaf::engine
