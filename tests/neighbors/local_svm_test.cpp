// Local SVMs: their solver against the conditions of an optimum and against Sheaf's own SVMs on the same rows, the rows
// around which FaLK-SVM trains, models, files and the search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <sheaf/model.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/svm.hpp>

#include "data/row_subset.hpp"
#include "devices.hpp"
#include "neighbors/local/smo.hpp"
#include "neighbors/local/svm.hpp"
#include "neighbors/model/cover.hpp"
#include "neighbors/votes/votes.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace local_svm_test {

using test::Row;
using test::Rows;

Context context_on(Device device) {
  return test::with_threads(2).with({.device = device, .memory = std::int64_t{1} << 30});
}

/// Classes that overlap: by the first two features, and every sixth row by its number.
Dataset<double> make_dataset(std::int64_t rows, std::int64_t columns, std::int32_t classes, std::uint64_t seed) {
  auto values = test::random_rows(rows, columns, 1, seed);
  Dataset<double> dataset;
  dataset.source = "table";
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (auto& value : values[i]) value /= 8;
    const auto own = static_cast<std::int32_t>((values[i][0] + 1) / 2.0001 * classes);
    dataset.target.classes.push_back(i % 6 == 0 ? static_cast<std::int32_t>(i / 6) % classes : own);
  }
  for (std::int32_t c = 0; c < classes; ++c)
    dataset.target.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  dataset.target.fixed_order = true;
  dataset.x = test::dense_of<double>(values, columns);
  return dataset;
}

Rows rows_of(const Dataset<double>& dataset) { return test::rows_of(std::get<DenseMatrix<double>>(dataset.x)); }

double kernel_value(LocalKernel kernel, double gamma, const Row& a, const Row& b) {
  double product = 0, apart = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    product += a[j] * b[j];
    apart += (a[j] - b[j]) * (a[j] - b[j]);
  }
  return kernel == LocalKernel::linear ? product : std::exp(-gamma * apart);
}

// ---- the solver -----------------------------------------------------------------------------------------------------

/// A team of one, as plain as can be.
struct Plain {
  template <class Work>
  void each(int n, const Work& work) const {
    for (int t = 0; t < n; ++t) work(t);
  }
  template <class Visit>
  neighbors::Choice choose(int n, const Visit& visit) const {
    neighbors::Choice choice;
    for (int t = 0; t < n; ++t) visit(t, choice);
    return choice;
  }
  template <class Work>
  void once(const Work& work) const {
    work();
  }
};

struct Solved {
  neighbors::SmoResult result;
  std::vector<double> beta;
};

Solved solve(const Rows& rows, const std::vector<double>& y, LocalKernel kernel, double cost, double tolerance) {
  const auto n = static_cast<int>(rows.size());
  std::vector<double> memory(rows.size() * 4);
  const auto result = neighbors::solve_two_classes(
      Plain{}, n,
      [&](int s, int t) {
        return kernel_value(kernel, 0.5, rows[static_cast<std::size_t>(s)], rows[static_cast<std::size_t>(t)]);
      },
      [&](int t) { return y[static_cast<std::size_t>(t)]; }, [&](int /*t*/) { return cost; }, tolerance,
      {memory.data(), memory.data() + n, memory.data() + 2 * n, memory.data() + 3 * n});
  return {result, {memory.begin(), memory.begin() + n}};
}

