// Every loss functor against finite differences and limits; the elementary functions behind them against the C library.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/math.hpp"
#include "linear/losses.hpp"

namespace sheaf::linear {
namespace {

class LossFunctor : public testing::TestWithParam<Loss> {};

TEST_P(LossFunctor, DerivativesAreFiniteDifferences) {
  with_loss(GetParam(), [](auto functor) {
    for (const double y : {-1.0, 1.0, functor.regression ? 0.3 : 1.0})
      for (double z = -7.03; z < 7; z += 0.17) {
        const double h = 1e-5;
        const auto at = functor.terms(z, y, 0.25);
        const auto above = functor.terms(z + h, y, 0.25);
        const auto below = functor.terms(z - h, y, 0.25);
        if ((above.curvature == 0) != (below.curvature == 0)) continue;  // a kink between them
        EXPECT_NEAR(at.slope, (above.value - below.value) / (2 * h), 1e-7 * (1 + std::abs(at.slope)));
        EXPECT_NEAR(at.curvature, (above.slope - below.slope) / (2 * h), 1e-6 * (1 + std::abs(at.curvature)));
        EXPECT_GE(at.value, 0);
        EXPECT_GE(at.curvature, 0);
      }
  });
}

/// For losses that elastic nets are trained for: dual_value(u, y) = min over z of loss(z, y) + u z.
TEST_P(LossFunctor, DualValuesAreMinima) {
  with_net_loss(GetParam(), [](auto functor) {
    for (const double y : {-1.0, 1.0, functor.regression ? 0.3 : 1.0})
      for (double z = -7.03; z < 7; z += 0.17) {
        const auto at = functor.terms(z, y, 0.0);
        const double u = -at.slope;
        const double dual = functor.dual_value(u, y);
        EXPECT_NEAR(dual, at.value + u * z, 1e-9 * (1 + std::abs(dual))) << "z is where the minimum is";
        for (double other = -9; other < 9; other += 0.31)
          EXPECT_GE(functor.terms(other, y, 0.0).value + u * other, dual - 1e-12 * (1 + std::abs(dual)));
        const double h = 1e-6 * std::abs(u);
        EXPECT_NEAR((functor.dual_value(u + h, y) - functor.dual_value(u - h, y)) / (2 * h), z,
                    1e-4 * (1 + std::abs(z)));
        // Scaled residuals stay where the dual value is finite: dual points depend on it.
        for (const double scale : {0.0, 0.4, 1.0}) EXPECT_TRUE(std::isfinite(functor.dual_value(scale * u, y)));
      }
  });
}

TEST_P(LossFunctor, TraitsAreTrue) {
  with_loss(GetParam(), [](auto functor) {
    EXPECT_EQ(functor.loss, GetParam());
    bool positive = true;
    double largest = 0;
    for (const double y : {-1.0, 1.0})
      for (double z = -9; z < 9; z += 0.25) {
        const double curvature = functor.terms(z, y, 0.25).curvature;
        positive = positive && curvature > 0;
        largest = std::max(largest, curvature);
      }
    EXPECT_EQ(positive, functor.strictly_convex);
    if constexpr (has_dual<decltype(functor)>) {
      EXPECT_LE(largest, functor.largest_curvature);
      EXPECT_EQ(functor.quadratic, functor.terms(3.0, 1.0, 0.0).value == 2 && largest == 1);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, LossFunctor,
                         testing::Values(Loss::logistic, Loss::squared_hinge, Loss::squared_tube, Loss::squared),
                         [](const auto& loss) {
                           std::string name(to_string(loss.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(LogisticLoss, StaysFiniteAtExtremes) {
  for (const double z : {-1e4, -800.0, 800.0, 1e4}) {
    const auto terms = Logistic::terms(z, 1.0, 0.0);
    EXPECT_NEAR(terms.value, std::max(0.0, -z), 1e-12 * std::abs(z));
    EXPECT_NEAR(terms.slope, z > 0 ? 0.0 : -1.0, 1e-12);
    EXPECT_TRUE(std::isfinite(terms.curvature));
  }
  const auto single = Logistic::terms(-200.0F, 1.0F, 0.0F);
  EXPECT_EQ(single.value, 200.0F);
}

template <class T>
void check_elementary(double ulps) {
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (double x = 0; x > -86; x -= 0.00731) {
    const auto exact = std::exp(static_cast<double>(static_cast<T>(x)));
    EXPECT_NEAR(static_cast<double>(exp_nonpositive(static_cast<T>(x))), exact, ulps * unit * exact) << x;
  }
  for (double e = 0; e <= 1; e += 0.00037) {
    const auto exact = std::log1p(static_cast<double>(static_cast<T>(e)));
    EXPECT_NEAR(static_cast<double>(log1p_unit(static_cast<T>(e))), exact, ulps * unit * exact) << e;
  }
  EXPECT_EQ(exp_nonpositive(T(0)), T(1));
  EXPECT_EQ(exp_nonpositive(T(-1e30)), T(0));
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<T>::infinity()), T(0));
}
TEST(Elementary, SingleIsWithinAFewUnits) { check_elementary<float>(4); }
TEST(Elementary, DoubleIsWithinAFewUnits) { check_elementary<double>(4); }

}  // namespace
}  // namespace sheaf::linear
