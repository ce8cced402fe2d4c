// Scoring on every device in SHEAF_TEST_DEVICES, against the plain functions of scores.hpp over copies of the test
// rows: what is made of whole numbers bit for bit, sums to 1e-12.
#include <algorithm>
#include <array>
#include <cmath>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sheaf/error.hpp>
#include <sheaf/scores.hpp>
#include "core/random.hpp"

#include "devices.hpp"
#include "plain_metrics.hpp"
#include "score/radix_sort.hpp"
#include "score/scorer.hpp"
#include "score/terms.hpp"

namespace sheaf::score {
namespace score_ops_test {

constexpr double sum_tolerance = 1e-12;

struct Case {
  std::int64_t rows;
  std::int32_t classes;  // 0: regression
  std::int32_t models;
  std::uint64_t levels;  // few: many values are tied; 0: as good as none
  std::int32_t positive = 1;
  bool one_class = false;  // all rows have class 0
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {0, 2, 1, 5},           {1, 2, 2, 5},     {31, 2, 3, 4},      {32, 2, 5, 7, 0},       {33, 2, 8, 0},
      {1000, 2, 3, 1},        {1000, 2, 2, 20}, {3001, 2, 7, 0, 0}, {40000, 2, 2, 300},     {90000, 2, 1, 0},
      {0, 3, 2, 5},           {1, 3, 1, 5},     {33, 3, 4, 6},      {2500, 3, 3, 9},        {20000, 3, 2, 0},
      {31, 60, 1, 8},         {1500, 60, 2, 0}, {200, 4000, 1, 3},  {64, 2, 2, 9, 1, true}, {64, 2, 2, 9, 0, true},
      {50, 3, 1, 4, 1, true}, {0, 0, 2, 5},     {1, 0, 1, 5},       {32, 0, 3, 5},          {1000, 0, 33, 0},
      {70000, 0, 2, 0},       {300, 51, 3, 4},  {300, 128, 3, 4},   {300, 129, 2, 4},       {7, 2, 300, 3},
      {1200, 3, 130, 40},
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
  std::vector<double> values;
  TestRows tests;
  std::vector<std::int32_t> test_of;  // of each model

  explicit Problem(const Case& c) : columns(c.classes > 2 ? c.classes : 1), z(c.rows, c.models * columns) {
    Random random(11, static_cast<std::uint64_t>(c.rows * 100 + c.classes));
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int32_t t = 0; t < z.tasks(); ++t) z(i, t) = draw(random, c.levels);
      labels.push_back(c.classes == 0 || c.one_class
                           ? 0
                           : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.classes))));
      values.push_back(random.normal() + 1);
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
    if (c.classes == 0) return {0, -1, {}, values, {}};
    return {c.classes, c.classes == 2 ? c.positive : -1, labels, {}, {}};
  }
};

/// Arguments of the plain functions: copies of a model's test rows.
template <class T>
test::Predictions predictions_of(const Case& c, const Problem<T>& problem, std::int32_t model) {
  test::Predictions result;
  result.classes = c.classes;
  result.positive = problem.truth(c).positive;
  for (const auto row : problem.rows_of(model)) {
    std::vector<double> values;
    for (std::int32_t k = 0; k < problem.columns; ++k)
      values.push_back(static_cast<double>(problem.z(row, model * problem.columns + k)));
    result.add(values, problem.labels[static_cast<std::size_t>(row)]);
    result.values.push_back(problem.values[static_cast<std::size_t>(row)]);
  }
  return result;
}

/// Rows of the same probability by other decision values are ties but for a rounding error.
constexpr double rank_tolerance = 1e-3;

void expect_same(double got, double wanted, std::string_view what) {
  if (std::isnan(wanted))
    EXPECT_TRUE(std::isnan(got)) << what << " got " << got;
  else
    EXPECT_EQ(got, wanted) << what;
}

/// NaN if a class has no row.
void expect_same(const std::vector<double>& got, const std::vector<double>& wanted, std::string_view what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k) expect_same(got[k], wanted[k], what);
}

void expect_score(Metric metric, double got, double wanted) {
  if (std::isnan(wanted) || !test::is_sum(metric))
    expect_same(got, wanted, info(metric).name);
  else
    EXPECT_NEAR(got, wanted, sum_tolerance * (1 + std::abs(wanted))) << info(metric).name;
}

/// Three classes or more: the log odds of each class's share in the sum of all logistic functions.
test::Predictions by_probability(test::Predictions of) {
  const auto columns = static_cast<std::size_t>(of.columns());
  for (std::size_t i = 0; i < of.decisions.size(); i += columns) {
    std::vector<long double> weights;
    for (std::size_t c = 0; c < columns; ++c)
      weights.push_back(1 / (1 + std::exp(-static_cast<long double>(of.decisions[i + c]))));
    for (std::size_t c = 0; c < columns; ++c) {
      long double others = 0;
      for (std::size_t k = 0; k < columns; ++k) others += k == c ? 0 : weights[k];
      of.decisions[i + c] = static_cast<double>(std::log(weights[c]) - std::log(others));
    }
  }
  return of;
}

