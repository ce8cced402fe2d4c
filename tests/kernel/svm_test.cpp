// SVMs by what their users rely on: the optimum of every kind under every kernel, checked by plain loops in
// double; the same SVMs alone, in a sheaf, with little memory and with other numbers of threads, on every device.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "svm_reference.hpp"
#include "svm_tables.hpp"

namespace sheaf::test {
namespace svm_test {

std::vector<SvmTask> tasks_of(SvmKind kind) {
  if (kind == SvmKind::c_svc)
    return {{0, 0, SvmTask::rest, 1, 1}, {1, 1, SvmTask::rest, 10, 5}, {2, 0, 2, 0.5, 2}, {1, 2, 1, 3, 3}};
  if (kind == SvmKind::nu_svc)
    return {{.positive = 0, .negative = 1, .nu = 0.7}, {.rows = 1, .positive = 2, .negative = 0, .nu = 0.8}};
  if (kind == SvmKind::one_class) return {{.nu = 0.1}, {.rows = 2, .nu = 0.4}};
  return {{.cost_positive = 1, .epsilon = 0.1}, {.rows = 1, .cost_positive = 8, .nu = 0.2, .epsilon = 0.5}};
}

const std::vector<KernelParams> kernels{
    {.type = KernelType::linear},
    {.type = KernelType::polynomial, .degree = 3, .gamma = 0.1, .coef0 = 1},
    {.type = KernelType::rbf, .gamma = 0.1},
    {.type = KernelType::rbf, .gamma = 8},
    {.type = KernelType::sigmoid, .gamma = 0.01, .coef0 = 0},
};

template <class T>
void check_kind(SvmKind kind) {
  for (const Device device : devices())
    for (const bool sparse : {false, true})
      for (const KernelParams& kernel : kernels) {
        SCOPED_TRACE(to_string(device) + (sparse ? " sparse" : " dense") + " kernel " +
                     std::to_string(static_cast<int>(kernel.type)) + " gamma " + std::to_string(kernel.gamma));
        Table<T> table(700, 12, sparse, kind);
        table.sheaf.tasks = tasks_of(kind);
        if (kind == SvmKind::one_class) table.sheaf.examples = 700;
        SvmParams params;
        params.kernel = kernel;
        const auto fits = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
        const Rows rows = rows_of(table.dataset);
        ASSERT_EQ(fits.tasks.size(), table.sheaf.tasks.size());
        for (std::size_t t = 0; t < fits.tasks.size(); ++t) {
          SCOPED_TRACE("task " + std::to_string(t));
          expect_optimal(rows, table.sheaf, t, params, fits.tasks[t]);
        }
      }
}

TEST(Svm, EveryKernelIsTested) {
  for (const auto& function : kernel_functions())
    EXPECT_TRUE(function.type == KernelType::precomputed ||
                std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.type == function.type; }))
        << function.name << " has no row in the list of kernels above";
}

TEST(Svm, CSvcIsOptimal) {
  check_kind<double>(SvmKind::c_svc);
  check_kind<float>(SvmKind::c_svc);
}
TEST(Svm, NuSvcIsOptimal) { check_kind<double>(SvmKind::nu_svc); }
TEST(Svm, OneClassIsOptimal) { check_kind<double>(SvmKind::one_class); }
TEST(Svm, EpsilonSvrIsOptimal) { check_kind<double>(SvmKind::epsilon_svr); }
TEST(Svm, NuSvrIsOptimal) { check_kind<double>(SvmKind::nu_svr); }

