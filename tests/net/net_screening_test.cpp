// Work that models of elastic nets skip on the CPU, against loops that skip nothing.
#include <cmath>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "linear/net/screening.hpp"

namespace sheaf::linear {
namespace net_screening_test {

/// Feature j is values[j * rows ...].
struct PlainColumns {
  std::vector<double> values;
  std::int64_t rows;
  mutable std::int64_t products = 0;
  double whole_dot(std::int32_t j, const double* q) const {
    ++products;
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += values[static_cast<std::size_t>(j * rows + i)] * q[i];
    return sum;
  }
};

struct Setting {
  const char* name;
  double alpha2;
  bool standardise;
  bool factors;
  bool tilted = false;  // residuals as those of classes, which do not sum to 0
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

/// A table with weights on rows, and all data of a model on it.
class Screened : public testing::TestWithParam<Setting> {
 protected:
  static constexpr std::int64_t rows = 40, features = 3000;

  Screened() : random_(3) {
    const auto n = static_cast<std::size_t>(rows);
    const auto p = static_cast<std::size_t>(features);
    x_ = {std::vector<double>(n * p), rows};
    for (std::size_t j = 0; j < p; ++j) {
      const double scale = std::exp(random_.normal());
      const double middle = 3 * random_.normal();
      for (std::size_t i = 0; i < n; ++i)
        x_.values[j * n + i] = j % 100 == 7 ? 2.5 : middle + scale * random_.normal();  // some are constant
    }
    for (std::size_t i = 0; i < n; ++i) {
      weights_.push_back(i % 5 == 0 ? 0.0F : static_cast<float>(0.5 + random_.uniform()));
      targets_.push_back(random_.normal());
    }
    for (const float s : weights_) total_ += double(s);
    for (std::size_t j = 0; j < p; ++j) {
      double mean = 0, variance = 0;
      for (std::size_t i = 0; i < n; ++i) mean += double(weights_[i]) * x_.values[j * n + i] / total_;
      for (std::size_t i = 0; i < n; ++i)
        variance += double(weights_[i]) * std::pow(x_.values[j * n + i] - mean, 2) / total_;
      means_.push_back(mean);
      variances_.push_back(variance > 1e-20 ? variance : 0);
      deviations_.push_back(std::sqrt(variances_.back()));
      factors_.push_back(j % 50 == 3 ? 0.0 : 0.5 + random_.uniform());
      if (GetParam().factors && factors_.back() == 0) free_.push_back(static_cast<std::int32_t>(j));
    }
  }

  ModelTask<double> task(double alpha1) const {
    ModelTask<double> task;
    task.examples = rows;
    task.targets = targets_.data();
    task.weights = weights_.data();
    task.total = total_;
    task.factors = GetParam().factors ? factors_.data() : nullptr;
    task.means = means_.data();
    task.variances = variances_.data();
    task.alpha1 = alpha1;
    task.alpha2 = GetParam().alpha2;
    if (GetParam().standardise) task.units = deviations_.data();
    task.balanced = !GetParam().tilted;
    return task;
  }

  /// Weighted residuals of sum 0, as models have them, or tilted a little.
  std::vector<double> residuals() {
    std::vector<double> u;
    double sum = 0;
    for (const float s : weights_) {
      u.push_back(double(s) * random_.normal());
      sum += u.back();
    }
    const double tilt = GetParam().tilted ? 0.01 * random_.normal() : 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += (tilt - sum / total_) * double(weights_[i]);
    return u;
  }

  std::vector<double> products(const std::vector<double>& u) const {
    std::vector<double> g;
    for (std::int32_t j = 0; j < features; ++j) g.push_back(x_.whole_dot(j, u.data()));
    return g;
  }

  FeatureSums sum_all(const ModelTask<double>& task, const std::vector<double>& w, const std::vector<double>& u) const {
    const auto g = products(u);
    FeatureSums sums;
    for (std::int64_t j = 0; j < features; ++j)
      sums.add(g[static_cast<std::size_t>(j)] / total_, w[static_cast<std::size_t>(j)], task.penalty(j),
               task.curvature(j));
    return sums;
  }

