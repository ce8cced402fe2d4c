// The file of cuts: round trips, names of any shape, and one line for each defect.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <sheaf/solvers/binning.hpp>

#include "binned_codes.hpp"
#include "core/fail.hpp"
#include "defects.hpp"
#include "tables.hpp"

namespace sheaf {
namespace binning_file_test {

using test::with_threads;

class CutsFile : public testing::Test {
 protected:
  CutsFile() { std::filesystem::create_directories(folder_); }
  ~CutsFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "cuts.txt"; }
  void write(std::string_view text) const { std::ofstream(path(), std::ios::binary) << text; }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path(), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("sheaf_cuts_{}", ::getpid());
};

/// Irregular numbers, a nominal feature, missing values.
Dataset<double> mixed_table() {
  Random random(4);
  auto rows = test::random_rows(200, 20, 0.5, 8);
  for (auto& row : rows) {
    for (auto& value : row) value *= std::exp(random.normal() * 20);
    row[3] = static_cast<double>(random.below(3));
    if (random.below(5) == 0) row[7] = std::nan("");
  }
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(rows, 20);
  dataset.levels.resize(20);
  dataset.levels[3] = {"red", "pale blue", "back\\slash\nand line"};
  return dataset;
}

BinnedTarget two_classes(std::int64_t rows) {
  BinnedTarget target{{}, {"a", "b"}};
  for (std::int64_t i = 0; i < rows; ++i) target.classes.push_back(static_cast<std::int32_t>(i % 2));
  return target;
}

TEST_F(CutsFile, GivesNewDataTheSameCodes) {
  auto dataset = mixed_table();
  const auto target = two_classes(dataset.rows());
  for (const bool named : {false, true})
    for (const auto method :
         {BinMethod::automatic, BinMethod::equal_width, BinMethod::equal_frequency, BinMethod::mdlp}) {
      BinningOptions options;
      options.method = method;
      options.missing = MissingState::own;
      dataset.feature_names.clear();
      for (int j = 0; named && j < 20; ++j) dataset.feature_names.push_back(fmt::format("x {}", j));
      const auto binned = learn_and_apply_binning(with_threads(2), dataset, options, &target);
      save_binning(binned.binning, path());
      const auto loaded = load_binning(path());
      EXPECT_EQ(loaded.method, method);
      EXPECT_EQ(loaded.missing, MissingState::own);
      EXPECT_EQ(loaded.rules, binned.binning.rules);
      EXPECT_EQ(loaded.feature_names, dataset.feature_names);
      const auto again = apply_binning(with_threads(1), loaded, dataset);
      EXPECT_TRUE(test::codes_of(again) == test::codes_of(binned.table));
      EXPECT_EQ(again.states, binned.table.states);
    }
}

TEST_F(CutsFile, ReadsAsItIsDescribed) {
  const std::string text =
      "sheaf-cuts 1\nmethod equal-width\nmissing error\nfeatures 4\nnames yes\nwidth 64 0 10.5 height\n"
      "cuts 2 0.5 1.75 width of the leaf\nintegers -3 12 petals\nlevels 2 colour\n  red\n  pale blue\n";
  write(text);
  const auto binning = load_binning(path());
  EXPECT_EQ(binning.feature_names, (std::vector<std::string>{"height", "width of the leaf", "petals", "colour"}));
  EXPECT_EQ(binning.rules[0].states, 64);
  EXPECT_EQ(binning.rules[1].cuts, (std::vector<double>{0.5, 1.75}));
  EXPECT_EQ(binning.rules[2].states, 16);
  EXPECT_EQ(binning.rules[3].levels, (std::vector<std::string>{"red", "pale blue"}));
  save_binning(binning, path());
  EXPECT_EQ(read(), text);
}

TEST_F(CutsFile, KeepsNamesOfAnyShape) {
  Binning binning;
  binning.feature_names = {"",    " two  words ", "back\\slash", "line\nbreak", "\r",
                           "\\n", "tab\there",    "größe",       "1 2 3",       "\"quote"};
  binning.rules.resize(binning.feature_names.size());
  save_binning(binning, path());
  EXPECT_EQ(load_binning(path()).feature_names, binning.feature_names);
}

TEST_F(CutsFile, DefectsNameTheirPlace) {
  const std::string head = "sheaf-cuts 1\nmethod mdlp\nmissing error\nfeatures 2\n";
  const std::string plain = head + "names no\ncuts 0\n";
  const std::vector<test::Defect> defects{
      {"", 1, 1},
      {"sheaf-scaling 1\n", 1, 1},
      {"sheaf-cuts\n", 1, 11},
      {"sheaf-cuts 2\n", 1, 12},
      {"sheaf-cuts 1\nmethod kmeans\n", 2, 8},
      {"sheaf-cuts 1\nmethod mdlp\nmissing zero\n", 3, 9},
      {"sheaf-cuts 1\nmethod mdlp\nmissing bin\nfeatures -1\n", 4, 10},
      {"sheaf-cuts 1\nmethod mdlp\nmissing bin\nfeatures 9999999999999\nnames no\ncuts 0\n", 7, 1},
      {head + "names maybe\n", 5, 7},
      {plain, 7, 1},
      {plain + "cuts 0\ncuts 0\n", 8, 1},
      {plain + "\n", 7, 1},
      {plain + "bins 3\n", 7, 1},
      {plain + "cuts\n", 7, 5},
      {plain + "cuts two\n", 7, 6},
      {plain + "cuts -1\n", 7, 6},
      {plain + "cuts 65535 1\n", 7, 11},
      {plain + "cuts 2 1\n", 7, 9},
      {plain + "cuts 2 1 1\n", 7, 10},
      {plain + "cuts 2 1 nan\n", 7, 10},
      {plain + "cuts 1 1 2\n", 7, 9},
      {plain + "width 64 0\n", 7, 11},
      {plain + "width 0 0 1\n", 7, 7},
      {plain + "width 65536 0 1\n", 7, 7},
      {plain + "width 64 1 0\n", 7, 12},
      {plain + "width 64 1 1\n", 7, 12},
      {plain + "width 1 0 1\n", 7, 11},
      {plain + "width 2 -1e308 1e308\n", 7, 16},
      {plain + "integers 0.5 2\n", 7, 10},
      {plain + "integers 0 2.5\n", 7, 12},
      {plain + "integers 3 2\n", 7, 12},
      {plain + "integers 0 65535\n", 7, 12},
      {plain + "levels 0\n", 7, 8},
      {plain + "levels 2\n  red\n", 9, 1},
      {plain + "levels 2\n  red\n blue\n", 9, 2},
      {head + "names yes\ncuts 0 a\ncuts 0\n", 7, 7},
      {head + "names yes\ncuts 0 a\ncuts 0 b\\c\n", 7, 9},
  };
  test::expect_defects(
      defects, path(), [this](const std::string& text) { write(text); }, [this] { load_binning(path()); });
}

TEST_F(CutsFile, MissingFilesAndFoldersAreErrors) {
  EXPECT_THROW(load_binning(path() + ".missing"), Error);
  EXPECT_THROW(save_binning({}, path() + "/inside"), Error);
}

}  // namespace binning_file_test
}  // namespace sheaf
