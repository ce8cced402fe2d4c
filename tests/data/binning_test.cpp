// Discretisation against the definitions written down plainly, dense and sparse, and for any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <sheaf/error.hpp>
#include <sheaf/solvers/binning.hpp>

#include "binned_codes.hpp"
#include "binning_reference.hpp"
#include "tables.hpp"

namespace sheaf {
namespace binning_test {

using test::Codes;
using test::codes_of;
using test::Rows;
using test::with_threads;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Dataset<T> table(const Rows& rows, std::int64_t columns, bool sparse) {
  Dataset<T> dataset;
  if (sparse)
    dataset.x = test::sparse_of<T>(rows, columns, 4);
  else
    dataset.x = test::dense_of<T>(rows, columns);
  dataset.source = "table";
  return dataset;
}

Dataset<double> column(const std::vector<double>& values, bool sparse = false) {
  Rows rows;
  for (const double value : values) rows.push_back({value});
  return table<double>(rows, 1, sparse);
}

BinningOptions by(BinMethod method, std::int32_t bins = 64) {
  BinningOptions options;
  options.method = method;
  options.bins = bins;
  return options;
}

BinnedTarget target_of(const std::vector<std::int32_t>& classes) {
  BinnedTarget target{classes, {}};
  const auto most = classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end()) + 1;
  for (int c = 0; c < most; ++c) target.names.push_back(std::to_string(c));
  return target;
}

std::vector<std::int32_t> random_classes(std::int64_t rows, std::int32_t classes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < rows; ++i)
    result.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
  return result;
}

std::vector<double> column_of(const Rows& rows, std::size_t j) {
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[j]);
  return values;
}

template <class T>
class BinningOf : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(BinningOf, Elements);

TYPED_TEST(BinningOf, IsWhatTheDefinitionsSay) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{1, 1},   {1, 40},   {50, 1},  {33, 31},
                                                                  {64, 32}, {700, 67}, {5000, 3}};
  for (const auto& [n, p] : shapes)
    for (const double density : {0.0, 0.1, 1.0})
      for (const bool sparse : {false, true})
        for (const int bins : {2, 3, 10, 64, 300, 65535}) {
          const auto rows = test::random_rows(n, p, density, 1);
          const auto dataset = table<TypeParam>(rows, p, sparse);
          const auto wide =
              codes_of(learn_and_apply_binning(with_threads(2), dataset, by(BinMethod::equal_width, bins)).table);
          const auto even =
              codes_of(learn_and_apply_binning(with_threads(2), dataset, by(BinMethod::equal_frequency, bins)).table);
          for (std::size_t j = 0; j < static_cast<std::size_t>(p); ++j) {
            ASSERT_EQ(wide[j], test::plain_equal_width(column_of(rows, j), bins))
                << n << "x" << p << " " << density << " " << bins;
            ASSERT_EQ(even[j], test::plain_equal_frequency(column_of(rows, j), bins))
                << n << "x" << p << " " << density << " " << bins;
          }
        }
}

TYPED_TEST(BinningOf, MdlpFindsTheCutsOfThePlainRecursion) {
  const std::int64_t n = 150;
  int cuts_found = 0;
  for (const int classes : {2, 3, 7})
    for (const double density : {0.15, 1.0}) {
      auto rows = test::random_rows(n, 12, density, 5);
      const auto y = random_classes(n, classes, 6);
      for (std::size_t i = 0; i < rows.size(); ++i)  // half of the features depend on the class
        for (std::size_t j = 0; j < 6; ++j)
          if (rows[i][j] != 0) rows[i][j] += 4 * ((y[i] + static_cast<int>(j)) % classes);
      for (const bool sparse : {false, true}) {
        const auto target = target_of(y);
        const auto binning =
            learn_binning(with_threads(2), table<TypeParam>(rows, 12, sparse), by(BinMethod::mdlp), &target);
        for (std::size_t j = 0; j < 12; ++j) {
          std::vector<std::pair<double, int>> examples;
          for (std::size_t i = 0; i < rows.size(); ++i) examples.emplace_back(rows[i][j], y[i]);
          std::vector<double> expected;
          test::plain_mdlp(examples, expected);
          std::sort(expected.begin(), expected.end());
          EXPECT_EQ(binning.rules[j].cuts, expected) << classes << " classes, feature " << j;
          cuts_found += static_cast<int>(expected.size());
        }
      }
    }
  EXPECT_GT(cuts_found, 40) << "the test would say little";
}

