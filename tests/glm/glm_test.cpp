// Generalised linear models: optimality of every solver by plain loops, blocks compared with single models, rejected
// requests, and reports of models.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/glm.hpp>

#include "devices.hpp"
#include "linear/losses/losses.hpp"
#include "linear_tables.hpp"
#include "model_text.hpp"

namespace sheaf::test {
namespace glm_test {

/// The objective of one task and its gradient by plain loops.
struct Plain {
  double objective = 0;
  std::vector<double> gradient;  // as the weights: features and the intercept x columns
};

template <class T>
Plain plain_objective(const Dataset<T>& dataset, const GlmSheaf& sheaf, const GlmParams& params, std::size_t number,
                      const Block<T>& weights) {
  const auto rows = rows_of(dataset.x);
  const auto& task = sheaf.tasks[number];
  const auto columns = static_cast<std::size_t>(params.columns);
  const std::size_t features = rows.front().size();
  const auto w = [&](std::size_t j, std::size_t k) {
    return static_cast<double>(weights(static_cast<std::int64_t>(j), static_cast<std::int32_t>(number * columns + k)));
  };
  double total = 0;
  Plain plain;
  plain.gradient.assign((features + (params.intercept ? 1 : 0)) * columns, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double weight =
        sheaf.row_weights.empty()
            ? 1.0
            : static_cast<double>(sheaf.row_weights[i * static_cast<std::size_t>(sheaf.weight_columns) +
                                                    static_cast<std::size_t>(task.rows)]);
    const double y = sheaf.targets[i];
    total += weight;
    std::vector<double> z(columns, sheaf.offsets.empty() ? 0.0 : sheaf.offsets[i]);
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t j = 0; j < features; ++j) z[k] += rows[i][j] * w(j, k);
      if (params.intercept) z[k] += w(features, k);
    }
    std::vector<double> slopes(columns);
    if (columns > 1) {
      double sum = 0;
      for (const double value : z) sum += std::exp(value);
      plain.objective += weight * (std::log(sum) - z[static_cast<std::size_t>(y)]);
      for (std::size_t k = 0; k < columns; ++k)
        slopes[k] = std::exp(z[k]) / sum - (k == static_cast<std::size_t>(y) ? 1 : 0);
    } else {
      linear::with_loss(params.loss, [&](auto functor) {
        const auto terms = functor.terms(z[0], y, params.parameter);
        plain.objective += weight * terms.value;
        slopes[0] = terms.slope;
      });
    }
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t j = 0; j < features; ++j) plain.gradient[j * columns + k] += weight * rows[i][j] * slopes[k];
      if (params.intercept) plain.gradient[features * columns + k] += weight * slopes[k];
    }
  }
  plain.objective /= total;
  for (double& g : plain.gradient) g /= total;
  for (std::size_t j = 0; j < features; ++j)
    for (std::size_t k = 0; k < columns; ++k) {
      plain.objective += task.alpha / 2 * w(j, k) * w(j, k);
      plain.gradient[j * columns + k] += task.alpha * w(j, k);
    }
  return plain;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// A sheaf of folds x alphas over a table of `classes` classes (0: positive counts).
GlmSheaf make_sheaf(const PlainTable& table, int classes, const std::vector<double>& alphas) {
  GlmSheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(table.rows.size());
  sheaf.weight_columns = 3;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (std::size_t fold = 0; fold < 3; ++fold)
      sheaf.row_weights.push_back(fold == i % 3 ? 0.0F : 1.0F + static_cast<float>(i % 2));
    sheaf.targets.push_back(classes > 2    ? table.labels[i] - 1
                            : classes == 2 ? table.labels[i]
                                           : 1 + std::floor(std::exp(0.4 * table.labels[i])));
  }
  for (std::int32_t fold = 0; fold < 3; ++fold)
    for (const double alpha : alphas) sheaf.tasks.push_back({fold, 0, alpha});
  return sheaf;
}

