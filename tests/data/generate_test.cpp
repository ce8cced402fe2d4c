// Properties of all kinds of generated datasets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <sheaf/error.hpp>
#include <sheaf/generate.hpp>

#include "generated.hpp"

namespace sheaf {
namespace generate_test {

using test::make;
using test::of_kind;
using test::positive;

/// Welch's t of each column of log(1 + |x|), or of x if `plain`, between the classes: 5 is beyond chance.
std::vector<double> class_differences(const Dataset<double>& dataset, bool plain) {
  const auto rows = test::rows_of(dataset.x);
  std::vector<double> result(static_cast<std::size_t>(dataset.features()));
  for (std::size_t j = 0; j < result.size(); ++j) {
    double count[2] = {0, 0};
    double sum[2] = {0, 0};
    double squares[2] = {0, 0};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = plain ? rows[i][j] : std::log1p(std::abs(rows[i][j]));
      const int c = positive(dataset, i) ? 1 : 0;
      ++count[c];
      sum[c] += value;
      squares[c] += value * value;
    }
    double variance = 0;
    for (int c = 0; c < 2; ++c) variance += (squares[c] / count[c] - std::pow(sum[c] / count[c], 2)) / count[c];
    result[j] = variance > 0 ? (sum[1] / count[1] - sum[0] / count[0]) / std::sqrt(variance) : 0;
  }
  return result;
}

TEST(GenerateAllKinds, MakeTheSameBitsForAnyNumberOfThreads) {
  for (const auto& kind : generators()) {
    const auto one = make<double>(of_kind(kind.name, 150, 40), 5, 1);
    for (const int threads : {2, 3, 8}) {
      const auto many = make<double>(of_kind(kind.name, 150, 40), 5, threads);
      EXPECT_EQ(test::rows_of(one.dataset.x), test::rows_of(many.dataset.x)) << kind.name;
      EXPECT_EQ(one.dataset.target.values, many.dataset.target.values);
      EXPECT_EQ(one.dataset.target.classes, many.dataset.target.classes);
      EXPECT_EQ(one.informative, many.informative);
      EXPECT_EQ(one.weights, many.weights);
    }
    const auto other = make<double>(of_kind(kind.name, 150, 40), 6, 2);
    EXPECT_NE(test::rows_of(one.dataset.x), test::rows_of(other.dataset.x)) << kind.name;
  }
}

TEST(GenerateAllKinds, MakeFloatsThatAreRoundedDoubles) {
  for (const auto& kind : generators()) {
    const auto wide = make<double>(of_kind(kind.name, 60, 30));
    const auto narrow = make<float>(of_kind(kind.name, 60, 30));
    auto rounded = test::rows_of(wide.dataset.x);
    for (auto& row : rounded)
      for (auto& value : row) value = static_cast<double>(static_cast<float>(value));
    EXPECT_EQ(rounded, test::rows_of(narrow.dataset.x)) << kind.name;
    EXPECT_EQ(wide.dataset.target.values, narrow.dataset.target.values);
    EXPECT_EQ(wide.dataset.target.classes, narrow.dataset.target.classes);
  }
}

TEST(GenerateAllKinds, MakeValidTablesOfAnyShape) {
  for (const auto& kind : generators())
    for (const std::int64_t rows : {2, 3, 65, 200})
      for (const std::int64_t features : {2, 7, 300}) {
        const auto made = make<double>(of_kind(kind.name, rows, features));
        const auto& dataset = made.dataset;
        EXPECT_EQ(dataset.rows(), rows);
        EXPECT_EQ(dataset.features(), features);
        EXPECT_EQ(dataset.target.rows(), rows);
        EXPECT_EQ(is_sparse(dataset.x), kind.row_nonzeros > 0);
        EXPECT_FALSE(dataset.source.empty());
        ASSERT_EQ(made.informative.size(), made.weights.size());
        EXPECT_EQ(static_cast<std::int64_t>(made.informative.size()), std::min(kind.informative, features));
        EXPECT_TRUE(std::is_sorted(made.informative.begin(), made.informative.end(), std::less_equal<>()));
        EXPECT_GE(made.informative.front(), 0);
        EXPECT_LT(made.informative.back(), features);
        if (!dataset.feature_names.empty()) {
          const std::set<std::string> names(dataset.feature_names.begin(), dataset.feature_names.end());
          EXPECT_EQ(static_cast<std::int64_t>(names.size()), features);
        }
        if (const auto* x = std::get_if<SparseMatrix<double>>(&dataset.x)) {
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t k = x->offsets[i]; k < x->offsets[i + 1]; ++k) {
              EXPECT_TRUE(k == x->offsets[i] || x->indices[k - 1] < x->indices[k]);
              EXPECT_LT(x->indices[k], features);
              EXPECT_GT(x->values[k], 0);
            }
        }
      }
}