TYPED_TEST(BinningOf, SparseIsDenseForAnyNumberOfThreads) {
  const auto rows = test::random_rows(900, 70, 0.2, 2);
  const auto target = target_of(random_classes(900, 4, 3));
  for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given}) {
    const auto one = learn_and_apply_binning(with_threads(1), table<TypeParam>(rows, 70, false), by(method), &target);
    for (const bool sparse : {false, true})
      for (const int threads : {1, 2, 5}) {
        const auto dataset = table<TypeParam>(rows, 70, sparse);
        const auto other = learn_and_apply_binning(with_threads(threads), dataset, by(method), &target);
        EXPECT_EQ(other.binning.rules, one.binning.rules);
        EXPECT_EQ(other.table.states, one.table.states);
        EXPECT_TRUE(codes_of(other.table) == codes_of(one.table));
        EXPECT_EQ(std::holds_alternative<SparseCodes>(other.table.codes), sparse);
        EXPECT_TRUE(codes_of(apply_binning(with_threads(threads), other.binning, dataset)) == codes_of(one.table));
      }
  }
}

TEST(Binning, SparseTablesKeepOnlyWhatIsNotCommon) {
  const auto dataset = table<double>({{0, 0.1}, {8, 0}, {0, 4}, {4, 0}}, 2, true);
  const auto table = learn_and_apply_binning(with_threads(1), dataset, by(BinMethod::equal_width, 4)).table;
  const auto& codes = std::get<SparseCodes>(table.codes);
  EXPECT_EQ(test::list_of(codes.common), (std::vector<std::uint16_t>{0, 0}));
  EXPECT_EQ(test::list_of(codes.offsets), (std::vector<std::int64_t>{0, 2, 3})) << "0.1 shares the bin of 0";
  EXPECT_EQ(test::list_of(codes.examples), (std::vector<std::int32_t>{1, 3, 2}));
  EXPECT_EQ(test::list_of(codes.codes), (std::vector<std::uint16_t>{3, 2, 3}));
  const auto shifted =
      learn_and_apply_binning(with_threads(1), column({-3, 0, 0, 1}, true), by(BinMethod::as_given)).table;
  EXPECT_EQ(std::get<SparseCodes>(shifted.codes).common[0], 3);
  EXPECT_EQ(shifted.states[0], 5);
}

TEST(Binning, AsGivenCountsFromTheSmallest) {
  const auto binned =
      learn_and_apply_binning(with_threads(1), column({3, -2, 0.9, -1.5, 3.99}), by(BinMethod::as_given));
  EXPECT_EQ(codes_of(binned.table)[0], (std::vector<int>{5, 0, 2, 0, 5}));
  EXPECT_EQ(binned.table.states[0], 6) << "gaps are states";
  ASSERT_EQ(binned.notes.size(), 1U);
  EXPECT_NE(binned.notes[0].find("fractions"), std::string::npos);
  EXPECT_TRUE(learn_and_apply_binning(with_threads(1), column({3, -2}), by(BinMethod::as_given)).notes.empty());
  try {
    learn_binning(with_threads(1), column({0, 65535}), by(BinMethod::as_given));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("feature '1' holds numbers from 0 to 65535"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(learn_binning(with_threads(1), column({0, 65534}), by(BinMethod::as_given)).rules[0].states, 65535);
}

TEST(Binning, ManyStatesTakeTwoBytes) {
  const auto bytes = [](std::int32_t bins) {
    const auto table = learn_and_apply_binning(with_threads(1), column({1, 2}), by(BinMethod::equal_width, bins)).table;
    return std::get<DenseCodes>(table.codes).index() + 1;
  };
  EXPECT_EQ(bytes(256), 1U);
  EXPECT_EQ(bytes(257), 2U);
}

TEST(Binning, ValuesBeyondWhatWasLearntGoToTheEdges) {
  const std::vector<double> learnt{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> other{-100, 0.99, 1, 8, 8.01, 1e300};
  const auto target = target_of({0, 0, 0, 0, 1, 1, 1, 1});
  for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given}) {
    const auto binning = learn_binning(with_threads(1), column(learnt), by(method, 4), &target);
    const int last = binning.rules[0].states - 1;
    EXPECT_EQ(codes_of(apply_binning(with_threads(1), binning, column(other)))[0],
              (std::vector<int>{0, 0, 0, last, last, last}));
  }
}

/// By hand. Two rows of two classes: a gain of 1 bit, a price of (log2(1) + log2(7) - 2) / 2 = 0.40. 0001: 0.81 for
/// 0.69, at 3.5. 0100: the best cut, at 2.5, gains 0.31 for 1.19.
TEST(Mdlp, CutsWhereItPays) {
  const auto cuts = [](const std::vector<double>& x, const std::vector<std::int32_t>& y) {
    const auto target = target_of(y);
    return learn_binning(with_threads(1), column(x), by(BinMethod::mdlp), &target).rules[0].cuts;
  };
  EXPECT_EQ(
      cuts({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}),
      (std::vector<double>{8.5}));
  EXPECT_EQ(cuts({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24},
                 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}),
            (std::vector<double>{8.5, 16.5}));
  EXPECT_EQ(cuts({1, 2}, {0, 1}), (std::vector<double>{1.5}));
  EXPECT_EQ(cuts({1, 2, 3, 4}, {0, 0, 0, 1}), (std::vector<double>{3.5}));
  EXPECT_EQ(cuts({1, 2, 3, 4}, {0, 1, 0, 0}), std::vector<double>{});
  EXPECT_EQ(cuts({1, 2, 3, 4}, {0, 1, 0, 1}), std::vector<double>{});
  EXPECT_EQ(cuts({5, 5, 5, 5}, {0, 1, 0, 1}), std::vector<double>{}) << "constant";
  EXPECT_EQ(cuts({1, 2, 3, 4}, {0, 0, 0, 0}), std::vector<double>{}) << "one class";
  EXPECT_EQ(cuts({}, {}), std::vector<double>{});
}