/// Pairs of classes with as many rows as fill vectors, warps and blocks, one more and one less, and as many as are
/// solved without a working set, and one more.
TEST(Svm, PairsOfEverySizeAreOptimal) {
  const std::vector<std::int64_t> sizes{1, 31, 32, 224, 225, 1823, 1824};
  const std::vector<std::pair<std::int32_t, std::int32_t>> pairs{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 2},
                                                                 {3, 5}, {6, 3}, {6, 4}, {0, 5}};
  Random random(7, 1);
  std::vector<double> x;
  SvmSheaf sheaf;
  sheaf.weight_columns = 2;
  for (std::size_t c = 0; c < sizes.size(); ++c)
    for (std::int64_t i = 0; i < sizes[c]; ++i) {
      for (std::size_t j = 0; j < 3; ++j) x.push_back(random.normal() + ((c >> j & 1) != 0 ? 2.5 : 0));
      sheaf.classes.push_back(static_cast<std::int32_t>(c));
      sheaf.row_weights.push_back(1);
      sheaf.row_weights.push_back(i % 4 == 1 ? 0.0F : 1.5F);  // a fold
    }
  sheaf.examples = static_cast<std::int64_t>(sheaf.classes.size());
  for (const auto& [a, b] : pairs) {
    sheaf.tasks.push_back({0, a, b, 1, 0.5});
    sheaf.tasks.push_back({1, a, b, 8, 8});
  }
  Dataset<double> dataset;
  dataset.x = DenseMatrix<double>{sheaf.examples, 3, Array<double>::copy_of(x)};
  const Rows rows = rows_of(dataset);
  for (const Device device : devices())
    for (const KernelParams& kernel :
         {KernelParams{.type = KernelType::rbf, .gamma = 0.3}, KernelParams{.type = KernelType::linear}}) {
      SvmParams params;
      params.kernel = kernel;
      const auto fits = train_sheaf(context_on(device), dataset, sheaf, params);
      for (std::size_t t = 0; t < fits.tasks.size(); ++t) {
        SCOPED_TRACE(to_string(device) + " task " + std::to_string(t));
        expect_optimal(rows, sheaf, t, params, fits.tasks[t]);
      }
    }
}

TEST(Svm, PairsKeepTheLimitOfSteps) {
  for (const Device device : devices()) {
    Table<double> table(500, 6, false, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, 1, 4, 4}, {1, 2, 1, 4, 4}};
    SvmParams params;
    params.kernel.gamma = 0.1;
    params.max_iterations = 7;
    for (const auto& fit : train_sheaf(context_on(device), table.dataset, table.sheaf, params).tasks) {
      EXPECT_FALSE(fit.converged);
      EXPECT_EQ(fit.iterations, 7);
      EXPECT_GT(fit.violation, params.tolerance);
    }
  }
}

/// Few entries in many features, and many features in full: other products than those of narrow tables.
TEST(Svm, WideRowsAreOptimal) {
  for (const Device device : devices())
    for (const bool sparse : {false, true})
      for (const double gamma : {0.002, 2.0}) {
        SCOPED_TRACE(to_string(device) + (sparse ? " sparse" : " dense"));
        Table<double> table(600, 400, sparse, SvmKind::c_svc, 0.98);
        table.sheaf.tasks = tasks_of(SvmKind::c_svc);
        SvmParams params;
        params.kernel.gamma = gamma;
        const auto fits = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
        const Rows rows = rows_of(table.dataset);
        for (std::size_t t = 0; t < fits.tasks.size(); ++t) expect_optimal(rows, table.sheaf, t, params, fits.tasks[t]);
      }
}

/// Features around 3000: inner products are a million times as large as the differences between rows. Decision values
/// for the SVM's own rows, and for new rows, equal those of plain loops in double.
TEST(Svm, FeaturesFarFromZeroAreLearntAndDecided) {
  constexpr std::int64_t rows = 300;
  constexpr std::int64_t features = 12;
  constexpr double far = 3000;
  struct Far {
    KernelParams kernel;
    double cost;  ///< times those of tasks_of(): kernel values differ by that much less
  };
  const std::vector<Far> all{
      {{.type = KernelType::linear}, 1},
      {{.type = KernelType::polynomial, .degree = 3, .gamma = 1 / (features * far * far), .coef0 = 0.5}, 1e6}};
  for (const Device device : devices())
    for (const bool sparse : {false, true})
      for (const auto& [kernel, cost] : all)
        for (const auto kind : {SvmKind::c_svc, SvmKind::nu_svc, SvmKind::epsilon_svr, SvmKind::one_class}) {
          SCOPED_TRACE(to_string(device) + (sparse ? " sparse " : " dense ") + std::string(to_string(kernel.type)) +
                       " " + std::string(to_string(kind)));
          Table<double> table(rows, features, false, kind);
          auto& x = std::get<DenseMatrix<double>>(table.dataset.x);
          for (std::int64_t e = 0; e < rows * features; ++e) x.values[e] += far;
          if (sparse) table.dataset.x = to_sparse(x, 1);
          table.sheaf.tasks = tasks_of(kind);
          for (auto& task : table.sheaf.tasks) {
            if (kind != SvmKind::one_class) task.cost_positive *= cost, task.cost_negative *= cost;
            if (kind == SvmKind::c_svc) task.negative = SvmTask::rest;
          }
          SvmParams params;
          params.kernel = kernel;
          params.decisions = true;
          if (kind == SvmKind::nu_svc) params.tolerance *= kernel.type == KernelType::linear ? 1 : 1e-6;
          const auto fits = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
          std::vector<BinarySvm> svms;
          for (const auto& fit : fits.tasks) svms.push_back(fit.svm);
          const auto later = decision_values(context_on(device), kernel, table.dataset, svms, table.dataset);
          for (std::size_t t = 0; t < fits.tasks.size(); ++t) {
            const auto found =
                measure(rows_of(table.dataset), table.sheaf, table.sheaf.tasks[t], kernel, fits.tasks[t]);
            double largest = 1;
            for (const double decision : found.decisions) largest = std::max(largest, std::abs(decision));
            if (kind != SvmKind::one_class) {
              EXPECT_TRUE(fits.tasks[t].converged);
              EXPECT_LT(found.violation, 2 * params.tolerance);
            }
            for (std::int64_t i = 0; i < rows; ++i) {
              const double expected = found.decisions[static_cast<std::size_t>(i)];
              ASSERT_NEAR(later(i, static_cast<std::int32_t>(t)), expected, 1e-3 * largest);
              if (kind != SvmKind::one_class && kind != SvmKind::nu_svc) {
                ASSERT_NEAR(fits.decisions(i, static_cast<std::int32_t>(t)), expected, 1e-3 * largest);
              }
            }
          }
        }
}

