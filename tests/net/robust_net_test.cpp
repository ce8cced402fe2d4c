// Elastic nets of the Huber and quantile losses: objectives beside scikit-learn's linear programs and SciPy's
// (tests/golden/sklearn/robust.json), and optimality by plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "linear_tables.hpp"
#include "model_text.hpp"

namespace sheaf::test {
namespace robust_net_test {

/// The loss of y at z, by its definition.
double plain_loss(Loss loss, double parameter, double y, double z) {
  const double r = y - z;
  if (loss == Loss::quantile) return r > 0 ? parameter * r : (parameter - 1) * r;
  return std::abs(r) <= parameter ? r * r / 2 : parameter * std::abs(r) - parameter * parameter / 2;
}

struct Rows {
  std::vector<std::vector<double>> x;
  std::vector<double> y, s;
};

Rows rows_of(const Dataset<double>& dataset) {
  const auto dense =
      is_sparse(dataset.x) ? to_dense(std::get<SparseMatrix<double>>(dataset.x), 1) : DenseMatrix<double>{};
  const auto& x = is_sparse(dataset.x) ? dense : std::get<DenseMatrix<double>>(dataset.x);
  Rows rows{{}, dataset.target.values, std::vector<double>(static_cast<std::size_t>(x.rows), 1.0)};
  for (std::int64_t i = 0; i < x.rows; ++i)
    rows.x.emplace_back(x.values.data() + i * x.columns, x.values.data() + (i + 1) * x.columns);
  return rows;
}

NetSheaf sheaf_of(const Rows& rows, double l1_ratio, std::vector<double> alphas) {
  NetSheaf sheaf;
  sheaf.examples = std::ssize(rows.y);
  sheaf.targets = rows.y;
  sheaf.row_weights.assign(rows.s.begin(), rows.s.end());
  sheaf.paths = {{0, 0, l1_ratio, std::move(alphas)}};
  return sheaf;
}

NetParams params_of(Loss loss, double parameter, double tolerance) {
  NetParams params;
  params.loss = loss;
  params.loss_parameter = parameter;
  params.tolerance = tolerance;
  return params;
}

std::vector<double> weights_of(const NetModel& model, std::size_t features) {
  std::vector<double> w(features, 0.0);
  for (std::size_t k = 0; k < model.features.size(); ++k)
    w[static_cast<std::size_t>(model.features[k])] = model.weights[k];
  return w;
}

double decision(const Rows& rows, std::size_t i, const NetModel& model, const std::vector<double>& w) {
  double z = model.intercept;
  for (std::size_t j = 0; j < w.size(); ++j) z += rows.x[i][j] * w[j];
  return z;
}

double total_of(const Rows& rows) {
  double total = 0;
  for (const double s : rows.s) total += s;
  return total;
}

double plain_objective(const Rows& rows, const NetParams& params, double alpha, double l1, const NetModel& model) {
  const auto w = weights_of(model, rows.x[0].size());
  double sum = 0;
  for (std::size_t i = 0; i < rows.y.size(); ++i)
    sum += rows.s[i] * plain_loss(params.loss, params.loss_parameter, rows.y[i], decision(rows, i, model, w));
  sum /= total_of(rows);
  for (const double one : w) sum += alpha * (l1 * std::abs(one) + (1 - l1) / 2 * one * one);
  return sum;
}

/// Twice the least mean loss of a constant: the deviance that tolerances are shares of. The least is at a target or,
/// of Huber's loss, between two: of a convex function the steps of a search by thirds lead there.
double null_deviance(const Rows& rows, const NetParams& params) {
  const auto loss = [&](double b) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.y.size(); ++i)
      sum += rows.s[i] * plain_loss(params.loss, params.loss_parameter, rows.y[i], b);
    return sum / total_of(rows);
  };
  double low = *std::min_element(rows.y.begin(), rows.y.end());
  double high = *std::max_element(rows.y.begin(), rows.y.end());
  for (int turn = 0; turn < 300; ++turn) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    (loss(a) < loss(b) ? high : low) = loss(a) < loss(b) ? b : a;
  }
  return 2 * loss(low);
}

