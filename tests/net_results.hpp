// Elastic nets beside the weights that another program found, in the form that the recipes of tests/golden write.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/elastic_net.hpp>
#include <sheaf/io.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {

/// +1 for the larger of two labels and -1 for the other.
inline std::vector<double> signs_of(const std::vector<double>& labels) {
  const double larger = *std::max_element(labels.begin(), labels.end());
  std::vector<double> signs;
  for (const double label : labels) signs.push_back(label == larger ? 1 : -1);
  return signs;
}

inline NetSheaf net_sheaf_of(const nlohmann::json& one, const Target& target) {
  NetSheaf sheaf;
  sheaf.examples = target.rows();
  sheaf.targets = one["loss"] == "logistic" ? signs_of(target.values) : target.values;
  for (const double weight : one["row_weights"]) sheaf.row_weights.push_back(static_cast<float>(weight));
  sheaf.penalty_factors = one["penalty_factors"].get<std::vector<double>>();
  sheaf.paths = {{0, 0, one["l1_ratio"], {}}};
  for (const auto& point : one["path"]) sheaf.paths[0].alphas.push_back(point["alpha"]);
  return sheaf;
}

/// The largest difference as a share of the largest weight (the intercept: of itself, where that is larger).
inline double weight_error(const NetModel& model, const nlohmann::json& point) {
  auto wanted = point["weights"].get<std::vector<double>>();
  const double intercept = point["intercept"];
  double largest = 0;
  for (const double weight : wanted) largest = std::max(largest, std::abs(weight));
  for (std::size_t k = 0; k < model.features.size(); ++k)
    wanted[static_cast<std::size_t>(model.features[k])] -= model.weights[k];
  double error = std::abs(model.intercept - intercept) / std::max(largest, std::abs(intercept));
  for (const double difference : wanted) error = std::max(error, std::abs(difference) / largest);
  return error;
}

/// Every case of a file of results, on every device and in both storages. `data` is where a dataset's file is.
template <class FindData>
void expect_nets(const nlohmann::json& results, double tolerance, const FindData& data) {
  for (const auto& one : results["cases"])
    for (const Device device : devices())
      for (const Storage storage : {Storage::dense, Storage::sparse}) {
        const std::string name = one["data"];
        SCOPED_TRACE(results["program"].get<std::string>() + ": " + name + ", " + one["loss"].get<std::string>() +
                     ", l1-ratio " + one["l1_ratio"].dump() + (one["standardise"] ? ", standardised" : "") + ", on " +
                     to_string(device));
        ReadOptions options;
        options.storage = storage;
        const auto dataset = read_dataset<double>(on(device), data(name), options);
        NetParams params;
        params.loss = one["loss"] == "logistic" ? Loss::logistic : Loss::squared;
        params.tolerance = 1e-11;
        params.max_epochs = 1000000;  // a GPU takes one pass after another where the CPU solves systems
        params.intercept = one["intercept"];
        params.standardise = one["standardise"];
        const auto models = elastic_nets<double>(on(device), dataset, net_sheaf_of(one, dataset.target), params);
        ASSERT_EQ(models.size(), one["path"].size());
        for (std::size_t k = 0; k < models.size(); ++k) {
          EXPECT_LE(models[k].fit.gap, 1e-10);  // the last digits of a gap may be lost in rounding
          EXPECT_LT(weight_error(models[k], one["path"][k]), tolerance) << "alpha " << one["path"][k]["alpha"];
        }
      }
}

}  // namespace sheaf::test
