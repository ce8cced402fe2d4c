// Defaults of a search: without a grid, score or unit the user gets a useful model.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/report.hpp>
#include <sheaf/search.hpp>

#include "core/random.hpp"
#include "golden.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace defaults_test {

Context context() { return Context({.device = Device::cpu(), .threads = 2, .seed = 1}); }

Dataset<double> make_numbers(double unit) {
  const auto table = random_rows(120, 4, 1.0, 3);
  Random random(7);
  Dataset<double> dataset;
  dataset.x = dense_of<double>(table, 4);
  for (const auto& row : table)
    dataset.target.values.push_back(unit * (std::sin(row[0]) + row[1] * row[2] + 0.1 * random.normal()));
  dataset.target.kind = LabelKind::numbers;
  dataset.source = "table";
  return dataset;
}

/// One of `share` rows is of class b, which larger values of the first feature make likelier.
Dataset<double> make_rare(std::int64_t rows, std::int64_t share, double shift) {
  const auto table = random_rows(rows, 3, 1.0, 5);
  Dataset<double> dataset;
  std::vector<std::vector<double>> moved;
  for (std::int64_t i = 0; i < rows; ++i) {
    const bool rare = i % share == 0;
    auto row = table[static_cast<std::size_t>(i)];
    if (rare) row[0] += shift;
    moved.push_back(row);
    dataset.target.classes.push_back(rare ? 1 : 0);
  }
  dataset.x = dense_of<double>(moved, 3);
  dataset.target.class_names = {"a", "b"};
  dataset.target.fixed_order = true;
  dataset.source = "table";
  return dataset;
}

double r_squared_of(const SearchResult& result) { return result.summary(result.level.chosen.chosen, Metric::r2).mean; }

/// scikit-learn's RidgeCV finds about 0.48 on these data.
TEST(SearchDefaults, RidgeReachesSmallPenalties) {
  const auto dataset = read_dataset<double>(context(), golden("data/diabetes_reg_scale.libsvm"));
  for (const bool scaled : {false, true}) {
    NamedSettings settings{{"labels", "numbers"}};
    if (scaled) settings.emplace_back("scale", "standard");
    EXPECT_GT(r_squared_of(search(context(), dataset, "ridge", settings)), 0.46) << scaled;
  }
}

/// All numbers that follow from the target are multiplied by powers of two, so that nothing is rounded differently.
TEST(SearchDefaults, SupportVectorRegressionDoesNotDependOnTheUnitOfTheTarget) {
  const double expected = r_squared_of(search(context(), make_numbers(1), "svm"));
  EXPECT_GT(expected, 0.5);
  for (const double unit : {std::exp2(-12), std::exp2(17)}) {
    const auto result = search(context(), make_numbers(unit), "svm");
    EXPECT_NEAR(r_squared_of(result), expected, 1e-12) << unit;
    EXPECT_GT(result.size(result.level, result.level.chosen.chosen), 1) << "support vectors";
  }
}

Dataset<double> make_line(double unit) {
  const auto table = random_rows(150, 6, 1.0, 13);
  Random random(17);
  Dataset<double> dataset;
  dataset.x = dense_of<double>(table, 6);
  for (const auto& row : table)
    dataset.target.values.push_back(unit * (3 * row[0] - 2 * row[1] + row[2] + 0.3 * row[3] + random.normal()));
  dataset.target.kind = LabelKind::numbers;
  dataset.source = "table";
  return dataset;
}

struct NetKindAndRatio {
  std::string kind;
  std::string l1_ratio;
  bool alpha_has_unit;  ///< the quantile loss is linear in the unit of the target, as the weights are
};

std::vector<NetKindAndRatio> nets_of_numbers() {
  std::vector<NetKindAndRatio> nets;
  for (const auto* kind : {"elastic-net", "elastic-net-huber", "elastic-net-quantile"})
    for (const auto* l1_ratio : {"0", "0.5", "1"})
      nets.push_back({kind, l1_ratio, std::string(kind) != "elastic-net-quantile"});
  return nets;
}

constexpr std::array units{1e3, 1e5, 1e-5};

void expect_multiples(const Predictions& found, const Predictions& expected, double unit, const std::string& what) {
  double largest = 0;
  for (const double value : expected.decisions) largest = std::max(largest, std::abs(value));
  ASSERT_EQ(found.decisions.size(), expected.decisions.size());
  for (std::size_t i = 0; i < expected.decisions.size(); ++i)
    ASSERT_NEAR(found.decisions[i] / unit, expected.decisions[i], 1e-6 * largest) << what << ", row " << i;
}

