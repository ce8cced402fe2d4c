// Elastic nets against their own definition: gaps and optimality conditions found by plain loops, not by the solver.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <sheaf/elastic_net.hpp>
#include <sheaf/error.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace {

using test::on;

/// A problem as plain vectors.
struct Plain {
  std::vector<std::vector<double>> x;  // rows
  std::vector<double> y;
  std::vector<double> s;
  std::vector<double> factors;
};

struct Setting {
  double alpha = 0;
  double l1 = 0.5;
  bool intercept = true;
  bool standardise = false;
  bool logistic = false;
};

struct Verdict {
  double objective = 0;
  double gap = 0;      // over the deviance of the model without features
  double violation = 0;  // of the optimality conditions, relative to the largest |gradient| without features
};

/// Everything from the definition: no formula here is shared with the solver but the objective itself.
Verdict judge(const Plain& p, const Setting& set, const NetModel& model) {
  const std::size_t n = p.x.size();
  const std::size_t d = p.x.empty() ? 0 : p.x[0].size();
  std::vector<double> w(d, 0.0);
  for (std::size_t k = 0; k < model.features.size(); ++k) w[static_cast<std::size_t>(model.features[k])] = model.weights[k];
  double total = 0;
  for (const double s : p.s) total += s;
  std::vector<double> mean(d, 0.0), sd(d, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) mean[j] += p.s[i] * p.x[i][j] / total;
  if (set.standardise)
    for (std::size_t j = 0; j < d; ++j) {
      double v = 0;
      for (std::size_t i = 0; i < n; ++i) v += p.s[i] * std::pow(p.x[i][j] - mean[j], 2) / total;
      sd[j] = std::sqrt(v);
    }
  // The derivative of the loss by each decision value, and the same without features.
  double loss = 0, y_mean = 0, positive = 0;
  for (std::size_t i = 0; i < n; ++i) {
    y_mean += p.s[i] * p.y[i] / total;
    positive += p.y[i] > 0 ? p.s[i] / total : 0;
  }
  const double b0 = !set.intercept ? 0 : set.logistic ? std::log(positive / (1 - positive)) : y_mean;
  std::vector<double> r(n), r0(n);
  double null_loss = 0, balance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double z = model.intercept;
    for (std::size_t j = 0; j < d; ++j) z += p.x[i][j] * w[j];
    const auto terms = [&](double at) -> std::pair<double, double> {
      if (!set.logistic) return {std::pow(p.y[i] - at, 2) / 2, p.y[i] - at};
      const double t = p.y[i] > 0 ? 1 : 0;
      return {std::log1p(std::exp(p.y[i] > 0 ? -at : at)), t - 1 / (1 + std::exp(-at))};
    };
    loss += p.s[i] * terms(z).first / total;
    null_loss += p.s[i] * terms(b0).first / total;
    r[i] = p.s[i] * terms(z).second / total;
    r0[i] = p.s[i] * terms(b0).second / total;
    balance += r[i];
  }
  Verdict verdict;
  double penalty = 0, largest = 1e-300, ratio = 0, excess = 0, ridge = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double g = 0, g0 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      g += r[i] * (p.x[i][j] - (set.intercept ? mean[j] : 0));
      g0 += r0[i] * (p.x[i][j] - (set.intercept ? mean[j] : 0));
    }
    if (sd[j] < 1e-12) {
      EXPECT_EQ(w[j], 0);
      continue;
    }
    const double p1 = set.alpha * set.l1 * p.factors[j] * sd[j];
    const double p2 = set.alpha * (1 - set.l1) * p.factors[j] * sd[j] * sd[j];
    penalty += p1 * std::abs(w[j]) + p2 / 2 * w[j] * w[j];
    ridge += p2 * w[j] * w[j];
    largest = std::max(largest, std::abs(g0));
    const double slope = g - p2 * w[j];
    const double miss = w[j] != 0 ? std::abs(slope - (w[j] > 0 ? p1 : -p1)) : std::max(0.0, std::abs(slope) - p1);
    verdict.violation = std::max(verdict.violation, miss);
    if (p1 > 0) ratio = std::max(ratio, std::abs(slope) / p1);
    const double over = std::max(0.0, std::abs(g) - p1);
    if (over > 0) excess += p2 > 0 ? over * over / (2 * p2) : std::numeric_limits<double>::infinity();
  }
  verdict.objective = loss + penalty;
  verdict.violation = std::max(verdict.violation, set.intercept ? std::abs(balance) : 0.0) / largest;
  const double k = ratio > 1 ? 1 / ratio : 1;
  double dual = -std::numeric_limits<double>::infinity();
  const auto value = [&](double scale) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (p.s[i] <= 0) continue;
      const double a = scale * r[i] * total / p.s[i];
      if (!set.logistic) {
        sum += p.s[i] / total * (a * (p.y[i] - b0) - a * a / 2);
      } else {
        const double q = std::abs(a);
        if (q > 0 && q < 1) sum -= p.s[i] / total * (q * std::log(q) + (1 - q) * std::log(1 - q));
      }
    }
    return sum;
  };
  if (set.l1 > 0 && set.alpha > 0) dual = value(k) - k * k / 2 * ridge;
  dual = std::max(dual, value(1) - excess);
  verdict.gap = (verdict.objective - dual) / (2 * null_loss);
  return verdict;
}