/// A nu SVM with the epsilon it found is the epsilon SVM.
TEST(Svm, NuSvrIsEpsilonSvr) {
  for (const Device device : devices()) {
    Table<double> table(400, 6, false, SvmKind::nu_svr);
    table.sheaf.tasks = {{.cost_positive = 2, .nu = 0.3}};
    SvmParams params;
    params.kernel.gamma = 0.2;
    params.tolerance = 1e-5;
    const auto nu = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
    table.sheaf.kind = SvmKind::epsilon_svr;
    table.sheaf.tasks[0].epsilon = -nu.tasks[0].margin;
    ASSERT_GT(table.sheaf.tasks[0].epsilon, 0);
    const auto tube = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
    const Rows rows = rows_of(table.dataset);
    const auto one = measure(rows, table.sheaf, table.sheaf.tasks[0], params.kernel, nu.tasks[0]);
    const auto two = measure(rows, table.sheaf, table.sheaf.tasks[0], params.kernel, tube.tasks[0]);
    EXPECT_NEAR(one.objective, two.objective, 1e-5 * std::abs(two.objective));
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(one.decisions[i], two.decisions[i], 1e-3);
  }
}

/// Costs, folds and classes together, and each alone.
SvmSheaf whole_search(const SvmSheaf& from, bool pairs = true) {
  SvmSheaf sheaf = from;
  sheaf.tasks.clear();
  for (const double cost : {0.1, 1.0, 30.0})
    for (const std::int32_t rows : {0, 1, 2}) {
      sheaf.tasks.push_back({rows, 0, SvmTask::rest, cost, cost});
      sheaf.tasks.push_back({rows, 2, pairs ? 1 : SvmTask::rest, cost, 2 * cost});
    }
  return sheaf;
}

TEST(Svm, SheafEqualsSingleFits) {
  for (const Device device : devices())
    for (const bool pairs : {false, true}) {
      Table<double> table(1500, 10, true, SvmKind::c_svc);
      const SvmSheaf sheaf = whole_search(table.sheaf, pairs);
      SvmParams params;
      params.kernel.gamma = 0.05;
      const auto together = train_sheaf(context_on(device), table.dataset, sheaf, params);
      EXPECT_LT(together.counts.computed, together.counts.unshared);
      for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
        SvmSheaf one = sheaf;
        one.tasks = {sheaf.tasks[t]};
        const auto alone = train_sheaf(context_on(device), table.dataset, one, params);
        EXPECT_NEAR(alone.tasks[0].objective, together.tasks[t].objective, 1e-6 * std::abs(alone.tasks[0].objective));
        // With pairs in the sheaf, rows stand in another order than for a class against the rest alone.
        if (device.is_cpu() && !pairs) {
          EXPECT_EQ(alone.tasks[0].svm.coefficients, together.tasks[t].svm.coefficients);
        }
      }
    }
}

