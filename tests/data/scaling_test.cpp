#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include <unistd.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "core/fail.hpp"
#include "defects.hpp"
#include "tables.hpp"

namespace sheaf {
namespace scaling_test {

using test::Rows;
using test::with_threads;

constexpr std::array methods{ScaleMethod::unit_interval, ScaleMethod::symmetric_interval, ScaleMethod::standard,
                             ScaleMethod::max_abs};

template <class T>
Dataset<T> table(const Rows& rows, std::int64_t columns, bool sparse) {
  Dataset<T> dataset;
  if (sparse)
    dataset.x = test::sparse_of<T>(rows, columns, 4);
  else
    dataset.x = test::dense_of<T>(rows, columns);
  return dataset;
}

template <class T>
Rows scaled(const Rows& rows, std::int64_t columns, bool sparse, ScaleMethod method, int threads = 2) {
  auto dataset = table<T>(rows, columns, sparse);
  apply_scaling(with_threads(threads), learn_scaling(with_threads(threads), dataset, method), dataset);
  return test::rows_of(dataset.x);
}

std::vector<double> column(const Rows& rows, std::size_t j) {
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[j]);
  return values;
}

void expect_scaled(const std::vector<double>& before, const std::vector<double>& after, ScaleMethod method,
                   double eps) {
  const auto [low, high] = std::minmax_element(after.begin(), after.end());
  const bool constant = std::equal(before.begin() + 1, before.end(), before.begin());
  const auto n = static_cast<double>(after.size());
  const double mean = std::accumulate(after.begin(), after.end(), 0.0) / n;
  double squares = 0;
  for (const double value : after) squares += (value - mean) * (value - mean) / n;
  if (method == ScaleMethod::unit_interval) {
    EXPECT_NEAR(*low, 0, eps);
    EXPECT_NEAR(*high, constant ? 0 : 1, eps);
  } else if (method == ScaleMethod::symmetric_interval) {
    EXPECT_NEAR(*low, -1, eps);
    EXPECT_NEAR(*high, constant ? -1 : 1, eps);
  } else if (method == ScaleMethod::standard) {
    EXPECT_NEAR(mean, 0, eps);
    EXPECT_NEAR(squares, constant ? 0 : 1, eps);
  } else {
    const bool zero = constant && before.front() == 0;
    EXPECT_NEAR(std::max(-*low, *high), zero ? 0 : 1, eps);
  }
}

template <class T>
class ScalingOf : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(ScalingOf, Elements);

TYPED_TEST(ScalingOf, BringsEveryFeatureIntoItsRange) {
  const double eps = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{1, 1}, {1, 40}, {50, 1}, {33, 31}, {700, 20}};
  for (const auto& [n, p] : shapes)
    for (const double density : {0.0, 0.1, 1.0})
      for (const bool sparse : {false, true})
        for (const auto method : methods) {
          const auto rows = test::random_rows(n, p, density, 1);
          const auto after = scaled<TypeParam>(rows, p, sparse, method);
          for (std::size_t j = 0; j < static_cast<std::size_t>(p); ++j)
            expect_scaled(column(rows, j), column(after, j), method, eps);
        }
}

TYPED_TEST(ScalingOf, IsTheSameForDenseAndSparseAndAnyNumberOfThreads) {
  const auto rows = test::random_rows(900, 30, 0.3, 2);
  for (const auto method : methods) {
    const auto one = scaled<TypeParam>(rows, 30, true, method, 1);
    for (const int threads : {2, 5}) EXPECT_EQ(scaled<TypeParam>(rows, 30, true, method, threads), one);
    const auto dense = scaled<TypeParam>(rows, 30, false, method);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < 30; ++j) EXPECT_NEAR(dense[i][j], one[i][j], 1e-6);
  }
}

TYPED_TEST(ScalingOf, KeepsSparseWhatIsNotShifted) {
  const Rows rows{{0, 2, 0}, {4, 0, 0}, {0, 1, 3}};
  for (const auto method : methods) {
    auto dataset = table<TypeParam>(rows, 3, true);
    apply_scaling(with_threads(1), learn_scaling(with_threads(1), dataset, method), dataset);
    const bool shifts = method == ScaleMethod::symmetric_interval || method == ScaleMethod::standard;
    EXPECT_EQ(is_sparse(dataset.x), !shifts);
  }
}

