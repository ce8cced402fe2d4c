// The verbs of scoring on every device in SHEAF_TEST_DEVICES, against the plain functions of scores.hpp over copies of
// the test rows: what is made of whole numbers bit for bit, sums to 1e-12.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sheaf/scores.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "score/ops.hpp"
#include "score/radix_sort.hpp"
#include "score/terms.hpp"

namespace sheaf::search {
namespace {

constexpr std::int32_t points = 101;
constexpr double sum_tolerance = 1e-12;

struct Case {
  std::int64_t rows;
  std::int32_t classes;  // 0: amounts
  std::int32_t models;
  std::uint64_t levels;  // few: many values are tied; 0: as good as none
  std::int32_t positive = 1;
  bool one_class = false;  // all rows are of class 0
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {0, 2, 1, 5},    {1, 2, 2, 5},     {31, 2, 3, 4},      {32, 2, 5, 7, 0},       {33, 2, 8, 0},
      {1000, 2, 3, 1}, {1000, 2, 2, 20}, {3001, 2, 7, 0, 0}, {40000, 2, 2, 300},     {90000, 2, 1, 0},
      {0, 3, 2, 5},    {1, 3, 1, 5},     {33, 3, 4, 6},      {2500, 3, 3, 9},        {20000, 3, 2, 0},
      {31, 60, 1, 8},  {1500, 60, 2, 0}, {200, 4000, 1, 3},  {64, 2, 2, 9, 1, true}, {50, 3, 1, 4, 1, true},
      {0, 0, 2, 5},    {1, 0, 1, 5},     {32, 0, 3, 5},      {1000, 0, 33, 0},       {70000, 0, 2, 0},
      {300, 50, 3, 4}, {300, 51, 2, 4},  {7, 2, 300, 3},     {1200, 3, 130, 40},
  };
  return list;
}

std::string name_of(const Case& c) {
  return fmt::format("{} rows, {} classes, {} models, {} levels", c.rows, c.classes, c.models, c.levels);
}

/// Decision values, the truth, and tests that overlap.
template <class T>
struct Problem {
  std::int32_t columns;
  Block<T> z;
  std::vector<std::int32_t> labels;
  std::vector<double> amounts;
  TestRows tests;
  std::vector<std::int32_t> test_of;  // of each model

  explicit Problem(const Case& c) : columns(c.classes > 2 ? c.classes : 1), z(c.rows, c.models * columns) {
    Random random(11, static_cast<std::uint64_t>(c.rows * 100 + c.classes));
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int32_t t = 0; t < z.tasks(); ++t) z(i, t) = draw(random, c.levels);
      labels.push_back(c.classes == 0 || c.one_class
                           ? 0
                           : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.classes))));
      amounts.push_back(random.normal() + 1);
    }
    add_tests(random);
    for (std::int32_t m = 0; m < c.models; ++m) test_of.push_back(m % tests.count());
  }
  static T draw(Random& random, std::uint64_t levels) {
    if (levels == 0) return static_cast<T>(3 * random.normal());
    const double value = (static_cast<double>(random.below(levels)) - static_cast<double>(levels / 2)) / 4;
    return static_cast<T>(random.below(2) == 0 ? value : value * -1);  // 0 and -0 are the same
  }
  /// A third of the rows, the rest, two draws as of bootstraps, all rows, and none.
  void add_tests(Random& random) {
    const auto rows = static_cast<std::int32_t>(z.rows());
    for (int test = 0; test < 6; ++test) {
      for (std::int32_t i = 0; i < rows; ++i) {
        const bool third = i % 3 == 0;
        const bool drawn = random.uniform() < 0.37;
        if (test == 0 ? third : test == 1 ? !third : test == 4 || (test < 4 && drawn)) tests.rows.push_back(i);
      }
      tests.begins.push_back(std::ssize(tests.rows));
    }
  }
  std::vector<std::int32_t> rows_of(std::int32_t model) const {
    const auto test = test_of[static_cast<std::size_t>(model)];
    return {tests.rows.begin() + tests.begin(test), tests.rows.begin() + tests.begin(test + 1)};
  }
  Truth truth(const Case& c) const {
    if (c.classes == 0) return {0, -1, {}, amounts};
    return {c.classes, c.classes == 2 ? c.positive : -1, labels, {}};
  }
};

/// What the plain functions take: copies of a model's test rows.
struct Plain {
  std::vector<double> decisions;
  std::vector<std::int32_t> truth, predicted;
  std::vector<double> amounts;