TEST(LocalSvm, SolutionsFulfilTheOptimalityConditions) {
  for (const int n : {2, 3, 31, 32, 33, 100})
    for (const auto kernel : {LocalKernel::linear, LocalKernel::rbf})
      for (const double cost : {0.01, 1.0, 100.0}) {
        const auto dataset = make_dataset(n, 4, 2, 7);
        const auto rows = rows_of(dataset);
        std::vector<double> y;
        for (const auto c : dataset.target.classes) y.push_back(c == 0 ? 1 : -1);
        y[0] = 1;
        y[1] = -1;
        const double tolerance = 1e-6;
        const auto [result, beta] = solve(rows, y, kernel, cost, tolerance);
        ASSERT_TRUE(result.converged);
        double sum = 0, quadratic = 0, linear = 0, losses = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          double product = 0;
          for (std::size_t j = 0; j < rows.size(); ++j)
            product += beta[j] * kernel_value(kernel, 0.5, rows[i], rows[j]);
          const double alpha = y[i] * beta[i];
          const double margin = y[i] * (product + result.intercept);
          EXPECT_GE(alpha, 0);
          EXPECT_LE(alpha, cost);
          if (alpha < cost) {
            EXPECT_GE(margin, 1 - 2 * tolerance);
          }
          if (alpha > 0) {
            EXPECT_LE(margin, 1 + 2 * tolerance);
          }
          sum += beta[i];
          quadratic += beta[i] * product;
          linear += alpha;
          losses += cost * std::max(0.0, 1 - margin);
        }
        EXPECT_NEAR(sum, 0, 1e-9 * cost);
        // Primal and dual values enclose the optimum.
        const double primal = quadratic / 2 + losses;
        const double dual = linear - quadratic / 2;
        EXPECT_GE(primal, dual - 1e-9 * (1 + primal));
        EXPECT_NEAR(primal, dual, 1e-4 * (1 + primal)) << n << " rows, C = " << cost;
      }
}

TEST(LocalSvm, EqualRowsOfBothClassesHaveASolution) {
  const Rows rows(6, Row{1, 2, 3});
  const auto [result, beta] = solve(rows, {1, -1, 1, -1, 1, -1}, LocalKernel::linear, 10, 1e-3);
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.intercept, 0, 1e-12);
  EXPECT_NEAR(std::accumulate(beta.begin(), beta.end(), 0.0), 0, 1e-12);
}

/// If no step is cut at a cost, a larger cost takes the same steps: decide_by_pairs() relies on it.
TEST(LocalSvm, SolutionsInsideTheBoundsServeLargerCosts) {
  const auto rows = test::random_rows(24, 5, 1, 3);
  std::vector<double> y;
  for (const auto& row : rows) y.push_back(row[0] + row[1] > 0 ? 1 : -1);
  bool inside = false;
  for (const double cost : {1e-3, 1e-1, 1e1, 1e3, 1e5}) {
    const auto one = solve(rows, y, LocalKernel::rbf, cost, 1e-6);
    const auto next = solve(rows, y, LocalKernel::rbf, 7 * cost, 1e-6);
    if (one.result.bounded) continue;
    inside = true;
    EXPECT_EQ(one.beta, next.beta);
    EXPECT_EQ(one.result.intercept, next.result.intercept);
  }
  EXPECT_TRUE(inside);
}

// ---- the verb -------------------------------------------------------------------------------------------------------

