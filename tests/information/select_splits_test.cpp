// Selections of many splits as one request: the features that select() chooses from a copy of each split's rows.
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "devices.hpp"
#include "information/select_splits.hpp"
#include "tables.hpp"

namespace sheaf::information {
namespace select_splits_test {

struct Shape {
  std::int64_t rows, features;
  bool sparse;
  std::int32_t values;  // of a feature; 0: any number
  bool skewed = false;  // every other feature, so that it is binned by equal frequency
};

template <class T>
Dataset<T> make_dataset(const Shape& shape) {
  auto rows = test::random_rows(shape.rows, shape.features, shape.sparse ? 0.3 : 1.0, 7);
  Dataset<T> dataset;
  for (auto& row : rows) {
    if (shape.values > 0)
      for (double& value : row) value = std::clamp(std::round(value * 2), 0.0, static_cast<double>(shape.values - 1));
    dataset.target.classes.push_back(row[0] + row[1] + 0.3 * row[2] > (shape.values > 0 ? 1 : 0) ? 1 : 0);
    for (std::size_t j = 1; shape.skewed && j < row.size(); j += 2)
      if (row[j] != 0) row[j] = std::exp(3 * row[j]);
  }
  if (shape.sparse)
    dataset.x = test::sparse_of<T>(rows, shape.features);
  else
    dataset.x = test::dense_of<T>(rows, shape.features);
  dataset.target.class_names = {"no", "yes"};
  dataset.source = "table";
  return dataset;
}

/// Four folds, the same once more, and two bootstraps, whose rows count several times.
std::vector<float> draw_splits(std::int64_t rows, std::int32_t splits) {
  Random random(11);
  std::vector<float> draws(static_cast<std::size_t>(rows * splits), 0.0F);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t s = 0; s < splits; ++s) {
      if (s < 5) draws[static_cast<std::size_t>(i * splits + s)] = i % 4 == s % 4 ? 0.0F : 1.0F;
      if (s >= 5)
        ++draws[static_cast<std::size_t>(
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows))) * splits + s)];
    }
  return draws;
}

std::vector<std::int32_t> rows_of(const std::vector<float>& draws, std::int32_t splits, std::int32_t split) {
  std::vector<std::int32_t> rows;
  for (std::size_t k = static_cast<std::size_t>(split); k < draws.size(); k += static_cast<std::size_t>(splits))
    rows.insert(rows.end(), static_cast<std::size_t>(draws[k]),
                static_cast<std::int32_t>(k / static_cast<std::size_t>(splits)));
  return rows;
}

template <class T>
class SelectSplits : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(SelectSplits, Elements);

TYPED_TEST(SelectSplits, ChooseWhatCopiesOfTheirRowsChoose) {
  constexpr std::int32_t splits = 7;
  for (const auto device : test::devices())
    for (const Shape& shape : {Shape{60, 40, false, 0}, Shape{60, 40, false, 3}, Shape{300, 30, false, 2},
                               Shape{1500, 20, false, 9}, Shape{120, 50, true, 0}, Shape{600, 40, true, 4},
                               Shape{60, 40, false, 0, true}, Shape{600, 30, true, 0, true}}) {
      const auto dataset = make_dataset<TypeParam>(shape);
      const auto draws = draw_splits(shape.rows, splits);
      const Context context({.device = device, .threads = 2});
      for (const char* criterion : {"jmi", "mrmr", "cmim", "cmi", "fcbf", "mim"})
        for (const std::int32_t bins : {0, 64}) {
          SelectRequest request;
          request.options.criterion = criterion;
          request.options.count = 8;
          request.binning.bins = bins;
          const auto found = select_splits(context, dataset, std::span<const float>(draws), splits, request.options,
                                           request.binning, [](const FeatureSummary&, double) { return true; });
          ASSERT_EQ(found.size(), static_cast<std::size_t>(splits));
          for (std::int32_t s = 0; s < splits; ++s)
            EXPECT_EQ(found[static_cast<std::size_t>(s)],
                      select(context, take_rows(dataset, rows_of(draws, splits, s), 1), request).indices())
                << criterion << ", " << bins << " bins, " << shape.rows << " rows, sparse " << shape.sparse
                << ", split " << s;
        }
    }
}

/// Features that are constant in the rows of a split are left out of it, and others keep their numbers.
TYPED_TEST(SelectSplits, LeaveOutWhatTheyMayNotSelect) {
  constexpr std::int32_t splits = 7;
  for (const auto device : test::devices())
    for (const bool sparse : {false, true}) {
      const auto dataset = make_dataset<TypeParam>({90, 30, sparse, 3});
      const auto draws = draw_splits(90, splits);
      const Context context({.device = device, .threads = 2});
      SelectRequest request;
      request.options.count = 6;
      const double least = sparse ? 0.12 : 0.4;  // what about half of the features reach
      const auto often = [least](const FeatureSummary& feature, double rows) {
        return static_cast<double>(feature.nonzeros) >= least * rows;
      };
      const auto found = select_splits(context, dataset, std::span<const float>(draws), splits, request.options,
                                       request.binning, often);
      for (std::int32_t s = 0; s < splits; ++s) {
        const auto rows = rows_of(draws, splits, s);
        const auto train = take_rows(dataset, rows, 1);
        const auto summary = summarize(context, train);
        std::vector<std::int64_t> kept;
        for (std::int64_t j = 0; j < train.features(); ++j)
          if (often(summary.per_feature[static_cast<std::size_t>(j)], static_cast<double>(rows.size())))
            kept.push_back(j);
        ASSERT_GT(kept.size(), 6U);
        ASSERT_LT(kept.size(), 30U);
        std::vector<std::int64_t> wanted;
        for (const auto k : select(context, take_features(train, kept, 1), request).indices())
          wanted.push_back(kept[static_cast<std::size_t>(k)]);
        EXPECT_EQ(found[static_cast<std::size_t>(s)], wanted) << "sparse " << sparse << ", split " << s;
      }
    }
}

TYPED_TEST(SelectSplits, SelectNothingWhereNothingMayBeSelected) {
  const auto dataset = make_dataset<TypeParam>({30, 5, false, 0});
  const auto draws = draw_splits(30, 2);
  const auto found = select_splits(Context(), dataset, std::span<const float>(draws), 2, SelectionOptions{},
                                   BinningOptions{}, [](const FeatureSummary&, double) { return false; });
  EXPECT_EQ(found, (std::vector<std::vector<std::int64_t>>(2)));
}

}  // namespace select_splits_test
}  // namespace sheaf::information