struct GlmCase {
  Loss loss;
  int classes;
  double parameter = 0;
};
const std::vector<GlmCase> glm_cases{{Loss::logistic, 5},
                                     {Loss::logistic, 2},
                                     {Loss::probit, 2},
                                     {Loss::cloglog, 2},
                                     {Loss::squared, 0},
                                     {Loss::poisson, 0},
                                     {Loss::gamma_log, 0},
                                     {Loss::gamma_inverse, 0},
                                     {Loss::inverse_gaussian, 0},
                                     {Loss::tweedie, 0, 1.5},
                                     {Loss::negative_binomial, 0, 2.0}};

const std::vector<GlmSolver> solvers{GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs,
                                     GlmSolver::saga,   GlmSolver::gradient,  GlmSolver::accelerated};

template <class T>
class GlmSolvers : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(GlmSolvers, Elements);

TYPED_TEST(GlmSolvers, EndWhereTheGradientVanishes) {
  using T = TypeParam;
  constexpr bool single = std::is_same_v<T, float>;
  for (const Device device : devices())
    for (const auto& one : glm_cases)
      for (const GlmSolver solver : solvers)
        for (const bool sparse : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {} {}", to_string(device), to_string(one.loss), one.classes,
                                   to_string(solver), sparse ? "sparse" : "dense"));
          const auto table = make_table(90, 6, one.classes, 11);
          const auto dataset = dataset_of<T>(table, 6, sparse);
          auto sheaf = make_sheaf(table, one.classes, {0.3, 0.003});
          GlmParams params;
          params.loss = one.loss;
          params.parameter = one.parameter;
          params.columns = one.classes > 2 ? one.classes : 1;
          params.solver = solver;
          params.tolerance = single ? 1e-4 : 1e-9;
          const auto fits = train_glms(on(device), dataset, sheaf, params);
          ASSERT_EQ(fits.weights.tasks(), static_cast<std::int32_t>(sheaf.tasks.size()) * params.columns);
          Block<T> zeros(7, fits.weights.tasks());
          for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
            EXPECT_TRUE(fits.tasks[t].converged) << t << ": " << fits.tasks[t].gradient_norm;
            const auto plain = plain_objective(dataset, sheaf, params, t, fits.weights);
            EXPECT_NEAR(plain.objective, fits.tasks[t].objective, (single ? 1e-4 : 1e-10) * (1 + plain.objective));
            EXPECT_LE(largest(plain.gradient), single ? 3e-3 : 1e-7) << t;
          }
        }
}

TEST(GlmBlocks, OneOfABlockIsTheSameAlone) {
  for (const Device device : devices())
    for (const GlmSolver solver : solvers) {
      const auto table = make_table(90, 6, 4, 12);
      const auto dataset = dataset_of<double>(table, 6);
      auto sheaf = make_sheaf(table, 4, {1.0, 0.1, 0.01, 0.001});
      GlmParams params;
      params.columns = 4;
      params.solver = solver;
      params.tolerance = 1e-10;
      const auto all = train_glms(on(device), dataset, sheaf, params);
      const auto tasks = sheaf.tasks;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        sheaf.tasks = {tasks[t]};
        const auto alone = train_glms(on(device), dataset, sheaf, params);
        EXPECT_NEAR(alone.tasks[0].objective, all.tasks[t].objective, 1e-12);
        for (std::int64_t j = 0; j < 7; ++j)
          for (std::int32_t k = 0; k < 4; ++k)
            EXPECT_NEAR(alone.weights(j, k), all.weights(j, static_cast<std::int32_t>(t) * 4 + k), 1e-7);
      }
    }
}

TEST(GlmBlocks, GiveTheSameBytesForAnyNumberOfThreads) {
  const auto table = make_table(4000, 9, 3, 13);
  const auto dataset = dataset_of<float>(table, 9, false);
  const auto sheaf = make_sheaf(table, 3, {0.01});
  for (const GlmSolver solver : solvers) {
    GlmParams params;
    params.columns = 3;
    params.solver = solver;
    const auto one = train_glms(with_threads(1), dataset, sheaf, params);
    const auto three = train_glms(with_threads(3), dataset, sheaf, params);
    for (std::int64_t j = 0; j < one.weights.rows(); ++j)
      for (std::int32_t t = 0; t < one.weights.tasks(); ++t) EXPECT_EQ(one.weights(j, t), three.weights(j, t));
  }
}

