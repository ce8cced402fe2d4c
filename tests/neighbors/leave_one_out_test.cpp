// Leave-one-out of votes of neighbours, which a search takes by default: each row is predicted by all others, and
// scores are those of parts of the rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <sheaf/io.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace leave_one_out_test {

Context context_on(Device device) { return test::with_threads(2).with({.device = device}); }

Dataset<double> read(const std::string& name) {
  ReadOptions options;
  options.storage = Storage::dense;
  return read_dataset<double>(test::with_threads(2), test::find_data(name), options);
}

/// The mean of a score over all rows, from those of the parts.
double over_rows(const SearchResult& result, std::size_t point, Metric metric) {
  double sum = 0, rows = 0;
  for (std::int32_t s = 0; s < result.splits; ++s) {
    const auto& model =
        result.level.models[point * static_cast<std::size_t>(result.splits) + static_cast<std::size_t>(s)];
    const auto count = static_cast<double>(model.decisions.size()) / result.columns;
    sum += model.score(metric) * count;
    rows += count;
  }
  EXPECT_EQ(rows, static_cast<double>(result.rows)) << "each row is tested once";
  return sum / rows;
}

TEST(LeaveOneOut, IsWhatASearchOverVotesDoesByDefault) {
  for (const auto device : test::devices()) {
    const auto dataset = read("glass");
    SearchSpace family(KnnOptions{});
    family["k"] = {1, 4, 15};
    family["vote"] = {"uniform", "inverse-distance", "gaussian"};
    family["metric"] = {"euclidean", "manhattan"};
    SearchOptions options;
    options.keep_decisions = true;
    options.equal_rows = EqualRows::apart;  // there are two
    const auto result = search(context_on(device), dataset, SearchSpace(family), options);
    EXPECT_EQ(result.options.split, SplitKind::leave_one_out);
    EXPECT_EQ(result.splits, 5);
    EXPECT_TRUE(std::any_of(result.notes.begin(), result.notes.end(),
                            [](const std::string& note) { return note.find("leave-one-out") != std::string::npos; }));
    ASSERT_EQ(result.level.points.size(), 18U);
    for (std::size_t p = 0; p < 18; ++p) {
      const auto& point = result.point(result.level, p);
      KnnOptions one;
      one.distance.metric = result.value(point, "metric") == 1 ? DistanceType::euclidean : DistanceType::manhattan;
      const auto k = static_cast<std::int64_t>(result.value(point, "k"));
      const auto vote = static_cast<Vote>(static_cast<int>(result.value(point, "vote")) - 1);
      const auto wanted = leave_one_out(context_on(device), dataset, one, {&k, 1}, {&vote, 1}).front().score;
      EXPECT_NEAR(over_rows(result, p, Metric::accuracy), wanted.accuracy(), 1e-12) << result.point_text(point);
    }
    // k = 1, uniform votes, Euclid's distance: 157 of 214 rows by the reference.
    EXPECT_NEAR(over_rows(result, 0, Metric::accuracy), 157.0 / 214, 1e-12);
  }
}

/// Squared errors by the definition: the mean of the k nearest other rows.
TEST(LeaveOneOut, PredictsNumbersByTheOthers) {
  const auto table = test::random_rows(60, 4, 1, 9);
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(table, 4);
  for (const auto& row : table) dataset.target.values.push_back(row[0] - 2 * row[1] + 0.37);
  dataset.source = "table";
  for (const auto device : test::devices()) {
    SearchSpace family(KnnOptions{});
    family.get<KnnOptions>().labels = LabelKind::numbers;
    family["k"] = {1, 6};
    SearchOptions options;
    options.keep_decisions = true;
    const auto result = search(context_on(device), dataset, SearchSpace(family), options);
    ASSERT_TRUE(result.options.leave_one_out_in_folds);
    for (std::size_t p = 0; p < 2; ++p) {
      const auto k = static_cast<std::size_t>(family.numbers("k")[p]);
      double wanted = 0;
      for (std::int32_t i = 0; i < 60; ++i) {
        const auto near = test::plain_neighbors({}, table, table[static_cast<std::size_t>(i)],
                                                [&](std::int32_t j) { return j != i; });
        double mean = 0;
        for (std::size_t n = 0; n < k; ++n)
          mean += dataset.target.values[static_cast<std::size_t>(near[n].row)] / static_cast<double>(k);
        wanted += std::pow(mean - dataset.target.values[static_cast<std::size_t>(i)], 2) / 60;
      }
      EXPECT_NEAR(over_rows(result, p, Metric::mean_squared_error), wanted, 1e-9);
    }
  }
}

/// The options that decide() makes of a search, after `change`.
SearchOptions decided(
    const Dataset<double>& dataset, const SearchSpace& family,
    const std::function<void(SearchOptions&)>& change = [](SearchOptions&) {}) {
  SearchOptions options;
  options.equal_rows = EqualRows::apart;  // the dataset has two, which folds would keep together
  change(options);
  auto complete = family;
  decide(dataset, complete, options);
  return options;
}

TEST(LeaveOneOut, IsTakenByNameToo) {
  const auto dataset = read("glass");
  EXPECT_TRUE(decided(dataset, KnnOptions{}).leave_one_out_in_folds);
  const auto options = decided(dataset, KnnOptions{}, [](SearchOptions& o) {
    o.split = SplitKind::leave_one_out;
    o.folds = 7;
  });
  EXPECT_TRUE(options.leave_one_out_in_folds);
  EXPECT_EQ(options.folds, 7);
}

/// If leave-one-out costs more than folds, or if models of splits are requested, folds are used.
TEST(LeaveOneOut, IsLeftToFoldsWhereItIsNotFree) {
  auto dataset = read("glass");
  const auto expect_folds = [&](
                                const SearchSpace& family,
                                const std::function<void(SearchOptions&)>& change = [](SearchOptions&) {}) {
    const auto options = decided(dataset, family, change);
    EXPECT_FALSE(options.leave_one_out_in_folds);
    EXPECT_NE(options.split, SplitKind::leave_one_out);
    EXPECT_EQ(options.folds, 5);
  };
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.folds = 5; });
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.outer = 3; });
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.predictions = true; });
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.learning_curve = true; });
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.permutation_importance = 1; });
  expect_folds(KnnOptions{}, [](SearchOptions& o) { o.pipeline.scale = ScaleMethod::standard; });
  SearchSpace weighted(KnnOptions{});
  weighted["weighting"] = {"none", "relief"};
  expect_folds(weighted);
  SearchSpace planes(KnnOptions{});
  planes.get<KnnOptions>().rule = LocalRule::hyperplane;
  expect_folds(planes);
  expect_folds(LinearOptions{});
  for (std::int32_t i = 0; i < dataset.rows(); ++i) dataset.groups.push_back(i % 40);
  expect_folds(KnnOptions{});
}

/// Requested by name, though it is not free: a model for each row.
TEST(LeaveOneOut, OfLearntWeightsTakesASplitForEachRow) {
  const auto dataset = read("iris");
  SearchSpace family(KnnOptions{});
  family["k"] = {3};
  family["weighting"] = {"mutual-information"};
  SearchOptions options;
  options.split = SplitKind::leave_one_out;
  const auto result = search(test::with_threads(2), dataset, SearchSpace(family), options);
  EXPECT_FALSE(result.options.leave_one_out_in_folds);
  EXPECT_EQ(result.splits, dataset.rows());
  ASSERT_TRUE(result.weights_effect);
  EXPECT_LE(result.weights_effect->rows, 10) << "the first splits";
}

}  // namespace leave_one_out_test
}  // namespace sheaf