void expect_scores(const Scores& got, const test::Predictions& wanted, bool probabilities) {
  for (const auto& row : metrics()) {
    if (probabilities && wanted.classes > 2 && metric_row(row.metric).need == Need::rankings) {
      const double value = test::plain_score(row.metric, by_probability(wanted));
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(got.score(row.metric))) << row.name;
      else
        EXPECT_NEAR(got.score(row.metric), value, rank_tolerance) << row.name;
    } else if (row.suits(wanted.classes, probabilities))
      expect_score(row.metric, got.score(row.metric), test::plain_score(row.metric, wanted));
    else
      EXPECT_TRUE(std::isnan(got.score(row.metric))) << row.name;
  }
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

/// check(case, problem, device, decision values on it) on every device, for classes or regression.
template <class T, class Check>
void for_all(bool classes, Check&& check) {
  for (const Device device : test::devices())
    for (const Case& c : cases()) {
      if ((c.classes > 0) != classes) continue;
      SCOPED_TRACE(to_string(device) + ", " + name_of(c));
      const Problem<T> problem(c);
      const auto z = problem.z.to(device);
      check(c, problem, device, z.view());
      if (testing::Test::HasFailure()) return;
    }
}

template <class T>
Scorer<T> scorer_of(const Case& c, const Problem<T>& problem, Device device, bool probabilities,
                    std::span<const Metric> wanted = {}) {
  Scorer<T> scorer(context_on(device), problem.truth(c), probabilities, wanted);
  scorer.load_tests(problem.tests);
  return scorer;
}

TYPED_TEST(Scoring, ScoresOfClassesAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, Device device, BlockView<const T> z) {
    for (const bool probabilities : {true, false}) {
      auto scorer = scorer_of(c, problem, device, probabilities);
      const auto scores = scorer.score(z, problem.test_of);
      for (std::int32_t m = 0; m < c.models; ++m)
        expect_scores(scores[static_cast<std::size_t>(m)], predictions_of(c, problem, m), probabilities);
    }
  });
}

TYPED_TEST(Scoring, ScoresOfRegressionAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(false, [](const Case& c, const Problem<T>& problem, Device device, BlockView<const T> z) {
    auto scorer = scorer_of(c, problem, device, false);
    const auto scores = scorer.score(z, problem.test_of);
    for (std::int32_t m = 0; m < c.models; ++m)
      expect_scores(scores[static_cast<std::size_t>(m)], predictions_of(c, problem, m), false);
  });
}

/// Three targets: the score is the mean of the scores of each by itself.
TYPED_TEST(Scoring, ScoresOfSeveralTargetsAreTheirMeans) {
  using T = TypeParam;
  constexpr std::int32_t models = 4, targets = 3;
  for (const Device device : test::devices())
    for (const std::int64_t rows : {0, 1, 31, 32, 33, 5000}) {
      const Case c{rows, 0, models * targets, 0};
      SCOPED_TRACE(to_string(device) + ", " + name_of(c));
      const Problem<T> problem(c);
      Random random(5);
      std::vector<double> values;
      for (std::int64_t e = 0; e < rows * targets; ++e) values.push_back(random.normal() + 2);
      Scorer<T> scorer(context_on(device), {0, -1, {}, values, {}, 0.5, targets}, false);
      scorer.keep_decisions();
      scorer.load_tests(problem.tests);
      const auto z = problem.z.to(device);
      const auto scores = scorer.score(z.view(), std::span(problem.test_of).first(models));
      for (std::int32_t m = 0; m < models; ++m) {
        const auto tested = problem.rows_of(m);
        std::vector<double> sums(metrics().size());
        for (std::int32_t t = 0; t < targets; ++t) {
          test::Predictions one;
          for (const auto row : tested) {
            one.add({static_cast<double>(problem.z(row, m * targets + t))}, 0);
            one.values.push_back(values[static_cast<std::size_t>(row * targets + t)]);
          }
          for (const auto& metric : metrics())
            if (metric.suits(0, false))
              sums[static_cast<std::size_t>(metric.metric)] += test::plain_score(metric.metric, one) / targets;
        }
        const auto& got = scores[static_cast<std::size_t>(m)];
        EXPECT_EQ(got.decisions.size(), tested.size() * targets);
        for (const auto& metric : metrics()) {
          const double wanted = sums[static_cast<std::size_t>(metric.metric)];
          if (!metric.suits(0, false)) continue;
          if (std::isnan(wanted))
            EXPECT_TRUE(std::isnan(got.score(metric.metric))) << metric.name;
          else
            EXPECT_NEAR(got.score(metric.metric), wanted, sum_tolerance * (1 + std::abs(wanted))) << metric.name;
        }
      }
    }
}