/// Rows are sorted by class: batches are of rows at random.
TEST(GlmBlocks, SagaDependsOnTheSeedInItsPathAlone) {
  const auto table = make_table(600, 8, 3, 17);
  auto sorted = table;
  std::vector<std::size_t> order(600);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return table.labels[a] < table.labels[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.rows[i] = table.rows[order[i]];
    sorted.labels[i] = table.labels[order[i]];
  }
  const auto dataset = dataset_of<double>(sorted, 8, false);
  const auto sheaf = make_sheaf(sorted, 3, {0.001});
  GlmParams params;
  params.columns = 3;
  params.tolerance = 1e-9;
  for (const Device device : devices()) {
    params.solver = GlmSolver::newton;
    const auto exact = train_glms(on(device), dataset, sheaf, params);
    params.solver = GlmSolver::saga;
    const auto one = train_glms(on(device, 1), dataset, sheaf, params);
    const auto again = train_glms(on(device, 1), dataset, sheaf, params);
    const auto other = train_glms(on(device, 2), dataset, sheaf, params);
    bool differs = false;
    for (std::int64_t j = 0; j < one.weights.rows(); ++j)
      for (std::int32_t t = 0; t < one.weights.tasks(); ++t) {
        EXPECT_EQ(one.weights(j, t), again.weights(j, t));
        EXPECT_NEAR(one.weights(j, t), other.weights(j, t), 1e-5);
        differs = differs || one.weights(j, t) != other.weights(j, t);
      }
    EXPECT_TRUE(differs);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
      EXPECT_TRUE(one.tasks[t].converged);
      EXPECT_NEAR(one.tasks[t].objective, exact.tasks[t].objective, 1e-10);
    }
  }
}

/// Two classes as a softmax of two columns have the differences of its weights for weights, at half the penalty.
TEST(GlmBlocks, TwoColumnsAreOneOfTwoClasses) {
  for (const Device device : devices()) {
    const auto table = make_table(80, 5, 2, 14);
    const auto dataset = dataset_of<double>(table, 5);
    auto sheaf = make_sheaf(table, 2, {0.02});
    GlmParams params;
    params.tolerance = 1e-11;
    const auto binary = train_glms(on(device), dataset, sheaf, params);
    for (double& y : sheaf.targets) y = y > 0 ? 0 : 1;
    for (auto& task : sheaf.tasks) task.alpha *= 2;
    params.columns = 2;
    const auto both = train_glms(on(device), dataset, sheaf, params);
    for (std::int64_t j = 0; j < 6; ++j)
      for (std::int32_t t = 0; t < 3; ++t)
        EXPECT_NEAR(both.weights(j, 2 * t) - both.weights(j, 2 * t + 1), binary.weights(j, t), 1e-7);
  }
}

/// Reports of on_step() about a task: the objective falls, and each step has its products.
TEST(GlmBlocks, StepsAreReported) {
  const auto table = make_table(90, 6, 4, 12);
  const auto dataset = dataset_of<double>(table, 6);
  const auto sheaf = make_sheaf(table, 4, {0.1, 0.01});
  for (const Device device : devices())
    for (const GlmSolver solver : solvers) {
      SCOPED_TRACE(to_string(solver));
      std::vector<std::vector<TaskFit>> steps(sheaf.tasks.size());
      GlmParams params;
      params.columns = 4;
      params.solver = solver;
      params.on_step = [&](std::int32_t task, const TaskFit& fit) {
        steps[static_cast<std::size_t>(task)].push_back(fit);
      };
      const auto fits = train_glms(on(device), dataset, sheaf, params);
      for (std::size_t t = 0; t < steps.size(); ++t) {
        ASSERT_EQ(steps[t].size(), static_cast<std::size_t>(fits.tasks[t].iterations) + 1);
        for (std::size_t k = 1; k < steps[t].size(); ++k) {
          EXPECT_EQ(steps[t][k].iterations, static_cast<int>(k));
          EXPECT_GT(steps[t][k].products, steps[t][k - 1].products);
          EXPECT_LE(steps[t][k].objective, steps[t][k - 1].objective + 1e-14);
        }
        EXPECT_EQ(steps[t].back().objective, fits.tasks[t].objective);
      }
    }
}

