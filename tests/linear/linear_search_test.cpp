// Cross-validation against models trained on copies of the rows, and the search for a cost against its rules.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"
#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf::test {
namespace linear_search_test {

/// A copy of the rows that `keep` selects.
PlainTable subset(const PlainTable& table, const std::vector<bool>& keep) {
  PlainTable part;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) {
      part.rows.push_back(table.rows[i]);
      part.labels.push_back(table.labels[i]);
    }
  return part;
}

TEST(CrossValidation, IsTrainingOnCopiesOfTheOtherRows) {
  for (const Device device : devices())
    for (const auto& [loss, classes] : kinds) {
      SCOPED_TRACE(fmt::format("{} loss {} classes {}", to_string(device), static_cast<int>(loss), classes));
      const auto table = make_table(60, 8, classes, 21);
      const auto context = on(device, 4);
      LinearOptions options;
      options.loss = loss;
      options.tolerance = 1e-10;
      options = with_defaults(options, dataset_of<double>(table, 8).target);  // of all rows
      const auto result = cross_validate_linear(context, dataset_of<double>(table, 8), options, 4);
      SplitOptions split;
      split.kind = SplitKind::k_fold;
      split.count = 4;
      split.seed = 4;
      const auto splits = make_splits(60, {}, {}, split);
      std::int64_t correct = 0;
      double error = 0;
      for (std::int32_t f = 0; f < 4; ++f) {
        std::vector<bool> train(60);
        for (std::size_t i = 0; i < 60; ++i) train[i] = splits.tester(static_cast<std::int64_t>(i)) != f;
        const auto model = train_linear(context, dataset_of<double>(subset(table, train), 8), options);
        const auto all = predict_linear(context, model, dataset_of<double>(table, 8));
        for (std::size_t i = 0; i < 60; ++i) {
          if (train[i]) continue;
          if (classes == 0) {
            EXPECT_NEAR(result.predictions.decisions[i], all.decisions[i], 1e-6);
            error += (all.decisions[i] - table.labels[i]) * (all.decisions[i] - table.labels[i]) / 60;
            continue;
          }
          const auto& name = model.class_names[static_cast<std::size_t>(all.classes[i])];
          EXPECT_EQ(result.class_names[static_cast<std::size_t>(result.predictions.classes[i])], name) << i;
          correct += std::stod(name) == table.labels[i] ? 1 : 0;
        }
      }
      EXPECT_EQ(result.unconverged, 0);
      EXPECT_EQ(result.score.correct, correct);
      EXPECT_NEAR(result.score.squared_error, error, 1e-6);
    }
}

TEST(CrossValidation, AClassThatAFoldDoesNotTrainOnIsNotPredictedThere) {
  auto table = make_table(30, 4, 2, 3);
  for (auto& label : table.labels) label += 2;  // 1 and 3
  table.labels[7] = 9;
  table.rows[7] = {};  // decisions of 0 without a bias: an absent class must not win by being untrained
  LinearOptions options;
  options.bias = 0;
  const auto result = cross_validate_linear(on(Device::cpu()), dataset_of<double>(table, 4), options, 30);
  EXPECT_NE(result.class_names[static_cast<std::size_t>(result.predictions.classes[7])], "9");
  EXPECT_THROW(cross_validate_linear(on(Device::cpu()), dataset_of<double>(table, 4), options, 1), UsageError);
}

TEST(CostSearch, DoublesTheCostAndKeepsTheBest) {
  for (const Device device : devices())
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
      const auto table = make_table(90, 6, 3, 17);
      LinearOptions options;
      options.loss = loss;
      options.bias = 1;
      options.tolerance = 1e-7;
      const auto dataset = dataset_of<double>(table, 6);
      const auto search = search_cost<double>(on(device), dataset, options, 3, 0);
      double longest = 0;
      for (const auto& row : table.rows) {
        double size = 1;  // the bias
        for (const auto& [j, value] : row) size += value * value;
        longest = std::max(longest, size);
      }
      const double limit = (loss == Loss::logistic ? 1 : 0.5) / (90 * longest);
      ASSERT_FALSE(search.trials.empty());
      EXPECT_LE(search.trials[0].cost, limit);
      EXPECT_GT(2 * search.trials[0].cost, limit);
      std::int64_t best = 0;
      for (std::size_t k = 0; k < search.trials.size(); ++k) {
        if (k > 0) {
          EXPECT_EQ(search.trials[k].cost, 2 * search.trials[k - 1].cost);
        }
        best = std::max(best, search.trials[k].score.correct);
        options.cost = search.trials[k].cost;
        const auto cold = cross_validate_linear(on(device), dataset, options, 3);
        EXPECT_EQ(search.trials[k].score.correct, cold.score.correct) << "warm starts end where cold ones do";
      }
      EXPECT_EQ(search.best.score.correct, best);
      EXPECT_LE(search.trials.back().cost, 1024);
      EXPECT_TRUE(search.reached_maximum || search.trials.back().cost < 1024);
    }
}

/// Twenty epsilons from just below the largest target down to 0, or from the one given; of each the costs double.
TEST(CostSearch, ARegressionSearchesTheTubeToo) {
  const auto table = make_table(40, 3, 0, 1);
  const auto dataset = dataset_of<double>(table, 3);
  LinearOptions options;
  options.loss = Loss::squared_tube;
  options.tolerance = 1e-7;
  double most = 0;
  for (const double y : table.labels) most = std::max(most, std::abs(y));
  for (const Device device : devices()) {
    const auto search = search_cost<double>(on(device), dataset, options, 2, 0, 0.16 * most);
    ASSERT_FALSE(search.trials.empty());
    double epsilon = 4 * most / 20;
    for (std::size_t k = 0; k < search.trials.size(); ++k) {
      const auto& trial = search.trials[k];
      const bool next = k == 0 || trial.epsilon != search.trials[k - 1].epsilon;
      if (next) {
        EXPECT_NEAR(trial.epsilon, epsilon -= most / 20, 1e-12 * most);
      } else {
        EXPECT_EQ(trial.cost, 2 * search.trials[k - 1].cost);
      }
      EXPECT_GE(trial.score.squared_error, search.best.score.squared_error);
    }
    EXPECT_NEAR(epsilon, 0, 1e-12 * most);
    options.cost = search.best.cost;
    options.epsilon = search.best.epsilon;
    const auto cold = cross_validate_linear(on(device), dataset, options, 2);
    EXPECT_NEAR(search.best.score.squared_error, cold.score.squared_error, 1e-3 * cold.score.squared_error);
  }
}

TEST(CostSearch, IsForNewtonsMethod) {
  LinearOptions options;
  options.loss = Loss::hinge;
  EXPECT_THROW(search_cost<double>(on(Device::cpu()), dataset_of<double>(make_table(20, 3, 2, 1), 3), options, 2, 0),
               UsageError);
}

}  // namespace linear_search_test
}  // namespace sheaf::test
