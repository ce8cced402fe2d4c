// The number of bins that follows from rows and classes, and what is selected with it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/pipeline.hpp>
#include <sheaf/selection.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "information/class_separation.hpp"
#include "tables.hpp"

namespace sheaf {
namespace automatic_bins_test {

/// Normal noise, and ten features whose mean differs between the classes.
struct Planted {
  std::int64_t rows, features, classes;
  double effect;  // standard deviations between the first and the last class
};

Dataset<double> make_planted(const Planted& shape, std::uint64_t seed, std::vector<std::int64_t>& planted) {
  Random random(seed);
  std::vector<std::int64_t> places(static_cast<std::size_t>(shape.features));
  std::iota(places.begin(), places.end(), 0);
  random.shuffle(std::span(places));
  planted.assign(places.begin(), places.begin() + 10);
  std::vector<std::vector<double>> rows;
  Dataset<double> dataset;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const auto c = i % shape.classes;
    auto& row = rows.emplace_back();
    for (std::int64_t j = 0; j < shape.features; ++j) row.push_back(random.normal());
    for (const auto j : planted)
      row[static_cast<std::size_t>(j)] +=
          shape.effect * static_cast<double>((c + j) % shape.classes) / static_cast<double>(shape.classes - 1);
    dataset.target.classes.push_back(static_cast<std::int32_t>(c));
  }
  for (std::int64_t c = 0; c < shape.classes; ++c) dataset.target.class_names.push_back(std::to_string(c));
  dataset.x = test::dense_of<double>(rows, shape.features);
  dataset.source = "planted";
  return dataset;
}

std::int64_t count_found(const std::vector<std::int64_t>& selected, const std::vector<std::int64_t>& planted) {
  return std::count_if(selected.begin(), selected.end(),
                       [&](std::int64_t j) { return std::find(planted.begin(), planted.end(), j) != planted.end(); });
}

/// 1 + log4(rows / classes), but 3 at least.
TEST(AutomaticBins, GrowByOneForFourTimesTheRowsOfAClass) {
  EXPECT_EQ(automatic_bins(8, 2), 3);
  EXPECT_EQ(automatic_bins(127, 2), 3);
  EXPECT_EQ(automatic_bins(128, 2), 4);
  EXPECT_EQ(automatic_bins(60, 2), 3);
  EXPECT_EQ(automatic_bins(200, 2), 4);
  EXPECT_EQ(automatic_bins(200, 5), 3);
  EXPECT_EQ(automatic_bins(1000, 2), 5);
  EXPECT_EQ(automatic_bins(20000, 2), 7);
  EXPECT_EQ(automatic_bins(std::int64_t{1} << 40, 1), 21);
  EXPECT_EQ(automatic_bins(1, 2), 3);
  EXPECT_EQ(automatic_bins(0, 0), 3);
}

/// Only classes that occur count, and numbers that were given stay.
TEST(AutomaticBins, FollowTheClassesThatOccur) {
  const BinnedTarget target{std::vector<std::int32_t>(64, 3), {"a", "b", "c", "d"}};
  EXPECT_EQ(with_bins({}, 64, &target).bins, 4);
  EXPECT_EQ(with_bins({}, 64, nullptr).bins, 4);
  EXPECT_EQ(with_bins({.bins = 64}, 64, &target).bins, 64);
  EXPECT_EQ(with_bins({.method = BinMethod::mdlp}, 64, &target).bins, 0);
}

TEST(AutomaticBins, FindPlantedFeatures) {
  for (const auto device : test::devices())
    for (const Planted& shape : {Planted{60, 2000, 2, 1.8}, Planted{200, 5000, 2, 1.0}, Planted{1000, 500, 2, 0.4},
                                 Planted{20000, 50, 2, 0.08}, Planted{200, 1000, 5, 1.6}}) {
      std::vector<std::int64_t> planted;
      const auto dataset = make_planted(shape, 5, planted);
      const Context context({.device = device});
      const auto found = select(context, dataset);
      EXPECT_TRUE(found.automatic_bins);
      EXPECT_EQ(found.binning.bins, automatic_bins(shape.rows, shape.classes));
      EXPECT_GE(count_found(found.indices(), planted), 7) << shape.rows << " x " << shape.features;
      SelectRequest request;
      request.binning.bins = 64;
      const auto given = select(context, dataset, request);
      EXPECT_FALSE(given.automatic_bins);
      EXPECT_LT(count_found(given.indices(), planted), 5) << shape.rows << " x " << shape.features;
    }
}

/// Bins of equal width put nearly all rows of skewed values into one, and keep noise.
TEST(AutomaticBins, HaveEqualFrequencyIfValuesAreSkewed) {
  std::vector<std::int64_t> planted;
  auto dataset = make_planted({60, 2000, 2, 1.8}, 5, planted);
  EXPECT_TRUE(select(Context(), dataset).notes.empty());
  for (auto& value : std::get<DenseMatrix<double>>(dataset.x).values) value = std::exp(2 * value);
  const auto skewed = select(Context(), dataset);
  ASSERT_EQ(skewed.notes.size(), 1U);
  EXPECT_NE(skewed.notes.front().find("features are skewed"), std::string::npos);
  EXPECT_GE(count_found(skewed.indices(), planted), 7);
  SelectRequest request;
  request.binning.method = BinMethod::equal_width;
  EXPECT_LT(count_found(select(Context(), dataset, request).indices(), planted), 5);
  request.binning = {.bins = 3};  // a number that is given means equal width, as in FEAST
  EXPECT_EQ(select(Context(), dataset, request).binning.method, BinMethod::equal_width);
}

/// A step of a pipeline has the same default, and takes the same numbers.
TEST(AutomaticBins, AreThoseOfPipelines) {
  std::vector<std::int64_t> planted;
  const auto dataset = make_planted({60, 300, 2, 1.8}, 5, planted);
  for (const auto method : {BinMethod::automatic, BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp})
    for (const std::int32_t bins : {0, 6, 64}) {
      PipelineOptions options{.select = "jmi", .counts = {10}, .binning = {.method = method, .bins = bins}};
      const auto pipeline = learn_pipeline(Context(), dataset, options);
      SelectRequest request;
      request.binning = options.binning;
      EXPECT_EQ(std::get<TakeStep>(pipeline.steps.back()).features, select(Context(), dataset, request).indices());
    }
  const auto binning = selection_binning(dataset, {.select = "jmi", .counts = {10}});
  ASSERT_TRUE(binning);
  EXPECT_EQ(binning->bins, 3);
  EXPECT_EQ(pipeline_notes(dataset, {.select = "jmi", .counts = {10}}).size(), 1U);
  EXPECT_TRUE(pipeline_notes(dataset, {.select = "jmi", .counts = {10}, .binning = {.bins = 5}}).empty());
}

/// Many features separate few rows wholly, so that scores tie.
Dataset<double> make_saturated(std::span<const std::size_t> order, std::span<const std::size_t> columns) {
  Random random(3);
  std::vector<std::vector<double>> rows(16, std::vector<double>(columns.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j)
      rows[i][j] = (j % 2 == 0 ? 6.0 * static_cast<double>(i % 2) : 0.0) + random.normal();
  std::vector<std::vector<double>> moved;
  Dataset<double> dataset;
  for (const auto i : order) {
    auto& row = moved.emplace_back();
    for (const auto j : columns) row.push_back(rows[i][j]);
    dataset.target.classes.push_back(static_cast<std::int32_t>(i % 2));
  }
  dataset.target.class_names = {"0", "1"};
  for (const auto j : columns) dataset.feature_names.push_back("f" + std::to_string(j));
  dataset.x = test::dense_of<double>(moved, static_cast<std::int64_t>(columns.size()));
  dataset.source = "saturated";
  return dataset;
}

std::vector<std::string> names_of(const SelectionResult& result) {
  std::vector<std::string> names;
  for (const auto& row : result.selected) names.push_back(row.name);
  return names;
}

TEST(AutomaticBins, BreakTiesWhateverTheOrderOfRowsAndColumns) {
  std::vector<std::size_t> order(16), columns(60);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  for (const auto device : test::devices())
    for (const char* criterion : {"jmi", "mim", "mrmr", "cmim", "disr", "jmim", "icap", "fcbf"}) {
      SelectRequest request;
      request.options.criterion = criterion;
      const Context context({.device = device});
      const auto wanted = names_of(select(context, make_saturated(order, columns), request));
      Random random(17);
      for (int trial = 0; trial < 5; ++trial) {
        auto rows = order;
        auto moved = columns;
        random.shuffle(std::span(rows));
        random.shuffle(std::span(moved));
        EXPECT_EQ(names_of(select(context, make_saturated(rows, moved), request)), wanted) << criterion;
      }
    }
}

/// H = 12 / (n (n + 1)) sum of R^2 / n_c - 3 (n + 1), over 1 - sum of (t^3 - t) / (n^3 - n): of Kruskal and Wallis.
double kruskal(const std::vector<double>& values, const std::vector<std::int32_t>& classes) {
  const auto n = static_cast<double>(values.size());
  std::vector<double> sums(3), sizes(3);
  double ties = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += other < values[i] ? 1 : 0;
      equal += other == values[i] ? 1 : 0;
    }
    sums[static_cast<std::size_t>(classes[i])] += below + (equal + 1) / 2;
    sizes[static_cast<std::size_t>(classes[i])] += 1;
    ties += equal * equal - 1;  // each of the t rows of a tie adds (t^3 - t) / t
  }
  double h = -3 * (n + 1);
  for (std::size_t c = 0; c < 3; ++c) h += sizes[c] > 0 ? 12 / (n * (n + 1)) * sums[c] * sums[c] / sizes[c] : 0;
  return h / (1 - ties / (n * n * n - n));
}

