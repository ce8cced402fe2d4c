// Effect of feature weights in models of neighbours, compared with models trained without them and with neighbours
// found by the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include <sheaf/model.hpp>
#include <sheaf/report.hpp>
#include <sheaf/search.hpp>

#include "core/random.hpp"
#include "data/row_subset.hpp"
#include "devices.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace feature_weights_test {

using test::Rows;

Context context_on(Device device) { return test::with_threads(2).with({.device = device}); }

/// Three classes that the first of five features separates, or a number.
Dataset<double> make_dataset(std::size_t count, bool regression, std::uint64_t seed, Rows* rows = nullptr) {
  Random random(seed);
  Rows table(count, std::vector<double>(5));
  Dataset<double> dataset;
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& value : table[i]) value = random.normal();
    table[i][0] += static_cast<double>(i % 3);
    if (regression)
      dataset.target.values.push_back(table[i][0] + 0.1 * random.normal());
    else
      dataset.target.classes.push_back(static_cast<std::int32_t>(i % 3));
  }
  if (!regression) dataset.target.class_names = {"a", "b", "c"};
  dataset.x = test::dense_of<double>(table, 5);
  dataset.source = "table";
  if (rows != nullptr) *rows = table;
  return dataset;
}

KnnOptions options_of(LocalRule rule, FeatureWeighting weighting, bool regression) {
  KnnOptions options;
  options.rule = rule;
  options.k = 7;
  options.weighting = weighting;
  options.labels = regression ? LabelKind::numbers : LabelKind::classes;
  if (weighting == FeatureWeighting::given) options.distance.weights = {2, 0.5, 0, 0.25, 1};
  return options;
}

KnnOptions without_weights(KnnOptions options) {
  options.weighting = FeatureWeighting::none;
  options.distance.weights.clear();
  return options;
}

/// The k nearest rows by the definition.
std::vector<std::int32_t> plain_nearest(const DistanceOptions& distance, const Rows& rows, const test::Row& query,
                                        std::size_t k) {
  auto lists = test::plain_neighbors(distance, rows, query, [](std::int32_t) { return true; });
  std::vector<std::int32_t> nearest;
  for (std::size_t n = 0; n < k; ++n) nearest.push_back(lists[n].row);
  return nearest;
}

TEST(FeatureWeights, RanksWithoutThemAreThoseOfTheDefinition) {
  for (const auto device : test::devices())
    for (const auto weighting : {FeatureWeighting::given, FeatureWeighting::class_ratio,
                                 FeatureWeighting::mutual_information, FeatureWeighting::relief}) {
      Rows rows, asked;
      const auto dataset = make_dataset(90, false, 1, &rows);
      const auto queries = make_dataset(25, false, 2, &asked);
      const auto options = options_of(LocalRule::votes, weighting, false);
      const auto model = train_knn(context_on(device), dataset, options);
      ASSERT_TRUE(model.has_feature_weights());
      const auto lists = deciding_rows(context_on(device), model, queries, 7);
      std::int64_t kept = 0;
      for (std::size_t q = 0; q < lists.size(); ++q) {
        const auto weighted = plain_nearest(model.distance, rows, asked[q], 7);
        const auto plain = plain_nearest({}, rows, asked[q], 7);
        ASSERT_EQ(lists[q].size(), 7U);
        for (std::size_t n = 0; n < 7; ++n) {
          EXPECT_EQ(lists[q][n].row, weighted[n]);
          const auto found = std::find(plain.begin(), plain.end(), weighted[n]);
          EXPECT_EQ(lists[q][n].rank_without_weights, found == plain.end() ? 0 : found - plain.begin() + 1);
          kept += found != plain.end() ? 1 : 0;
        }
      }
      EXPECT_GT(kept, 0);
      EXPECT_LT(kept, 25 * 7) << "the weights matter";
      // No more than the two nearest, whose ranks are among all.
      const auto few = deciding_rows(context_on(device), model, queries, 2);
      for (std::size_t q = 0; q < few.size(); ++q) {
        ASSERT_EQ(few[q].size(), 2U);
        EXPECT_EQ(few[q][1].rank_without_weights, lists[q][1].rank_without_weights);
      }
    }
}