  template <class T>
  Plain(const Problem<T>& problem, std::int32_t model) {
    for (const auto row : problem.rows_of(model)) {
      std::int32_t best = 0;
      for (std::int32_t c = 0; c < problem.columns; ++c) {
        decisions.push_back(static_cast<double>(problem.z(row, model * problem.columns + c)));
        if (problem.z(row, model * problem.columns + c) > problem.z(row, model * problem.columns + best)) best = c;
      }
      truth.push_back(problem.labels[static_cast<std::size_t>(row)]);
      predicted.push_back(problem.columns > 1 ? best : decisions.back() > 0 ? 0 : 1);
      amounts.push_back(problem.amounts[static_cast<std::size_t>(row)]);
    }
  }
};

void expect_same(double got, double wanted, const char* what) {
  if (std::isnan(wanted))
    EXPECT_TRUE(std::isnan(got)) << what << " got " << got;
  else
    EXPECT_EQ(got, wanted) << what;
}

template <class T>
class Scoring : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Scoring, Elements);

Context context_on(Device device, int threads = 2) {
  Context::Options options;
  options.device = device;
  options.threads = threads;
  return Context(options);
}

/// check(case, problem, verbs, decision values on their device) on every device, for classes or amounts.
template <class T, class Check>
void for_all(bool classes, Check&& check) {
  for (const Device device : test::devices())
    for (const Case& c : cases()) {
      if ((c.classes > 0) != classes) continue;
      SCOPED_TRACE(to_string(device) + ", " + name_of(c));
      const Problem<T> problem(c);
      const auto ops = make_score_ops<T>(context_on(device), problem.truth(c));
      ops->load_tests(problem.tests);
      const auto z = problem.z.to(device);
      check(c, problem, *ops, z.view());
      if (testing::Test::HasFailure()) return;
    }
}

TYPED_TEST(Scoring, CountsAndLossesAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, ScoreOps<T>& ops, BlockView<const T> z) {
    const auto models = static_cast<std::size_t>(c.models);
    const auto bins = static_cast<std::size_t>(count_bins(c.classes));
    std::vector<std::int64_t> counts(models * bins, -7);
    std::vector<std::int64_t> alone(models * bins, -7);
    std::vector<double> losses(models, -7);
    ops.count_classes(z, problem.test_of, counts, losses);
    ops.count_classes(z, problem.test_of, alone, {});
    EXPECT_EQ(counts, alone);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const Plain plain(problem, m);
      const auto at = static_cast<std::size_t>(m);
      const auto tally = tally_of(std::span(counts).subspan(at * bins, bins), c.classes);
      const std::int32_t positive = problem.truth(c).positive;
      expect_same(accuracy(tally), sheaf::accuracy(plain.truth, plain.predicted), "accuracy");
      expect_same(balanced_accuracy(tally), sheaf::balanced_accuracy(plain.truth, plain.predicted, c.classes),
                  "balanced");
      expect_same(f1(tally, positive), sheaf::f1(plain.truth, plain.predicted, c.classes, positive), "F1");
      const auto rows = static_cast<double>(plain.truth.size());
      const double loss = rows == 0 ? 0 : rows * log_loss(plain.decisions, problem.columns, plain.truth);
      EXPECT_NEAR(losses[at], loss, sum_tolerance * (1 + loss));
    }
  });
}

TYPED_TEST(Scoring, ConfusionTablesHoldTrueTimesPredictedClasses) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, ScoreOps<T>& ops, BlockView<const T> z) {
    if (c.classes > most_confused) return;
    const auto bins = static_cast<std::size_t>(count_bins(c.classes));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(c.models) * bins);
    ops.count_classes(z, problem.test_of, counts, {});
    std::vector<std::int64_t> wanted(counts.size(), 0);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const Plain plain(problem, m);
      for (std::size_t i = 0; i < plain.truth.size(); ++i)
        ++wanted[static_cast<std::size_t>(m) * bins +
                 static_cast<std::size_t>(plain.truth[i] * c.classes + plain.predicted[i])];
    }
    EXPECT_EQ(counts, wanted);
  });
}