TEST(RobustNets, ObjectivesAreThoseOfLinearPrograms) {
  const auto results = read_json(golden("sklearn/robust.json"));
  for (const auto& one : results["cases"]) {
    const Loss loss = one["loss"] == "quantile" ? Loss::quantile : Loss::huber;
    for (const Device device : devices())
      for (const double tolerance : {1e-3, 1e-6}) {
        const double alpha = one["alpha"];
        SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["loss"].get<std::string>() + " " +
                     one["parameter"].dump() + ", alpha " + one["alpha"].dump() + ", tolerance " +
                     std::to_string(tolerance) + " on " + to_string(device));
        auto dataset = read_dataset<double>(on(device), golden("data/" + one["data"].get<std::string>() + ".libsvm"));
        dataset.target.values[0] *= 10;
        auto rows = rows_of(dataset);
        for (std::size_t i = 0; i < rows.s.size() && one["weighted"]; ++i)
          rows.s[i] = static_cast<double>(1 + (i + 1) % 3);
        const auto params = params_of(loss, one["parameter"], tolerance);
        const auto sheaf = sheaf_of(rows, one["l1_ratio"], {alpha});
        const auto model = elastic_nets<double>(on(device), dataset, sheaf, params).front();
        const double objective = plain_objective(rows, params, alpha, one["l1_ratio"], model);
        const double best = one["objective"];
        EXPECT_TRUE(model.fit.converged) << model.fit.gap << " of " << model.fit.tolerance;
        EXPECT_LE(objective, best + tolerance * null_deviance(rows, params));
        EXPECT_GE(objective, best * (1 - 1e-8)) << "the other program was not at its best";
      }
  }
}

/// min over the subgradients of the objective of their largest element, beside the largest slope without features. Of
/// the quantile loss the slopes of rows near their corner may be anything between both sides.
TEST(RobustNets, HuberModelsMeetTheConditionsOfOptimality) {
  for (const Device device : devices())
    for (const double l1 : {1.0, 0.5}) {
      const auto table = make_table(60, 90, 0, 5);
      const auto dataset = dataset_of<double>(table, 90, false);
      Rows rows = rows_of(dataset);
      rows.y = table.labels;
      for (const double threshold : {0.1, 1.0, 100.0}) {
        const auto params = params_of(Loss::huber, threshold, 1e-10);
        auto sheaf = sheaf_of(rows, l1, {});
        const double largest = largest_alphas<double>(on(device), dataset, sheaf, params).front();
        sheaf.paths[0].alphas = {largest * 1.0001, largest * 0.3, largest * 0.05};
        for (const auto& model : elastic_nets<double>(on(device), dataset, sheaf, params)) {
          const double alpha = sheaf.paths[0].alphas[static_cast<std::size_t>(model.alpha)];
          const auto w = weights_of(model, 90);
          EXPECT_EQ(model.features.empty(), model.alpha == 0);
          double balance = 0, worst = 0;
          std::vector<double> u;
          for (std::size_t i = 0; i < rows.y.size(); ++i) {
            const double r = rows.y[i] - decision(rows, i, model, w);
            u.push_back(std::clamp(r, -threshold, threshold) / 60);
            balance += u.back();
          }
          for (std::size_t j = 0; j < w.size(); ++j) {
            double g = -alpha * (1 - l1) * w[j];
            for (std::size_t i = 0; i < u.size(); ++i) g += u[i] * rows.x[i][j];
            const double sign = w[j] > 0 ? 1 : -1;
            worst = std::max(worst, w[j] != 0 ? std::abs(g - alpha * l1 * sign) : std::abs(g) - alpha * l1);
          }
          EXPECT_LT(std::max(worst, std::abs(balance)), 1e-3 * largest) << "threshold " << threshold;
        }
      }
    }
}

/// A threshold beyond all residuals makes the squared loss of Huber's.
TEST(RobustNets, HuberOfALargeThresholdIsLeastSquares) {
  const auto table = make_table(80, 20, 0, 9);
  const auto dataset = dataset_of<double>(table, 20, false);
  Rows rows = rows_of(dataset);
  rows.y = table.labels;
  const auto sheaf = sheaf_of(rows, 0.7, {0.3, 0.03});
  for (const Device device : devices()) {
    const auto huber = elastic_nets<double>(on(device), dataset, sheaf, params_of(Loss::huber, 1e6, 1e-12));
    const auto squared = elastic_nets<double>(on(device), dataset, sheaf, params_of(Loss::squared, 0, 1e-12));
    for (std::size_t m = 0; m < huber.size(); ++m) {
      EXPECT_NEAR(huber[m].fit.objective, squared[m].fit.objective, 1e-9 * squared[m].fit.objective);
      EXPECT_NEAR(huber[m].intercept, squared[m].intercept, 1e-4);
    }
  }
}