TEST(SearchDefaults, NetsDoNotDependOnTheUnitOfTheTarget) {
  const auto data = make_line(1);
  for (const auto& net : nets_of_numbers()) {
    const NamedSettings settings{{"l1-ratio", net.l1_ratio}};
    const auto expected = search(context(), data, net.kind, settings);
    EXPECT_GT(r_squared_of(expected), 0.9) << net.kind;
    for (const double unit : units) {
      const auto what = fmt::format("{} at {}, unit {}", net.kind, net.l1_ratio, unit);
      const auto result = search(context(), make_line(unit), net.kind, settings);
      EXPECT_NEAR(r_squared_of(result), r_squared_of(expected), 1e-6) << what;
      const double alpha = expected.value(expected.chosen(), "alpha") * (net.alpha_has_unit ? unit : 1.0);
      EXPECT_NEAR(result.value(result.chosen(), "alpha"), alpha, 1e-6 * alpha) << what;
      EXPECT_EQ(result.size(result.level, result.level.chosen.chosen),
                expected.size(expected.level, expected.level.chosen.chosen))
          << what;
      expect_multiples(result.model->predict(context(), data), expected.model->predict(context(), data), unit, what);
    }
  }
}

TEST(SearchDefaults, TrainedNetsDoNotDependOnTheUnitOfTheTarget) {
  const auto data = make_line(1);
  for (const auto& net : nets_of_numbers())
    for (const double unit : units) {
      const auto train = [&](double times) {
        auto options = find_model_kind(net.kind).options;
        set_parameter(options, "l1-ratio", net.l1_ratio);
        set_parameter(options, "alpha", fmt::format("{}", 0.1 * (net.alpha_has_unit ? times : 1.0)));
        return fit(context(), make_line(times), options).predict(context(), data);
      };
      expect_multiples(train(unit), train(1), unit, fmt::format("{} at {}, unit {}", net.kind, net.l1_ratio, unit));
    }
}

/// Costs, tubes and tolerances that are left open follow the target's unit. Powers of two round nothing differently.
TEST(SearchDefaults, TrainedSupportVectorRegressionsDoNotDependOnTheUnitOfTheTarget) {
  const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> routes{
      {"svm", {}},
      {"svm", {{"kernel", "linear"}}},
      {"svm", {{"type", "nu-svr"}}},
      {"linear", {{"loss", "svr"}}},
      {"linear", {{"loss", "epsilon-insensitive"}}}};
  const auto data = make_line(1);
  for (const auto& [kind, settings] : routes) {
    const auto train = [&](double unit) {
      auto options = find_model_kind(kind).options;
      for (const auto& [name, text] : settings) set_parameter(options, name, text);
      return fit(context(), make_line(unit), options).predict(context(), data);
    };
    const auto what = kind + (settings.empty() ? "" : " " + settings.front().second);
    const auto expected = train(1);
    double error = 0, total = 0;
    for (std::size_t i = 0; i < expected.decisions.size(); ++i) {
      error += std::pow(expected.decisions[i] - data.target.values[i], 2);
      total += std::pow(data.target.values[i], 2);
    }
    EXPECT_LT(error, 0.25 * total) << what;
    for (const double unit : {std::exp2(-17), std::exp2(17)}) expect_multiples(train(unit), expected, unit, what);
  }
}

/// 10 of 5,010 rows. With an intercept that is not penalised the mean of the probabilities is the share of the class.
TEST(SearchDefaults, RareClassesHaveTheirProbability) {
  constexpr std::int64_t rows = 5010;
  constexpr double share = 10.0 / rows;
  const auto data = make_rare(rows, 501, 8);
  for (const auto* cost : {"0.01", "1", "100"}) {
    const auto result = search(context(), data, "linear", {{"cost", cost}});
    EXPECT_GT(result.summary(result.level.chosen.chosen, Metric::auc).mean, 0.95) << cost;
    const auto predictions = result.model->predict(context(), data, true);
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) sum += predictions.probabilities[2 * i + 1];
    EXPECT_NEAR(sum / rows, share, 0.1 * share) << cost;
  }
}

TEST(SearchDefaults, UnbalancedClassesAreNotChosenByAccuracy) {
  EXPECT_EQ(search(context(), make_rare(300, 2, 1), "linear").options.score, Metric::accuracy);
  EXPECT_EQ(search(context(), make_rare(300, 15, 1), "linear").options.score, Metric::auc);
  EXPECT_EQ(search(context(), make_rare(300, 15, 1), "linear", {{"score", "accuracy"}}).options.score,
            Metric::accuracy);
}

bool has_note(const SearchResult& result, const std::string& part) {
  return std::any_of(result.notes.begin(), result.notes.end(),
                     [&](const auto& note) { return note.find(part) != std::string::npos; });
}

