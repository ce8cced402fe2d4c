// Contributions of features to predictions: they sum to the decision value, by plain arithmetic, through every kind of
// step.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "model/shapley.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace explain_test {

/// The last feature is nominal if there are levels.
Dataset<double> make_dataset(int classes, bool nominal, bool sparse) {
  auto rows = random_rows(60, 6, 0.7, 4);
  Dataset<double> dataset;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (nominal) rows[i][5] = static_cast<double>(i % 3);
    dataset.target.classes.push_back(static_cast<std::int32_t>((rows[i][0] > rows[i][1] ? 1 : 0) + (i % 5 == 0)) %
                                     classes);
  }
  if (sparse)
    dataset.x = sparse_of<double>(rows, 6);
  else
    dataset.x = dense_of<double>(rows, 6);
  for (int c = 0; c < classes; ++c) dataset.target.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  dataset.target.fixed_order = true;
  if (nominal) {
    dataset.levels.resize(6);
    dataset.levels[5] = {"red", "green", "blue"};
  }
  for (int j = 0; j < 6; ++j) dataset.feature_names.push_back("f" + std::to_string(j));
  return dataset;
}

void expect_sums(const Context& context, const Model& model, const Dataset<double>& dataset, std::size_t most) {
  const auto predictions = model.predict(context, dataset);
  const auto explanations = model.explain(context, dataset, {.most = most});
  ASSERT_EQ(std::ssize(explanations), dataset.rows());
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    const auto& one = explanations[i];
    double sum = one.intercept + one.rest;
    for (std::size_t k = 0; k < one.largest.size(); ++k) {
      sum += one.largest[k].amount;
      if (k > 0) {
        EXPECT_GE(std::abs(one.largest[k - 1].amount), std::abs(one.largest[k].amount));
      }
    }
    EXPECT_LE(one.largest.size(), most);
    EXPECT_NEAR(sum, one.decision, 1e-12 * (1 + std::abs(sum)));
    const auto columns = static_cast<std::size_t>(predictions.columns);
    const auto column = columns > 1 ? static_cast<std::size_t>(predictions.classes[i]) : 0;
    EXPECT_EQ(static_cast<std::size_t>(one.column), column);
    EXPECT_NEAR(one.decision, predictions.decisions[i * columns + column], 1e-9 * (1 + std::abs(one.decision)));
  }
}

TEST(Explain, ContributionsSumToTheDecisionValueThroughAnyPipeline) {
  for (const auto device : devices())
    for (const int classes : {2, 3})
      for (const bool nominal : {false, true})
        for (const bool sparse : {false, true}) {
          if (nominal && sparse) continue;
          const Context context({.device = device, .threads = 2});
          const auto dataset = make_dataset(classes, nominal, sparse);
          PipelineOptions steps;
          for (int k = 0; k < 4; ++k) {
            if (k == 1) steps.scale = ScaleMethod::standard;
            if (k == 2) steps.min_variance = 0.1;
            if (k == 3) {
              steps.select = "jmi";
              steps.counts = {3};
            }
            LinearOptions options;
            options.bias = 1;
            expect_sums(context, fit(context, dataset, options, {}, steps), dataset, k % 2 == 0 ? 100 : 2);
          }
        }
}

TEST(Explain, IsWeightTimesValueOfTheFeaturesAsTheyAre) {
  LinearModel linear;
  linear.class_names = {"a", "b"};
  linear.features = 3;
  linear.bias = 1;
  linear.weights = {2, -3, 0.5, 7};
  linear.cost = 1;
  linear.fits.resize(1);
  linear.feature_names = {"x", "y", "z"};
  Model model{linear};
  Pipeline pipeline;
  pipeline.features = 3;
  pipeline.feature_names = linear.feature_names;
  pipeline.steps.emplace_back(Scaling{ScaleMethod::standard, {10, 0, 0}, {0.5, 1, 1}, {}});
  model.set_pipeline(pipeline);
  Dataset<double> dataset;  // columns in another order, and one that the model does not use
  dataset.x = dense_of<double>({{1, 99, 4, 16}}, 4);
  dataset.feature_names = {"y", "other", "z", "x"};
  const auto one = model.explain(Context(), dataset, {.most = 2}).front();
  EXPECT_EQ(one.intercept, 7);
  ASSERT_EQ(one.largest.size(), 2U);
  EXPECT_EQ(one.largest[0].feature, 0);
  EXPECT_EQ(one.largest[0].value, 16) << "as it is in the dataset";
  EXPECT_EQ(one.largest[0].amount, 2 * (16 - 10) * 0.5);
  EXPECT_EQ(one.largest[1].feature, 1);
  EXPECT_EQ(one.largest[1].amount, -3);
  EXPECT_EQ(one.rest, 2);
  EXPECT_EQ(one.decision, 12);
}