Plain plain_of(const test::PlainTable& table, std::size_t features) {
  Plain plain;
  plain.x.assign(table.rows.size(), std::vector<double>(features, 0.0));
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const auto& [j, value] : table.rows[i]) plain.x[i][j] = value;
  plain.y = table.labels;
  plain.s.assign(table.rows.size(), 1.0);
  plain.factors.assign(features, 1.0);
  return plain;
}

NetSheaf sheaf_of(const Plain& plain) {
  NetSheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(plain.x.size());
  sheaf.targets = plain.y;
  sheaf.row_weights.assign(plain.s.begin(), plain.s.end());
  sheaf.penalty_factors = plain.factors;
  return sheaf;
}

struct Shape {
  std::size_t rows, features;
};

class Nets : public testing::TestWithParam<std::tuple<Device, bool, Loss>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool sparse() const { return std::get<1>(GetParam()); }
  Loss loss() const { return std::get<2>(GetParam()); }
  bool logistic() const { return loss() == Loss::logistic; }

  template <class T = double>
  std::vector<NetModel> train(const test::PlainTable& table, std::size_t features, const NetSheaf& sheaf,
                              NetParams params) {
    const auto dataset = test::dataset_of<T>(table, features, sparse());
    params.loss = loss();
    return elastic_nets<T>(on(device()), dataset, sheaf, params);
  }
};

TEST_P(Nets, EveryModelOfAGridIsOptimal) {
  for (const auto& shape : {Shape{40, 150}, Shape{200, 12}, Shape{33, 33}}) {
    const auto table = test::make_table(shape.rows, shape.features, logistic() ? 2 : 0, 7);
    const auto plain = plain_of(table, shape.features);
    for (const bool intercept : {true, false})
      for (const bool standardise : {false, true}) {
        auto sheaf = sheaf_of(plain);
        NetParams params;
        params.loss = loss();
        params.tolerance = 1e-8;
        params.intercept = intercept;
        params.standardise = standardise;
        for (const double l1 : {1.0, 0.5, 0.05}) sheaf.paths.push_back({0, 0, l1, {}});
        const auto dataset = test::dataset_of<double>(table, shape.features, sparse());
        const auto largest = largest_alphas<double>(on(device()), dataset, sheaf, params);
        for (std::size_t p = 0; p < 3; ++p) sheaf.paths[p].alphas = alpha_path(largest[p] * 1.0001, 1e-2, 6);
        const auto models = train(table, shape.features, sheaf, params);
        ASSERT_EQ(models.size(), 18U);
        for (const auto& model : models) {
          const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
          const double alpha = path.alphas[static_cast<std::size_t>(model.alpha)];
          const auto verdict = judge(plain, {alpha, path.l1_ratio, intercept, standardise, logistic()}, model);
          EXPECT_TRUE(model.fit.converged) << shape.rows << " x " << shape.features << " l1 " << path.l1_ratio << " alpha " << alpha << (intercept ? " intercept" : "") << (standardise ? " standardise" : "") << ", epochs " << model.fit.epochs << " gap " << model.fit.gap << " of " << model.fit.tolerance << " nonzeros " << model.fit.nonzeros;
          EXPECT_LT(verdict.gap, 1.01e-8);
          EXPECT_LT(verdict.violation, 2e-3);
          EXPECT_NEAR(model.fit.objective, verdict.objective, 1e-10 * (1 + verdict.objective));
          EXPECT_EQ(model.features.empty(), model.alpha == 0) << "the first alpha is above the largest";
        }
      }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Device, bool, Loss>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  std::erase_if(name, [](char c) { return c == ':'; });
  return name + (std::get<1>(info.param) ? "Sparse" : "Dense") +
         (std::get<2>(info.param) == Loss::logistic ? "Logistic" : "Squared");
}
INSTANTIATE_TEST_SUITE_P(Devices, Nets,
                         testing::Combine(testing::ValuesIn(test::devices()), testing::Bool(),
                                          testing::Values(Loss::squared, Loss::logistic)),
                         name_of);

}  // namespace
}  // namespace sheaf
