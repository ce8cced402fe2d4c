// Stacks: weights from held-out predictions, an honest score, and a model file like any other.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/report.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/stack.hpp>

#include "forgetful_log.hpp"
#include "held_out_accuracy.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace stack_test {

/// Classes or numbers by a line and a ring, so that no model alone is the best everywhere.
Dataset<double> make_rows(std::int64_t rows, int classes, std::uint64_t seed = 3) {
  auto table = random_rows(rows, 3, 1.0, seed);
  Random random(seed + 100);
  Dataset<double> dataset;
  for (const auto& row : table) {
    const double value = 3 * row[0] + 0.4 * (row[1] * row[1] - 21) + 10 * random.normal();
    if (classes == 0) dataset.target.values.push_back(value);
    if (classes == 2) dataset.target.classes.push_back(value > 0 ? 1 : 0);
    if (classes == 3) dataset.target.classes.push_back(value > 8 ? 2 : value > -8 ? 1 : 0);
  }
  const std::vector<std::string> names{"low", "middle", "top"};
  dataset.target.class_names.assign(names.begin(), names.begin() + classes);
  dataset.x = dense_of<double>(table, 3);
  dataset.feature_names = {"a", "b", "c"};
  dataset.source = "table";
  return dataset;
}

/// Cheap points of models that can be members.
SearchResult search_stack(const Dataset<double>& dataset, NamedSettings settings = {}, std::uint64_t seed = 1) {
  const bool numbers = dataset.target.class_names.empty();
  settings.insert(settings.end(), {{"stack", "2"}, {"folds", "4"}, {"k", "3,9"}});
  if (numbers)
    settings.emplace_back("alpha", "0.01,1");
  else
    settings.emplace_back("cost", "0.1,1");
  return search(with_threads(2, seed), dataset, numbers ? "ridge,knn" : "linear,knn", settings);
}

/// A row of the training rows' means differs in nothing from what explanations compare it with.
TEST(Stack, IsExplainedAgainstTheMeansOfItsTrainingRows) {
  for (const int classes : {0, 2}) {
    const auto dataset = make_rows(120, classes);
    const auto result = search_stack(dataset);
    ASSERT_TRUE(result.stack);
    EXPECT_TRUE(result.model->keeps_means());
    const auto& x = std::get<DenseMatrix<double>>(dataset.x);
    std::vector<double> means(3, 0.0);
    for (std::int64_t k = 0; k < x.values.size(); ++k) means[static_cast<std::size_t>(k % 3)] += x.values[k] / 120;
    Dataset<double> middle;
    middle.x = DenseMatrix<double>{1, 3, Array<double>::copy_of(means)};
    middle.feature_names = dataset.feature_names;
    const auto at_means = result.model->explain(Context(), middle, {.most = 3}).front();
    for (const auto& part : at_means.largest) EXPECT_NEAR(part.amount, 0, 1e-3) << "means are kept to few digits";
    double largest = 0;
    for (const auto& one : result.model->explain(Context(), dataset, {.most = 3}))
      for (const auto& part : one.largest) largest = std::max(largest, std::abs(part.amount));
    EXPECT_GT(largest, 0.05);
  }
}

const StackModel& stack_of(const SearchResult& result) { return *result.model->get_if<StackModel>(); }

TEST(Stack, IsTheChosenModelAndPredictsTheWeightedMeanOfItsMembers) {
  for (const int classes : {0, 2, 3}) {
    const auto result = search_stack(make_rows(120, classes));
    ASSERT_TRUE(result.stack) << classes;
    ASSERT_EQ(result.models.size(), 3U);
    EXPECT_TRUE(result.is_stack(result.chosen()));
    const auto board = result.leaderboard();
    EXPECT_EQ(board.size(), 3U);
    EXPECT_TRUE(std::any_of(board.begin(), board.end(), [&](const auto& row) {
      return result.models[static_cast<std::size_t>(row.model)].candidate.name.starts_with("stack of ");
    }));
    const auto& stack = stack_of(result);
    EXPECT_EQ(stack.members.size(), 2U) << classes << ": both have something to say";
    const auto more = make_rows(30, classes, 9);
    const auto context = with_threads(1);
    const auto predicted = result.model->predict(context, more, classes > 0);
    for (std::size_t k = 0; k < 30 * static_cast<std::size_t>(std::max(classes, 1)); ++k) {
      double mean = 0;
      for (const auto& member : stack.members) {
        const auto own = member.model.predict(context, more, classes > 0);
        mean += member.weight * (classes > 0 ? own.probabilities : own.decisions)[k];
      }
      EXPECT_NEAR((classes > 0 ? predicted.probabilities : predicted.decisions)[k], mean, 1e-12);
    }
    EXPECT_FALSE(search_html(result).empty());
  }
}