/// A value below the mean of a feature with a positive weight counts against the class, whatever its sign: a row of
/// means has no contributions, and contributions of all training rows cancel out.
TEST(Explain, SpeaksAgainstTheMeanOfTheTrainingRows) {
  const Context context;
  auto dataset = make_dataset(2, false, false);
  auto& x = std::get<DenseMatrix<double>>(dataset.x);
  for (auto& value : x.values) value += 28;  // ages, say
  for (const bool scaled : {false, true}) {
    PipelineOptions steps;
    if (scaled) steps.scale = ScaleMethod::standard;
    const auto model = fit(context, dataset, LinearOptions{}, {}, steps);
    std::vector<double> sums(6, 0.0);
    double largest = 0;
    for (const auto& one : model.explain(context, dataset, {.most = 100}))
      for (const auto& part : one.largest) {
        sums[static_cast<std::size_t>(part.feature)] += part.amount;
        largest = std::max(largest, std::abs(part.amount));
      }
    for (const double sum : sums) EXPECT_NEAR(sum, 0, 1e-4 * 60 * largest);
  }
}

TEST(Explain, LevelsOfANominalFeatureAreThatFeature) {
  const auto dataset = make_dataset(2, true, false);
  const Context context;
  const auto model = fit(context, dataset, LinearOptions{});
  const auto explanations = model.explain(context, dataset, {.most = 100});
  for (const auto& one : explanations)
    for (const auto& part : one.largest) EXPECT_LT(part.feature, 6) << "of the dataset, not of its levels";
}

/// Contributions against the mean cancel out over the training rows: of levels too, whose means are their shares.
TEST(Explain, LevelsSpeakAgainstTheirShares) {
  const auto dataset = make_dataset(2, true, false);
  const Context context;
  LinearOptions options;
  options.cost = 0.01;  // so that the penalty keeps the weights of levels from summing to 0
  const auto model = fit(context, dataset, options);
  const auto read = Model::parse(model.text(), "kept");
  double sum = 0, largest = 0;
  for (const auto& one : read.explain(context, dataset, {.most = 100}))
    for (const auto& part : one.largest)
      if (part.feature == 5) {
        sum += part.amount;
        largest = std::max(largest, std::abs(part.amount));
      }
  EXPECT_GT(largest, 0);
  EXPECT_NEAR(sum, 0, 1e-4 * 60 * largest);
}

std::vector<double> means_of(const Rows& rows) {
  std::vector<double> means(rows.front().size(), 0.0);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) means[j] += row[j] / static_cast<double>(rows.size());
  return means;
}

Rows rows_of(const Dataset<double>& dataset) {
  return std::visit([](const auto& x) { return test::rows_of(x); }, dataset.x);
}

/// By feature; those that are not listed 0.
std::vector<double> amounts_of(const Explanation& one, std::size_t features) {
  std::vector<double> amounts(features, 0.0);
  for (const auto& part : one.largest) amounts[static_cast<std::size_t>(part.feature)] = part.amount;
  return amounts;
}

/// Weight times distance from the mean, of values that a row does not store too; however many are listed, the sum is
/// the decision value.
TEST(Explain, SparseRowsSpeakAgainstTheMean) {
  const Context context;
  for (const int classes : {2, 3})
    for (const bool net : {false, true}) {
      const auto dataset = make_dataset(classes, false, true);
      const auto rows = rows_of(dataset);
      const auto means = means_of(rows);
      NetOptions logistic;
      logistic.loss = Loss::logistic;
      logistic.alpha = 0.01;
      const auto model = net ? fit(context, dataset, logistic) : fit(context, dataset, LinearOptions{});
      const auto weights = *model.coefficients();
      const auto columns = weights.columns.size();
      const auto all = model.explain(context, dataset, {.most = 100});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto c = static_cast<std::size_t>(all[i].column);
        const auto amounts = amounts_of(all[i], 6);
        for (std::size_t j = 0; j < 6; ++j)
          EXPECT_NEAR(amounts[j], weights.values[j * columns + c] * (rows[i][j] - means[j]), 1e-4) << i << " " << j;
        for (const auto& part : all[i].largest)
          EXPECT_EQ(part.value, rows[i][static_cast<std::size_t>(part.feature)]) << "absent ones are 0";
        EXPECT_EQ(all[i].rest, 0);
      }
      expect_sums(context, model, dataset, 1);
    }
}