  Random random_;
  PlainColumns x_;
  std::vector<float> weights_;
  std::vector<double> targets_, means_, variances_, deviations_, factors_;
  std::vector<std::int32_t> free_;
  double total_ = 0;
};

TEST_P(Screened, SkippedFeaturesChangeNothing) {
  std::vector<double> w(features, 0.0), g;
  FeatureScreen<double> screen(0, features, 1);
  auto u = residuals();
  const double largest = sum_all(task(1), w, u).ratio;
  ASSERT_GT(largest, 0);
  double alpha = largest * 0.9;
  std::int64_t looked = 0, full = 0;
  constexpr int turns = 60;
  for (int turn = 0; turn < turns; ++turn, alpha *= 0.97) {
    // Residuals move a little, once far away; weights come and go.
    const auto away = residuals();
    const double share = turn == 40 ? 0.9 : 0.02;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = (1 - share) * u[i] * 0.99 + share * away[i];
    screen.weighted().clear();
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] = (j * 7 + static_cast<std::size_t>(turn / 10)) % 301 == 0 && variances_[j] > 0 ? random_.normal() : 0;
      if (w[j] != 0) screen.weighted().push_back(static_cast<std::int32_t>(j));
    }
    const auto here = task(alpha);
    const auto wanted = sum_all(here, w, u);
    screen.forget();
    screen.meet(here, u.data(), 1);
    FeatureSums found;
    const auto sum = [&] { return screen.feature_sums(x_, here, {w.data(), g.data(), 1, 1}, free_, found); };
    x_.products = 0;
    if (!sum()) {
      ++full;
      g = products(u);
      screen.refer(here);
      for (std::int64_t j = 0; j < features; ++j) screen.refer_feature(j, g.data() + j);
      ASSERT_TRUE(sum()) << turn;
    } else {
      looked += x_.products;
    }
    EXPECT_NEAR(found.ratio, wanted.ratio, 1e-9 * wanted.ratio) << turn;
    EXPECT_NEAR(found.lasso, wanted.lasso, 1e-9 * wanted.lasso) << turn;
    EXPECT_NEAR(found.ridge, wanted.ridge, 1e-9 * wanted.ridge) << turn;
    EXPECT_NEAR(found.free, wanted.free, 1e-9 * wanted.free) << turn;
    EXPECT_EQ(found.nonzeros, wanted.nonzeros) << turn;
    if (std::isinf(wanted.excess)) {
      EXPECT_TRUE(std::isinf(found.excess)) << turn;
    } else {
      EXPECT_NEAR(found.excess, wanted.excess, 1e-9 * wanted.excess) << turn;
    }

    std::vector<std::int32_t> set;
    screen.choose(here, {w.data(), g.data(), 1, 1}, 200, found.ratio, 1.0, HUGE_VAL, set);
    std::vector<std::uint8_t> chosen(features, 0);
    for (const auto j : set) ++chosen[static_cast<std::size_t>(j)];
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      EXPECT_LE(chosen[j], 1) << "a feature comes twice: " << j;
      EXPECT_TRUE(w[j] == 0 || chosen[j] == 1) << "a feature with a weight is missing: " << j;
    }
  }
  EXPECT_GT(full, 0);
  EXPECT_LT(looked + full * features, turns * features / 2) << "hardly anything was skipped";
}

INSTANTIATE_TEST_SUITE_P(Nets, Screened,
                         testing::Values(Setting{"lasso", 0, false, false}, Setting{"standardised", 0, true, false},
                                         Setting{"net", 0.01, true, false}, Setting{"factors", 0.01, false, true},
                                         Setting{"standardised_factors", 0, true, true},
                                         Setting{"tilted", 0.01, true, false, true}),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace net_screening_test
}  // namespace sheaf::linear