/// The stack that is scored on a split was learnt without its rows: other truth there changes nothing in it.
TEST(Stack, WeightsOfASplitDoNotSeeItsRows) {
  const auto result = search_stack(make_rows(120, 2));
  ASSERT_EQ(result.stack->splits.size(), 4U);
  for (std::size_t s = 0; s < 4; ++s) {
    std::vector<double> values;
    for (std::size_t i = 0; i < result.stack->held_out[0].size(); ++i) {
      if (result.stack->held_out[0].splits[i] == static_cast<std::int32_t>(s)) continue;
      const auto truth = static_cast<std::size_t>(result.stack->held_out[0].truth[i]);
      for (const auto& member : result.stack->held_out) values.push_back(member.probabilities[i * 2 + truth]);
    }
    EXPECT_EQ(result.stack->splits[s].weights, weights_by_likelihood(values, 2)) << s;
  }
}

TEST(Stack, OuterScoresAreThoseOfStacksThatDidNotSeeTheFold) {
  const auto result = search_stack(make_rows(120, 2), {{"outer", "3"}, {"predictions", "yes"}});
  ASSERT_EQ(result.outer.size(), 3U);
  ASSERT_EQ(result.stack->outer.size(), 3U);
  EXPECT_NE(result.stack->outer[0].weights, result.stack->outer[1].weights);
  expect_accuracy_of_outer_folds(result);
}

TEST(Stack, MembersWithoutProbabilitiesAreCalibrated) {
  const auto dataset = make_rows(120, 2);
  const auto result = search(with_threads(2, 1), dataset, "linear,svm",
                             {{"stack", "2"}, {"folds", "4"}, {"cost", "1"}, {"gamma", "0.1"}});
  const auto& members = result.stack->all.members;
  for (std::size_t m = 0; m < members.size(); ++m)
    EXPECT_EQ(result.stack->all.calibrations[m].has_value(), result.model_of(members[m])->candidate.name == "svm");
  EXPECT_TRUE(result.model->has_probabilities());
  const auto predicted = result.model->predict(with_threads(1), dataset, true);
  for (std::size_t i = 0; i < 120; ++i)
    EXPECT_NEAR(predicted.probabilities[2 * i] + predicted.probabilities[2 * i + 1], 1, 1e-12);
}

TEST(Stack, AFileHoldsTheWholeStack) {
  for (const int classes : {0, 2, 3}) {
    const auto result =
        search_stack(make_rows(90, classes), classes == 2 ? NamedSettings{{"threshold", "youden"}} : NamedSettings{});
    const auto text = result.model->text();
    const auto read = Model::parse(text, "stack.txt");
    EXPECT_EQ(read.text(), text);
    EXPECT_EQ(read.family(), "stack");
    EXPECT_EQ(read.known_columns().features, (std::vector<std::string>{"a", "b", "c"}));
    const auto more = make_rows(20, classes, 5);
    const auto a = result.model->predict(with_threads(1), more, classes > 0);
    const auto b = read.predict(with_threads(1), more, classes > 0);
    EXPECT_EQ(a.decisions, b.decisions);
    EXPECT_EQ(a.classes, b.classes);
    EXPECT_EQ(a.probabilities, b.probabilities);
    EXPECT_FALSE(read.peer_text());
  }
}

/// The text of a stack with one line changed, as a file of version 1, which has no checksum.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  text.replace(0, text.find('\n'), "sheaf-model 1");
  text.resize(text.rfind("checksum"));
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Stack, ADefectOfItsFileIsAnErrorWithAPlace) {
  const auto text = search_stack(make_rows(90, 2)).model->text();
  EXPECT_NO_THROW(Model::parse(changed(text, "members 2", "members 2"), "m"));
  EXPECT_THROW(Model::parse(changed(text, "members 2", "members 0"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "members 2", "members 3"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "members 2", "members 1"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "members 2", "members 99999999999"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "\nmember 0", "\nmember -0"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "\nfamily linear", "\nfamily stack"), "m"), ParseError);
  EXPECT_THROW(Model::parse(changed(text, "\nclass low", "\nclass other"), "m"), ParseError) << "members disagree";
}

