// Probabilities learnt from decision values: by their optimality conditions, and beside plain definitions.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/model.hpp>
#include <sheaf/solvers/calibration.hpp>
#include <sheaf/solvers/linear.hpp>

#include "core/random.hpp"

namespace sheaf::test {
namespace calibration_test {

struct Rows {
  std::vector<double> decisions;
  std::vector<std::int32_t> classes;
};

/// Class 0 with the probability 1 / (1 + exp(-2 d + 1)).
Rows drawn(int rows) {
  Random random(11);
  Rows result;
  for (int i = 0; i < rows; ++i) {
    result.decisions.push_back(2 * random.normal());
    result.classes.push_back(random.uniform() < 1 / (1 + std::exp(-2 * result.decisions.back() + 1)) ? 0 : 1);
  }
  return result;
}

TEST(Calibration, PlattsCurveIsAtTheOptimumOfItsLikelihood) {
  const auto rows = drawn(400);
  const auto curve = learn_calibration(CalibrationMethod::platt, rows.decisions, 1, rows.classes).curves[0];
  const auto positives = static_cast<double>(std::count(rows.classes.begin(), rows.classes.end(), 0));
  double by_slope = 0;
  double by_offset = 0;
  for (std::size_t i = 0; i < rows.decisions.size(); ++i) {
    const double target = rows.classes[i] == 0 ? (positives + 1) / (positives + 2) : 1 / (400 - positives + 2);
    const double p = 1 / (1 + std::exp(curve.slope * rows.decisions[i] + curve.offset));
    by_slope += (target - p) * rows.decisions[i];
    by_offset += target - p;
  }
  EXPECT_NEAR(by_slope, 0, 1e-6);
  EXPECT_NEAR(by_offset, 0, 1e-6);
  EXPECT_LT(curve.slope, 0) << "larger decisions speak for class 0";
}

TEST(Calibration, IsotonicStepsAreMeansOfPoolsAndNeverFall) {
  const auto rows = drawn(300);
  const auto curve = learn_calibration(CalibrationMethod::isotonic, rows.decisions, 1, rows.classes).curves[0];
  EXPECT_TRUE(std::is_sorted(curve.at.begin(), curve.at.end()));
  EXPECT_TRUE(std::is_sorted(curve.values.begin(), curve.values.end()));
  for (std::size_t k = 0; k < curve.at.size(); ++k) {  // of all rows of a pool, the share of class 0
    double count = 0;
    double positives = 0;
    const double low = curve.at[static_cast<std::size_t>(
        std::find(curve.values.begin(), curve.values.end(), curve.values[k]) - curve.values.begin())];
    double high = low;
    for (std::size_t l = 0; l < curve.at.size(); ++l)
      if (curve.values[l] == curve.values[k]) high = curve.at[l];
    for (std::size_t i = 0; i < rows.decisions.size(); ++i)
      if (rows.decisions[i] >= low && rows.decisions[i] <= high) {
        ++count;
        positives += rows.classes[i] == 0 ? 1 : 0;
      }
    EXPECT_NEAR(curve.values[k], positives / count, 1e-12);
  }
}

TEST(Calibration, SmallExampleOfIsotonicRegression) {
  // 0 1 0 1: the second and third are out of order and share their mean.
  const std::vector<double> decisions{1, 2, 3, 4};
  const std::vector<std::int32_t> classes{1, 0, 1, 0};
  const auto made = learn_calibration(CalibrationMethod::isotonic, decisions, 1, classes);
  const std::vector<double> asked{0, 1, 1.5, 2, 2.5, 3, 3.5, 4, 9};
  const auto found = made.probabilities(asked);
  const std::vector<double> expected{0, 0, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 1};
  for (std::size_t k = 0; k < asked.size(); ++k) {
    EXPECT_DOUBLE_EQ(found[2 * k], expected[k]);
    EXPECT_DOUBLE_EQ(found[2 * k + 1], 1 - expected[k]);
  }
}

TEST(Calibration, ProbabilitiesOfSeveralClassesSumToOne) {
  Random random(2);
  std::vector<double> decisions;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 90; ++i) {
    classes.push_back(i % 3);
    for (int c = 0; c < 3; ++c) decisions.push_back(random.normal() + (c == i % 3 ? 1 : 0));
  }
  for (const auto method : {CalibrationMethod::platt, CalibrationMethod::isotonic}) {
    const auto found = learn_calibration(method, decisions, 3, classes).probabilities(decisions);
    for (std::size_t i = 0; i < 90; ++i) {
      EXPECT_NEAR(found[3 * i] + found[3 * i + 1] + found[3 * i + 2], 1, 1e-12);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_GE(found[3 * i + c], 0);
    }
  }
}

TEST(Calibration, IsKeptInTheModelsFile) {
  LinearModel linear;
  linear.class_names = {"a", "b"};
  linear.features = 1;
  linear.weights = {1};
  linear.cost = 1;
  linear.fits.resize(1);
  for (const auto method : {CalibrationMethod::platt, CalibrationMethod::isotonic}) {
    const auto rows = drawn(50);
    Model model{linear};
    model.set_calibration(learn_calibration(method, rows.decisions, 1, rows.classes));
    const auto again = Model::parse(model.text(), "file");
    ASSERT_TRUE(again.calibration());
    EXPECT_TRUE(again.has_probabilities());
    EXPECT_EQ(again.calibration()->probabilities(rows.decisions), model.calibration()->probabilities(rows.decisions));
    EXPECT_EQ(again.text(), model.text());
  }
}

}  // namespace calibration_test
}  // namespace sheaf::test