TEST(SearchDefaults, TheReasonForAucIsNoted) {
  const auto even = make_rare(300, 2, 1);
  EXPECT_TRUE(has_note(search(context(), even, "elastic-net-logistic"), "chosen by AUC, the default of elastic nets"));
  EXPECT_FALSE(has_note(search(context(), even, "elastic-net-logistic", {{"score", "auc"}}), "chosen by AUC"));
  EXPECT_FALSE(has_note(search(context(), even, "linear"), "chosen by AUC"));
  const auto rare = search(context(), make_rare(300, 15, 1), "elastic-net-logistic");
  EXPECT_TRUE(has_note(rare, "93 % of the rows are of class a"));
  EXPECT_TRUE(has_note(rare, "models are chosen by AUC"));
  EXPECT_FALSE(has_note(rare, "the default of elastic nets")) << "one reason is enough";
  const auto rarest = search(context(), make_rare(1200, 400, 3), "linear");
  EXPECT_TRUE(has_note(rarest, "more than 99 % of the rows are of class a")) << "1,197 of 1,200 are not 100 %";
}

/// Models that differ by the size of their decision values alone have the same calibrated probabilities.
TEST(SearchDefaults, PointsAreComparedByCalibratedProbabilities) {
  const auto data = make_rare(300, 4, 8);
  const NamedSettings costs{{"score", "log-loss"}, {"cost", "1e-5,1"}, {"folds", "3"}};
  auto with = costs;
  with.emplace_back("calibrate", "platt");
  const auto plain = search(context(), data, "linear", costs);
  const auto found = search(context(), data, "linear", with);
  EXPECT_GT(plain.summary(0, Metric::log_loss).mean, 1.2 * plain.summary(1, Metric::log_loss).mean);
  EXPECT_NEAR(found.summary(0, Metric::log_loss).mean, found.summary(1, Metric::log_loss).mean, 0.02);
  EXPECT_NEAR(found.summary(0, Metric::brier_score).mean, found.summary(1, Metric::brier_score).mean, 0.01);
  EXPECT_EQ(found.scores(found.level, 0, Metric::auc), plain.scores(plain.level, 0, Metric::auc));
  EXPECT_FALSE(has_note(found, "probabilities before calibration"));
  for (const auto& model : found.level.models) EXPECT_TRUE(model.decisions.empty());
}

/// Splits that test one row of a class cannot calibrate: that is said, with the figure after calibration.
TEST(SearchDefaults, ScoresBeforeCalibrationAreNoted) {
  const auto data = make_rare(24, 4, 1.5);
  const NamedSettings settings{{"score", "log-loss"}, {"calibrate", "platt"}, {"folds", "5"}, {"cost", "1"}};
  const auto result = search(context(), data, "linear", settings);
  EXPECT_TRUE(has_note(result, "probabilities before calibration"));
  EXPECT_NE(verdict(result).find("the calibrated probabilities of held-out rows have"), std::string::npos);
  const auto other = search(context(), data, "linear", {{"score", "auc"}, {"calibrate", "platt"}});
  EXPECT_FALSE(has_note(other, "probabilities before calibration")) << "the order of rows is the same";
  EXPECT_EQ(verdict(other).find("calibrated"), std::string::npos);
}

TEST(SearchDefaults, AChoiceWithoutProbabilitiesNamesTheRemedy) {
  const auto data = make_rare(120, 2, 2);
  const auto part = "the chosen model has no probabilities";
  const auto svms = search(context(), data, "svm,knn", {{"k", "1"}});
  ASSERT_FALSE(svms.model->has_probabilities());
  EXPECT_TRUE(has_note(svms, part));
  EXPECT_FALSE(has_note(search(context(), data, "svm,knn", {{"k", "1"}, {"calibrate", "platt"}}), part));
  EXPECT_FALSE(has_note(search(context(), data, "svm"), part)) << "which was asked for";
  EXPECT_FALSE(has_note(search(context(), data, "linear,knn"), part));
}

/// All costs predict the frequent class alone: the accuracy is the same, the models are not.
TEST(SearchDefaults, OfEqualScoresTheSurerModelIsChosen) {
  const auto result = search(context(), make_rare(600, 30, 1.5), "linear",
                             {{"score", "accuracy"}, {"cost", "1e-6,0.001,1"}, {"scale", "standard"}});
  const auto accuracies = result.scores(result.level, 0, Metric::accuracy);
  ASSERT_EQ(accuracies, result.scores(result.level, 1, Metric::accuracy));
  std::vector<double> losses;
  for (std::size_t p = 0; p < 3; ++p)
    if (result.summary(p, Metric::accuracy).mean == result.summary(result.level.chosen.chosen, Metric::accuracy).mean)
      losses.push_back(result.summary(p, Metric::log_loss).mean);
  EXPECT_EQ(result.summary(result.level.chosen.chosen, Metric::log_loss).mean,
            *std::min_element(losses.begin(), losses.end()));
}

struct RouteAndTolerance {
  std::string model;
  NamedSettings settings;
  double tolerance;  ///< of the AUC if sums are rounded in another order; of some models a pair of rows changes places
};