TEST(Stack, IsTheSameAfterAnEndAndForTheSameSeed) {
  const auto dataset = make_rows(100, 2);
  SearchOptions options;
  options.pipeline = default_pipeline();
  options.stack = 2;
  options.outer = 2;
  options.folds = 3;
  auto space = space_of_models("linear,knn", options.pipeline);
  space.candidates[0].space["cost"] = {0.1, 1};
  space.candidates[1].space["k"] = {3, 9};
  const auto context = with_threads(2, 4);
  const auto whole = search(context, dataset, space, options);
  const auto json = search_json(whole);
  EXPECT_EQ(search(with_threads(1, 4), dataset, space, options).model->text(), whole.model->text());
  Forgetful log(2);
  EXPECT_THROW(search(context, dataset, space, options, &log), Error);
  log.go_on();
  const auto again = search(context, dataset, space, options, &log);
  EXPECT_EQ(search_json(again), json);
  EXPECT_EQ(again.model->text(), whole.model->text());
}

TEST(Stack, RefusesWhatItCannotDo) {
  const auto dataset = make_rows(60, 2);
  const auto context = with_threads(1);
  EXPECT_THROW(search(context, dataset, "linear", {{"stack", "2"}}), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,knn", {{"stack", "1"}}), UsageError);
  EXPECT_THROW(search(context, dataset, "linear,knn", {{"stack", "2"}, {"learning-curve", "yes"}}), UsageError);
}

/// SVMs of pairs of classes are calibrated by the decisions of all pairs for each class.
TEST(Stack, SvmsOfPairsAreMembers) {
  const auto dataset = make_rows(90, 3);
  for (const char* multi_class : {"one-vs-one", "one-vs-rest"}) {
    const auto result =
        search(with_threads(1), dataset, "linear,svm",
               {{"stack", "2"}, {"folds", "3"}, {"cost", "10"}, {"gamma", "0.1"}, {"multi-class", multi_class}});
    ASSERT_TRUE(result.stack) << multi_class;
    ASSERT_EQ(result.stack->all.members.size(), 2U);
    const auto predicted = result.model->predict(with_threads(1), dataset, true);
    const auto again = Model::parse(result.model->text(), "m").predict(with_threads(1), dataset, true);
    EXPECT_EQ(predicted.probabilities, again.probabilities);
    const auto scores = result.model->scores(with_threads(1), predicted, dataset.target);
    EXPECT_GT(scores->score(Metric::accuracy), 0.5) << multi_class;
    EXPECT_GT(scores->score(Metric::auc), 0.7) << multi_class;
  }
}

/// Values of three pairs are not those of three classes, though they are as many.
TEST(SvmsOfPairs, AreCalibratedByClass) {
  const auto dataset = make_rows(150, 3);
  const auto result = search(with_threads(1), dataset, "svm",
                             {{"calibrate", "platt"}, {"folds", "3"}, {"cost", "10"}, {"gamma", "0.05"}});
  const auto most_likely = [](const std::vector<double>& shares, std::size_t row) {
    const auto at = shares.begin() + static_cast<std::ptrdiff_t>(3 * row);
    return static_cast<std::int32_t>(std::max_element(at, at + 3) - at);
  };
  const auto predicted = result.model->predict(with_threads(1), dataset, true);
  int held_out = 0;
  int all = 0;
  for (std::size_t i = 0; i < 150; ++i) {
    held_out += most_likely(result.held_out->probabilities, i) == result.held_out->classes[i] ? 1 : 0;
    all += most_likely(predicted.probabilities, i) == predicted.classes[i] ? 1 : 0;
  }
  EXPECT_GT(held_out, 130) << "the most likely class is the predicted one";
  EXPECT_GT(all, 130);
}

TEST(Stack, NominalFeaturesAndMissingColumnsAreThoseOfItsMembers) {
  auto dataset = make_rows(90, 2);
  auto& x = std::get<DenseMatrix<double>>(dataset.change_x());
  for (std::int64_t i = 0; i < x.rows; ++i) x.values[i * 3 + 2] = static_cast<double>(i % 3);
  dataset.levels = {{}, {}, {"red", "green", "blue"}};
  const auto result = search_stack(dataset);
  const auto read = Model::parse(result.model->text(), "m");
  EXPECT_EQ(read.known_columns().levels, dataset.levels);
  EXPECT_EQ(read.predict(with_threads(1), dataset).decisions,
            result.model->predict(with_threads(1), dataset).decisions);
  auto renamed = dataset.borrowed();
  renamed.feature_names = {"a", "other", "c"};
  EXPECT_THROW(read.predict(with_threads(1), renamed), Error);
}

}  // namespace stack_test
}  // namespace sheaf::test
