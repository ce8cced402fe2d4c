// Every loss functor against finite differences and limits; the elementary functions behind them against the C library.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>

#include "core/math.hpp"
#include "core/random.hpp"
#include "linear/losses/losses.hpp"

namespace sheaf::linear {
namespace losses_test {

class LossFunctor : public testing::TestWithParam<Loss> {};

/// Targets that a loss is for.
template <class Functor>
std::vector<double> targets_of() {
  if constexpr (has_link<Functor>) {
    if (Functor::targets == TargetRange::nonnegative || Functor::targets == TargetRange::counts) return {0.0, 1.0, 7.0};
    if (Functor::targets == TargetRange::positive) return {0.1, 1.0, 7.0};
  }
  return {-1.0, 1.0, Functor::regression ? 0.3 : 1.0};
}

/// Decision values within the domain of a loss's link.
template <class Functor>
std::vector<double> decisions_of() {
  std::vector<double> list;
  constexpr int sign = Functor::row.decision_sign;
  const double most = Functor::loss == Loss::cloglog ? 6 : 7;  // above, exp(-exp(z)) is 0
  for (double z = sign > 0 ? 0.07 : -7.03; z < (sign < 0 ? 0 : most); z += 0.17) list.push_back(z);
  return list;
}

/// Epsilon, power or theta.
template <class Functor>
double parameter_of() {
  return Functor::loss == Loss::tweedie ? 1.4 : Functor::loss == Loss::negative_binomial ? 2.5 : 0.25;
}

TEST_P(LossFunctor, DerivativesAreFiniteDifferences) {
  with_loss(GetParam(), [](auto functor) {
    using Functor = decltype(functor);
    const double parameter = parameter_of<Functor>();
    for (const double y : targets_of<Functor>())
      for (const double z : decisions_of<Functor>()) {
        const double h = 1e-5;
        const auto at = functor.terms(z, y, parameter);
        const auto above = functor.terms(z + h, y, parameter);
        const auto below = functor.terms(z - h, y, parameter);
        constexpr bool pieces =  // of straight lines
            Functor::loss == Loss::hinge || Functor::loss == Loss::tube || Functor::loss == Loss::quantile;
        if ((above.curvature == 0) != (below.curvature == 0)) continue;  // a kink between them
        if (pieces && above.slope != below.slope) continue;
        EXPECT_NEAR(at.slope, (above.value - below.value) / (2 * h),
                    1e-7 * (1 + std::abs(at.slope) + std::abs(at.value)))
            << "z " << z << " y " << y;
        double second = at.curvature;
        if constexpr (is_scored<Functor>) second = functor.second(z, y, parameter);
        EXPECT_NEAR(second, (above.slope - below.slope) / (2 * h), 1e-6 * (1 + std::abs(second) + std::abs(at.slope)))
            << "z " << z << " y " << y;
        EXPECT_GE(at.curvature, 0);
        const bool constant_left_out = has_link<Functor> && functor.regression;
        EXPECT_TRUE(constant_left_out || at.value >= 0);
      }
  });
}

/// If the target is its mean, the loss is at its minimum; predictions and links are inverses of each other.
TEST_P(LossFunctor, PredictionsAreWhereTheSlopeIsZero) {
  with_glm_loss(GetParam(), [](auto functor) {
    using Functor = decltype(functor);
    const double parameter = parameter_of<Functor>();
    for (const double z : decisions_of<Functor>()) {
      if (functor.regression) {
        const double mean = functor.prediction(z, parameter);
        EXPECT_NEAR(functor.terms(z, mean, parameter).slope, 0, 1e-12 * (1 + std::abs(mean))) << z;
        EXPECT_NEAR(functor.link(mean, parameter), z, 1e-12 * (1 + std::abs(z)));
        continue;
      }
      // Classes: the slopes of both, weighted by their probabilities, are 0, and the losses are those of the log odds.
      const double odds = functor.prediction(z, parameter);
      const double share = 1 / (1 + std::exp(-odds));
      const auto positive = functor.terms(z, 1.0, parameter);
      const auto negative = functor.terms(z, -1.0, parameter);
      EXPECT_NEAR(share * positive.slope + (1 - share) * negative.slope, 0, 1e-12 * (1 + std::abs(negative.slope)))
          << z;
      EXPECT_NEAR(negative.value - positive.value, odds, 1e-10 * (1 + std::abs(odds))) << z;
    }
  });
}

/// The mean over the target's distribution of the squared slope is the information, which is that of the second
/// derivative.
TEST_P(LossFunctor, ScoredCurvaturesAreTheInformation) {
  with_glm_loss(GetParam(), [](auto functor) {
    using Functor = decltype(functor);
    if constexpr (is_scored<Functor>)
      for (const double z : decisions_of<Functor>()) {
        const double expected = functor.terms(z, 1.0, 0.0).curvature;
        const double mean = functor.prediction(z, 0.0);  // of classes: log odds
        if constexpr (Functor::regression) {
          EXPECT_NEAR(functor.second(z, mean, 0.0), expected, 1e-9 * (1 + expected)) << z;  // linear in the target
        } else {
          const double share = 1 / (1 + std::exp(-mean));
          EXPECT_NEAR(share * functor.second(z, 1.0, 0.0) + (1 - share) * functor.second(z, -1.0, 0.0), expected,
                      1e-9 * (1 + expected))
              << z;
        }
        for (const double y : targets_of<Functor>()) EXPECT_EQ(functor.terms(z, y, 0.0).curvature, expected);
      }
  });
}

/// For losses that elastic nets are trained for: dual_value(u, y) = min over z of loss(z, y) + u z.
TEST_P(LossFunctor, DualValuesAreMinima) {
  with_net_loss(GetParam(), [](auto functor) {
    using Functor = decltype(functor);
    if constexpr (has_dual<Functor>) {  // not the partial likelihood, which couples rows: see survival_test
      const LossParameters parameters{parameter_of<Functor>(), 0.6};
      const auto loss = [&](double z, double y) { return terms_of<Functor>(z, y, parameters); };
      const auto dual_value = [&](double u, double y) { return dual_value_of<Functor>(u, y, parameters); };
      for (const double y : targets_of<Functor>())
        for (double z = -7.03; z < 7; z += 0.17) {
          const auto at = loss(z, y);
          const double u = -at.slope;
          const double dual = dual_value(u, y);
          EXPECT_NEAR(dual, at.value + u * z, 1e-9 * (1 + std::abs(dual))) << "z is where the minimum is";
          for (double other = -9; other < 9; other += 0.31)
            EXPECT_GE(loss(other, y).value + u * other, dual - 1e-12 * (1 + std::abs(dual)));
          // Scaled residuals stay where the dual value is finite, and below all sums: dual points depend on it.
          for (const double scale : {0.0, 0.4, 1.0}) {
            EXPECT_TRUE(std::isfinite(dual_value(scale * u, y)));
            EXPECT_GE(at.value + scale * u * z, dual_value(scale * u, y) - 1e-12 * (1 + std::abs(dual)));
          }
          double least = functor.least(y);
          if constexpr (has_width<Functor>) least -= Functor::least_below * parameters.width;
          EXPECT_GE(at.value, least - 1e-12 * (1 + std::abs(at.value)));
          const double h = 1e-6 * std::abs(u);
          if (at.curvature == 0) continue;  // a straight line from there on: the minimum is not at one z
          EXPECT_NEAR((dual_value(u + h, y) - dual_value(u - h, y)) / (2 * h), z, 1e-4 * (1 + std::abs(z)));
        }
    }
  });
}

/// The smooth loss is below the check loss by at most the share of its width that it states, and its derivatives are
/// finite differences.
TEST(QuantileLoss, IsSmoothAndNearTheCheckLoss) {
  constexpr double width = 0.6;
  for (const double q : {0.1, 0.5, 0.9})
    for (double z = -4.03; z < 4; z += 0.17) {
      const auto at = Quantile::terms(z, 0.3, q, width);
      const double exact = Quantile::terms(z, 0.3, q).value;
      EXPECT_LE(at.value, exact + 1e-15);
      EXPECT_GE(at.value, exact - Quantile::least_below * width - 1e-15);
      constexpr double h = 1e-6;
      const auto above = Quantile::terms(z + h, 0.3, q, width);
      const auto below = Quantile::terms(z - h, 0.3, q, width);
      EXPECT_NEAR(at.slope, (above.value - below.value) / (2 * h), h);
      if (above.curvature == below.curvature) {
        EXPECT_NEAR(at.curvature, (above.slope - below.slope) / (2 * h), 1e-8);
      }
      EXPECT_GE(Quantile::step_curvature(z, 0.3, q, width), at.curvature);
      EXPECT_GT(Quantile::step_curvature(z, 0.3, q, width), 0);
    }
}

/// All classes together: the classes' dual values add up to min over z of loss(z, y) + u'z.
TEST(SoftmaxLoss, DualValuesOfAllClassesAreMinima) {
  constexpr std::size_t classes = 4;
  using Values = std::array<double, classes>;
  const auto loss = [](const Values& z, const Values& y) {
    double sum = 0, own = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      sum += std::exp(z[k]);
      own += y[k] * z[k];
    }
    return std::log(sum) - own;
  };
  Random random(3);
  for (const Values y : {Values{0, 1, 0, 0}, Values{0.2, 0.5, 0, 0.3}})
    for (int turn = 0; turn < 50; ++turn) {
      Values z{}, u{};
      double sum = 0;
      for (double& one : z) sum += std::exp(one = 2 * random.normal());
      double least = loss(z, y);
      double dual = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        u[k] = y[k] - std::exp(z[k]) / sum;
        least += u[k] * z[k];
        dual += Softmax::dual_value(u[k], y[k]);
        // In one class alone it is a logistic loss of the log odds against the others.
        const double odds = z[k] - std::log(sum - std::exp(z[k]));
        EXPECT_NEAR(Softmax::terms(odds, y[k], 0.0).slope, -u[k], 1e-12);
        Values above = z, below = z;
        above[k] += 1e-4;
        below[k] -= 1e-4;
        EXPECT_NEAR(Softmax::terms(odds, y[k], 0.0).curvature,
                    (loss(above, y) - 2 * loss(z, y) + loss(below, y)) / 1e-8, 1e-6);
      }
      EXPECT_NEAR(dual, least, 1e-12);
      for (int other = 0; other < 20; ++other) {
        Values at{};
        double value = 0;
        for (std::size_t k = 0; k < classes; ++k) value += u[k] * (at[k] = 3 * random.normal());
        EXPECT_GE(loss(at, y) + value, dual - 1e-12);
      }
    }
}

