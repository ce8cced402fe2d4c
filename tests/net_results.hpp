// Elastic nets beside the weights that another program found, in the form that the recipes of tests/golden write.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/elastic_net.hpp>

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

/// The class of each row from 0 on, ascending; numbers that are not whole are classes below 3, below 7 and above.
inline std::vector<std::size_t> classes_of(std::vector<double> labels) {
  if (std::any_of(labels.begin(), labels.end(), [](double y) { return y != std::round(y); }))
    for (double& label : labels) label = label < 3 ? 0 : label < 7 ? 1 : 2;
  std::map<double, std::size_t> places;
  for (const double label : labels) places.emplace(label, 0);
  std::size_t next = 0;
  for (auto& [label, place] : places) place = next++;
  std::vector<std::size_t> classes;
  for (const double label : labels) classes.push_back(places.at(label));
  return classes;
}

inline Loss net_loss_of(const nlohmann::json& one) {
  const std::string name = one["loss"];
  return name == "logistic"      ? Loss::logistic
         : name == "poisson"     ? Loss::poisson
         : name == "multinomial" ? Loss::softmax
         : name == "grouped"     ? Loss::softmax
                                 : Loss::squared;
}
inline bool net_grouped(const nlohmann::json& one) { return one["loss"] == "grouped" || one["loss"] == "targets"; }

/// The same lower and upper limit for all weights; null: none.
inline void set_limits(const nlohmann::json& limits, std::size_t features, NetSheaf& sheaf) {
  if (!limits[0].is_null()) sheaf.lower_limits.assign(features, limits[0].get<double>());
  if (!limits[1].is_null()) sheaf.upper_limits.assign(features, limits[1].get<double>());
}

inline NetSheaf net_sheaf_of(const nlohmann::json& one, const Target& target) {
  NetSheaf sheaf;
  sheaf.examples = target.rows();
  sheaf.targets = target.values;
  const Loss loss = net_loss_of(one);
  if (loss == Loss::logistic) sheaf.targets = signs_of(target.values);
  if (loss == Loss::poisson)
    for (double& y : sheaf.targets) y = std::abs(std::round(y));
  if (loss == Loss::softmax) {
    const auto classes = classes_of(target.values);
    const std::size_t count = *std::max_element(classes.begin(), classes.end()) + 1;
    sheaf.classes = sheaf.target_columns = static_cast<std::int32_t>(count);
    sheaf.targets.assign(classes.size() * count, 0.0);
    for (std::size_t i = 0; i < classes.size(); ++i) sheaf.targets[i * count + classes[i]] = 1;
  }
  if (one["loss"] == "targets") {
    sheaf.classes = sheaf.target_columns = 3;
    sheaf.targets.clear();
    for (std::size_t i = 0; i < target.values.size(); ++i) {
      const double y = target.values[i];
      sheaf.targets.insert(sheaf.targets.end(), {y, std::sqrt(std::abs(y)), static_cast<double>((i + 1) % 3)});
    }
  }
  for (const double weight : one["row_weights"]) sheaf.row_weights.push_back(static_cast<float>(weight));
  sheaf.penalty_factors = one["penalty_factors"].get<std::vector<double>>();
  const auto& weights = one["path"][0]["weights"];
  const auto features = weights[0].is_array() ? weights[0].size() : weights.size();
  if (one.contains("limits")) set_limits(one["limits"], features, sheaf);
  if (one.contains("offsets")) sheaf.offsets = one["offsets"].get<std::vector<double>>();
  sheaf.paths = {{0, 0, one["l1_ratio"], {}}};
  for (const auto& point : one["path"]) sheaf.paths[0].alphas.push_back(point["alpha"]);
  return sheaf;
}

/// Weights of all features and the intercept of one decision value.
struct PlainWeights {
  double intercept = 0;
  std::vector<double> weights;
};

/// Weights that the other program found, of each class.
inline std::vector<PlainWeights> found_weights(const nlohmann::json& point) {
  if (!point["intercept"].is_array()) return {{point["intercept"], point["weights"].get<std::vector<double>>()}};
  std::vector<PlainWeights> all;
  for (std::size_t k = 0; k < point["intercept"].size(); ++k)
    all.push_back({point["intercept"][k], point["weights"][k].get<std::vector<double>>()});
  return all;
}
inline std::vector<PlainWeights> plain_weights(std::span<const NetModel> models, std::size_t features) {
  std::vector<PlainWeights> all;
  for (const auto& model : models) {
    auto& one = all.emplace_back(PlainWeights{model.intercept, std::vector<double>(features, 0.0)});
    for (std::size_t k = 0; k < model.features.size(); ++k)
      one.weights[static_cast<std::size_t>(model.features[k])] = model.weights[k];
  }
  return all;
}

/// The largest difference as a share of the largest weight (intercepts: of themselves, if that is larger).
inline double weight_error(const std::vector<PlainWeights>& ours, const std::vector<PlainWeights>& theirs) {
  double largest = 0;
  double intercept = 0;
  for (const auto& one : theirs) {
    for (const double weight : one.weights) largest = std::max(largest, std::abs(weight));
    intercept = std::max(intercept, std::abs(one.intercept));
  }
  double error = 0;
  for (std::size_t k = 0; k < theirs.size(); ++k) {
    error = std::max(error, std::abs(ours[k].intercept - theirs[k].intercept) / std::max(largest, intercept));
    for (std::size_t j = 0; j < theirs[k].weights.size(); ++j)
      error = std::max(error, std::abs(ours[k].weights[j] - theirs[k].weights[j]) / largest);
  }
  return error;
}

