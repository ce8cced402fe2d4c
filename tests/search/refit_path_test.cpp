// Weights along the alphas that lead to the final model of a search: those of nets trained one by one.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sheaf/report.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace refit_path_test {

constexpr std::int64_t columns = 12;

Context context_on(Device device) {
  return Context({.device = device, .threads = 2, .memory = std::int64_t{1} << 30, .seed = 1});
}

/// Features of different units; labels follow the first three.
Dataset<double> make_dataset(std::int32_t classes) {
  auto table = random_rows(120, columns, 1.0, 5);
  Random random(6);
  Dataset<double> dataset;
  for (auto& row : table) {
    const double value = row[0] - 0.7 * row[1] + 0.4 * row[2] + random.normal();
    if (classes == 0)
      dataset.target.values.push_back(value);
    else
      dataset.target.classes.push_back(value > 0.5 ? 0 : classes == 3 && value < -0.5 ? 2 : 1);
    row[1] *= 50;
    row[2] += 7;
  }
  dataset.x = dense_of<double>(table, columns);
  const std::vector<std::string> names{"ant", "bee", "cat"};
  dataset.target.class_names.assign(names.begin(), names.begin() + classes);
  dataset.target.fixed_order = classes > 0;
  for (std::int64_t j = 0; j < columns; ++j) dataset.feature_names.push_back("x" + std::to_string(j + 1));
  dataset.source = "table";
  return dataset;
}

double weight_in(const FeatureWeights& of, std::int64_t feature) {
  const auto found = std::find(of.features.begin(), of.features.end(), static_cast<std::int32_t>(feature));
  return found == of.features.end() ? 0.0 : of.weights[static_cast<std::size_t>(found - of.features.begin())];
}

struct Case {
  std::int32_t classes;
  NamedSettings settings;
};

TEST(RefitPath, LeadsToTheFinalModel) {
  const std::vector<Case> cases{{0, {{"scale", "none"}}},
                                {2, {}},
                                {3, {}},
                                {0, {{"relax", "0,0.5,1"}}},
                                {2, {{"min-variance", "0.3"}}},
                                {2, {{"l1-ratio", "0"}}},
                                {2, {{"select", "mim:5"}}},
                                {0, {{"scale", "01"}}}};
  for (const Device device : devices())
    for (const auto& [classes, settings] : cases) {
      SCOPED_TRACE(settings.empty() ? std::to_string(classes) : settings.front().first + settings.front().second);
      const auto dataset = make_dataset(classes);
      auto all = settings;
      all.emplace_back("alpha-count", "12");
      all.emplace_back("tolerance", "1e-9");
      const auto result =
          search(context_on(device), dataset, classes == 0 ? "elastic-net" : "elastic-net-logistic", all);
      ASSERT_GE(result.path.size(), 2U);
      EXPECT_TRUE(std::is_sorted(result.path.begin(), result.path.end(),
                                 [](const auto& a, const auto& b) { return a.alpha > b.alpha; }));
      EXPECT_EQ(result.path.back().alpha, result.value(result.chosen(), "alpha"));
      const auto model = *result.model->coefficients();
      const auto& last = result.path.back().weights;
      ASSERT_EQ(last.size(), model.columns.size());
      for (std::int64_t j = 0; j < std::ssize(model.feature_names); ++j)
        for (std::size_t c = 0; c < last.size(); ++c) {
          const double deviation = result.standard_deviations[static_cast<std::size_t>(j)];
          EXPECT_NEAR(weight_in(last[c], j) * deviation, model.weight(j, static_cast<std::int32_t>(c)) * deviation,
                      2e-3)
              << model.feature_names[static_cast<std::size_t>(j)];
        }
    }
}

/// Each step is the net of its alpha on all rows.
TEST(RefitPath, StepsAreNetsOfTheirAlphas) {
  const auto dataset = make_dataset(0);
  const auto context = context_on(Device::cpu());
  const auto result = search(context, dataset, "elastic-net", {{"alpha-count", "10"}, {"scale", "none"}});
  ASSERT_GE(result.path.size(), 3U);
  const auto final = *result.model->coefficients();
  for (const auto& step : result.path) {
    auto options = result.space.get<NetOptions>();
    options.alpha = step.alpha;
    options.l1_ratio = result.value(result.chosen(), "l1-ratio");
    const auto net = train_net(context, dataset, options);
    for (std::int64_t j = 0; j < columns; ++j) {
      if (final.weight(j, 0) == 0) continue;
      EXPECT_NEAR(weight_in(step.weights[0], j), net.weights[static_cast<std::size_t>(j)], 1e-3) << step.alpha;
    }
  }
}

/// The same numbers in results.json, in path.csv and in the page; none without a path.
TEST(RefitPath, IsInAllResults) {
  const auto dataset = make_dataset(3);
  const auto context = context_on(Device::cpu());
  const auto result = search(context, dataset, "elastic-net-logistic", {{"alpha-count", "8"}});
  const auto path = nlohmann::json::parse(search_json(result))["path"];
  EXPECT_TRUE(path["resample"].is_null());
  ASSERT_EQ(path["alphas"].size(), result.path.size());
  ASSERT_EQ(path["columns"].size(), 3U);
  std::istringstream lines(path_csv(result));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "feature,class,alpha,weight,standardised_weight");
  for (const auto& column : path["columns"])
    for (const auto& feature : column["features"])
      for (std::size_t a = 0; a < result.path.size(); ++a) {
        ASSERT_TRUE(std::getline(lines, line));
        const auto begin = feature["name"].get<std::string>() + "," + column["class"].get<std::string>() + ",";
        EXPECT_EQ(line.substr(0, begin.size()), begin);
        EXPECT_EQ(std::stod(line.substr(line.rfind(',') + 1)), feature["effects"][a].get<double>());
      }
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_NE(search_html(result).find("Weights along the path to the chosen model, class bee"), std::string::npos);
  const auto ridge = search(context, dataset, "linear");
  EXPECT_TRUE(ridge.path.empty());
  EXPECT_FALSE(nlohmann::json::parse(search_json(ridge)).contains("path"));
}

}  // namespace refit_path_test
}  // namespace sheaf::test