TEST(Scaling, TakesTablesWithoutRowsOrFeatures) {
  for (const auto method : methods)
    for (const bool sparse : {false, true}) {
      EXPECT_EQ(scaled<double>(Rows(3), 0, sparse, method), Rows(3));
      EXPECT_EQ(scaled<double>({}, 4, sparse, method), Rows{});
    }
}

TEST(Scaling, GoesBeyondTheRangeOnOtherTables) {
  // By hand: learnt on 2 .. 6, mean 4, deviation sqrt(8/3).
  const Rows learnt{{2}, {4}, {6}};
  const std::vector<double> expected{2, 3, 6 / std::sqrt(8.0 / 3), 10.0 / 6};
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const auto scaling = learn_scaling(with_threads(1), table<double>(learnt, 1, false), methods[m]);
    auto other = table<double>({{10}}, 1, false);
    apply_scaling(with_threads(1), scaling, other);
    EXPECT_NEAR(test::rows_of(other.x)[0][0], expected[m], 1e-14);
  }
}

TEST(Scaling, SurvivesExtremeRanges) {
  const double huge = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const auto method : {ScaleMethod::unit_interval, ScaleMethod::symmetric_interval, ScaleMethod::max_abs})
    for (const Rows& rows : {Rows{{0.5 * huge}, {-0.4 * huge}}, Rows{{tiny}, {3 * tiny}}, Rows{{1}, {1 + 1e-12}}})
      for (const auto& row : scaled<double>(rows, 1, false, method)) {
        EXPECT_TRUE(std::isfinite(row[0]));
        EXPECT_LE(std::abs(row[0]), 1.001);
      }
}

TEST(Scaling, RefusesValuesThatAreNoNumbers) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (const auto method : methods) {
      auto dataset = table<double>({{1, 2}, {3, bad}}, 2, false);
      dataset.feature_names = {"good", "bad"};
      try {
        learn_scaling(with_threads(1), dataset, method);
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("feature bad is "), std::string::npos) << error.what();
      }
    }
}

TEST(Scaling, RefusesToTurnDenseWhatDoesNotFit) {
  Context::Options options;
  options.memory = 1000;
  auto dataset = table<double>(test::random_rows(20, 10, 0.2, 3), 10, true);
  const auto before = test::rows_of(dataset.x);
  const auto scaling = learn_scaling(with_threads(1), dataset, ScaleMethod::standard);
  try {
    apply_scaling(Context(options), scaling, dataset);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("maxabs"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(is_sparse(dataset.x));
  EXPECT_EQ(test::rows_of(dataset.x), before);
}

TEST(Scaling, RefusesOtherFeatures) {
  auto learnt = table<double>({{1, 2}, {3, 4}}, 2, false);
  learnt.feature_names = {"a", "b"};
  const auto scaling = learn_scaling(with_threads(1), learnt, ScaleMethod::max_abs);
  auto wider = table<double>({{1, 2, 3}}, 3, false);
  EXPECT_THROW(apply_scaling(with_threads(1), scaling, wider), Error);
  auto unnamed = table<double>({{1, 2}}, 2, false);
  EXPECT_NO_THROW(apply_scaling(with_threads(1), scaling, unnamed));
  auto swapped = table<double>({{1, 2}}, 2, false);
  swapped.feature_names = {"a", "c"};
  try {
    apply_scaling(with_threads(1), scaling, swapped);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("feature 2 is called 'b'"), std::string::npos) << error.what();
  }
}

TEST(ScalingNames, AreReadBackAndUnknownOnesAnswered) {
  for (const auto method : methods) EXPECT_EQ(parse_scale_method(to_string(method)), method);
  try {
    parse_scale_method("minmax");
    FAIL();
  } catch (const UsageError& error) {
    for (const char* known : {"01", "-11", "standard", "maxabs"})
      EXPECT_NE(std::string(error.what()).find(known), std::string::npos) << error.what();
  }
}

class ScalingFile : public testing::Test {
 protected:
  ScalingFile() { std::filesystem::create_directories(folder_); }
  ~ScalingFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "scaling.txt"; }
  void write(std::string_view text) const { std::ofstream(path(), std::ios::binary) << text; }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path(), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("sheaf_scaling_{}", ::getpid());
};

