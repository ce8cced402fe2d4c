// Neighbours and distances in real datasets, dense and sparse, with duplicates and ties, against their definitions. The
// datasets of shared/data are beside a checkout or not; a few small ones are always there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>

#include "data/row_subset.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace neighbors_real_test {

using test::Rows;

Context context_on(Device device) { return test::with_threads(2).with({.device = device}); }

/// Rows spread over the dataset, as many as a plain search takes half a second for.
Dataset<double> some_of(const std::string& path) {
  constexpr double most_terms = 4e6;
  auto dataset = read_dataset<double>(test::with_threads(2), path);
  const auto most = std::clamp(std::sqrt(most_terms / static_cast<double>(dataset.features())), 24.0, 300.0);
  const auto count = std::min<std::int64_t>(dataset.rows(), static_cast<std::int64_t>(most));
  std::vector<std::int32_t> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(static_cast<std::int32_t>(i * dataset.rows() / count));
  Dataset<double> some;
  some.source = path;
  some.x = some_rows<double>(dataset.x, places);
  return some;
}

Rows rows_of(const Dataset<double>& dataset) {
  return std::visit([](const auto& x) { return test::rows_of(x); }, dataset.x);
}

/// Sums in another order may round otherwise, so that rows change places within that.
void expect_neighbors(const NeighborOptions& options, const Rows& rows, const NeighborLists& lists) {
  for (std::int32_t i = 0; i < std::ssize(rows); ++i) {
    const auto& query = rows[static_cast<std::size_t>(i)];
    const auto wanted = test::plain_neighbors(options.distance, rows, query, [&](std::int32_t j) { return j != i; });
    for (std::int64_t n = 0; n < lists.k; ++n) {
      const auto at = static_cast<std::size_t>(i * lists.k + n);
      const double want = wanted[static_cast<std::size_t>(n)].distance;
      const double slack = 1e-12 * (1 + want);
      ASSERT_NE(lists.indices[at], i);
      ASSERT_NEAR(lists.distances[at], want, slack) << "row " << i << ", neighbour " << n;
      const auto& found = rows[static_cast<std::size_t>(lists.indices[at])];
      ASSERT_NEAR(test::plain_distance(options.distance, query, found), want, slack) << "row " << i;
      if (n == 0) continue;
      ASSERT_TRUE(lists.distances[at - 1] < lists.distances[at] ||
                  (lists.distances[at - 1] == lists.distances[at] && lists.indices[at - 1] < lists.indices[at]))
          << "row " << i << ", neighbour " << n;
    }
  }
}

TEST(NeighborsReal, DatasetsHaveTheNeighborsOfTheDefinition) {
  std::vector<std::string> missing;
  for (const std::string name :
       {"iris",      "wine",           "glass",         "vowel",    "ionosphere",   "sonar_scale",
        "digits8x8", "heart",          "breast-cancer", "diabetes", "german.numer", "vehicle",
        "splice",    "mushrooms",      "abalone",       "phishing", "spambase",     "a9a",
        "w8a",       "letter.scale",   "cpusmall",      "shuttle",  "madelon",      "leukemia",
        "usps",      "reuters_moneyfx"}) {
    const auto path = test::find_data(name);
    if (path.empty()) {
      missing.push_back(name);
      continue;
    }
    const auto dataset = some_of(path);
    const auto rows = rows_of(dataset);
    for (const auto& function : distance_functions()) {
      SCOPED_TRACE(name + ", " + std::string(function.name));
      NeighborOptions options;
      options.distance.metric = function.type;
      options.k = std::min<std::int64_t>(12, dataset.rows() - 1);
      for (const auto device : test::devices())
        expect_neighbors(options, rows, find_neighbors(context_on(device), dataset, options));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  if (!missing.empty())
    std::cout << "left out, since shared/data is not beside this checkout: " << missing.size() << " datasets\n";
}

/// Vincent and Bengio (2001) publish 1.26 % of 10,000 test rows. A minute of a CPU, seconds of a GPU.
TEST(NeighborsReal, HyperplanesOfMnistAsPublished) {
  const auto path = test::find_data("mnist");
  if (path.empty()) GTEST_SKIP() << "mnist of shared/data is not beside this checkout";
  auto devices = test::devices();
  std::erase_if(devices, [](Device device) { return device.is_cpu(); });
  if (devices.empty()) GTEST_SKIP() << "no GPU is among SHEAF_TEST_DEVICES, and a CPU takes a minute";
  for (const auto device : devices) {
    const auto context = context_on(device).with({.memory = std::int64_t{16} << 30});
    ReadOptions reading;
    reading.storage = Storage::dense;
    reading.features = 784;
    auto train = read_dataset<double>(context, path, reading);
    auto test = read_dataset<double>(context, std::string(path).replace(path.rfind("train"), 5, "test"), reading);
    for (auto* dataset : {&train, &test})
      for (double& value : std::get<DenseMatrix<double>>(dataset->x).values) value /= 255;
    auto options = find_model_kind("hknn").options.get<KnnOptions>();
    options.k = 65;
    options.lambda = 10;
    const auto model = fit(context, train, options);
    EXPECT_EQ(test.rows() - model.score(model.predict(context, test), test.target)->correct, 126);
  }
}

}  // namespace neighbors_real_test
}  // namespace sheaf