TEST(Explain, DenseAndSparseRowsHaveTheSameExplanation) {
  const Context context;
  const auto sparse = make_dataset(3, false, true);
  auto dense = make_dataset(3, false, false);
  const auto model = fit(context, sparse, LinearOptions{});
  const auto a = model.explain(context, sparse, {.most = 3});
  const auto b = model.explain(context, dense, {.most = 3});
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].rest, b[i].rest, 1e-12);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(a[i].largest[k].feature, b[i].largest[k].feature);
      EXPECT_NEAR(a[i].largest[k].amount, b[i].largest[k].amount, 1e-12);
    }
  }
}

/// A mean far from 0 beside its spread is kept with digits enough for the signs of contributions; constants add
/// nothing.
TEST(Explain, YearsSpeakAgainstTheirMean) {
  const Context context;
  auto dataset = make_dataset(2, false, false);
  auto& x = std::get<DenseMatrix<double>>(dataset.x);
  double mean = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    x.values[i * 6] = 2019.53 + 0.01 * x.values[i * 6];
    x.values[i * 6 + 1] = 1234567.5;
    mean += x.values[i * 6] / static_cast<double>(x.rows);
  }
  const auto model = fit(context, dataset, LinearOptions{}, {}, {.scale = ScaleMethod::standard});
  const double weight = model.coefficients()->values[0];
  const auto all = model.explain(context, dataset, {.most = 100});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto amounts = amounts_of(all[i], 6);
    const double distance = x.values[static_cast<std::int64_t>(i) * 6] - mean;
    if (std::abs(distance) > 1e-6) {
      EXPECT_EQ(amounts[0] > 0, weight * distance > 0) << distance;
    }
    EXPECT_EQ(amounts[1], 0);
  }
}

/// The class that others are compared with has weights of 0, and is explained all the same.
TEST(Explain, ClassesOfAMultinomialModelAreExplainedAgainstEachOther) {
  const Context context;
  const auto dataset = make_dataset(3, false, false);
  const auto model = fit(context, dataset, GlmOptions{});
  const auto weights = *model.coefficients();
  const auto rows = rows_of(dataset);
  const auto means = means_of(rows);
  const auto all = model.explain(context, dataset, {.most = 100});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto amounts = amounts_of(all[i], 6);
    for (std::size_t j = 0; j < 6; ++j) {
      const double* own = &weights.values[j * 3];
      const double centred = own[all[i].column] - (own[0] + own[1] + own[2]) / 3;
      EXPECT_NEAR(amounts[j], centred * (rows[i][j] - means[j]), 1e-4 * (1 + std::abs(amounts[j])));
    }
  }
}

Dataset<double> wide_dataset(int classes, std::int64_t features, bool sparse) {
  const auto rows = random_rows(50, features, sparse ? 0.5 : 1, 11);
  Dataset<double> dataset;
  for (std::size_t i = 0; i < rows.size(); ++i)
    dataset.target.classes.push_back(rows[i][0] * rows[i][1] > 3 ? 1 : static_cast<std::int32_t>(i) % classes);
  if (sparse)
    dataset.x = sparse_of<double>(rows, features);
  else
    dataset.x = dense_of<double>(rows, features);
  for (int c = 0; c < classes; ++c) dataset.target.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  dataset.target.fixed_order = true;
  return dataset;
}

/// An SVM with a linear kernel is a linear model: the same formula, whether by all orders of the features or by some.
TEST(Explain, LinearKernelsHaveTheContributionsOfLinearModels) {
  for (const auto device : devices())
    for (const std::int64_t features : {4, 17}) {
      const Context context({.device = device});
      const auto dataset = wide_dataset(2, features, false);
      SvmOptions options;
      options.kernel = KernelType::linear;
      const auto model = fit(context, dataset, options);
      const auto& svm = *model.get_if<SvmModel>();
      const auto support = std::visit([](const auto& x) { return test::rows_of(x); }, svm.support);
      const auto rows = rows_of(dataset);
      const auto means = means_of(rows);
      const auto all = model.explain(context, dataset, {.most = 100});
      const auto predictions = model.predict(context, dataset);
      for (std::size_t i = 0; i < 5; ++i) {
        const auto amounts = amounts_of(all[i], rows[i].size());
        double sum = all[i].intercept;
        for (std::size_t j = 0; j < amounts.size(); ++j) {
          double weight = 0;
          for (std::size_t k = 0; k < svm.svms[0].rows.size(); ++k)
            weight += svm.svms[0].coefficients[k] * support[static_cast<std::size_t>(svm.svms[0].rows[k])][j];
          EXPECT_NEAR(amounts[j], weight * (rows[i][j] - means[j]), 1e-4) << features << " " << j;
          sum += amounts[j];
        }
        EXPECT_NEAR(sum, predictions.decisions[i], 1e-9);
      }
    }
}

