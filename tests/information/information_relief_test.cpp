// relief and relieff against plain restatements of their definitions, on every device in SHEAF_TEST_DEVICES.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/random.hpp"
#include "devices.hpp"

namespace sheaf {
namespace information_relief_test {

struct Plain {
  std::vector<std::vector<double>> x;  ///< example by example
  std::vector<std::int32_t> classes;
  std::int32_t class_count = 0;
};

/// Feature 0 follows the class, feature 1 is constant, the others are noise of different ranges.
Plain make_plain(std::size_t rows, std::size_t features, std::int32_t classes) {
  Plain plain;
  plain.class_count = classes;
  Random random(31);
  for (std::size_t i = 0; i < rows; ++i) {
    plain.classes.push_back(static_cast<std::int32_t>(i) % classes);
    std::vector<double> row;
    for (std::size_t j = 0; j < features; ++j) row.push_back(random.normal() * static_cast<double>(1 + j % 5));
    row[0] = plain.classes.back() + 0.2 * random.normal();
    if (features > 1) row[1] = 3;
    plain.x.push_back(row);
  }
  return plain;
}

Dataset<double> dataset_of(const Plain& plain, bool sparse) {
  const auto rows = std::ssize(plain.x);
  const auto columns = std::ssize(plain.x[0]);
  DenseMatrix<double> x{rows, columns, Array<double>(rows * columns)};
  for (std::int64_t e = 0; e < rows * columns; ++e)
    x.values[e] = plain.x[static_cast<std::size_t>(e / columns)][static_cast<std::size_t>(e % columns)];
  Dataset<double> dataset;
  if (sparse)
    dataset.x = to_sparse(x, 1);
  else
    dataset.x = std::move(x);
  dataset.target.classes.assign(plain.classes.begin(), plain.classes.end());
  for (std::int32_t y = 0; y < plain.class_count; ++y) dataset.target.class_names.push_back(std::to_string(y));
  return dataset;
}

double range_of(const Plain& plain, std::size_t j) {
  double low = plain.x[0][j];
  double high = low;
  for (const auto& row : plain.x) {
    low = std::min(low, row[j]);
    high = std::max(high, row[j]);
  }
  return high - low;
}

/// The k nearest of class y, by relieff's distance.
std::vector<std::size_t> nearest(const Plain& plain, std::size_t i, std::int32_t y, std::size_t k) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t other = 0; other < plain.x.size(); ++other) {
    if (other == i || plain.classes[other] != y) continue;
    double distance = 0;
    for (std::size_t j = 0; j < plain.x[i].size(); ++j) {
      const double difference = plain.x[i][j] - plain.x[other][j];
      const double range = range_of(plain, j);
      if (range > 0) distance += std::abs(difference) / range;
    }
    found.emplace_back(distance, other);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> result;
  for (std::size_t n = 0; n < std::min(k, found.size()); ++n) result.push_back(found[n].second);
  return result;
}

/// The last hit and the last miss on the way from row i outwards, up to where both have been met.
std::vector<std::pair<std::size_t, double>> walked(const Plain& plain, std::size_t i) {
  std::vector<std::pair<double, std::size_t>> others;
  for (std::size_t other = 0; other < plain.x.size(); ++other) {
    double distance = 0;
    for (std::size_t j = 0; j < plain.x[i].size(); ++j)
      distance += (plain.x[i][j] - plain.x[other][j]) * (plain.x[i][j] - plain.x[other][j]);
    if (other != i) others.emplace_back(distance, other);
  }
  std::sort(others.begin(), others.end());
  std::map<double, std::size_t> last;  // by sign
  for (std::size_t n = 0; n < others.size() && last.size() < 2; ++n)
    last[plain.classes[others[n].second] == plain.classes[i] ? -1 : 1] = others[n].second;
  std::vector<std::pair<std::size_t, double>> result;
  for (const auto& [sign, other] : last) result.emplace_back(other, sign);
  return result;
}

double reference_weight(const Plain& plain, std::size_t j, bool classic, std::size_t k) {
  const double range = range_of(plain, j);
  if (range == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < plain.x.size(); ++i) {
    const auto difference = [&](std::size_t other) { return std::abs(plain.x[i][j] - plain.x[other][j]) / range; };
    const std::int32_t own = plain.classes[i];
    if (classic) {
      for (const auto& [other, sign] : walked(plain, i)) sum += sign * difference(other) * difference(other);
      continue;
    }
    const auto members = [&](std::int32_t y) {
      return static_cast<double>(std::count(plain.classes.begin(), plain.classes.end(), y));
    };
    for (std::int32_t y = 0; y < plain.class_count; ++y) {
      const auto found = nearest(plain, i, y, k);
      double mean = 0;
      for (const auto other : found) mean += difference(other) / static_cast<double>(found.size());
      sum += y == own ? -mean : mean * members(y) / (static_cast<double>(plain.x.size()) - members(own));
    }
  }
  return sum / static_cast<double>(plain.x.size());
}

TEST(Relief, WeighsAsTheDefinitionsSay) {
  for (const Device device : test::devices())
    for (const bool sparse : {false, true})
      for (const bool classic : {true, false}) {
        const Plain plain = make_plain(33, 9, 3);
        Context::Options context;
        context.device = device;
        context.threads = 2;
        SelectionOptions options;
        options.criterion = classic ? "relief" : "relieff";
        options.count = 9;
        options.neighbours = 4;
        const Selection got = select_numeric(Context(context), dataset_of(plain, sparse), options);
        ASSERT_EQ(got.selected.size(), 9U);
        EXPECT_EQ(got.selected.front().index, 0);
        for (std::size_t k = 0; k < 9; ++k) {
          const auto j = static_cast<std::size_t>(got.selected[k].index);
          EXPECT_NEAR(got.selected[k].score, reference_weight(plain, j, classic, 4), 1e-12) << "feature " << j;
          if (k > 0) {
            EXPECT_GE(got.selected[k - 1].score, got.selected[k].score);
          }
        }
      }
}

TEST(Relief, RequestsThatCannotBeMetSayWhy) {
  const Dataset<double> dataset = dataset_of(make_plain(20, 4, 2), false);
  const auto refused = [&](auto&& change) {
    SelectionOptions options;
    options.criterion = "relieff";
    options.count = 2;
    change(options);
    EXPECT_THROW(select_numeric(Context(), dataset, options), UsageError);
  };
  refused([](auto& o) { o.count = 5; });
  refused([](auto& o) { o.count = 0; });
  refused([](auto& o) { o.neighbours = 0; });
  refused([](auto& o) { o.criterion = "jmi"; });
  const Dataset<double> one_class = dataset_of(make_plain(20, 4, 1), false);
  SelectionOptions options;
  options.criterion = "relief";
  options.count = 1;
  EXPECT_THROW(select_numeric(Context(), one_class, options), Error);
}

}  // namespace information_relief_test
}  // namespace sheaf
