// Each kind of generated table has its stated properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <sheaf/generate.hpp>

#include "generated.hpp"

namespace sheaf {
namespace generate_kinds_test {

using test::make;
using test::of_kind;
using test::positive;

double area_under_curve(const std::vector<double>& scores, const std::vector<bool>& positives) {
  double pairs = 0;
  double won = 0;
  for (std::size_t a = 0; a < scores.size(); ++a)
    for (std::size_t b = 0; b < scores.size(); ++b) {
      if (!positives[a] || positives[b]) continue;
      ++pairs;
      won += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
    }
  return won / pairs;
}

/// Ridge logistic regression by gradient descent with momentum on four fifths of the rows; the area on the last fifth.
double learnt_area(const Dataset<double>& dataset, double (*transform)(double)) {
  auto rows = test::rows_of(dataset.x);
  for (auto& row : rows) std::transform(row.begin(), row.end(), row.begin(), transform);
  const std::size_t training = rows.size() * 4 / 5;
  const std::size_t p = rows[0].size();
  std::vector<double> w(p);
  std::vector<double> velocity(p);
  double norms = 0;
  for (const auto& row : rows) norms += std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  const double step = 2 * static_cast<double>(rows.size()) / norms;
  for (int round = 0; round < 150; ++round) {
    std::vector<double> gradient(p);
    for (std::size_t i = 0; i < training; ++i) {
      const double score = std::inner_product(w.begin(), w.end(), rows[i].begin(), 0.0);
      const double slope = (positive(dataset, i) ? -1 : 1) / (1 + std::exp(positive(dataset, i) ? score : -score));
      for (std::size_t j = 0; j < p; ++j) gradient[j] += slope * rows[i][j] / static_cast<double>(training);
    }
    for (std::size_t j = 0; j < p; ++j) {
      velocity[j] = 0.9 * velocity[j] - step * (gradient[j] + 1e-3 * w[j]);
      w[j] += velocity[j];
    }
  }
  std::vector<double> scores;
  std::vector<bool> positives;
  for (std::size_t i = training; i < rows.size(); ++i) {
    scores.push_back(std::inner_product(w.begin(), w.end(), rows[i].begin(), 0.0));
    positives.push_back(positive(dataset, i));
  }
  return area_under_curve(scores, positives);
}

TEST(GenerateMicrobes, IsDetectableButNotTrivial) {
  double mean = 0;
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U})
    mean += learnt_area(make<double>(of_kind("microbes", 0, 2000), seed).dataset,
                        [](double count) { return std::log1p(count); }) /
            4;
  EXPECT_GT(mean, 0.8);
  EXPECT_LT(mean, 0.97);
}

TEST(GenerateMicrobes, LooksLikeASurvey) {
  const auto made = make<double>(of_kind("microbes"));
  const auto& dataset = made.dataset;
  EXPECT_EQ(dataset.feature_names[16], "Otu00017");
  const std::set<std::string> states(dataset.target.class_names.begin(), dataset.target.class_names.end());
  EXPECT_EQ(states, (std::set<std::string>{"healthy", "sick"}));
  EXPECT_NEAR(static_cast<double>(stored(dataset.x)), 400 * 200, 0.05 * 400 * 200);
  const auto& x = std::get<SparseMatrix<double>>(dataset.x);
  std::vector<double> prevalence(20000);
  double low = 1e9;
  double high = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    double depth = 0;
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      EXPECT_EQ(x.values[k], std::floor(x.values[k]));
      depth += x.values[k];
      prevalence[static_cast<std::size_t>(x.indices[k])] += 1.0 / 400;
    }
    low = std::min(low, depth);
    high = std::max(high, depth);
  }
  EXPECT_GT(high, 5 * low);                                                 // overdispersed depth
  EXPECT_GT(*std::max_element(prevalence.begin(), prevalence.end()), 0.7);  // a common core ...
  EXPECT_GT(std::count_if(prevalence.begin(), prevalence.end(), [](double p) { return p < 0.01; }),
            10000);  // ... and a long tail
}

TEST(GenerateMicrobes, ShiftsTheAbundanceOfPlantedTaxaWhereTheyAreDetected) {
  auto options = of_kind("microbes", 4000, 100);
  options.informative = 8;
  options.effect = 3;
  const auto made = make<double>(options);
  const auto rows = test::rows_of(made.dataset.x);
  for (std::size_t m = 0; m < 8; ++m) {
    double sum[2] = {0, 0};
    double count[2] = {0, 0};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double reads = rows[i][static_cast<std::size_t>(made.informative[m])];
      if (reads == 0) continue;
      sum[positive(made.dataset, i) ? 1 : 0] += std::log(reads);
      ++count[positive(made.dataset, i) ? 1 : 0];
    }
    // Logs of reads differ by nearly the weight: the rest of the sample shrinks a little as planted taxa grow.
    EXPECT_NEAR(sum[1] / count[1] - sum[0] / count[0], made.weights[m], 0.5);
  }
}