TEST(GenerateAllKinds, BalanceClasses) {
  for (const auto& kind : generators())
    for (const int classes : {2, 3, 7}) {
      if (kind.name == "regression") continue;
      auto options = of_kind(kind.name, 100, 50);
      options.classes = classes;
      options.noise = 0;
      const auto made = make<float>(options);
      const auto& target = made.dataset.target;
      EXPECT_EQ(static_cast<int>(target.class_names.size()), classes);
      std::vector<int> counts(static_cast<std::size_t>(classes));
      for (const auto c : target.classes) ++counts[static_cast<std::size_t>(c)];
      for (const int count : counts) EXPECT_NEAR(count, 100.0 / classes, 1);
      for (std::size_t i = 0; i < target.values.size(); ++i)
        EXPECT_EQ(target.values[i], std::stod(target.class_names[static_cast<std::size_t>(target.classes[i])]));
    }
}

TEST(GenerateAllKinds, MoveTheWantedShareOfLabels) {
  for (const int classes : {2, 5}) {
    auto options = of_kind("classification", 20000, 12);
    options.classes = classes;
    options.noise = 0;
    const auto clean = make<float>(options);
    options.noise = 0.3;
    const auto noisy = make<float>(options);
    int moved = 0;
    for (std::size_t i = 0; i < 20000; ++i)
      moved += clean.dataset.target.values[i] != noisy.dataset.target.values[i] ? 1 : 0;
    EXPECT_NEAR(moved, 6000, 5 * std::sqrt(20000 * 0.3 * 0.7));
  }
}

TEST(GenerateAllKinds, PlantWhatTheTruthSays) {
  // Strong effects, many rows: every planted feature differs in the direction of its weight, and no other one does.
  for (const std::string kind : {"microbes", "genes", "text"}) {
    auto options = of_kind(kind, 4000, 100);
    options.informative = 10;
    options.effect = 2;
    options.nonzeros = kind == "genes" ? 0 : 4000 * 30;
    options.noise = 0;
    const auto made = make<double>(options);
    const auto differences = class_differences(made.dataset, kind == "genes");
    std::size_t m = 0;
    for (std::size_t j = 0; j < 100; ++j) {
      if (m < 10 && made.informative[m] == static_cast<std::int64_t>(j)) {
        EXPECT_GT(differences[j] * (made.weights[m] > 0 ? 1 : -1), 5) << kind << " feature " << j;
        ++m;
      } else if (kind == "genes") {
        EXPECT_LT(std::abs(differences[j]), 5) << kind << " feature " << j;  // the others are shares of a whole
      }
    }
    EXPECT_EQ(m, 10U);
  }
}

TEST(GenerateAllKinds, PlantNothingWithoutEffect) {
  for (const std::string kind : {"microbes", "genes", "text", "classification"}) {
    auto options = of_kind(kind, 2000, 60);
    options.effect = 0;
    options.informative = 8;
    const auto made = make<double>(options);
    for (const double weight : made.weights) EXPECT_EQ(weight, 0) << kind;
    for (const double difference : class_differences(made.dataset, true)) EXPECT_LT(std::abs(difference), 5) << kind;
  }
}

TEST(GenerateErrors, SayWhatIsWrong) {
  const auto message = [](std::string_view kind, auto change) -> std::string {
    auto options = of_kind(kind);
    change(options);
    try {
      make<float>(options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  using O = GenerateOptions;
  const std::vector<std::pair<std::string, std::string>> table{
      {message("microbe", [](O&) {}), "microbes"},
      {message("", [](O&) {}), "regression"},
      {message("genes", [](O& o) { o.rows = -1; }), "rows"},
      {message("genes", [](O& o) { o.features = std::int64_t{1} << 31; }), "2147483648"},
      {message("genes", [](O& o) { o.informative = 20001; }), "20001"},
      {message("genes", [](O& o) { o.informative = -2; }), "-2"},
      {message("genes", [](O& o) { o.nonzeros = 10; }), "dense"},
      {message("genes", [](O& o) { o.redundant = 3; }), "redundant"},
      {message("genes", [](O& o) { o.classes = 1; }), "classes"},
      {message("genes", [](O& o) { o.classes = 101; }), "101"},
      {message("genes", [](O& o) { o.noise = 1.5; }), "1.5"},
      {message("genes", [](O& o) { o.noise = std::nan(""); }), "nan"},
      {message("genes", [](O& o) { o.rows = 2000000000; }), "budget"},
      {message("regression", [](O& o) { o.noise = -2; }), "-2"},
      {message("regression", [](O& o) { o.effect = -1; }), "-1"},
      {message("text", [](O& o) { o.nonzeros = 10; }), "not 10"},
      {message("text", [](O& o) { o.nonzeros = 20242LL * 47236; }), "non-zeros"},
      {message("classification", [](O& o) { o.informative = 1, o.classes = 3; }), "too few for 3 classes"},
      {message("classification", [](O& o) { o.informative = 20, o.redundant = 9; }), "redundant"},
  };
  for (const auto& [text, part] : table) EXPECT_NE(text.find(part), std::string::npos) << text << " / " << part;
}

}  // namespace generate_test
}  // namespace sheaf