TYPED_TEST(Scoring, CurvesAndRecallsAreThoseOfThePlainFunctions) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, Device device, BlockView<const T> z) {
    auto scorer = scorer_of(c, problem, device, false);
    const auto all = scorer.score(z, problem.test_of);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const auto wanted = predictions_of(c, problem, m);
      const auto& scores = all[static_cast<std::size_t>(m)];
      expect_same(scores.recall, sheaf::recall_of_classes(wanted.truth, wanted.predicted, c.classes), "recall");
      const bool two = c.classes == 2;
      const auto values = two ? wanted.positive_values() : std::vector<double>{};
      const auto rows = two ? wanted.positive_rows() : std::vector<std::uint8_t>{};
      expect_same(scores.roc, sheaf::roc_curve(values, rows, roc_points), "ROC");
      expect_same(scores.precision_recall, sheaf::precision_recall_curve(values, rows, roc_points), "precision-recall");
    }
  });
}

TYPED_TEST(Scoring, ConfusionTablesHoldTrueTimesPredictedClasses) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, Device device, BlockView<const T> z) {
    auto scorer = scorer_of(c, problem, device, false);
    const auto scores = scorer.score(z, problem.test_of);
    for (std::int32_t m = 0; m < c.models; ++m) {
      const auto p = predictions_of(c, problem, m);
      std::vector<std::int64_t> wanted;
      if (c.classes <= most_confused) wanted.assign(static_cast<std::size_t>(c.classes * c.classes), 0);
      for (std::size_t i = 0; i < p.truth.size() && !wanted.empty(); ++i)
        ++wanted[static_cast<std::size_t>(p.truth[i] * c.classes + p.predicted[i])];
      EXPECT_EQ(scores[static_cast<std::size_t>(m)].confusion, wanted);
    }
  });
}

/// Classes by votes of pairs of SVMs: the class may differ from that of the largest column, which still ranks the rows.
TYPED_TEST(Scoring, PredictedClassesCanBeGiven) {
  using T = TypeParam;
  for_all<T>(true, [](const Case& c, const Problem<T>& problem, Device device, BlockView<const T> z) {
    Random random(5);
    Block<std::int32_t> predicted(c.rows, c.models);
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int32_t m = 0; m < c.models; ++m)
        predicted(i, m) = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(c.classes)));
    const auto there = predicted.to(device);
    auto scorer = scorer_of(c, problem, device, true);
    const auto scores = scorer.score(z, problem.test_of, there.view());
    for (std::int32_t m = 0; m < c.models; ++m) {
      auto wanted = predictions_of(c, problem, m);
      const auto rows = problem.rows_of(m);
      for (std::size_t i = 0; i < rows.size(); ++i) wanted.predicted[i] = predicted(rows[i], m);
      expect_scores(scores[static_cast<std::size_t>(m)], wanted, true);
    }
  });
}

/// Metrics that are not wanted are absent, the wanted ones are unchanged.
TYPED_TEST(Scoring, OnlyWhatIsWantedIsScored) {
  using T = TypeParam;
  for (const Device device : test::devices())
    for (const auto& row : metrics()) {
      const Case c{600, row.regression ? 0 : 7, 2, 5};
      const Problem<T> problem(c);
      const auto z = problem.z.to(device);
      auto scorer = scorer_of(c, problem, device, true, std::span(&row.metric, 1));
      auto complete = scorer_of(c, problem, device, true);
      const auto alone = scorer.score(z.view(), problem.test_of);
      const auto all = complete.score(z.view(), problem.test_of);
      for (std::size_t m = 0; m < alone.size(); ++m)
        for (const auto& other : metrics())
          expect_same(alone[m].score(other.metric),
                      other.metric == row.metric ? all[m].score(row.metric) : std::nan(""), other.name);
    }
}

TYPED_TEST(Scoring, StopsWhenAskedTo) {
  using T = TypeParam;
  const Case c{100, 2, 2, 5};
  const Problem<T> problem(c);
  for (const Device device : test::devices()) {
    std::stop_source source;
    Scorer<T> scorer(context_on(device).with({.stop = source.get_token()}), problem.truth(c), true);
    scorer.load_tests(problem.tests);
    const auto z = problem.z.to(device);
    EXPECT_EQ(scorer.score(z.view(), problem.test_of).size(), 2);
    source.request_stop();
    EXPECT_THROW(scorer.score(z.view(), problem.test_of), Stopped);
  }
}

/// Same device, same input: the same bits, whatever the number of threads, and again from the same object.
TYPED_TEST(Scoring, SumsRepeatBitForBit) {
  using T = TypeParam;
  for (const std::int32_t classes : {2, 3, 0}) {
    const Case c{100000, classes, 5, 0};
    const Problem<T> problem(c);
    for (const Device device : test::devices()) {
      const auto z = problem.z.to(device);
      std::vector<Scores> first;
      for (const int threads : {1, 2, 3}) {
        Scorer<T> scorer(context_on(device, threads), problem.truth(c), true);
        scorer.load_tests(problem.tests);
        for (int again = 0; again < 2; ++again) {
          const auto scores = scorer.score(z.view(), problem.test_of);
          if (first.empty()) first = scores;
          for (std::size_t m = 0; m < scores.size(); ++m)
            for (const auto& row : metrics())
              expect_same(scores[m].score(row.metric), first[m].score(row.metric), row.name);
        }
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
      ops->rank(z.view(), std::vector<std::int32_t>{0}, 101, false, ranking);
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

}  // namespace score_ops_test
}  // namespace sheaf::score