TEST(GenerateText, HasRowsOfLengthOneAndZipfsLaw) {
  const auto made = make<double>(of_kind("text"));
  const auto& x = std::get<SparseMatrix<double>>(made.dataset.x);
  EXPECT_EQ(x.rows, 20242);
  EXPECT_EQ(x.columns, 47236);
  EXPECT_NEAR(static_cast<double>(x.nonzeros()), 1.5e6, 0.1e6);
  std::vector<double> documents(47236);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    double squares = 0;
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      squares += x.values[k] * x.values[k];
      ++documents[static_cast<std::size_t>(x.indices[k])];
    }
    EXPECT_NEAR(squares, 1, 1e-12);
  }
  // A thousand times further down the list, a word is about a thousand times rarer.
  std::sort(documents.begin(), documents.end(), std::greater<>());
  const double ratio = documents[30] / documents[30000];
  EXPECT_GT(ratio, 300);
  EXPECT_LT(ratio, 3000);
}

TEST(GenerateText, FollowsItsSizes) {
  auto options = of_kind("text", 15935, 62061);
  options.nonzeros = 1270000;
  options.classes = 20;
  const auto made = make<float>(options);
  EXPECT_NEAR(static_cast<double>(stored(made.dataset.x)), 1.27e6, 0.1e6);
  EXPECT_EQ(made.dataset.target.class_names.size(), 20U);
}

TEST(GenerateRegression, IsLinearWithTheTrueWeights) {
  for (const double noise : {0.0, 2.5}) {
    auto options = of_kind("regression", 4000, 20);
    options.noise = noise;
    options.informative = 5;
    const auto made = make<double>(options);
    const auto rows = test::rows_of(made.dataset.x);
    double squares = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double rest = made.dataset.target.values[i];
      for (std::size_t m = 0; m < 5; ++m)
        rest -= made.weights[m] * rows[i][static_cast<std::size_t>(made.informative[m])];
      squares += rest * rest / 4000;
    }
    EXPECT_NEAR(squares, noise * noise, 1e-20 + 5 * noise * noise * std::sqrt(2.0 / 4000));
  }
}

TEST(GenerateClassification, HasMeansThatDifferByTheWeights) {
  for (const int classes : {2, 4}) {
    auto options = of_kind("classification", 40000, 9);
    options.noise = 0;
    options.classes = classes;
    options.informative = 4;
    options.effect = 2;
    const auto made = make<double>(options);
    const auto rows = test::rows_of(made.dataset.x);
    for (std::size_t m = 0; m < 4; ++m) {
      std::map<double, double> means;
      for (std::size_t i = 0; i < rows.size(); ++i)
        means[made.dataset.target.values[i]] +=
            rows[i][static_cast<std::size_t>(made.informative[m])] * classes / 40000;
      double low = 1e9;
      double high = -1e9;
      for (const auto& [value, mean] : means) low = std::min(low, mean), high = std::max(high, mean);
      const double found = classes == 2 ? means[1] - means[0] : high - low;
      EXPECT_NEAR(found, made.weights[m],
                  5 * 3 * std::sqrt(2.0 * classes / 40000));  // no feature's deviation is above 3
    }
  }
}

TEST(GenerateClassification, MakesRedundantFeaturesOfInformativeOnes) {
  auto options = of_kind("classification", 500, 3);
  options.informative = 2;
  for (const std::int64_t redundant : {0, 1}) {
    options.redundant = redundant;
    const auto rows = test::rows_of(make<double>(options).dataset.x);
    double g[3][3] = {};  // the Gram matrix is singular if one column is made of the two others
    for (const auto& row : rows)
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) g[a][b] += row[a] * row[b] / 500;
    const double determinant = g[0][0] * (g[1][1] * g[2][2] - g[1][2] * g[2][1]) -
                               g[0][1] * (g[1][0] * g[2][2] - g[1][2] * g[2][0]) +
                               g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
    EXPECT_EQ(std::abs(determinant) < 1e-10 * g[0][0] * g[1][1] * g[2][2], redundant == 1);
  }
}

TEST(GenerateGenes, AreCorrelatedWithinBlocks) {
  auto options = of_kind("genes", 2000, 60);
  options.informative = 0;
  const auto rows = test::rows_of(make<double>(options).dataset.x);
  const auto correlation = [&](std::size_t a, std::size_t b) {
    double sums[5] = {};
    for (const auto& row : rows) {
      const double values[5] = {row[a], row[b], row[a] * row[a], row[b] * row[b], row[a] * row[b]};
      for (std::size_t k = 0; k < 5; ++k) sums[k] += values[k] / 2000;
    }
    return (sums[4] - sums[0] * sums[1]) / std::sqrt((sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1]));
  };
  for (std::size_t j = 1; j < 25; ++j) {
    EXPECT_GT(correlation(0, j), 0.05);
    EXPECT_LT(std::abs(correlation(j, j + 25)), 5 / std::sqrt(2000.0));
  }
}

}  // namespace generate_kinds_test
}  // namespace sheaf
