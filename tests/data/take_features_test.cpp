// Tables with some of their features, in any order; and missing values that are kept, written and read again.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include <unistd.h>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "same_dataset.hpp"
#include "tables.hpp"

namespace sheaf {
namespace take_features_test {

using test::Rows;
using test::with_threads;

TEST(TakeFeatures, KeepsRowsLabelsAndNames) {
  const auto rows = test::random_rows(40, 7, 0.4, 1);
  const std::vector<std::int64_t> wanted{5, 0, 3};
  for (const bool sparse : {false, true})
    for (const int threads : {1, 3}) {
      Dataset<double> dataset;
      if (sparse)
        dataset.x = test::sparse_of<double>(rows, 7, 3);
      else
        dataset.x = test::dense_of<double>(rows, 7);
      dataset.feature_names = {"a", "b", "c", "d", "e", "f", "g"};
      dataset.levels.resize(7);
      dataset.levels[3] = {"red", "blue"};
      dataset.target.values.assign(40, 1.5);
      dataset.groups.assign(40, 0);
      dataset.group_names = {"all"};
      dataset.format = "arff";
      const auto taken = take_features(dataset, wanted, threads);
      EXPECT_EQ(is_sparse(taken.x), sparse);
      const auto found = test::rows_of(taken.x);
      for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(found[i], (std::vector<double>{rows[i][5], rows[i][0], rows[i][3]}));
      EXPECT_EQ(taken.feature_names, (std::vector<std::string>{"f", "a", "d"}));
      EXPECT_EQ(taken.levels[2], dataset.levels[3]);
      EXPECT_EQ(taken.format, "arff");
      test::expect_same_target(taken.target, dataset.target);
      EXPECT_EQ(taken.groups, dataset.groups);
    }
}

TEST(TakeFeatures, NoneAndNoRows) {
  Dataset<float> dataset;
  dataset.x = test::sparse_of<float>(Rows(3, {0, 1}), 2);
  EXPECT_EQ(take_features(dataset, {}, 1).features(), 0);
  EXPECT_EQ(take_features(dataset, {}, 1).rows(), 3);
}

TEST(MissingValues, StayWhereTheyAreWantedAndAreWrittenAgain) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("sheaf_missing_{}", ::getpid());
  std::filesystem::create_directories(folder);
  ReadOptions reading;
  reading.missing = Missing::keep;
  reading.format = "arff";
  for (const std::string rows :
       {"1,red,?,no\n?,?,2,yes\n0,blue,0,no\n", "{2 ?,3 no}\n{0 ?,1 ?,2 2,3 yes}\n{1 blue}\n"}) {
    const std::string text =
        "@relation t\n@attribute a numeric\n@attribute b {red,blue}\n@attribute c numeric\n@attribute y "
        "{no,yes}\n@data\n" +
        rows;
    const auto dataset = parse_dataset<double>(with_threads(1), text, "t", reading);
    const auto values = test::rows_of(dataset.x);
    EXPECT_TRUE(std::isnan(values[0][2]));
    EXPECT_TRUE(std::isnan(values[1][0]) && std::isnan(values[1][1]));
    WriteOptions writing;
    for (const char* name : {"t.arff", "t.csv"})
      EXPECT_THROW(write_dataset(with_threads(1), take_features(dataset, std::vector<std::int64_t>{0}, 1),
                                 folder / name, writing),
                   Error);
    writing.missing = true;
    write_dataset(with_threads(1), dataset, folder / "t.arff", writing);
    const auto again = read_dataset<double>(with_threads(1), folder / "t.arff", reading);
    test::expect_same_dataset(again, dataset);
    write_dataset(with_threads(1), take_features(dataset, std::vector<std::int64_t>{2}, 1), folder / "t.csv", writing);
    auto as_csv = reading;
    as_csv.format = "csv";
    EXPECT_TRUE(std::isnan(test::rows_of(read_dataset<double>(with_threads(1), folder / "t.csv", as_csv).x)[0][0]));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace take_features_test
}  // namespace sheaf