/// Units of the target do not matter: y times c with alpha times c (quantile; Huber: its threshold too) is w times c.
TEST(RobustNets, UnitsOfTheTargetDoNotMatter) {
  const auto table = make_table(100, 10, 0, 3);
  const auto dataset = dataset_of<double>(table, 10, false);
  Rows rows = rows_of(dataset);
  rows.y = table.labels;
  for (const Device device : devices())
    for (const double c : {1e-6, 1.0, 1e7}) {
      Rows scaled = rows;
      for (double& y : scaled.y) y *= c;
      const auto quantile = params_of(Loss::quantile, 0.8, 1e-5);
      const auto model = elastic_nets<double>(on(device), dataset, sheaf_of(scaled, 1, {0.02}), quantile).front();
      const auto plain = elastic_nets<double>(on(device), dataset, sheaf_of(rows, 1, {0.02}), quantile).front();
      EXPECT_TRUE(model.fit.converged);
      EXPECT_NEAR(plain_objective(scaled, quantile, 0.02, 1, model) / c,
                  plain_objective(rows, quantile, 0.02, 1, plain), 1e-5 * null_deviance(rows, quantile));
    }
}

/// The share of rows below is about the quantile.
TEST(RobustNets, QuantilesHaveTheirShareOfRowsBelow) {
  const auto table = make_table(400, 5, 0, 13);
  const auto dataset = dataset_of<double>(table, 5, false);
  Rows rows = rows_of(dataset);
  rows.y = table.labels;
  for (const Device device : devices())
    for (const double quantile : {0.1, 0.5, 0.9}) {
      const auto params = params_of(Loss::quantile, quantile, 1e-5);
      const auto model = elastic_nets<double>(on(device), dataset, sheaf_of(rows, 1, {1e-3}), params).front();
      const auto w = weights_of(model, 5);
      double below = 0;
      for (std::size_t i = 0; i < rows.y.size(); ++i) below += rows.y[i] < decision(rows, i, model, w) ? 1 : 0;
      EXPECT_NEAR(below / 400, quantile, 7.0 / 400) << "but for the rows that the model goes through";
    }
}

/// The width is far below what rounding to single precision would do to decision values.
TEST(RobustNets, QuantilesOfFloatsReachTheGap) {
  const auto table = make_table(150, 60, 0, 17);
  const auto dataset = dataset_of<float>(table, 60, false);
  Rows rows = rows_of(dataset_of<double>(table, 60, false));
  rows.y = table.labels;
  for (const Device device : devices()) {
    const auto params = params_of(Loss::quantile, 0.7, 1e-5);
    const auto models = elastic_nets<float>(on(device), dataset, sheaf_of(rows, 0.9, {0.1, 0.01}), params);
    for (const auto& model : models)
      EXPECT_TRUE(model.fit.converged) << model.fit.gap << " of " << model.fit.tolerance << " on " << to_string(device);
  }
}

TEST(RobustNets, ParametersThatAreNoneAreRefused) {
  const auto table = make_table(20, 3, 0, 1);
  const auto dataset = dataset_of<double>(table, 3, false);
  Rows rows = rows_of(dataset);
  rows.y = table.labels;
  const auto sheaf = sheaf_of(rows, 1, {0.1});
  const auto refusal = [&](Loss loss, double parameter) -> std::string {
    try {
      elastic_nets<double>(on(Device::cpu()), dataset, sheaf, params_of(loss, parameter, 1e-4));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(Loss::quantile, 1).find("a quantile is above 0 and below 1, not 1"), std::string::npos);
  EXPECT_NE(refusal(Loss::huber, 0).find("threshold of the Huber loss is above 0, not 0"), std::string::npos);
}

TEST(RobustNets, ModelsAreReadBackExactly) {
  auto dataset = read_dataset<double>(on(Device::cpu()), golden("data/diabetes_reg_scale.libsvm"));
  for (const Loss loss : {Loss::huber, Loss::quantile}) {
    NetOptions options;
    options.loss = loss;
    options.alpha = 0.05;
    options.quantile = 0.75;
    const Model model = fit(on(Device::cpu()), dataset, options);
    const auto again = Model::parse(model.text(), "text");
    ASSERT_TRUE(again.get_if<LinearModel>()->net);
    EXPECT_EQ(again.text(), model.text());
    const double parameter = loss == Loss::quantile ? 0.75 : huber_threshold(dataset.target.values, dataset.source);
    EXPECT_EQ(again.get_if<LinearModel>()->net->parameter, parameter);
    auto text = without_checksum(model.text());
    const auto at = text.find(loss == Loss::quantile ? "quantile 0.75" : "threshold ");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, text.find('\n', at) - at, loss == Loss::quantile ? "quantile 1.5" : "threshold 0");
    EXPECT_THROW(Model::parse(text, "text"), ParseError);
  }
}

}  // namespace robust_net_test
}  // namespace sheaf::test