/// The values that predict_knn() documents, from Sheaf's SVMs trained on the same rows.
std::vector<double> plain_values(const Dataset<double>& dataset, const std::vector<std::int32_t>& rows,
                                 const Row& point, const KnnOptions& options,
                                 const std::vector<float>& row_weights = {}) {
  const auto classes = static_cast<std::int32_t>(dataset.target.class_names.size());
  const auto all = rows_of(dataset);
  Dataset<double> some;
  some.source = "rows";
  some.x = some_rows<double>(dataset.x, rows);
  SvmSheaf sheaf;
  sheaf.examples = std::ssize(rows);
  std::set<std::int32_t> present;
  for (const auto row : rows) {
    sheaf.classes.push_back(dataset.target.classes[static_cast<std::size_t>(row)]);
    present.insert(sheaf.classes.back());
    if (!row_weights.empty()) sheaf.row_weights.push_back(row_weights[static_cast<std::size_t>(row)]);
  }
  for (const auto a : present)
    for (const auto b : present)
      if (a < b) sheaf.tasks.push_back({0, a, b, options.cost, options.cost});
  SvmParams params;
  params.kernel.type = options.kernel == LocalKernel::linear ? KernelType::linear : KernelType::rbf;
  params.kernel.gamma = options.gamma;
  params.tolerance = 1e-7;
  std::vector<double> sums(static_cast<std::size_t>(classes), 0.0), wins(sums.size(), 0.0);
  const auto say = [&](std::int32_t a, std::int32_t b, double decision) {
    sums[static_cast<std::size_t>(a)] += decision;
    sums[static_cast<std::size_t>(b)] -= decision;
    ++wins[static_cast<std::size_t>(decision > 0 ? a : b)];
  };
  if (!sheaf.tasks.empty()) {
    const auto fits = train_sheaf(test::with_threads(1), some, sheaf, params);
    for (std::size_t m = 0; m < sheaf.tasks.size(); ++m) {
      const auto& svm = fits.tasks[m].svm;
      double decision = -svm.rho;
      for (std::size_t s = 0; s < svm.rows.size(); ++s)
        decision += svm.coefficients[s] *
                    kernel_value(options.kernel, options.gamma,
                                 all[static_cast<std::size_t>(rows[static_cast<std::size_t>(svm.rows[s])])], point);
      say(sheaf.tasks[m].positive, sheaf.tasks[m].negative, decision);
    }
  }
  for (const auto a : present)
    for (std::int32_t b = 0; b < classes; ++b)
      if (!present.contains(b)) say(a, b, 1);
  if (classes == 2) return sums;
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = wins[c] + sums[c] / (3 * (std::abs(sums[c]) + 1));
  return sums;
}

void expect_values(const std::vector<double>& wanted, std::span<const double> found, const std::string& what) {
  ASSERT_EQ(wanted.size(), found.size());
  for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_NEAR(found[c], wanted[c], 2e-4) << what << ", class " << c;
}

struct VerbCase {
  std::int32_t classes;
  LocalKernel kernel;
};
class LocalSvmVerb : public testing::TestWithParam<VerbCase> {};
INSTANTIATE_TEST_SUITE_P(LocalSvm, LocalSvmVerb,
                         testing::Values(VerbCase{2, LocalKernel::linear}, VerbCase{2, LocalKernel::rbf},
                                         VerbCase{4, LocalKernel::linear}, VerbCase{4, LocalKernel::rbf}));

/// Neighbourhoods of several points and of none, for all settings at once.
TEST_P(LocalSvmVerb, TrainsAsSheafsOwnSvms) {
  const auto dataset = make_dataset(90, 6, GetParam().classes, 5);
  const auto points = make_dataset(9, 6, 2, 6);
  const auto centres = make_dataset(4, 6, 2, 8);
  const std::vector<std::int64_t> offsets{0, 1, 1, 4, 9};
  const std::int64_t length = 45;
  std::vector<std::int32_t> lists;
  for (std::int32_t p = 0; p < 4; ++p)
    for (std::int32_t n = 0; n < length; ++n) lists.push_back((p * 13 + n * 7) % 90);
  const std::vector<std::int64_t> ks{1, 2, 31, 32, 33, 45};
  const std::vector<double> costs{0.1, 5}, gammas{0.3, 2};
  const bool linear = GetParam().kernel == LocalKernel::linear;
  const auto some_gammas = std::span(gammas).first(linear ? 1 : 2);
  std::vector<float> weights;
  for (int i = 0; i < 90; ++i) weights.push_back(i % 4 == 0 ? 2.5F : 1);
  for (const auto device : test::devices())
    for (const bool weighted : {false, true}) {
      const neighbors::LocalSvmProblem problem{std::get<DenseMatrix<double>>(dataset.x),
                                               std::get<DenseMatrix<double>>(centres.x),
                                               std::get<DenseMatrix<double>>(points.x),
                                               offsets,
                                               lists,
                                               length,
                                               dataset.target.classes,
                                               weighted ? std::span<const float>(weights) : std::span<const float>(),
                                               GetParam().classes,
                                               ks,
                                               costs,
                                               some_gammas,
                                               GetParam().kernel,
                                               1e-8};
      const auto classes = static_cast<std::size_t>(GetParam().classes);
      std::vector<double> values(9 * problem.settings() * classes);
      EXPECT_EQ(neighbors::local_svm_values(context_on(device), problem, values), 0);
      std::size_t at = 0;
      for (std::size_t p = 0; p < 4; ++p)
        for (auto i = offsets[p]; i < offsets[p + 1]; ++i)
          for (const auto k : ks)
            for (const double gamma : some_gammas)
              for (const double cost : costs) {
                KnnOptions options;
                options.kernel = GetParam().kernel;
                options.gamma = gamma;
                options.cost = cost;
                const auto first = lists.begin() + static_cast<std::ptrdiff_t>(p) * length;
                expect_values(plain_values(dataset, {first, first + k}, rows_of(points)[static_cast<std::size_t>(i)],
                                           options, weighted ? weights : std::vector<float>()),
                              std::span(values).subspan(at, classes),
                              "point " + std::to_string(i) + ", k " + std::to_string(k));
                at += classes;
              }
    }
}