/// The squares between the classes over all squares.
double correlation_ratio(const std::vector<double>& values, const std::vector<std::int32_t>& classes) {
  const auto mean_of = [&](int c) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (c < 0 || classes[i] == c) {
        sum += values[i];
        count += 1;
      }
    return sum / count;
  };
  const double mean = mean_of(-1);
  double between = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    between += std::pow(mean_of(classes[i]) - mean, 2);
    all += std::pow(values[i] - mean, 2);
  }
  return between / all;
}

TEST(ClassSeparation, IsTheShareOfKruskalAndWallisAndTheCorrelationRatio) {
  Random random(9);
  constexpr std::int64_t features = 12;
  std::vector<std::vector<double>> rows;
  Dataset<double> dense, sparse;
  for (int i = 0; i < 40; ++i) {
    auto& row = rows.emplace_back();
    const auto c = static_cast<std::int32_t>(random.below(3));
    for (std::int64_t j = 0; j < features; ++j)
      row.push_back(j % 3 == 0 ? random.normal() + c : std::max(0.0, std::round(random.normal() + 0.3 * c)));
    dense.target.classes.push_back(c);
  }
  dense.x = test::dense_of<double>(rows, features);
  sparse.x = test::sparse_of<double>(rows, features);
  std::vector<std::int64_t> all(features);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::uint32_t> draws;
  for (int i = 0; i < 40; ++i) draws.push_back(static_cast<std::uint32_t>(random.below(3)));
  for (const bool drawn : {false, true}) {
    const auto weights = drawn ? draws : std::vector<std::uint32_t>();
    const Context context;
    const auto found = information::class_separation(context, dense, dense.target.classes, weights)(all);
    const auto of_sparse = information::class_separation(context, sparse, dense.target.classes, weights)(all);
    for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(of_sparse[j], found[j], 1e-13);
    for (std::size_t j = 0; j < static_cast<std::size_t>(features); ++j) {
      std::vector<double> values;
      std::vector<std::int32_t> classes;
      for (std::size_t i = 0; i < 40; ++i)
        for (std::uint32_t k = 0; k < (drawn ? draws[i] : 1); ++k) {
          values.push_back(rows[i][j]);
          classes.push_back(dense.target.classes[i]);
        }
      const double of_ranks = kruskal(values, classes) / static_cast<double>(values.size() - 1);
      EXPECT_NEAR(found[j], (of_ranks + correlation_ratio(values, classes)) / 2, 1e-12) << j;
    }
  }
}

/// Goodman and Kruskal's tau, computed by hand.
TEST(ClassSeparation, OfLevelsIsTheirTau) {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>({{0}, {0}, {0}, {1}, {0}, {1}, {1}, {1}}, 1);
  dataset.levels = {{"red", "blue"}};
  const std::vector<std::int32_t> classes{0, 0, 0, 0, 1, 1, 1, 1};
  const Context context;
  const std::vector<std::int64_t> first{0};
  // Classes have 3 : 1 and 1 : 3. ((9 + 1) / 4 + (1 + 9) / 4 - 2 * 16 / 8) / (8 - 2 * 16 / 8) = (5 - 4) / 4.
  EXPECT_NEAR(information::class_separation(context, dataset, classes)(first)[0], 0.25, 1e-15);
}

}  // namespace automatic_bins_test
}  // namespace sheaf
