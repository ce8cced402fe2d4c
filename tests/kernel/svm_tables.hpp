// Tables of SVMs' tests, and what must hold of every SVM trained on them.
#pragma once

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/svm.hpp>

#include "core/random.hpp"
#include "svm_reference.hpp"

namespace sheaf::test {

inline Context context_on(Device device, int threads = 2, std::int64_t memory = 0) {
  Context::Options options;
  options.device = device;
  options.threads = threads;
  options.memory = memory;
  return Context(options);
}

/// Classes 0, 1, 2 around three centres, with some rows on the wrong side; values along a curve.
template <class T>
struct Table {
  Dataset<T> dataset;
  SvmSheaf sheaf;

  Table(std::int64_t rows, std::int64_t features, bool sparse, SvmKind kind, double zeros = 0.6) {
    Random random(5, static_cast<std::uint64_t>(rows + features));
    DenseMatrix<T> x{rows, features, Array<T>(rows * features)};
    sheaf.kind = kind;
    sheaf.examples = rows;
    sheaf.weight_columns = 3;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto c = static_cast<std::int32_t>(random.uniform() * 3);
      double curve = 0;
      for (std::int64_t j = 0; j < features; ++j) {
        double value = random.normal() + (j % 3 == c ? 0.9 : 0);
        if (sparse && random.uniform() < zeros) value = 0;
        x.values[i * features + j] = static_cast<T>(value);
        curve += std::sin(value);
      }
      sheaf.classes.push_back(random.uniform() < 0.1 ? (c + 1) % 3 : c);
      sheaf.values.push_back(curve + 0.2 * random.normal());
      sheaf.row_weights.push_back(1);
      sheaf.row_weights.push_back(i % 5 == 0 ? 0.0F : 1.0F);
      sheaf.row_weights.push_back(i % 4 == 0 ? 0.5F : 1.5F);
    }
    if (sparse)
      dataset.x = to_sparse(x, 1);
    else
      dataset.x = std::move(x);
  }
};

/// Kernel values are floats: violations may be a little larger than the tolerance.
inline void expect_optimal(const Rows& rows, const SvmSheaf& sheaf, std::size_t t, const SvmParams& params,
                           const SvmFit& fit) {
  const SvmTask& task = sheaf.tasks[t];
  const SvmOptimality found = measure(rows, sheaf, task, params.kernel, fit);
  const double size = std::max(1.0, found.largest);
  EXPECT_TRUE(fit.converged);
  EXPECT_LT(fit.violation, params.tolerance);
  if (sheaf.kind != SvmKind::nu_svr) {
    EXPECT_LT(found.violation, params.tolerance + 1e-4 * size);
  }
  EXPECT_LE(found.outside, 1e-12 * size);
  EXPECT_NEAR(fit.objective, found.objective, 2e-5 * (1 + std::abs(found.objective)));
  const auto examples = static_cast<double>(sheaf.examples);
  const double expected = sheaf.kind == SvmKind::one_class ? task.nu * (task.rows == 0 ? 1.0 : 1.25) * examples : 0;
  EXPECT_NEAR(found.sum, expected, 1e-9 * size * examples);
}

}  // namespace sheaf::test
