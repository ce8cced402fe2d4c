// Studies of tables whose rows belong together in groups, and balanced classes within their splits and folds.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "study_rows.hpp"

namespace sheaf::test {
namespace study_groups_test {

TEST(StudyGroups, NoGroupStandsOnBothSides) {
  for (const int classes : {2, 0}) {
    auto dataset = dataset_of<double>(make_table(150, 3, classes, 3), 3);
    Random random(1);
    for (int i = 0; i < 150; ++i) dataset.groups.push_back(static_cast<std::int32_t>(random.below(50)));
    auto options = small_study();
    options.options.outer = 10;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const auto lists = held_out_rows(dataset, options, seed);
      std::set<std::vector<std::int32_t>> different;
      for (std::size_t s = 0; s < 10; ++s) {
        std::map<std::int32_t, std::set<std::size_t>> parts_of;
        std::size_t rows = 0;
        for (std::size_t part = 0; part < 4; ++part)
          for (const auto row : lists[s * 4 + part]) {
            parts_of[dataset.groups[static_cast<std::size_t>(row)]].insert(part);
            ++rows;
          }
        EXPECT_EQ(rows, 150U) << "every row is left out once, by a fold or by the split";
        for (const auto& [group, parts] : parts_of) EXPECT_EQ(parts.size(), 1U) << "group " << group;
        EXPECT_NEAR(static_cast<double>(lists[s * 4 + 3].size()), 0.3 * 150, 8);
        different.insert(lists[s * 4 + 3]);
      }
      EXPECT_EQ(different.size(), 10U);
    }
  }
}

/// Every group is one sample measured four times, its label by a coin: a model trained on a group predicts its label,
/// and no other can.
TEST(StudyGroups, GroupsKeepWhatWasSeenApartFromWhatIsTested) {
  constexpr std::size_t features = 100;
  Random random(6);
  PlainTable table;
  std::vector<std::int32_t> groups;
  for (std::int32_t g = 0; g < 60; ++g) {
    decltype(table.rows)::value_type row;
    for (std::size_t j = 0; j < features; ++j) row.emplace_back(j, random.normal());
    for (int copy = 0; copy < 4; ++copy) {
      table.rows.push_back(row);
      table.labels.push_back(g % 2 == 0 ? 1 : -1);
      groups.push_back(g);
    }
  }
  auto dataset = dataset_of<double>(table, features, false);
  dataset.groups = groups;
  auto options = small_study();
  options.options.outer = 10;
  options.options.outer_fraction = 0.2;
  options.family.get<NetOptions>().tolerance = 1e-4;
  options.family["alpha"] = {0.1, 0.01, 0.001};
  for (const Device device : devices()) {
    options.options.split.reset();
    const auto apart = run_study(on(device), dataset, options);
    EXPECT_EQ(apart.options.outer_split, SplitKind::group_shuffle);
    EXPECT_EQ(apart.groups, 60);
    EXPECT_NEAR(apart.outer_summary(Metric::auc).mean, 0.5, 0.2);
    options.options.split = SplitKind::stratified_k_fold;
    options.options.equal_rows = EqualRows::apart;  // rows of a group are copies
    const auto mixed = run_study(on(device), dataset, options);
    options.options.equal_rows = EqualRows::automatic;
    EXPECT_EQ(mixed.groups, 0);
    EXPECT_GT(mixed.outer_summary(Metric::auc).mean, 0.97);
    ASSERT_FALSE(mixed.notes.empty());
    EXPECT_NE(mixed.notes.back().find("not kept together"), std::string::npos);
  }
}

TEST(StudyGroups, TooFewGroupsAreSaidBeforeAnyTraining) {
  auto dataset = dataset_of<double>(make_table(60, 5, 2, 2), 5);
  auto options = small_study();
  const auto message = [&] {
    try {
      run_study(with_threads(1), dataset, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  options.options.split = SplitKind::stratified_group_k_fold;
  EXPECT_NE(message().find("needs groups of rows"), std::string::npos) << message();
  for (int i = 0; i < 60; ++i) dataset.groups.push_back(i % 3);
  EXPECT_NE(message().find("at least 4 groups, not 3"), std::string::npos) << message();
  for (std::size_t i = 0; i < 60; ++i)
    dataset.groups[i] = dataset.target.values[i] > 0 ? 0 : 1 + static_cast<std::int32_t>(i % 5);
  EXPECT_NE(message().find("class 1 has rows in 1 group, and 4 are needed"), std::string::npos) << message();
  options.options.score = Metric::accuracy;
  EXPECT_NE(message().find("trains on no row of class 1"), std::string::npos) << message();
}

/// rows / (classes * rows of the class), both of the rows that a part trains on, as plain loops count them.
std::vector<float> balanced_by_hand(const std::vector<double>& labels, double weight_of_negatives = 0) {
  const auto all = static_cast<double>(labels.size());
  const auto positives = static_cast<double>(std::count(labels.begin(), labels.end(), 1.0));
  const double positive = all / (2 * positives);
  const double negative = weight_of_negatives > 0 ? weight_of_negatives : all / (2 * (all - positives));
  std::vector<float> weights;
  for (const double label : labels) weights.push_back(static_cast<float>(label > 0 ? positive : negative));
  return weights;
}

TEST(StudyBalance, BalancedWeightsAreThoseOfTheRowsTrainedOn) {
  const auto table = make_table(60, 6, 2, 3);
  auto dataset = dataset_of<double>(table, 6);
  for (int i = 0; i < 60; ++i) dataset.groups.push_back(i * 17 % 31);
  for (const double negatives : {0.0, 3.0})
    for (const auto split : {SplitKind::stratified_group_k_fold, SplitKind::stratified_k_fold}) {
      auto options = small_study();
      options.options.split = split;
      options.family.get<NetOptions>().balanced = true;
      if (negatives > 0) options.family.get<NetOptions>().class_weights = {{"-1", negatives}};
      const auto lists = held_out_rows(dataset, options);
      // The next test checks the effect of the splits' weights on the models. Here, the counts.
      const StudyPlan made(dataset, options);
      for (std::int32_t k = 0; k < 4; ++k)
        for (std::int32_t part = 0; part < 4; ++part) {
          const auto number = part < 3 ? made.plan->inner_split(k, part) : made.plan->outer_split(k);
          std::set<std::int32_t> out(lists[static_cast<std::size_t>(k * 4 + 3)].begin(),
                                     lists[static_cast<std::size_t>(k * 4 + 3)].end());
          const auto& mine = lists[static_cast<std::size_t>(k * 4 + part)];
          out.insert(mine.begin(), mine.end());
          std::vector<double> labels;
          for (std::int32_t i = 0; i < 60; ++i)
            if (!out.contains(i)) labels.push_back(table.labels[static_cast<std::size_t>(i)]);
          const auto counts = made.plan->table({number}, 1).class_counts;
          const auto weights =
              weigh_classes({options.family.get<NetOptions>().class_weights, true}, made.labels.class_names, counts);
          const auto wanted = balanced_by_hand(labels, negatives);
          for (std::size_t i = 0; i < labels.size(); ++i) {
            const auto c = find_class(made.labels.class_names, labels[i] > 0 ? "1" : "-1");
            EXPECT_FLOAT_EQ(static_cast<float>(weights[c]), wanted[i]);
          }
        }
    }
}

TEST(StudyBalance, BalancedAgreesWithALoopOfWeightedFits) {
  for (const auto loss : {Loss::squared, Loss::logistic}) {
    const std::size_t features = 12;
    const auto table = make_table(80, features, 2, 5);
    auto dataset = dataset_of<double>(table, features);
    for (int i = 0; i < 80; ++i) dataset.groups.push_back(i * 17 % 41);
    auto options = small_study();
    options.family.get<NetOptions>().loss = loss;
    options.family.get<NetOptions>().balanced = true;
    const auto lists = held_out_rows(dataset, options);
    for (const Device device : devices()) {
      const auto result = run_study(on(device), dataset, options);
      for (std::size_t s = 0; s < 4; ++s) {
        const auto& split = result.outer[s];
        const auto fit = [&](const PlainTable& rows, std::size_t pair) {
          return fit_alone(rows, features, options.family.numbers("alpha")[pair % 5],
                           options.family.numbers("l1-ratio")[pair / 5], loss, balanced_by_hand(rows.labels));
        };
        for (std::size_t pair = 0; pair < 10; pair += 3)
          for (std::size_t f = 0; f < 3; ++f) {
            const auto net = fit(without(table, {lists[s * 4 + 3], lists[s * 4 + f]}), pair);
            EXPECT_NEAR(split.level.models[pair * 3 + f].score(*result.options.score),
                        plain_auc(table, lists[s * 4 + f], net), 1e-6);
          }
        const auto net = fit(without(table, {lists[s * 4 + 3]}), split.level.chosen.chosen);
        EXPECT_EQ(split.scores.weights[0].features, net.features);
        for (std::size_t k = 0; k < net.weights.size(); ++k)
          EXPECT_NEAR(split.scores.weights[0].weights[k], net.weights[k], 1e-5);
        EXPECT_NEAR(split.scores.weights[0].intercept, net.intercept, 1e-5);
      }
    }
  }
}

}  // namespace study_groups_test
}  // namespace sheaf::test