/// A unit that is a power of two rounds nothing differently.
TEST(SearchDefaults, UnitsNamesAndTheOrderOfColumnsChangeNoRoute) {
  const auto data = make_rare(120, 3, 8);
  auto unit = data.borrowed();
  auto& x = std::get<DenseMatrix<double>>(unit.change_x());
  for (std::int64_t i = 0; i < x.rows; ++i) x.values[3 * i] *= std::exp2(20);
  auto names = data.borrowed();
  names.target.class_names = {"other", "one"};
  const std::vector<std::int64_t> order{2, 0, 1};
  const auto columns = take_features(data, order, 1);
  const std::vector<RouteAndTolerance> routes{
      {"linear", {}, 1e-6},      {"linear", {{"loss", "svm"}, {"cost", "0.1,1"}}, 1e-6},
      {"elastic-net", {}, 1e-6}, {"elastic-net-logistic", {}, 2e-3},
      {"glm", {}, 1e-6},         {"knn", {}, 1e-12},
      {"svm", {}, 2e-3},         {"auto", {}, 2e-3}};
  for (const auto& route : routes) {
    auto settings = route.settings;
    settings.emplace_back("score", "auc");
    settings.emplace_back("scale", "standard");
    const auto best = [&](const Dataset<double>& dataset) {
      const auto result = search(context(), dataset, route.model, settings);
      return result.summary(result.level.chosen.chosen, Metric::auc).mean;
    };
    const double expected = best(data);
    EXPECT_GT(expected, 0.8) << route.model;
    EXPECT_EQ(best(unit), expected) << route.model << ", another unit";
    EXPECT_EQ(best(names), expected) << route.model << ", other names";
    EXPECT_NEAR(best(columns), expected, route.tolerance) << route.model << ", another order of columns";
  }
}

TEST(SearchDefaults, AModelThatPredictsOneClassIsWarnedOf) {
  const auto warned = [](const SearchResult& result) {
    return std::any_of(result.warnings.begin(), result.warnings.end(),
                       [](const auto& text) { return text.find("for every held-out row") != std::string::npos; });
  };
  const auto poor = search(context(), make_rare(600, 30, 0.5), "linear", {{"cost", "0.001"}, {"score", "accuracy"}});
  EXPECT_TRUE(warned(poor));
  EXPECT_FALSE(poor.model->threshold());
  for (const std::string part : {"Warning: the chosen model predicts the class", "for every held-out row",
                                 "threshold youden", "class-weight balanced"})
    EXPECT_NE(verdict(poor).find(part), std::string::npos) << verdict(poor);
  const auto good = search(context(), make_rare(300, 2, 3), "linear", {{"cost", "1"}});
  EXPECT_EQ(verdict(good).find("Warning"), std::string::npos) << verdict(good);
  EXPECT_FALSE(
      warned(search(context(), make_rare(600, 30, 0.5), "linear", {{"cost", "0.001"}, {"threshold", "youden"}})));
  EXPECT_FALSE(warned(search(context(), make_rare(300, 2, 3), "linear", {{"cost", "1"}})));
}

/// Chosen by AUC, such a model gets a threshold from its held-out rows, and then finds rows of both classes.
TEST(SearchDefaults, AModelThatPredictsOneClassGetsAThreshold) {
  const auto data = make_rare(600, 30, 8);
  const auto found = search(context(), data, "linear", {{"cost", "0.003"}});
  ASSERT_EQ(found.options.score, Metric::auc);
  EXPECT_EQ(found.summary(found.level.chosen.chosen, Metric::recall).mean, 0);
  ASSERT_TRUE(found.model->threshold());
  EXPECT_EQ(verdict(found).find("Warning"), std::string::npos) << verdict(found);
  const auto predicted = found.model->predict(context(), data, false).classes;
  std::int64_t right[2] = {0, 0};
  std::int64_t rows[2] = {0, 0};
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const auto truth = static_cast<std::size_t>(data.target.classes[i]);
    ++rows[truth];
    right[truth] += predicted[i] == data.target.classes[i] ? 1 : 0;
  }
  for (const int c : {0, 1}) EXPECT_GT(2 * right[c], rows[c]) << "class " << c;
  const auto good = search(context(), make_rare(300, 2, 3), "linear", {{"cost", "1"}, {"score", "auc"}});
  EXPECT_FALSE(good.model->threshold());
  const auto noise = search(context(), make_rare(600, 30, 0), "linear", {{"cost", "0.003"}});
  EXPECT_FALSE(noise.model->threshold()) << "nothing to be found by any";
  EXPECT_NE(verdict(noise).find("Warning"), std::string::npos) << verdict(noise);
}

}  // namespace defaults_test
}  // namespace sheaf::test