TEST(FeatureWeights, AModelWithoutThemIsOneThatWasTrainedWithoutThem) {
  for (const auto device : test::devices())
    for (const bool regression : {false, true})
      for (const auto rule : {LocalRule::votes, LocalRule::hyperplane, LocalRule::convex_hull, LocalRule::local_svm,
                              LocalRule::falk_svm}) {
        if (regression && rule != LocalRule::votes) continue;
        const auto context = context_on(device);
        const auto dataset = make_dataset(90, regression, 3);
        const auto queries = make_dataset(25, regression, 4);
        const auto options = options_of(rule, FeatureWeighting::given, regression);
        const auto model = train_knn(context, dataset, options);
        const auto plain = train_knn(context, dataset, without_weights(options));
        const auto without = without_feature_weights(context, model);
        EXPECT_EQ(predict_knn(context, without, queries).decisions, predict_knn(context, plain, queries).decisions);
        EXPECT_EQ(without.centres, plain.centres);
        const auto lists = deciding_rows(context, model, queries, 90);
        const auto plain_lists = deciding_rows(context, plain, queries, 90);
        for (std::size_t q = 0; q < lists.size(); ++q) {
          for (const auto& one : lists[q]) {
            const auto found = std::find_if(plain_lists[q].begin(), plain_lists[q].end(),
                                            [&](const DecidingRow& other) { return other.row == one.row; });
            EXPECT_EQ(one.rank_without_weights, found == plain_lists[q].end() ? 0 : found - plain_lists[q].begin() + 1);
          }
          for (std::size_t n = 0; n < plain_lists[q].size(); ++n)
            EXPECT_EQ(plain_lists[q][n].rank_without_weights, static_cast<std::int64_t>(n) + 1);
        }
        const Model any(train_knn(context, dataset, options));
        const auto other = any.without_feature_weights(context);
        ASSERT_TRUE(other);
        EXPECT_EQ(other->predict(context, queries).decisions, predict_knn(context, plain, queries).decisions);
        EXPECT_FALSE(other->without_feature_weights(context));
      }
}

/// The splits one after another, by models of their own.
TEST(FeatureWeights, TheSearchSaysWhatTheyChangeOnHeldOutRows) {
  for (const auto device : test::devices())
    for (const bool regression : {false, true}) {
      const auto context = context_on(device);
      const auto dataset = make_dataset(120, regression, 5);
      std::vector<std::int32_t> fold(120);
      for (std::size_t i = 0; i < fold.size(); ++i) fold[i] = static_cast<std::int32_t>(i / 3 % 4);
      SearchSpace family(KnnOptions{});
      family.get<KnnOptions>() = options_of(LocalRule::votes, FeatureWeighting::given, regression);
      family["k"] = {7};
      family["weighting"] = {regression ? "given" : "mutual-information"};
      SearchOptions options;
      options.splits = custom_splits(fold);
      const auto result = search(context, dataset, SearchSpace(family), options);
      ASSERT_TRUE(result.weights_effect);
      FeatureWeightsEffect wanted;
      double with = 0, without = 0;
      auto one = family.get<KnnOptions>();
      if (!regression) one.weighting = FeatureWeighting::mutual_information;
      for (std::int32_t s = 0; s < 4; ++s) {
        std::vector<std::int32_t> train, test;
        for (std::int32_t i = 0; i < 120; ++i) (fold[static_cast<std::size_t>(i)] == s ? test : train).push_back(i);
        const auto rows = take_rows(dataset, train, 1);
        const auto held_out = take_rows(dataset, test, 1);
        const auto model = train_knn(context, rows, one);
        const auto plain = train_knn(context, rows, without_weights(one));
        const auto lists = deciding_rows(context, model, held_out, 7);
        const auto plain_lists = deciding_rows(context, plain, held_out, 7);
        for (std::size_t q = 0; q < lists.size(); ++q)
          for (const auto& a : lists[q])
            for (const auto& b : plain_lists[q]) wanted.kept += a.row == b.row ? 1 : 0;
        const auto predicted = predict_knn(context, model, held_out);
        const auto plainly = predict_knn(context, plain, held_out);
        for (std::size_t q = 0; q < lists.size(); ++q)
          wanted.changed += regression ? (predicted.decisions[q] != plainly.decisions[q] ? 1 : 0)
                                       : (predicted.classes[q] != plainly.classes[q] ? 1 : 0);
        const auto score = *score_of(model, predicted, held_out.target);
        const auto plain_score = *score_of(plain, plainly, held_out.target);
        with += (regression ? score.squared_error : score.accuracy()) / 4;
        without += (regression ? plain_score.squared_error : plain_score.accuracy()) / 4;
      }
      const auto& effect = *result.weights_effect;
      EXPECT_EQ(effect.rows, 120);
      EXPECT_EQ(effect.neighbours, 120 * 7);
      EXPECT_EQ(effect.kept, wanted.kept);
      EXPECT_EQ(effect.changed, wanted.changed);
      EXPECT_GT(effect.changed, 0);
      EXPECT_NEAR(regression ? effect.with.squared_error : effect.with.accuracy(), with, 1e-12);
      EXPECT_NEAR(regression ? effect.without.squared_error : effect.without.accuracy(), without, 1e-12);
      const auto page = search_html(result);
      for (const auto* part : {"What the feature weights change", "The largest feature weights"})
        EXPECT_NE(page.find(part), std::string::npos) << part;
      const auto json = nlohmann::json::parse(search_json(result));
      EXPECT_EQ(json["feature_weights"]["neighbours_kept"], wanted.kept);
      EXPECT_EQ(json["feature_weights"]["predictions_changed"], wanted.changed);
    }
}

TEST(FeatureWeights, NothingIsSaidWhereThereAreNone) {
  SearchSpace family(KnnOptions{});
  family["k"] = {3};
  const auto result = search(test::with_threads(2), make_dataset(60, false, 6), SearchSpace(family));
  EXPECT_FALSE(result.weights_effect);
  EXPECT_EQ(search_html(result).find("feature weights change"), std::string::npos);
}

}  // namespace feature_weights_test
}  // namespace sheaf