TEST(Mdlp, NeedsClasses) { EXPECT_THROW(learn_binning(with_threads(1), column({1, 2}), by(BinMethod::mdlp)), Error); }

TEST(Binning, ConstantFeaturesHaveOneState) {
  const auto target = target_of({0, 1, 0});
  for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given})
    for (const double value : {0.0, 7.0, -1e300})
      for (const bool sparse : {false, true}) {
        if (method == BinMethod::as_given && value < -1) continue;
        const auto binned =
            learn_and_apply_binning(with_threads(1), column({value, value, value}, sparse), by(method), &target);
        EXPECT_EQ(binned.table.states, (std::vector<std::int32_t>{1}));
        EXPECT_EQ(codes_of(binned.table)[0], (std::vector<int>{0, 0, 0}));
      }
}

TEST(Binning, TakesTablesWithoutRowsOrFeatures) {
  const auto target = target_of({});
  for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given})
    for (const bool sparse : {false, true}) {
      EXPECT_EQ(
          codes_of(learn_and_apply_binning(with_threads(2), table<double>({}, 4, sparse), by(method), &target).table),
          Codes(4));
      const auto no_columns = target_of({0, 1, 0});
      EXPECT_EQ(learn_and_apply_binning(with_threads(2), table<double>(Rows(3), 0, sparse), by(method), &no_columns)
                    .table.rows,
                3);
    }
}

TEST(Binning, SurvivesExtremeRanges) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(
      codes_of(learn_and_apply_binning(with_threads(1), column({0, tiny, 2 * tiny}), by(BinMethod::equal_width, 2))
                   .table)[0],
      (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(codes_of(learn_and_apply_binning(with_threads(1), column({1, 1 + 1e-15, 1 + 2e-15}),
                                             by(BinMethod::equal_frequency, 3))
                         .table)[0],
            (std::vector<int>{0, 1, 2}))
      << "neighbouring numbers have states of their own";
  const double huge = std::numeric_limits<double>::max();
  for (const auto& wide :
       {std::vector<double>{-huge, huge}, std::vector<double>{1, std::numeric_limits<double>::infinity()}})
    EXPECT_THROW(learn_binning(with_threads(1), column(wide), by(BinMethod::equal_width)), Error);
}

TEST(Binning, MissingValuesAreNamedOrHaveTheirOwnState) {
  const Rows rows{{1, 0}, {0, 2}, {3, nan}, {nan, 4}, {5, nan}};
  const auto target = target_of({0, 1, 0, 1, 0});
  for (const bool sparse : {false, true})
    for (const auto method :
         {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given}) {
      auto dataset = table<double>(rows, 2, sparse);
      dataset.feature_names = {"a", "b"};
      try {
        learn_binning(with_threads(1), dataset, by(method), &target);
        FAIL();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("table: row 4 has no value for feature 'a'"), std::string::npos)
            << error.what();
      }
      auto options = by(method, 2);
      options.missing = MissingState::own;
      const auto binned = learn_and_apply_binning(with_threads(1), dataset, options, &target);
      const auto codes = codes_of(binned.table);
      EXPECT_EQ(codes[0][3], binned.binning.rules[0].states);
      EXPECT_EQ(codes[1][2], binned.binning.rules[1].states);
      EXPECT_EQ(codes[1][4], binned.binning.rules[1].states);
      EXPECT_EQ(binned.table.states[0], binned.binning.rules[0].states + 1);
      const auto whole = apply_binning(with_threads(1), binned.binning, table<double>({{1, 0}}, 2, sparse));
      EXPECT_EQ(whole.states[0], binned.binning.rules[0].states) << "no state for what does not occur";
    }
  auto nothing = column({nan, nan});
  auto options = by(BinMethod::equal_frequency);
  options.missing = MissingState::own;
  EXPECT_EQ(codes_of(learn_and_apply_binning(with_threads(1), nothing, options).table)[0], (std::vector<int>{1, 1}));
}