TEST(Svm, ThreadsChangeNothing) {
  Table<float> table(1500, 10, false, SvmKind::c_svc);
  const SvmSheaf sheaf = whole_search(table.sheaf);
  SvmParams params;
  params.kernel.gamma = 0.05;
  const auto one = train_sheaf(context_on(Device::cpu(), 1), table.dataset, sheaf, params);
  const auto three = train_sheaf(context_on(Device::cpu(), 3), table.dataset, sheaf, params);
  for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
    EXPECT_EQ(one.tasks[t].svm.rows, three.tasks[t].svm.rows);
    EXPECT_EQ(one.tasks[t].svm.coefficients, three.tasks[t].svm.coefficients);
    EXPECT_EQ(one.tasks[t].svm.rho, three.tasks[t].svm.rho);
  }
}

TEST(Svm, SameCallSameBits) {
  for (const Device device : devices()) {
    Table<float> table(900, 10, true, SvmKind::c_svc);
    const SvmSheaf sheaf = whole_search(table.sheaf);
    SvmParams params;
    params.kernel.gamma = 0.05;
    const auto first = train_sheaf(context_on(device), table.dataset, sheaf, params);
    const auto second = train_sheaf(context_on(device), table.dataset, sheaf, params);
    for (std::size_t t = 0; t < sheaf.tasks.size(); ++t)
      EXPECT_EQ(first.tasks[t].svm.coefficients, second.tasks[t].svm.coefficients);
  }
}

/// Memory for some kernel rows, for fewer than a working set, and for fewer than the data.
TEST(Svm, LittleMemoryChangesNoOptimum) {
  for (const Device device : devices()) {
    for (const bool sparse : {false, true}) {
      Table<double> table(800, 10, sparse, SvmKind::c_svc);
      const SvmSheaf sheaf = whole_search(table.sheaf);
      const Rows rows = rows_of(table.dataset);
      SvmParams params;
      params.kernel.gamma = 0.05;
      for (const std::int64_t memory : {std::int64_t{2} << 20, std::int64_t{500} << 10, std::int64_t{100} << 10}) {
        const auto fits = train_sheaf(context_on(device, 2, memory), table.dataset, sheaf, params);
        for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) expect_optimal(rows, sheaf, t, params, fits.tasks[t]);
      }
    }
  }
}

TEST(Svm, HeldOutDecisionsAreThoseOfTheSvm) {
  for (const Device device : devices())
    for (const bool pairs : {false, true}) {
      Table<double> table(800, 9, pairs, SvmKind::c_svc);
      SvmSheaf sheaf = table.sheaf;
      for (const std::int32_t rows : {0, 1, 2})
        for (std::int32_t c = 0; c < 3; ++c)
          sheaf.tasks.push_back({rows, c, pairs ? (c + 1) % 3 : SvmTask::rest, 2, 2});
      SvmParams params;
      params.kernel.gamma = 0.1;
      params.decisions = true;
      const auto fits = train_sheaf(context_on(device), table.dataset, sheaf, params);
      const Rows rows = rows_of(table.dataset);
      std::vector<BinarySvm> svms;
      for (const SvmFit& fit : fits.tasks) svms.push_back(fit.svm);
      // With memory for a part of the rows only.
      const auto again =
          decision_values(context_on(device, 2, 100000), params.kernel, table.dataset, svms, table.dataset);
      for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
        const auto expected = measure(rows, sheaf, sheaf.tasks[t], params.kernel, fits.tasks[t]).decisions;
        for (std::int64_t i = 0; i < sheaf.examples; ++i) {
          ASSERT_NEAR(fits.decisions(i, static_cast<std::int32_t>(t)), expected[static_cast<std::size_t>(i)], 2e-5);
          ASSERT_NEAR(again(i, static_cast<std::int32_t>(t)), expected[static_cast<std::size_t>(i)], 2e-5);
        }
      }
    }
}

/// Queries may have more or fewer features than the rows of training, dense or sparse.
TEST(Svm, DecisionsOfOtherRows) {
  for (const Device device : devices())
    for (const KernelParams& kernel : kernels)
      for (const bool sparse : {false, true})
        for (const std::int64_t features : {7, 12, 15, 300}) {
          const std::int64_t ours = features == 300 ? 310 : 12;
          Table<double> table(200, ours, sparse, SvmKind::c_svc, features == 300 ? 0.97 : 0.6);
          Table<double> others(333, features, !sparse, SvmKind::c_svc);
          std::vector<BinarySvm> svms{{{3, 77, 150}, {0.5, -2, 1.25}, 0.3}, {{}, {}, -1}, {{3, 4}, {1, -1}, 0}};
          const auto values = decision_values(context_on(device), kernel, table.dataset, svms, others.dataset);
          const Rows support = rows_of(table.dataset);
          const Rows queries = rows_of(others.dataset);
          ASSERT_EQ(values.rows(), 333);
          for (std::size_t i = 0; i < queries.size(); ++i)
            for (std::size_t m = 0; m < svms.size(); ++m) {
              double expected = -svms[m].rho;
              double size = 1;  // kernel values are floats
              for (std::size_t k = 0; k < svms[m].rows.size(); ++k) {
                const auto row = static_cast<std::size_t>(svms[m].rows[k]);
                const double term = svms[m].coefficients[k] * kernel_of(kernel, queries[i], support[row], row);
                expected += term;
                size += std::abs(term);
              }
              ASSERT_NEAR(values(static_cast<std::int64_t>(i), static_cast<std::int32_t>(m)), expected, 2e-6 * size);
            }
        }
}

