// The one-class SVM: the conditions of its optimum by plain loops, LIBSVM's solution, and LIBLINEAR's model file.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"
#include "peer_program.hpp"

namespace sheaf::test {
namespace one_class_test {

constexpr std::size_t features = 8;

/// Noise around a point that is not 0, so that a plane can keep most rows on one side.
PlainTable make_cloud(std::size_t rows, std::uint64_t seed) {
  auto table = make_table(rows, features, 2, seed);
  for (auto& row : table.rows) row.insert(row.begin(), {{0, 3.0}});
  for (auto& row : table.rows)
    row.erase(std::remove_if(row.begin() + 1, row.end(), [](const auto& entry) { return entry.first == 0; }),
              row.end());
  return table;
}

double decision(const PlainTable& table, const LinearModel& model, std::size_t i) {
  double z = model.weights.back();
  for (const auto& [j, value] : table.rows[i]) z += value * model.weights[j];
  return z;
}

/// w'w / 2 - nu S rho + sum of s max(0, rho - x'w).
double objective(const PlainTable& table, const LinearModel& model, double nu, const std::vector<float>& s) {
  double total = 0;
  double losses = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double weight = s.empty() ? 1 : static_cast<double>(s[i]);
    total += weight;
    losses += weight * std::max(0.0, -decision(table, model, i));
  }
  double squares = 0;
  for (std::size_t j = 0; j < features; ++j) squares += model.weights[j] * model.weights[j];
  return squares / 2 + nu * total * model.weights.back() + losses;
}

TEST(OneClass, NothingNearIsBetterThanTheGapAllows) {
  for (const Device device : devices())
    for (const double nu : {0.05, 0.3, 0.9, 1.0})
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(fmt::format("{} nu {} weighted {}", to_string(device), nu, weighted));
        const auto table = make_cloud(150, 3);
        std::vector<float> s;
        for (std::size_t i = 0; i < table.rows.size() && weighted; ++i) s.push_back(static_cast<float>(i % 3));
        OneClassOptions options;
        options.nu = nu;
        options.tolerance = 1e-6;
        const auto model = train_one_class(on(device), dataset_of<double>(table, features), options, s);
        const auto& fit = model.fits.front();
        EXPECT_TRUE(fit.converged && warnings_of(model).empty());
        const double reached = objective(table, model, nu, s);
        EXPECT_NEAR(reached, fit.objective, 1e-9 * std::abs(reached));
        Random random(9);
        for (int trial = 0; trial < 50; ++trial) {
          auto moved = model;
          for (double& weight : moved.weights) weight *= 1 + std::pow(10, -1 - trial % 5) * random.normal();
          EXPECT_GE(objective(table, moved, nu, s), reached - fit.gradient_norm - 1e-9 * std::abs(reached));
        }
        // A share nu of the rows lies on the side of the outliers or at the border.
        double below = 0;
        double at_most = 0;
        double total = 0;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
          const double weight = weighted ? static_cast<double>(s[i]) : 1;
          const double z = decision(table, model, i);
          total += weight;
          below += z < -1e-9 ? weight : 0;
          at_most += z <= 1e-9 ? weight : 0;
        }
        EXPECT_LE(below, nu * total + 1e-9);
        EXPECT_GE(at_most, nu * total - 1e-9);
      }
}

TEST(OneClass, SinglePrecisionComesClose) {
  const auto table = make_cloud(150, 4);
  for (const Device device : devices()) {
    OneClassOptions options;
    options.nu = 0.2;
    options.tolerance = 1e-3;
    const auto model = train_one_class(on(device), dataset_of<float>(table, features), options);
    EXPECT_TRUE(model.fits.front().converged);
  }
}

TEST(OneClass, WrongNumbersAreErrors) {
  const auto dataset = dataset_of<double>(make_cloud(10, 1), features);
  OneClassOptions options;
  for (const double nu : {0.0, -1.0, 1.5}) {
    options.nu = nu;
    EXPECT_THROW(train_one_class(on(Device::cpu()), dataset, options), UsageError);
  }
  options.nu = 0.5;
  EXPECT_THROW(train_one_class(on(Device::cpu()), dataset, options, std::vector<float>(10, 0.0F)), Error);
  EXPECT_THROW(train_one_class(on(Device::cpu()), dataset, options, std::vector<float>(3, 1.0F)), Error);
}

class OneClassFiles : public PeerTest {};

TEST_F(OneClassFiles, ModelsAreLiblinears) {
  ASSERT_TRUE(make("classification:--rows 200 --features 6"));
  run("sheaf liblinear-train -q -s 21 -n 0.1 data model");
  const auto text = file("model");
  EXPECT_TRUE(text.starts_with("solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 6\nbias -1\nrho "));
  run("sheaf liblinear-predict -q data model out");
  double outliers = 0;
  for (const auto& line : lines_of(file("out"))) {
    EXPECT_TRUE(line == "1" || line == "-1") << line;
    outliers += line == "-1" ? 1 : 0;
  }
  EXPECT_NEAR(outliers, 20, 8);
  // The numbers of the file decide: x'w - rho.
  const auto plain = plain_model(text);
  const double rho = std::stod(text.substr(text.find("rho ") + 4));
  const auto table = plain_table(file("data"));
  const auto predicted = lines_of(file("out"));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    double z = -rho;
    for (const auto& [j, value] : table.rows[i]) z += value * plain.w[j];
    if (std::abs(z) > 1e-9) {
      EXPECT_EQ(predicted[i], z > 0 ? "1" : "-1") << i;
    }
  }
  run("sheaf predict data --model-file model --output p.csv --quiet");
  write("bad", "solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nw\n1 \n");
  const auto outcome = shell("sheaf liblinear-predict data bad out");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("rho"), std::string::npos) << outcome.err;
}

/// LIBSVM's one-class SVM with a linear kernel has the same decision function.
TEST_F(OneClassFiles, DecidesLikeLibsvm) {
  need({"svm-train", "svm-predict"}, "libsvm-tools");
  if (IsSkipped()) return;
  for (const std::string nu : {"0.1", "0.5"}) {
    ASSERT_TRUE(make("heart_scale"));
    run("svm-train -q -s 2 -t 0 -e 1e-6 -n " + nu + " data theirs && svm-predict data theirs other >/dev/null");
    run("sheaf liblinear-train -q -s 21 -e 1e-4 -n " + nu + " data ours && sheaf liblinear-predict -q data ours mine");
    const auto mine = lines_of(file("mine"));
    const auto other = lines_of(file("other"));
    ASSERT_EQ(mine.size(), other.size());
    int different = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) different += mine[i] != other[i] ? 1 : 0;
    EXPECT_LE(different, 16) << "rows at the border may be on either side";
  }
}

}  // namespace one_class_test
}  // namespace sheaf::test