TEST(Binning, NominalFeaturesKeepTheirLevels) {
  const Rows rows{{2, 0.5}, {0, 1}, {1, 7}};
  const auto target = target_of({0, 1, 0});
  for (const bool sparse : {false, true})
    for (const auto method :
         {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given}) {
      auto dataset = table<double>(rows, 2, sparse);
      dataset.levels = {{"red", "green", "blue", "grey"}, {}};
      const auto binned = learn_and_apply_binning(with_threads(1), dataset, by(method), &target);
      EXPECT_EQ(codes_of(binned.table)[0], (std::vector<int>{2, 0, 1}));
      EXPECT_EQ(binned.table.states[0], 4);
      EXPECT_EQ(binned.binning.rules[0].state_name(1), "green");
      auto other = table<double>(rows, 2, sparse);
      other.levels = {{"green", "red", "blue", "grey"}, {}};
      EXPECT_THROW(apply_binning(with_threads(1), binned.binning, other), Error);
      EXPECT_THROW(apply_binning(with_threads(1), binned.binning, table<double>(rows, 2, sparse)), Error);
    }
}

TEST(Binning, RefusesOtherFeaturesAndWrongBins) {
  auto learnt = table<double>({{1, 2}, {3, 4}}, 2, false);
  learnt.feature_names = {"a", "b"};
  const auto binning = learn_binning(with_threads(1), learnt, by(BinMethod::equal_width));
  EXPECT_THROW(apply_binning(with_threads(1), binning, column({1})), Error);
  auto swapped = table<double>({{1, 2}}, 2, false);
  EXPECT_NO_THROW(apply_binning(with_threads(1), binning, swapped));
  swapped.feature_names = {"a", "c"};
  EXPECT_THROW(apply_binning(with_threads(1), binning, swapped), Error);
  for (const std::int32_t bins : {-1, 1, 65536})
    for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency})
      EXPECT_THROW(learn_binning(with_threads(1), learnt, by(method, bins)), UsageError);
}

TEST(Binning, StatesAsNumbersAreTheCodes) {
  const auto rows = test::random_rows(50, 9, 0.3, 4);
  for (const bool sparse : {false, true})
    for (const auto method : {BinMethod::equal_width, BinMethod::as_given})
      for (const bool negative : {false, true}) {
        auto signed_rows = rows;
        if (!negative)
          for (auto& row : signed_rows)
            for (auto& value : row) value = std::abs(value);
        auto dataset = table<double>(signed_rows, 9, sparse);
        dataset.feature_names = std::vector<std::string>(9, "x");
        const auto binned = learn_and_apply_binning(with_threads(2), dataset, by(method, 300));
        const auto states = states_dataset(with_threads(2), binned.table, dataset);
        EXPECT_EQ(is_sparse(states.x), sparse && !negative) << "zero is the state 0 where no value is below";
        const auto numbers = test::rows_of(states.x);
        const auto codes = codes_of(binned.table);
        for (std::size_t i = 0; i < 50; ++i)
          for (std::size_t j = 0; j < 9; ++j) ASSERT_EQ(numbers[i][j], codes[j][i]);
        EXPECT_EQ(states.feature_names, dataset.feature_names);
      }
}

TEST(Binning, StatesHaveNames) {
  const auto names = [](const Dataset<double>& dataset, const BinningOptions& options) {
    const auto rule = learn_binning(with_threads(1), dataset, options).rules[0];
    std::vector<std::string> result;
    for (int s = 0; s <= rule.states; ++s) result.push_back(rule.state_name(s));
    return result;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(column({0, 10}), by(BinMethod::equal_width, 2)), (Names{"0 to 5", "5 to 10", "missing"}));
  EXPECT_EQ(names(column({1, 2, 3}), by(BinMethod::equal_frequency, 3)),
            (Names{"up to 1.5", "1.5 to 2.5", "over 2.5", "missing"}));
  EXPECT_EQ(names(column({-1, 1}), by(BinMethod::as_given)), (Names{"-1", "0", "1", "missing"}));
  EXPECT_EQ(names(column({4, 4}), by(BinMethod::equal_width)), (Names{"4", "missing"}));
}

TEST(BinningNames, AreReadBackAndUnknownOnesAnswered) {
  for (const auto method : {BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp, BinMethod::as_given})
    EXPECT_EQ(parse_bin_method(to_string(method)), method);
  EXPECT_THROW(parse_bin_method("kmeans"), UsageError);
}

}  // namespace binning_test
}  // namespace sheaf