/// More features than the decomposition is worth, and more than rows.
TEST(GlmBlocks, TrainWideData) {
  for (const Device device : devices())
    for (const GlmSolver solver : {GlmSolver::newton_cg, GlmSolver::lbfgs}) {
      SCOPED_TRACE(to_string(solver));
      const auto table = make_table(60, 900, 3, 15);
      const auto dataset = dataset_of<double>(table, 900);
      const auto sheaf = make_sheaf(table, 3, {0.1, 0.01});
      GlmParams params;
      params.columns = 3;
      params.tolerance = 1e-8;
      params.solver = solver;
      const auto fits = train_glms(on(device), dataset, sheaf, params);
      for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
        EXPECT_TRUE(fits.tasks[t].converged);
        EXPECT_LE(largest(plain_objective(dataset, sheaf, params, t, fits.weights).gradient), 1e-6);
      }
    }
}

/// Rows enough that the features' products are estimated from some of them, which have next to none of the rare ones.
TEST(GlmBlocks, LearnFeaturesThatAreZeroInNearlyAllRows) {
  constexpr std::size_t rows = 10000, common = 20, rare = 130;
  auto table = make_table(rows, common, 2, 16);
  for (std::size_t j = 0; j < rare; ++j)
    for (std::size_t k = 0; k < 4; ++k) {  // one of them of the other class: no weight is without end
      const std::size_t i = k * (rows / 4) + 16 * j + 1;
      table.rows[i].emplace_back(common + j, 1.0);
      table.labels[i] = k == 0 ? -1 : 1;
    }
  const auto dataset = dataset_of<double>(table, common + rare, true);
  GlmSheaf sheaf;
  sheaf.examples = rows;
  sheaf.tasks = {{0, 0, 0.0}};
  sheaf.targets = table.labels;
  for (const Device device : devices())
    for (const GlmSolver solver : {GlmSolver::newton_cg, GlmSolver::lbfgs}) {
      SCOPED_TRACE(to_string(solver));
      GlmParams params;
      params.solver = solver;
      const auto fits = train_glms(on(device), dataset, sheaf, params);
      EXPECT_TRUE(fits.tasks[0].converged);
      EXPECT_LE(largest(plain_objective(dataset, sheaf, params, 0, fits.weights).gradient), 1e-5);
    }
}

TEST(GlmBlocks, WorkWithAThousandClassesAndWithAClassOfOneRow) {
  PlainTable table;
  Random random(16);
  for (std::size_t i = 0; i < 1500; ++i) {
    table.rows.push_back({{0, random.normal()}, {1, random.normal()}});
    table.labels.push_back(i < 1000 ? static_cast<double>(i) : static_cast<double>(random.below(500)));
  }
  for (const Device device : devices()) {
    GlmOptions options;
    options.family = GlmFamily::multinomial;
    options.alpha = 0.1;
    const auto dataset = dataset_of<double>(table, 2);
    const auto model = train_glm(on(device), dataset, options);
    EXPECT_EQ(model.columns, 1000);
    EXPECT_TRUE(model.glm->fit.converged);
    const auto predictions = predict_linear(on(device), model, dataset, true);
    for (std::size_t i = 0; i < 10; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 1000; ++k) sum += predictions.probabilities[i * 1000 + k];
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

// Errors and warnings that users meet.

template <class Work>
std::string complaint(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(GlmModels, RefuseWhatTheyCannotLearn) {
  const auto context = with_threads(1);
  const auto of = [&](const std::vector<double>& labels, GlmFamily family, double alpha = 0.1) {
    PlainTable table;
    table.labels = labels;
    for (std::size_t i = 0; i < labels.size(); ++i) table.rows.push_back({{0, static_cast<double>(i % 5)}});
    GlmOptions options;
    options.family = family;
    options.alpha = alpha;
    return complaint([&] { train_glm(context, dataset_of<double>(table, 1), options); });
  };
  EXPECT_EQ(of({1, 2, 0.5, 3, 4}, GlmFamily::poisson), "nothing");
  EXPECT_EQ(of({1, 2, -3, 3, 4}, GlmFamily::poisson),
            "rows: the target of row 3 is -3; the family poisson is for numbers of 0 or more");
  EXPECT_EQ(of({1, 2, 0, 3, 4}, GlmFamily::gamma),
            "rows: the target of row 3 is 0; the family gamma is for numbers above 0");
  EXPECT_EQ(of({1, 2, 0.5, 3, 4}, GlmFamily::negative_binomial),
            "rows: the target of row 3 is 0.5; the family negative-binomial is for whole numbers of 0 or more");
  EXPECT_EQ(of({1, 2, 3, 3, 1}, GlmFamily::binomial),
            "rows: the family binomial is for two classes, and there are 3; use --family multinomial");
  EXPECT_NE(of({1, 2}, GlmFamily::gaussian, 0).find("2 rows do not determine 2 weights"), std::string::npos);

  GlmOptions options;
  options.family = GlmFamily::poisson;
  options.link = GlmLink::probit;
  const auto dataset = dataset_of<double>(make_table(20, 3, 0, 1), 3);
  EXPECT_EQ(complaint([&] { train_glm(context, dataset, options); }),
            "the family poisson has the link log or identity or sqrt, not probit");
  options = {};
  options.family = GlmFamily::tweedie;
  options.power = 2;
  EXPECT_NE(complaint([&] { train_glm(context, dataset, options); }).find("above 1 and below 2"), std::string::npos);
  options = {};
  options.offsets = {1, 2};
  EXPECT_EQ(complaint([&] { train_glm(context, dataset, options); }), "there are 2 offsets for 20 rows");
}

bool holds(const std::vector<std::string>& warnings, const std::string& part) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const auto& warning) { return warning.find(part) != std::string::npos; });
}