// ---- models ---------------------------------------------------------------------------------------------------------

KnnOptions svm_options(LocalRule rule, LocalKernel kernel, std::int64_t k) {
  KnnOptions options;
  options.rule = rule;
  options.kernel = kernel;
  options.k = k;
  options.cost = 3;
  options.gamma = 0.7;
  options.tolerance = 1e-8;
  return options;
}

std::vector<std::int32_t> nearest(const Rows& rows, const Row& query, std::int64_t k) {
  std::vector<std::int32_t> result;
  for (const auto& one : test::plain_neighbors({}, rows, query, [](std::int32_t) { return true; }))
    if (std::ssize(result) < k) result.push_back(one.row);
  return result;
}

TEST(LocalSvm, ModelsDecideByTheNearestRowsOfEachQuery) {
  for (const std::int32_t classes : {2, 4}) {
    const auto dataset = make_dataset(80, 5, classes, 11);
    const auto queries = make_dataset(25, 5, classes, 12);
    const auto rows = rows_of(dataset);
    for (const auto device : test::devices())
      for (const auto kernel : {LocalKernel::linear, LocalKernel::rbf})
        for (const std::int64_t k : {7, 30}) {
          const auto options = svm_options(LocalRule::local_svm, kernel, k);
          const auto model = train_knn(context_on(device), dataset, options);
          const auto predictions = predict_knn(context_on(device), model, queries);
          const auto order = neighbors::label_order(model.class_names);
          for (std::size_t i = 0; i < 25; ++i) {
            const auto wanted =
                plain_values(dataset, nearest(rows, rows_of(queries)[i], k), rows_of(queries)[i], options);
            expect_values(wanted, std::span(predictions.decisions).subspan(i * wanted.size(), wanted.size()),
                          "query " + std::to_string(i));
            EXPECT_EQ(predictions.classes[i],
                      (neighbors::OrderedChoice{order.data(), static_cast<std::int32_t>(order.size())}(wanted.data())));
          }
        }
  }
}

TEST(LocalSvm, CentresCoverAllRows) {
  auto rows = test::random_rows(120, 3, 1, 4);
  for (std::size_t i = 60; i < 90; ++i) rows[i] = rows[0];  // more equal rows than a centre covers
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(rows, 3);
  for (const std::int64_t k : {1, 2, 9, 40, 120}) {
    const auto covered = neighbors::covered_by(k);
    NeighborOptions near;
    near.k = covered;
    near.include_self = true;
    const auto lists = find_neighbors(test::with_threads(1), dataset, near);
    const auto centres = neighbors::choose_centres(lists, covered);
    ASSERT_EQ(centres.size(), rows.size());
    for (std::size_t i = 0; i < centres.size(); ++i) {
      const auto centre = static_cast<std::size_t>(centres[i]);
      EXPECT_EQ(centres[centre], centres[i]) << "a centre is its own";
      const auto* list = lists.indices.data() + centre * static_cast<std::size_t>(covered);
      EXPECT_TRUE(centre == i || std::find(list, list + covered, static_cast<std::int32_t>(i)) != list + covered);
    }
  }
}