/// exp(-gamma |x - y|^2) over two support vectors that treat the first two features alike and ignore the last.
SvmModel symmetric_svm() {
  SvmModel svm;
  svm.kernel = {KernelType::rbf, 3, 0.1, 0};
  svm.class_names = {"a", "b"};
  svm.features = 4;
  svm.support = dense_of<double>({{1, 1, 3, 0}, {-2, -2, 1, 0}}, 4);
  svm.support_classes = {0, 1};
  svm.svms = {BinarySvm{{0, 1}, {1.5, -1.5}, 0.25}};
  svm.fits.resize(1);
  return svm;
}

double decision_of(const SvmModel& svm, const std::vector<double>& x) {
  const auto support = std::visit([](const auto& m) { return test::rows_of(m); }, svm.support);
  double sum = -svm.svms[0].rho;
  for (std::size_t k = 0; k < support.size(); ++k) {
    double squares = 0;
    for (std::size_t j = 0; j < x.size(); ++j) squares += (x[j] - support[k][j]) * (x[j] - support[k][j]);
    sum += svm.svms[0].coefficients[k] * std::exp(-svm.kernel.gamma * squares);
  }
  return sum;
}

/// The mean change over all 24 orders in which four features take the row's values, by the kernel's formula.
TEST(Explain, KernelsAreExplainedByAllOrdersOfFewFeatures) {
  constexpr double tolerance = 1e-6;  // kernel values have the digits of a float
  const std::vector<double> means{0.5, 0.5, -1, 2}, row{2, 2, 1, 2};
  Model model{symmetric_svm()};
  Pipeline pipeline;
  pipeline.features = 4;
  pipeline.means = means;
  pipeline.spreads.assign(4, 1.0);
  model.set_pipeline(pipeline);
  std::vector<double> expected(4, 0.0);
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    auto x = means;
    for (const auto j : order) {
      const double before = decision_of(symmetric_svm(), x);
      x[j] = row[j];
      expected[j] += (decision_of(symmetric_svm(), x) - before) / 24;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  Dataset<double> dataset;
  dataset.x = dense_of<double>({row}, 4);
  const auto one = model.explain(Context(), dataset, {.most = 100}).front();
  const auto amounts = amounts_of(one, 4);
  EXPECT_NEAR(one.intercept, decision_of(symmetric_svm(), means), tolerance);
  EXPECT_NEAR(one.decision, decision_of(symmetric_svm(), row), tolerance);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(amounts[j], expected[j], tolerance);
  EXPECT_NEAR(amounts[0], amounts[1], 1e-12) << "features that the model does not tell apart";
  EXPECT_EQ(amounts[3], 0) << "as in the reference";
}

/// Whatever the model, contributions add up to the decision value that is explained, of the predicted class.
TEST(Explain, ContributionsOfAnyModelAddUp) {
  for (const auto device : devices())
    for (const int classes : {2, 3})
      for (const bool sparse : {false, true})
        for (const std::int64_t features : {6, 14}) {
          const Context context({.device = device, .threads = 2, .seed = 5});
          const auto dataset = wide_dataset(classes, features, sparse);
          const PipelineOptions steps{.scale = sparse ? ScaleMethod::max_abs : ScaleMethod::standard};
          KnnOptions neighbours;
          neighbours.k = 7;
          for (const ModelOptions& options : {ModelOptions(SvmOptions{}), ModelOptions(neighbours)}) {
            const auto model = fit(context, dataset, options, {}, steps);
            const auto predictions = model.predict(context, dataset);
            const auto all = model.explain(context, dataset, {.most = 3});
            const auto again = model.explain(context, dataset, {.most = 3});
            ASSERT_EQ(std::ssize(all), dataset.rows());
            for (std::size_t i = 0; i < all.size(); ++i) {
              const auto columns = static_cast<std::size_t>(predictions.columns);
              const double* z = &predictions.decisions[i * columns];
              const auto predicted = predictions.classes[i];
              double decision = z[0];
              if (columns > 1) {
                EXPECT_EQ(all[i].column, predicted);
                decision = z[predicted];
              }
              if (model.get_if<SvmModel>() != nullptr && classes == 3)  // pairs 0 1, 0 2, 1 2
                decision = predicted == 0 ? z[0] + z[1] : predicted == 1 ? z[2] - z[0] : -z[1] - z[2];
              double sum = all[i].intercept + all[i].rest;
              for (const auto& part : all[i].largest) sum += part.amount;
              EXPECT_NEAR(sum, decision, 1e-9);
              EXPECT_NEAR(all[i].decision, decision, 1e-9);
              ASSERT_EQ(all[i].largest.size(), again[i].largest.size());
              for (std::size_t k = 0; k < all[i].largest.size(); ++k)
                EXPECT_EQ(all[i].largest[k].amount, again[i].largest[k].amount) << "the same seed, the same numbers";
            }
          }
        }
}

/// A feature of weight 0 in the distance adds nothing, exactly.
TEST(Explain, FeaturesThatAModelDoesNotUseAddNothing) {
  const Context context;
  for (const std::int64_t features : {5, 13}) {
    const auto dataset = wide_dataset(2, features, false);
    KnnOptions options;
    options.weighting = FeatureWeighting::given;
    options.distance.weights.assign(static_cast<std::size_t>(features), 1.0);
    options.distance.weights[1] = 0;
    const auto model = fit(context, dataset, options);
    double largest = 0;
    for (const auto& one : model.explain(context, dataset, {.most = 100}))
      for (const auto& part : one.largest) {
        EXPECT_NE(part.feature, 1);
        largest = std::max(largest, std::abs(part.amount));
      }
    EXPECT_GT(largest, 0);
  }
}

/// A game of 12 players, whose value is a product of sums: random orders come close to all orders, and add up.
TEST(Shapley, SamplesComeCloseToAllOrders) {
  constexpr std::int32_t players = 12;
  const WalkValues values = [](std::span<const std::int32_t> toggles) {
    std::vector<bool> inside(players, false);
    std::vector<double> found;
    for (const auto player : toggles) {
      inside[static_cast<std::size_t>(player)] = !inside[static_cast<std::size_t>(player)];
      double even = 1, odd = 2;
      for (std::size_t j = 0; j < inside.size(); ++j)
        if (inside[j]) (j % 2 == 0 ? even : odd) += static_cast<double>(j);
      found.push_back(even * odd);
    }
    return found;
  };
  const auto exact = exact_shapley(players, 2, values);
  std::vector<std::vector<std::int32_t>> orders(64, std::vector<std::int32_t>(players));
  for (std::size_t k = 0; k < orders.size(); ++k) {
    std::iota(orders[k].begin(), orders[k].end(), 0);
    Random(3, k).shuffle(std::span(orders[k]));
  }
  const auto sampled = sampled_shapley(players, 2, orders, values);
  const double all = 31.0 * 38 - 2;  // even: 1 + 0 + 2 + ... + 10; odd: 2 + 1 + 3 + ... + 11
  EXPECT_NEAR(std::accumulate(exact.begin(), exact.end(), 0.0), all, 1e-9);
  EXPECT_NEAR(std::accumulate(sampled.begin(), sampled.end(), 0.0), all, 1e-9);
  EXPECT_EQ(exact[0], 0) << "a player that adds nothing";
  for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(sampled[j], exact[j], 0.02 * all) << j;
}

TEST(Explain, PrecomputedKernelsHaveNoFeatures) {
  SvmModel svm;
  svm.kernel.type = KernelType::precomputed;
  try {
    Model(std::move(svm)).explain(Context(), make_dataset(2, false, false));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("no features"), std::string::npos);
  }
}