TEST(GlmModels, SayWhatTheRowsDoNotDetermine) {
  auto table = make_table(80, 3, 2, 17);
  for (auto& row : table.rows) {  // feature 4 is the difference of the first two
    double difference = 0;
    for (const auto& [j, value] : row) difference += j == 0 ? value : j == 1 ? -value : 0.0;
    row.emplace_back(3, difference);
  }
  for (const Device device : devices()) {
    const auto model = train_glm(on(device), dataset_of<double>(table, 4), {});
    const auto rows = coefficient_table(model);
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[3].error, 0);
    EXPECT_GT(rows[2].error, 0);
    EXPECT_EQ(model.glm->statistics.parameters, 4);
    EXPECT_TRUE(holds(warnings_of(model), "1 weights are not determined"))
        << fmt::format("{}", warnings_of(model).size());
    // The others are those of a model without it.
    auto fewer = table;
    for (auto& row : fewer.rows) row.pop_back();
    const auto smaller = coefficient_table(train_glm(on(device), dataset_of<double>(fewer, 3), {}));
    for (const std::size_t j : {0U, 1U, 2U}) {
      EXPECT_NEAR(rows[j].estimate, smaller[j].estimate, 1e-6 * (1 + std::abs(rows[j].estimate)));
      EXPECT_NEAR(rows[j].error, smaller[j].error, 1e-6 * smaller[j].error);
    }
  }
}

TEST(GlmModels, SayThatClassesAreSeparated) {
  PlainTable apart;
  PlainTable mixed;
  Random random(18);
  for (std::size_t i = 0; i < 60; ++i) {
    const double x = random.normal();
    apart.rows.push_back({{0, x}, {1, random.normal()}});
    apart.labels.push_back(x > 0.2 ? 1 : -1);
    mixed.rows.push_back(apart.rows.back());
    mixed.labels.push_back(x + random.normal() > 0.2 ? 1 : -1);
  }
  const auto context = with_threads(1);
  EXPECT_TRUE(holds(warnings_of(train_glm(context, dataset_of<double>(apart, 2), {})), "are separated"));
  EXPECT_TRUE(warnings_of(train_glm(context, dataset_of<double>(mixed, 2), {})).empty());
  GlmOptions penalised;
  penalised.alpha = 0.01;
  EXPECT_TRUE(warnings_of(train_glm(context, dataset_of<double>(apart, 2), penalised)).empty());
}