TYPED_TEST(Scoring, RanksAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, ScoreOps<T>& ops, BlockView<const T> z) {
    const bool two = c.classes == 2;
    std::vector<Ranking> rankings(static_cast<std::size_t>(c.models * problem.columns));
    ops.rank(z, problem.test_of, two ? points : 0, rankings);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const Plain plain(problem, m);
      const auto first = static_cast<std::size_t>(m * problem.columns);
      double sum = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(problem.columns); ++k) sum += auc(rankings[first + k]);
      expect_same(sum / problem.columns, auc_of_classes(plain.decisions, problem.columns, plain.truth), "AUC");
      if (!two) continue;
      std::vector<double> values;
      std::vector<std::uint8_t> flags;
      for (std::size_t i = 0; i < plain.truth.size(); ++i) {
        values.push_back(c.positive == 0 ? plain.decisions[i] : -plain.decisions[i]);
        flags.push_back(plain.truth[i] == c.positive ? 1 : 0);
      }
      EXPECT_EQ(roc_curve(rankings[first]), sheaf::roc_curve(values, flags, points));
    }
  });
}

TYPED_TEST(Scoring, SquaredErrorsAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(false, [](const Case& c, const Problem<T>& problem, ScoreOps<T>& ops, BlockView<const T> z) {
    std::vector<double> sums(static_cast<std::size_t>(c.models), -7);
    ops.sum_squares(z, problem.test_of, sums);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const Plain plain(problem, m);
      const auto rows = static_cast<double>(plain.amounts.size());
      const double rmse = root_mean_squared_error(plain.decisions, plain.amounts);
      const double wanted = rows == 0 ? 0 : rmse * rmse * rows;
      EXPECT_NEAR(sums[static_cast<std::size_t>(m)], wanted, sum_tolerance * wanted);
    }
  });
}

/// Same device, same input: the same bits, whatever the number of threads, and again from the same object.
TYPED_TEST(Scoring, SumsRepeatBitForBit) {
  using T = TypeParam;
  const Case c{100000, 2, 5, 0};
  const Problem<T> problem(c);
  for (const Device device : test::devices()) {
    const auto z = problem.z.to(device);
    std::vector<std::vector<double>> results;
    for (const int threads : {1, 2, 3}) {
      const auto ops = make_score_ops<T>(context_on(device, threads), problem.truth(c));
      ops->load_tests(problem.tests);
      std::vector<std::int64_t> counts(20);
      for (int again = 0; again < 2; ++again) {
        results.emplace_back(5);
        ops->count_classes(z.view(), problem.test_of, counts, results.back());
        EXPECT_EQ(results.back(), results.front()) << to_string(device) << ", " << threads << " threads";
      }
    }
  }
}

/// Other tests may be loaded at any time.
TYPED_TEST(Scoring, TestsCanBeExchanged) {
  using T = TypeParam;
  const Case c{500, 2, 1, 0};
  const Problem<T> problem(c);
  for (const Device device : test::devices()) {
    const auto ops = make_score_ops<T>(context_on(device), problem.truth(c));
    const auto z = problem.z.to(device);
    for (const std::int32_t size : {3, 500, 40}) {
      TestRows tests;
      for (std::int32_t i = 0; i < size; ++i) tests.rows.push_back(i);
      tests.begins.push_back(size);
      ops->load_tests(std::move(tests));
      std::vector<Ranking> ranking(1);
      ops->rank(z.view(), std::vector<std::int32_t>{0}, points, ranking);
      EXPECT_EQ(ranking[0].others + ranking[0].positives, size);
    }
  }
}

TEST(RadixSort, SortsAsComparingDoes) {
  for (const std::size_t size : {0, 1, 511, 512, 5000}) {
    Random random(size);
    std::vector<std::uint64_t> keys(size);
    for (auto& key : keys) key = random.bits() >> random.below(64);
    auto wanted = keys;
    std::sort(wanted.begin(), wanted.end());
    std::vector<std::uint64_t> scratch(size);
    const auto* sorted = radix_sort(keys.data(), scratch.data(), std::ssize(keys));
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), sorted));
  }
}

TEST(FallingKey, OrdersAsValuesDo) {
  const std::vector<double> falling{1e300, 2.5, 1e-310, 0, -1e-310, -1, -1e300};
  for (std::size_t k = 1; k < falling.size(); ++k) EXPECT_LT(falling_key(falling[k - 1]), falling_key(falling[k]));
  EXPECT_EQ(falling_key(0.0F), falling_key(-0.0F));
  EXPECT_LT(falling_key(3.0F), falling_key(-3.0F));
}

}  // namespace
}  // namespace sheaf::search