TEST_P(LossFunctor, TraitsAreTrue) {
  with_loss(GetParam(), [](auto functor) {
    using Functor = decltype(functor);
    EXPECT_EQ(functor.loss, GetParam());
    bool positive = true;
    double largest = 0;
    for (const double y : targets_of<Functor>())
      for (const double z : decisions_of<Functor>()) {
        const double curvature = functor.terms(z, y, parameter_of<Functor>()).curvature;
        positive = positive && curvature > 0;
        largest = std::max(largest, curvature);
      }
    EXPECT_EQ(positive, functor.strictly_convex || is_scored<Functor>);  // expected information is above 0
    if constexpr (has_dual<decltype(functor)>) {
      EXPECT_LE(largest, functor.largest_curvature);
      EXPECT_EQ(functor.quadratic, functor.terms(3.0, 1.0, 0.0).value == 2 && largest == 1);
    }
  });
}

/// Functions of one decision value. Softmax, whose targets are shares, has tests of its own.
std::vector<Loss> losses_of_one_value() {
  std::vector<Loss> list;
  for_each(AllLosses{}, [&](auto functor) {
    using Functor = decltype(functor);
    if (has_terms<Functor> && !is_softmax<Functor>) list.push_back(functor.loss);
  });
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, LossFunctor, testing::ValuesIn(losses_of_one_value()), [](const auto& loss) {
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

/// Far out, and for rows of weight 0, losses stay finite in both precisions.
TEST(GlmLosses, StayFiniteAtExtremes) {
  const auto check = [](auto functor) {
    for (const float z : {-1e4F, -90.0F, -20.0F, 0.0F, 20.0F, 90.0F, 1e4F})
      for (const float y : {-1.0F, 1.0F}) {
        if (functor.regression && y < 0) continue;
        const auto terms = functor.terms(z, y, 1.5F);
        EXPECT_TRUE(std::isfinite(terms.value) && std::isfinite(terms.slope) && std::isfinite(terms.curvature))
            << functor.row.name << " " << z << " " << y;
        EXPECT_FALSE(std::isnan(functor.prediction(z, 1.5F))) << functor.row.name << " " << z;
      }
  };
  for (const auto& loss : losses()) with_glm_loss(loss.loss, check);
}

/// A name stands for one loss, kind, solver or distribution.
TEST(LossRows, NamesAreUnique) {
  std::map<std::string, std::vector<std::string_view>> names;
  for (const auto& loss : losses()) {
    names["loss"].push_back(loss.name);
    names["kind of net"].push_back(loss.net.kind);
    names["option"].push_back(loss.linear.name);
    EXPECT_EQ(loss.net.kind.empty(), loss.net.solver.empty()) << loss.name;
    EXPECT_EQ(loss.net.kind.empty(), find_net_kind(loss.net.kind) == nullptr) << loss.name;
  }
  for (const auto& solver : linear_solvers()) names["solver"].push_back(solver.name);
  for (const auto& distribution : distributions()) {
    names["distribution"].push_back(distribution.name);
    EXPECT_FALSE(glm_links(distribution.family).empty()) << distribution.name;
  }
  for (auto& [what, list] : names) {
    std::erase(list, "");
    std::sort(list.begin(), list.end());
    EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end()) << what;
  }
}

/// Where a target is its mean the deviance is 0, and elsewhere above; half of it changes as the loss does.
TEST(Distributions, DeviancesAreTwiceTheLossAboveItsLeast) {
  for_each(AllDistributions{}, [](auto distribution) {
    using Distribution = decltype(distribution);
    if constexpr (requires { Distribution::deviance(1.0, 1.0, 1.0); })
      for_each(typename Distribution::Losses{}, [](auto functor) {
        constexpr double parameter = 1.4;  // a power, or a theta
        const auto loss = [&](double y, double mean) {
          return functor.terms(functor.link(mean, parameter), y, parameter).value;
        };
        for (const double y : {1.0, 2.0, 5.0})
          for (const double mean : {0.3, 1.0, 2.5, 7.0}) {
            const double deviance = Distribution::deviance(y, mean, parameter);
            EXPECT_NEAR(Distribution::deviance(y, y, parameter), 0, 1e-12) << Distribution::row.name;
            EXPECT_NEAR(deviance, 2 * (loss(y, mean) - loss(y, y)), 1e-9 * (1 + deviance)) << Distribution::row.name;
            // The slope of the loss in the mean is (mean - y) / variance.
            const double h = 1e-6 * mean;
            EXPECT_NEAR((loss(y, mean + h) - loss(y, mean - h)) / (2 * h),
                        (mean - y) / Distribution::variance(mean, parameter), 1e-6 * (1 + y / mean / mean))
                << Distribution::row.name;
          }
      });
  });
}

/// Laplace's continued fraction continues beyond the range of erfc.
TEST(ProbitLoss, IsSmoothWhereItsFormulaChanges) {
  const auto above = Probit::terms(-5 + 1e-9, 1.0, 0.0);
  const auto below = Probit::terms(-5 - 1e-9, 1.0, 0.0);
  EXPECT_NEAR(above.value, below.value, 1e-7);
  EXPECT_NEAR(above.slope, below.slope, 1e-8);
  EXPECT_NEAR(above.curvature, below.curvature, 1e-8);
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

}  // namespace losses_test
}  // namespace sheaf::linear