TEST_F(ScalingFile, ReadsBackTheSameBits) {
  Random random(4);
  for (const auto method : methods)
    for (const bool named : {false, true})
      for (const int features : {0, 1, 500}) {
        Scaling scaling{method, {}, {}, {}};
        for (int j = 0; j < features; ++j) {
          scaling.shift.push_back(random.normal() * std::pow(10, random.uniform(-300, 300)));
          scaling.factor.push_back(random.uniform(0.1, 1) * std::pow(10, random.uniform(-300, 300)));
          if (named) scaling.feature_names.push_back(fmt::format("x{}", j));
        }
        save_scaling(scaling, path());
        const auto loaded = load_scaling(path());
        EXPECT_EQ(loaded.method, method);
        EXPECT_EQ(loaded.shift, scaling.shift);
        EXPECT_EQ(loaded.factor, scaling.factor);
        EXPECT_EQ(loaded.feature_names, scaling.feature_names);
      }
}

TEST_F(ScalingFile, KeepsNamesOfAnyShape) {
  const std::vector<std::string> names{"",          " two  words ", "back\\slash", "line\nbreak",     "\r",     "\\n",
                                       "tab\there", "größe",        "1 2 3",       "# not a comment", "\"quote"};
  const Scaling scaling{ScaleMethod::standard, std::vector<double>(names.size(), 1),
                        std::vector<double>(names.size(), 2), names};
  save_scaling(scaling, path());
  EXPECT_EQ(load_scaling(path()).feature_names, names);
  auto text = read();  // as an editor on Windows would save it
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
  write(text);
  EXPECT_EQ(load_scaling(path()).feature_names, names);
}

TEST_F(ScalingFile, DefectsNameTheirPlace) {
  const std::string head = "sheaf-scaling 1\nmethod 01\nfeatures 2\n";
  const std::vector<test::Defect> defects{
      {"", 1, 1},
      {"something else\n", 1, 1},
      {"sheaf-scaling\n", 1, 14},
      {"sheaf-scaling 2\n", 1, 15},
      {"sheaf-scaling one\n", 1, 15},
      {"sheaf-scaling 1 more\n", 1, 16},
      {"sheaf-scaling 1\n", 2, 1},
      {"sheaf-scaling 1\nmethods 01\n", 2, 1},
      {"sheaf-scaling 1\nmethod\n", 2, 7},
      {"sheaf-scaling 1\nmethod 02\n", 2, 8},
      {"sheaf-scaling 1\nmethod 01\nfeatures -1\n", 3, 10},
      {"sheaf-scaling 1\nmethod 01\nfeatures 1.5\n", 3, 10},
      {"sheaf-scaling 1\nmethod 01\nfeatures 99999999999999999999\n", 3, 10},
      {"sheaf-scaling 1\nmethod 01\nfeatures 9999999999999\nnames no\n1 2\n", 6, 1},
      {head + "names maybe\n", 4, 7},
      {head + "names no\n0 1\n", 6, 1},
      {head + "names no\n0 1\n0 1\n0 1\n", 7, 1},
      {head + "names no\n0 1\n\n0 1\n", 6, 1},
      {head + "names no\n0 1\nx 1\n", 6, 1},
      {head + "names no\n0 1\n0\n", 6, 2},
      {head + "names no\n0 1\n0 \n", 6, 3},
      {head + "names no\n0 1\n0 1.2.3\n", 6, 3},
      {head + "names no\n0 1\n0.5 0\n", 6, 5},
      {head + "names no\n0 1\n0.5 nan\n", 6, 5},
      {head + "names no\n0 1\n1e999 1\n", 6, 1},
      {head + "names no\n0 1\n0 1 name\n", 6, 4},
      {head + "names yes\n0 1 a\n0 1\n", 6, 4},
      {head + "names yes\n0 1 a\n0 1 b\\c\n", 6, 6},
      {head + "names yes\n0 1 a\n0 1 b\\", 6, 6},
  };
  test::expect_defects(
      defects, path(), [this](const std::string& text) { write(text); }, [this] { load_scaling(path()); });
}

TEST_F(ScalingFile, MissingFilesAndFoldersAreErrors) {
  EXPECT_THROW(load_scaling(path() + ".missing"), Error);
  EXPECT_THROW(load_scaling(std::filesystem::path(path()).parent_path()), Error);
}

}  // namespace scaling_test
}  // namespace sheaf