TEST(Coefficients, BeforeScalingGiveTheSameDecisions) {
  const Context context;
  const auto dataset = make_dataset(3, false, false);
  for (const auto method : {ScaleMethod::standard, ScaleMethod::unit_interval, ScaleMethod::robust}) {
    PipelineOptions steps;
    steps.scale = method;
    steps.select = "jmi";
    steps.counts = {4};
    const auto model = fit(context, dataset, LinearOptions{}, {}, steps);
    const auto weights = *model.coefficients();
    ASSERT_EQ(weights.unscaled_values.size(), weights.values.size());
    const auto predictions = model.predict(context, dataset);
    const auto& x = std::get<DenseMatrix<double>>(dataset.x);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = weights.unscaled_intercepts[c];
        for (std::size_t j = 0; j < weights.feature_names.size(); ++j) {
          const auto place = std::stoll(weights.feature_names[j].substr(1));
          sum += weights.unscaled_values[j * 3 + c] * x.values[i * x.columns + place];
        }
        EXPECT_NEAR(sum, predictions.decisions[static_cast<std::size_t>(i) * 3 + c], 1e-9);
      }
  }
  EXPECT_TRUE(fit(context, dataset, LinearOptions{}).coefficients()->unscaled_values.empty());
}

}  // namespace explain_test
}  // namespace sheaf::test
