// Linear models and kernel SVMs beside what scikit-learn found (tests/golden/sklearn): weights, intercepts, decision
// values and numbers of support vectors.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

#include "net_results.hpp"

namespace sheaf::test {
namespace sklearn_golden_test {

TEST(SklearnGolden, LinearModelsHaveTheSameWeights) {
  const std::map<std::string, Loss> losses{{"logistic", Loss::logistic},
                                           {"squared_hinge", Loss::squared_hinge},
                                           {"squared_tube", Loss::squared_tube},
                                           {"squared", Loss::squared}};
  const auto results = read_json(golden("sklearn/linear.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      const std::string name = one["data"];
      SCOPED_TRACE(name + ", " + one["loss"].get<std::string>() + ", on " + to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(name));
      NewtonParams params;
      params.loss = losses.at(one["loss"]);
      params.tolerance = 1e-10;
      params.bias = 1;
      params.penalise_bias = one["penalise_intercept"];
      const bool classes = params.loss == Loss::logistic || params.loss == Loss::squared_hinge;
      Sheaf sheaf;
      sheaf.examples = dataset.rows();
      sheaf.targets = classes ? signs_of(dataset.target.values) : dataset.target.values;
      for (const double weight : one["row_weights"]) sheaf.row_weights.push_back(static_cast<float>(weight));
      sheaf.tasks = {{0, 0, one["cost"], one["cost"], one["epsilon"]}};
      const auto fits = newton(on(device), dataset, sheaf, params);
      EXPECT_TRUE(fits.tasks[0].converged);
      auto wanted = one["weights"].get<std::vector<double>>();
      wanted.push_back(one["intercept"]);
      double largest = 0;
      for (const double weight : wanted) largest = std::max(largest, std::abs(weight));
      for (std::size_t j = 0; j < wanted.size(); ++j)
        EXPECT_NEAR(fits.weights(static_cast<std::int64_t>(j), 0), wanted[j], 1e-6 * largest) << "weight " << j;
    }
}

SvmSheaf svm_sheaf_of(const nlohmann::json& one, const Dataset<double>& dataset) {
  const std::map<std::string, SvmKind> kinds{{"c_svc", SvmKind::c_svc},
                                             {"nu_svc", SvmKind::nu_svc},
                                             {"one_class", SvmKind::one_class},
                                             {"epsilon_svr", SvmKind::epsilon_svr}};
  SvmSheaf sheaf;
  sheaf.kind = kinds.at(one["kind"]);
  sheaf.examples = dataset.rows();
  SvmTask task;
  task.cost_positive = task.cost_negative = one.value("C", 1.0);
  task.nu = one.value("nu", 0.5);
  task.epsilon = one.value("epsilon", 0.1);
  if (sheaf.kind == SvmKind::epsilon_svr) sheaf.values = dataset.target.values;
  const auto labels = one["labels"].get<std::vector<double>>();
  if (labels.empty()) {
    sheaf.tasks = {task};
    return sheaf;
  }
  for (const double label : dataset.target.values)
    sheaf.classes.push_back(static_cast<std::int32_t>(std::find(labels.begin(), labels.end(), label) - labels.begin()));
  for (task.positive = 0; task.positive < std::ssize(labels); ++task.positive)
    for (task.negative = task.positive + 1; task.negative < std::ssize(labels); ++task.negative)
      sheaf.tasks.push_back(task);
  return sheaf;
}

KernelParams kernel_named(const nlohmann::json& one) {
  const std::map<std::string, KernelType> types{
      {"linear", KernelType::linear}, {"poly", KernelType::polynomial}, {"rbf", KernelType::rbf}};
  return {types.at(one["kernel"]), one["degree"], one["gamma"], one["coef0"]};
}

/// Both programs keep kernel values in single precision while they train.
TEST(SklearnGolden, KernelSvmsHaveTheSameDecisionValues) {
  const auto results = read_json(golden("sklearn/kernel.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      const std::string name = one["data"];
      SCOPED_TRACE(name + ", " + one["kind"].get<std::string>() + ", " + one["kernel"].get<std::string>() + ", on " +
                   to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(name));
      const SvmSheaf sheaf = svm_sheaf_of(one, dataset);
      SvmParams params;
      params.kernel = kernel_named(one);
      params.tolerance = one["tolerance"];
      params.decisions = true;
      const auto fits = train_sheaf(on(device), dataset, sheaf, params);
      const auto wanted = one["decisions"].get<std::vector<std::vector<double>>>();
      double largest = 1;
      for (const auto& row : wanted)
        for (const double value : row) largest = std::max(largest, std::abs(value));
      ASSERT_EQ(std::ssize(wanted), dataset.rows());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        for (std::size_t pair = 0; pair < wanted[i].size(); ++pair)
          ASSERT_NEAR(fits.decisions(static_cast<std::int64_t>(i), static_cast<std::int32_t>(pair)), wanted[i][pair],
                      1e-4 * largest)
              << "row " << i << ", pair " << pair;
    }
}

}  // namespace sklearn_golden_test
}  // namespace sheaf::test