/// The objective of elastic_nets(), by its definition.
inline double plain_objective(const DenseMatrix<double>& x, const NetSheaf& sheaf, const NetParams& params,
                              double alpha, const std::vector<PlainWeights>& model) {
  const auto weight = [&](std::int64_t i) {
    return sheaf.row_weights.empty() ? 1.0 : double(sheaf.row_weights[static_cast<std::size_t>(i)]);
  };
  double total = 0;
  double loss = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    total += weight(i);
    std::vector<double> z;
    for (const auto& one : model) {
      const auto at = static_cast<std::size_t>(i) * model.size() + z.size();
      z.push_back(one.intercept + (sheaf.offsets.empty() ? 0.0 : sheaf.offsets[at]));
      for (std::int64_t j = 0; j < x.columns; ++j)
        z.back() += x.values[i * x.columns + j] * one.weights[static_cast<std::size_t>(j)];
    }
    const double* y = sheaf.targets.data() + i * sheaf.target_columns;
    if (params.loss == Loss::softmax) {
      double sum = 0;
      for (const double value : z) sum += std::exp(value);
      loss += weight(i) * std::log(sum);
      for (std::size_t k = 0; k < z.size(); ++k) loss -= weight(i) * y[k] * z[k];
    } else {
      for (std::size_t k = 0; k < z.size(); ++k)
        loss += weight(i) * (params.loss == Loss::poisson    ? std::exp(z[k]) - y[k] * z[k]
                             : params.loss == Loss::logistic ? std::log1p(std::exp(-y[k] * z[k]))
                                                             : (y[k] - z[k]) * (y[k] - z[k]) / 2);
    }
  }
  const double l1 = sheaf.paths[0].l1_ratio;
  double penalty = 0;
  for (std::int64_t j = 0; j < x.columns; ++j) {
    double mean = 0;
    double variance = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) mean += weight(i) * x.values[i * x.columns + j] / total;
    for (std::int64_t i = 0; i < x.rows; ++i)
      variance += weight(i) * std::pow(x.values[i * x.columns + j] - mean, 2) / total;
    const double unit = params.standardise ? std::sqrt(variance) : 1.0;
    const double factor = sheaf.penalty_factors.empty() ? 1.0 : sheaf.penalty_factors[static_cast<std::size_t>(j)];
    double squares = 0, sizes = 0;
    for (const auto& one : model) {
      const double w = one.weights[static_cast<std::size_t>(j)] * unit;
      squares += w * w;
      sizes += std::abs(w);
    }
    penalty += alpha * factor * (l1 * (params.grouped ? std::sqrt(squares) : sizes) + (1 - l1) / 2 * squares);
  }
  return loss / total + penalty;
}

/// Every case of a file of results, on every device and in both storages. `data` is where a dataset's file is;
/// `trained_to`: the tolerance of training.
template <class FindData>
void expect_nets(const nlohmann::json& results, double tolerance, const FindData& data, double trained_to = 1e-11) {
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
        const auto dense =
            is_sparse(dataset.x) ? to_dense(std::get<SparseMatrix<double>>(dataset.x), 1) : DenseMatrix<double>{};
        const auto& x = is_sparse(dataset.x) ? dense : std::get<DenseMatrix<double>>(dataset.x);
        NetParams params;
        params.loss = net_loss_of(one);
        params.tolerance = trained_to;
        params.max_epochs = 20000;
        params.intercept = one["intercept"];
        params.standardise = one["standardise"];
        params.grouped = net_grouped(one);
        const auto sheaf = net_sheaf_of(one, dataset.target);
        const auto models = elastic_nets<double>(on(device), dataset, sheaf, params);
        const auto columns = static_cast<std::size_t>(sheaf.classes);
        ASSERT_EQ(models.size(), one["path"].size() * columns);
        // With several classes, the optimal weights of the lasso need not be unique.
        const bool unique = params.loss != Loss::softmax || params.grouped || sheaf.paths[0].l1_ratio < 1;
        for (std::size_t k = 0; k < one["path"].size(); ++k) {
          const auto& point = one["path"][k];
          const auto classes = std::span(models).subspan(k * columns, columns);
          const auto ours = plain_weights(classes, static_cast<std::size_t>(dataset.features()));
          const auto theirs = found_weights(point);
          EXPECT_LE(classes[0].fit.gap, 10 * classes[0].fit.tolerance);  // its last digits may be lost in rounding
          if (unique) {
            EXPECT_LT(weight_error(ours, theirs), tolerance) << "alpha " << point["alpha"];
          }
          const double objective = plain_objective(x, sheaf, params, point["alpha"], ours);
          EXPECT_NEAR(classes[0].fit.objective, objective, 1e-10 * (1 + std::abs(objective)));
          EXPECT_LE(objective, plain_objective(x, sheaf, params, point["alpha"], theirs) + 1e-9 * std::abs(objective));
        }
      }
}

}  // namespace sheaf::test