TEST(LocalSvm, CentresDecideForTheRowsThatAreTheirs) {
  const auto dataset = make_dataset(90, 5, 3, 21);
  const auto queries = make_dataset(30, 5, 3, 22);
  const auto rows = rows_of(dataset);
  for (const auto device : test::devices())
    for (const auto kernel : {LocalKernel::linear, LocalKernel::rbf}) {
      const auto options = svm_options(LocalRule::falk_svm, kernel, 20);
      const auto model = train_knn(context_on(device), dataset, options);
      const auto predictions = predict_knn(context_on(device), model, queries);
      for (std::size_t i = 0; i < 30; ++i) {
        const auto query = rows_of(queries)[i];
        const auto centre = model.centres[static_cast<std::size_t>(nearest(rows, query, 1)[0])];
        expect_values(plain_values(dataset, nearest(rows, rows[static_cast<std::size_t>(centre)], 20), query, options),
                      std::span(predictions.decisions).subspan(i * 3, 3), "query " + std::to_string(i));
      }
    }
}

/// With all rows in every neighbourhood, a local SVM is the SVM.
TEST(LocalSvm, MoreNeighborsThanRowsAreAllRows) {
  const auto dataset = make_dataset(50, 4, 2, 31);
  SvmOptions plain;
  plain.kernel = KernelType::rbf;
  plain.cost = 3;
  plain.gamma = 0.7;
  plain.tolerance = 1e-7;
  const auto wanted = predict_svm(test::with_threads(1), train_svm(test::with_threads(1), dataset, plain), dataset);
  for (const auto device : test::devices())
    for (const auto rule : {LocalRule::local_svm, LocalRule::falk_svm})
      for (const std::int64_t k : {50, 1000}) {
        const auto model = train_knn(context_on(device), dataset, svm_options(rule, LocalKernel::rbf, k));
        const auto found = predict_knn(context_on(device), model, dataset);
        EXPECT_EQ(warnings_of(model).size(), k > 50 ? 1U : 0U);
        for (std::size_t i = 0; i < 50; ++i) {
          EXPECT_NEAR(found.decisions[2 * i], wanted.decisions[i], 2e-4);
          EXPECT_EQ(found.decisions[2 * i], -found.decisions[2 * i + 1]);
        }
      }
}

TEST(LocalSvm, NeighborsOfOneClassDecideForIt) {
  auto dataset = make_dataset(40, 3, 3, 41);
  for (std::size_t i = 0; i < 40; ++i) dataset.target.classes[i] = i < 39 ? 1 : 2;
  for (const auto device : test::devices())
    for (const auto rule : {LocalRule::local_svm, LocalRule::falk_svm}) {
      const auto model = train_knn(context_on(device), dataset, svm_options(rule, LocalKernel::linear, 1));
      const auto found = predict_knn(context_on(device), model, dataset);
      for (std::size_t i = 0; i < 39; ++i) EXPECT_EQ(found.classes[i], 1);
    }
}

TEST(LocalSvm, WeightsOfRowsMultiplyTheirCosts) {
  const auto once = make_dataset(30, 4, 2, 51);
  std::vector<float> weights(30, 1);
  std::vector<std::int32_t> places(30);
  std::iota(places.begin(), places.end(), 0);
  for (std::int32_t i = 0; i < 30; i += 3) {
    weights[static_cast<std::size_t>(i)] = 2;
    places.push_back(i);
  }
  Dataset<double> twice;
  twice.source = "rows";
  twice.x = some_rows<double>(once.x, places);
  twice.target.class_names = once.target.class_names;
  twice.target.fixed_order = true;
  for (const auto place : places) twice.target.classes.push_back(once.target.classes[static_cast<std::size_t>(place)]);
  for (const auto device : test::devices()) {
    const auto options = svm_options(LocalRule::local_svm, LocalKernel::linear, 100);
    const auto weighted = train_knn(context_on(device), once, options, weights);
    const auto repeated = train_knn(context_on(device), twice, options);
    const auto a = predict_knn(context_on(device), weighted, once).decisions;
    const auto b = predict_knn(context_on(device), repeated, once).decisions;
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
  }
}

