#include "search/journal_json.hpp"

#include <cmath>
#include <limits>

namespace sheaf::search {
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

Json net_json(const NetModel& net) {
  const auto& fit = net.fit;
  return {{"intercept", number(net.intercept)},
          {"features", net.features},
          {"weights", numbers(net.weights)},
          {"fit",
           {number(fit.objective), number(fit.gap), number(fit.tolerance), fit.nonzeros, fit.epochs, fit.parallel,
            fit.converged}}};
}

NetModel net_from(const Json& json) {
  NetModel net;
  net.intercept = number(json.at("intercept"));
  net.features = json.at("features").get<std::vector<std::int32_t>>();
  net.weights = numbers_from(json.at("weights"));
  const auto& fit = json.at("fit");
  net.fit = {number(fit.at(0)),
             number(fit.at(1)),
             number(fit.at(2)),
             fit.at(3).get<std::int32_t>(),
             fit.at(4).get<std::int32_t>(),
             fit.at(5).get<std::int32_t>(),
             fit.at(6).get<bool>()};
  return net;
}

}  // namespace

Json to_json(const ModelScores& model) {
  Json fits = Json::array();
  for (const auto& fit : model.fits)
    fits.push_back({number(fit.objective), number(fit.gradient_norm), number(fit.tolerance), fit.iterations,
                    fit.products, fit.converged});
  Json json{{"scores", numbers(model.values)}, {"roc", model.roc}, {"confusion", model.confusion}, {"fits", fits}};
  if (model.support >= 0) json["support"] = model.support;
  return json;
}

void from_json(const Json& json, ModelScores& model) {
  for (std::size_t k = 0; k < metric_count; ++k) model.values[k] = number(json.at("scores").at(k));
  model.roc = json.at("roc").get<std::vector<double>>();
  model.confusion = json.at("confusion").get<std::vector<std::int64_t>>();
  model.support = json.value("support", std::int64_t{-1});
  for (const auto& fit : json.at("fits"))
    model.fits.push_back({number(fit.at(0)), number(fit.at(1)), number(fit.at(2)), fit.at(3).get<int>(),
                          fit.at(4).get<int>(), fit.at(5).get<bool>()});
}

Json to_json(const StudySplit& split) {
  Json nets = Json::array();
  for (const auto& net : split.nets) nets.push_back(net_json(net));
  return {{"scores", numbers(split.scores)},
          {"nonzeros", numbers(split.nonzeros)},
          {"unconverged", split.unconverged},
          {"l1_ratio", split.l1_ratio},
          {"alpha", split.alpha},
          {"left_out", to_json(split.left_out)},
          {"nets", nets}};
}

void from_json(const Json& json, StudySplit& split) {
  split.scores = numbers_from(json.at("scores"));
  split.nonzeros = numbers_from(json.at("nonzeros"));
  split.unconverged = json.at("unconverged").get<std::int64_t>();
  split.l1_ratio = json.at("l1_ratio").get<std::int32_t>();
  split.alpha = json.at("alpha").get<std::int32_t>();
  from_json(json.at("left_out"), split.left_out);
  for (const auto& net : json.at("nets")) split.nets.push_back(net_from(net));
}

}  // namespace sheaf::search