/// Numbers of SVMs and vectors around those that devices take at a time.
TEST(Svm, DecisionsOfManySvms) {
  for (const Device device : devices())
    for (const std::size_t count : {1U, 7U, 8U, 9U, 17U}) {
      Table<double> table(200, 12, false, SvmKind::c_svc);
      Table<double> others(300, 12, false, SvmKind::c_svc);
      Random random(8, count);
      std::vector<BinarySvm> svms(count);
      for (std::size_t m = 0; m < count; ++m)
        for (std::int32_t row = 0; row < 200; ++row)
          if (random.uniform() < 0.7) {
            svms[m].rows.push_back(row);
            svms[m].coefficients.push_back(random.normal());
          }
      const KernelParams kernel{.type = KernelType::rbf, .gamma = 0.1};
      const auto values = decision_values(context_on(device), kernel, table.dataset, svms, others.dataset);
      const Rows support = rows_of(table.dataset);
      const Rows queries = rows_of(others.dataset);
      for (std::size_t i = 0; i < queries.size(); ++i)
        for (std::size_t m = 0; m < count; ++m) {
          double expected = 0;
          for (std::size_t k = 0; k < svms[m].rows.size(); ++k) {
            const auto row = static_cast<std::size_t>(svms[m].rows[k]);
            expected += svms[m].coefficients[k] * kernel_of(kernel, queries[i], support[row], row);
          }
          ASSERT_NEAR(values(static_cast<std::int64_t>(i), static_cast<std::int32_t>(m)), expected, 5e-5);
        }
    }
}

TEST(Svm, PrecomputedIsTheKernelItself) {
  for (const Device device : devices()) {
    Table<double> table(300, 6, false, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, 1, 2, 2}, {1, 2, SvmTask::rest, 1, 1}};
    SvmParams params;
    params.kernel.gamma = 0.2;
    const auto direct = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
    const Rows rows = rows_of(table.dataset);
    Dataset<double> values;
    DenseMatrix<double> x{300, 300, Array<double>(300 * 300)};
    for (std::size_t i = 0; i < 300; ++i)
      for (std::size_t j = 0; j < 300; ++j)
        x.values[static_cast<std::int64_t>(i * 300 + j)] = kernel_of(params.kernel, rows[i], rows[j], j);
    values.x = std::move(x);
    SvmParams given = params;
    given.kernel.type = KernelType::precomputed;
    const auto fits = train_sheaf(context_on(device), values, table.sheaf, given);
    std::vector<BinarySvm> svms;
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(fits.tasks[t].objective, direct.tasks[t].objective, 1e-6 * std::abs(direct.tasks[t].objective));
      svms.push_back(fits.tasks[t].svm);
    }
    const auto one = decision_values(context_on(device), given.kernel, values, svms, values);
    const auto two = decision_values(context_on(device), params.kernel, table.dataset, svms, table.dataset);
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int32_t m = 0; m < 2; ++m) EXPECT_NEAR(one(i, m), two(i, m), 1e-5);
  }
}

Dataset<double> dense(std::int64_t rows, std::int64_t features, const std::vector<double>& values) {
  Dataset<double> dataset;
  dataset.x = DenseMatrix<double>{rows, features, Array<double>::copy_of(values)};
  return dataset;
}

SvmSheaf two_classes(const std::vector<std::int32_t>& classes, double cost) {
  SvmSheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(classes.size());
  sheaf.classes = classes;
  sheaf.tasks = {{0, 0, 1, cost, cost}};
  return sheaf;
}