TEST(GlmModels, CompareWithTheClassThatIsAskedFor) {
  const auto dataset = dataset_of<double>(make_table(200, 3, 3, 19), 3);
  const auto context = with_threads(1);
  GlmOptions options;
  const auto model = train_glm(context, dataset, options);
  options.reference = model.class_names[0];
  const auto other = train_glm(context, dataset, options);
  // The difference of classes 0 and 2, from both sides.
  const auto last = coefficient_table(model);
  const auto first = coefficient_table(other);
  ASSERT_EQ(last.size(), 8U);
  EXPECT_EQ(last[0].versus, model.class_names[0]);
  EXPECT_EQ(first[1].versus, model.class_names[2]);
  EXPECT_NEAR(last[0].estimate, -first[1].estimate, 1e-7);
  EXPECT_NEAR(last[0].error, first[1].error, 1e-7);
}

TEST(GlmModels, AreReadBackExactly) {
  const auto context = with_threads(1);
  for (const GlmFamily family : {GlmFamily::multinomial, GlmFamily::gaussian, GlmFamily::negative_binomial})
    for (const double alpha : {0.0, 0.1}) {
      const bool classes = family == GlmFamily::multinomial;
      auto table = make_table(120, 4, classes ? 3 : 0, 20);
      if (!classes)
        for (double& label : table.labels) label = std::floor(std::exp(label));
      GlmOptions options;
      options.family = family;
      options.alpha = alpha;
      const auto dataset = dataset_of<double>(table, 4);
      const auto model = train_glm(context, dataset, options);
      const auto text = format_model(model);
      const auto read = parse_linear(text, "m");
      EXPECT_EQ(format_model(read), text);
      EXPECT_EQ(Model(read).family(), "glm");
      EXPECT_EQ(read.glm->statistics.errors, model.glm->statistics.errors);
      EXPECT_EQ(read.glm->statistics.errors.empty(), alpha > 0);
      EXPECT_EQ(aic(*read.glm), aic(*model.glm));
      EXPECT_EQ(predict_linear(context, read, dataset).decisions, predict_linear(context, model, dataset).decisions);
    }
}

TEST(GlmModels, DefectsOfFilesAreNamed) {
  GlmOptions options;
  const auto model = train_glm(with_threads(1), dataset_of<double>(make_table(60, 2, 3, 21), 2), options);
  const auto text = without_checksum(format_model(model));
  const auto damaged = [&](const std::string& from, const std::string& to) {
    auto copy = text;
    const auto at = copy.find(from);
    if (at == std::string::npos) return "no '" + from + "' in " + text;
    copy.replace(at, from.size(), to);
    return complaint([&] { parse_linear(copy, "m"); });
  };
  EXPECT_NE(damaged("glm multinomial logit", "glm multinomial log").find("does not have the link log"),
            std::string::npos);
  EXPECT_NE(damaged("glm multinomial", "glm poisson").find("does not have the link logit"), std::string::npos);
  EXPECT_NE(damaged("glm multinomial", "glm binomial").find("does not suit 3 classes"), std::string::npos);
  EXPECT_NE(damaged("glm multinomial", "glm normal").find("expected"), std::string::npos);
  EXPECT_NE(damaged("reference 3", "reference 4").find("no class 4"), std::string::npos);
  EXPECT_NE(damaged("errors 3", "errors 2").find("expected 0 or 3"), std::string::npos);
  EXPECT_NE(damaged("alpha 0", "alpha -1").find("a number, 0 or more"), std::string::npos);
  EXPECT_NE(damaged("solver GLM_CLASSES", "solver L2R_LR").find("the name of a solver"), std::string::npos);
}

TEST(GlmModels, ClassWeightsAreRowWeights) {
  const auto table = make_table(90, 4, 3, 22);
  const auto dataset = dataset_of<double>(table, 4);
  const auto context = with_threads(1);
  GlmOptions options;
  options.alpha = 0.05;
  options.tolerance = 1e-10;
  options.class_weights = {{"2", 3.0}};
  const auto by_class = train_glm(context, dataset, options);
  options.class_weights.clear();
  std::vector<float> rows;
  for (const double label : table.labels) rows.push_back(label == 2 ? 3.0F : 1.0F);
  const auto by_row = train_glm(context, dataset, options, rows);
  for (std::size_t e = 0; e < by_row.weights.size(); ++e) EXPECT_NEAR(by_class.weights[e], by_row.weights[e], 1e-9);
}

}  // namespace glm_test
}  // namespace sheaf::test
