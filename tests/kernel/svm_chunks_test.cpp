// Training in turns over some of the rows reaches the optimum over all of them, of every kind.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "kernel/smo/chunks.hpp"
#include "svm_reference.hpp"
#include "svm_tables.hpp"

namespace sheaf::test {
namespace svm_chunks_test {

std::vector<SvmTask> tasks_of(SvmKind kind) {
  switch (kind) {
    case SvmKind::c_svc:
      return {{0, 0, SvmTask::rest, 1, 1}, {1, 1, SvmTask::rest, 10, 5}, {2, 2, SvmTask::rest, 0.5, 2}};
    case SvmKind::nu_svc:
      return {{.positive = 0, .nu = 0.5}, {.rows = 1, .positive = 2, .nu = 0.4}};
    case SvmKind::one_class:
      return {{.nu = 0.1}, {.rows = 2, .nu = 0.4}};
    default:
      return {{.cost_positive = 1, .epsilon = 0.1}, {.rows = 1, .cost_positive = 8, .nu = 0.2, .epsilon = 0.5}};
  }
}

std::vector<SvmFit> train_in_chunks(const Context& context, const Table<double>& table, const SvmParams& params,
                                    std::int64_t most_rows) {
  const auto order = kernel::order_rows(table.sheaf);
  const auto problems = kernel::make_problems(context, table.sheaf, order, 0,
                                              static_cast<std::int32_t>(table.sheaf.tasks.size()), params.tolerance);
  KernelCounts counts;
  const auto solved = kernel::solve_in_chunks(context, table.dataset, params, problems.tasks, most_rows, counts);
  EXPECT_GT(counts.computed, 0);
  std::vector<SvmFit> fits;
  for (std::size_t t = 0; t < solved.size(); ++t) {
    fits.push_back(kernel::make_fit(table.sheaf, order, problems.tasks[t], solved[t].beta, solved[t].g));
    fits.back().converged = solved[t].end.converged;
    fits.back().violation = solved[t].end.violation;
    fits.back().iterations = solved[t].end.iterations;
  }
  return fits;
}

TEST(SvmChunks, EveryKindIsOptimal) {
  for (const Device device : devices())
    for (const SvmKind kind :
         {SvmKind::c_svc, SvmKind::nu_svc, SvmKind::one_class, SvmKind::epsilon_svr, SvmKind::nu_svr})
      for (const double gamma : {0.1, 2.0}) {
        SCOPED_TRACE(to_string(device) + " kind " + std::to_string(static_cast<int>(kind)) + " gamma " +
                     std::to_string(gamma));
        Table<double> table(400, 12, false, kind);
        table.sheaf.tasks = tasks_of(kind);
        SvmParams params;
        params.kernel = {.type = KernelType::rbf, .gamma = gamma};
        const Rows rows = rows_of(table.dataset);
        const auto fits = train_in_chunks(context_on(device), table, params, 100);
        for (std::size_t t = 0; t < fits.size(); ++t) {
          SCOPED_TRACE("task " + std::to_string(t));
          expect_optimal(rows, table.sheaf, t, params, fits[t]);
        }
      }
}

/// The first rows all of one class, and rows for a turn fewer than there are free vectors: it still arrives.
TEST(SvmChunks, SortedRowsAndSmallChunks) {
  for (const Device device : devices()) {
    Table<double> table(400, 6, false, SvmKind::c_svc);
    auto& classes = table.sheaf.classes;
    auto& x = std::get<DenseMatrix<double>>(table.dataset.x);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      classes[i] = i < 200 ? 0 : 1;
      x.values[static_cast<std::int64_t>(i) * x.columns] += classes[i] == 0 ? 1.5 : 0;
    }
    table.sheaf.tasks = {{0, 0, SvmTask::rest, 1, 1}, {1, 1, SvmTask::rest, 20, 20}};
    SvmParams params;
    params.kernel = {.type = KernelType::rbf, .gamma = 0.2};
    const auto fits = train_in_chunks(context_on(device), table, params, 40);
    for (std::size_t t = 0; t < fits.size(); ++t)
      expect_optimal(rows_of(table.dataset), table.sheaf, t, params, fits[t]);
  }
}

TEST(SvmChunks, ThreadsChangeNothing) {
  Table<double> table(600, 8, false, SvmKind::c_svc);
  table.sheaf.tasks = tasks_of(SvmKind::c_svc);
  SvmParams params;
  params.kernel.gamma = 0.3;
  const auto one = train_in_chunks(context_on(Device::cpu(), 1), table, params, 100);
  const auto many = train_in_chunks(context_on(Device::cpu(), 3), table, params, 100);
  for (std::size_t t = 0; t < one.size(); ++t) {
    EXPECT_EQ(one[t].objective, many[t].objective);
    EXPECT_EQ(one[t].svm.rows, many[t].svm.rows);
    EXPECT_EQ(one[t].svm.coefficients, many[t].svm.coefficients);
  }
}

TEST(SvmChunks, StepsHaveALimit) {
  Table<double> table(300, 6, false, SvmKind::c_svc);
  table.sheaf.tasks = {{0, 0, SvmTask::rest, 1000, 1000}};
  SvmParams params;
  params.max_iterations = 50;
  const auto fits = train_in_chunks(context_on(Device::cpu()), table, params, 40);
  EXPECT_FALSE(fits[0].converged);
  EXPECT_GE(fits[0].violation, params.tolerance);
}

}  // namespace svm_chunks_test
}  // namespace sheaf::test