TEST(Svm, OneClassOnlyDecidesForIt) {
  for (const Device device : devices())
    for (const std::int32_t there : {0, 1}) {
      const auto fits =
          train_sheaf(context_on(device), dense(3, 1, {1, 2, 3}), two_classes({there, there, there}, 1), {});
      EXPECT_TRUE(fits.tasks[0].converged);
      EXPECT_TRUE(fits.tasks[0].svm.rows.empty());
      EXPECT_EQ(fits.tasks[0].svm.rho, there == 0 ? -1 : 1);
    }
}

TEST(Svm, NoCostNoSvm) {
  for (const Device device : devices()) {
    const auto fits = train_sheaf(context_on(device), dense(4, 1, {1, 2, 3, 4}), two_classes({0, 1, 0, 1}, 0), {});
    EXPECT_TRUE(fits.tasks[0].converged);
    EXPECT_TRUE(fits.tasks[0].svm.rows.empty());
    EXPECT_EQ(fits.tasks[0].svm.rho, 0);
  }
}

/// Every row twice, once in each class: no direction has any curvature, and every alpha ends at its bound.
TEST(Svm, DuplicatesOfOppositeClasses) {
  for (const Device device : devices()) {
    std::vector<double> x;
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 40; ++i)
      for (const std::int32_t c : {0, 1}) {
        x.push_back(i / 2);
        classes.push_back(c);
      }
    const auto fits = train_sheaf(context_on(device), dense(80, 1, x), two_classes(classes, 2), {});
    EXPECT_TRUE(fits.tasks[0].converged);
    EXPECT_EQ(fits.tasks[0].bounded, 80);
    EXPECT_NEAR(fits.tasks[0].objective, -160, 1e-9);
  }
}

/// rho is the middle of its bounds if no support vector is free.
TEST(Svm, RhoWithoutFreeVectors) {
  for (const Device device : devices()) {
    // K(x, y) = xy: alpha = C = 0.01 for both; f = g - y: 0.01 * 2 * (2 + 3) for x = 2 ...
    SvmParams params;
    params.kernel.type = KernelType::linear;
    const auto fits = train_sheaf(context_on(device), dense(2, 1, {2, -3}), two_classes({0, 1}, 0.01), params);
    EXPECT_EQ(fits.tasks[0].bounded, 2);
    // beta = {0.01, -0.01}: g(2) = 0.1, g(-3) = -0.15; 0.1 - 1 <= rho <= -0.15 + 1
    EXPECT_NEAR(fits.tasks[0].svm.rho, (0.1 - 1 + -0.15 + 1) / 2, 1e-7);
  }
}

/// Features far from [0, 1] and a large cost: it must end, at the optimum or at its limit of steps.
TEST(Svm, UnscaledDataEnds) {
  for (const Device device : devices()) {
    Table<double> table(300, 5, false, SvmKind::c_svc);
    for (double& value : std::get<DenseMatrix<double>>(table.dataset.x).values) value = 1e4 * value + 3e5;
    table.sheaf.tasks = {{0, 0, 1, 1000, 1000}};
    SvmParams params;
    params.kernel.type = KernelType::linear;
    params.max_iterations = 20000;
    const auto fits = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
    EXPECT_FALSE(fits.tasks[0].converged && fits.tasks[0].violation >= params.tolerance);
    params.kernel = {.type = KernelType::rbf, .gamma = 1e-9};
    const auto rbf = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
    if (rbf.tasks[0].converged) expect_optimal(rows_of(table.dataset), table.sheaf, 0, params, rbf.tasks[0]);
  }
}

TEST(Svm, ImpossibleProblemsAreErrors) {
  const auto data = dense(4, 1, {1, 2, 3, 4});
  SvmSheaf sheaf = two_classes({0, 0, 0, 1}, 1);
  sheaf.kind = SvmKind::nu_svc;
  sheaf.tasks[0].nu = 0.9;
  EXPECT_THROW(train_sheaf(Context(), data, sheaf, {}), Error);
  sheaf.tasks[0].nu = 0;
  EXPECT_THROW(train_sheaf(Context(), data, sheaf, {}), UsageError);
  sheaf = two_classes({0, 1, 0, 1}, -1);
  EXPECT_THROW(train_sheaf(Context(), data, sheaf, {}), UsageError);
  sheaf = two_classes({0, 1, 0, 1}, 1);
  sheaf.row_weights = {1, 1, -1, 1};
  EXPECT_THROW(train_sheaf(Context(), data, sheaf, {}), Error);
  sheaf.row_weights.clear();
  SvmParams params;
  params.kernel.type = KernelType::precomputed;
  EXPECT_THROW(train_sheaf(Context(), data, sheaf, params), Error);
}

}  // namespace svm_test
}  // namespace sheaf::test