TEST(LocalSvm, BitsDoNotDependOnTheNumberOfThreads) {
  const auto dataset = make_dataset(70, 5, 3, 61);
  for (const auto rule : {LocalRule::local_svm, LocalRule::falk_svm}) {
    const auto model = train_knn(test::with_threads(1), dataset, svm_options(rule, LocalKernel::rbf, 20));
    EXPECT_EQ(predict_knn(test::with_threads(1), model, dataset).decisions,
              predict_knn(test::with_threads(3), model, dataset).decisions);
  }
}

TEST(LocalSvm, RegressionAndOtherDistancesAreRefused) {
  const auto context = test::with_threads(1);
  auto dataset = make_dataset(20, 3, 2, 71);
  auto options = svm_options(LocalRule::local_svm, LocalKernel::linear, 5);
  options.distance.metric = DistanceType::manhattan;
  EXPECT_THROW(train_knn(context, dataset, options), UsageError);
  options.distance.metric = DistanceType::euclidean;
  options.labels = LabelKind::numbers;
  dataset.target.class_names.clear();
  dataset.target.classes.clear();
  for (int i = 0; i < 20; ++i) dataset.target.values.push_back(i / 3.0);
  EXPECT_THROW(train_knn(context, dataset, options), UsageError);
}

// ---- the search -----------------------------------------------------------------------------------------------------

/// Every point is scored as a model of its own, whatever is trained beside it.
TEST(LocalSvm, TheSearchScoresEveryPointAsAModelOfItsOwn) {
  const auto dataset = make_dataset(90, 5, 3, 81);
  std::vector<std::int32_t> fold;
  for (std::int32_t i = 0; i < 90; ++i) fold.push_back(i % 3);
  for (const auto device : test::devices())
    for (const auto rule : {LocalRule::local_svm, LocalRule::falk_svm}) {
      SearchSpace family(KnnOptions{});
      family.get<KnnOptions>() = svm_options(rule, LocalKernel::rbf, 0);
      family["k"] = {5, 18, 200};  // the last beyond the rows of a fold
      family["cost"] = {0.1, 10};
      family["gamma"] = {0.1, 1};
      SearchOptions options;
      options.splits = custom_splits(fold);
      const auto result = search(context_on(device), dataset, SearchSpace(family), options);
      ASSERT_EQ(result.level.points.size(), 12U);
      std::vector<std::string> axes;  // what these models do not have (votes, lambda) is not shown
      for (const auto& axis : result.axes) axes.push_back(axis.name);
      EXPECT_EQ(axes, (std::vector<std::string>{"k", "metric", "weighting", "cost", "gamma"}));
      for (std::size_t p = 0; p < 12; ++p) {
        const auto& point = result.point(result.level, p);
        auto one = family.get<KnnOptions>();
        one.k = static_cast<std::int64_t>(result.value(point, "k"));
        one.cost = result.value(point, "cost");
        one.gamma = result.value(point, "gamma");
        for (std::int32_t s = 0; s < 3; ++s) {
          std::vector<float> weights;
          std::vector<std::int32_t> held_out;
          for (std::int32_t i = 0; i < 90; ++i) {
            weights.push_back(fold[static_cast<std::size_t>(i)] == s ? 0 : 1);
            if (fold[static_cast<std::size_t>(i)] == s) held_out.push_back(i);
          }
          const auto model = train_knn(context_on(device), dataset, one, weights);
          const auto predicted = predict_knn(context_on(device), model, dataset).classes;
          double right = 0;
          for (const auto i : held_out)
            right +=
                predicted[static_cast<std::size_t>(i)] == dataset.target.classes[static_cast<std::size_t>(i)] ? 1 : 0;
          EXPECT_EQ(result.level.models[p * 3 + static_cast<std::size_t>(s)].score(Metric::accuracy), right / 30)
              << result.point_text(point) << ", split " << s;
        }
      }
    }
}

}  // namespace local_svm_test
}  // namespace sheaf
