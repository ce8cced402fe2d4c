// Products of tasks that see the features through column transforms, on every device, against plain loops over features
// that were shifted and scaled in double.
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "linear_verbs.hpp"

namespace sheaf::linear {
namespace linear_transforms_test {

constexpr std::int32_t transforms = 3;

/// A sheaf whose tasks take turns with the transforms; every seventh factor is 0.
Sheaf sheaf_of(std::int64_t rows, std::int64_t features, std::int32_t tasks, bool shifts) {
  Random random(3);
  Sheaf sheaf;
  sheaf.examples = rows;
  sheaf.targets.assign(static_cast<std::size_t>(rows), 1.0);
  sheaf.column_transforms = transforms;
  for (std::int64_t k = 0; k < features * transforms; ++k) {
    sheaf.shifts.push_back(shifts ? random.normal() : 0);
    sheaf.factors.push_back(k % 7 == 3 ? 0 : 0.5 + random.uniform());
  }
  for (std::int32_t t = 0; t < tasks; ++t) {
    Task task;
    task.columns = (t + 1) % transforms;
    sheaf.tasks.push_back(task);
  }
  return sheaf;
}

template <class T>
class Transforms : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Transforms, Elements);

template <class T>
struct Check {
  const Problem<T>& problem;
  LinearOps<T>& ops;
  T bias;
  const Sheaf& sheaf;
  std::int32_t tasks = static_cast<std::int32_t>(sheaf.tasks.size());

  double x(std::int64_t i, std::int64_t j, std::int32_t t) const {
    if (j == problem.shape.columns) return static_cast<double>(bias);
    const auto at = static_cast<std::size_t>(j * transforms + sheaf.tasks[static_cast<std::size_t>(t)].columns);
    // The same rounding as in the backends.
    const auto shift = static_cast<double>(static_cast<T>(sheaf.shifts[at]));
    return (problem.at(i, j) - shift) * static_cast<double>(static_cast<T>(sheaf.factors[at]));
  }
  /// The magnitude of x before the shift was subtracted.
  double size(std::int64_t i, std::int64_t j, std::int32_t t) const {
    return 2 + std::abs(x(i, j, t)) + (j < problem.shape.columns ? std::abs(problem.at(i, j)) : 0);
  }

  void products() {
    Random random(1);
    Guarded<T> w(ops.weights(), tasks, ops.device());
    Guarded<T> z(ops.examples(), tasks, ops.device());
    w.fill(random);
    for (auto* block : {&w, &z}) block->send();
    ops.multiply(w.view(), z.view());
    ops.synchronize();
    z.fetch();
    for (std::int64_t i = 0; i < ops.examples(); ++i)
      for (std::int32_t t = 0; t < tasks; ++t) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t j = 0; j < ops.weights(); ++j) {
          sum += x(i, j, t) * w(j, t);
          magnitude += size(i, j, t) * std::abs(w(j, t));
        }
        expect_close<T>(z(i, t), sum, magnitude, "z", i, t);
      }
  }

  void transposes() {
    Random random(2);
    Guarded<T> z(ops.examples(), tasks, ops.device());
    Guarded<T> d(ops.examples(), tasks, ops.device());
    Guarded<T> g(ops.weights(), tasks, ops.device());
    Guarded<T> h(ops.weights(), tasks, ops.device());
    for (auto* block : {&z, &d}) block->fill(random);
    for (auto* block : {&z, &d, &g, &h}) block->send();
    ops.multiply_elements(d.view(), d.view(), {}, d.view());  // as curvatures are, 0 or more
    ops.transpose_both(z.view(), g.view(), d.view(), h.view());
    ops.synchronize();
    for (auto* block : {&d, &g, &h}) block->fetch();
    for (std::int64_t j = 0; j < ops.weights(); ++j)
      for (std::int32_t t = 0; t < tasks; ++t) {
        double sum = 0, squares = 0, magnitude = 0, square_magnitude = 0;
        for (std::int64_t i = 0; i < ops.examples(); ++i) {
          sum += x(i, j, t) * z(i, t);
          squares += x(i, j, t) * x(i, j, t) * d(i, t);
          magnitude += size(i, j, t) * std::abs(z(i, t));
          square_magnitude += size(i, j, t) * size(i, j, t) * d(i, t);
        }
        expect_close<T>(g(j, t), sum, magnitude, "g", j, t);
        expect_close<T>(h(j, t), squares, square_magnitude, "h", j, t);
      }
  }

  /// The sandwich is the two products with curvatures between.
  void sandwiches() {
    if (!ops.fuses(tasks)) return;
    Random random(9);
    Guarded<T> d(ops.weights(), tasks, ops.device());
    Guarded<T> curvatures(ops.examples(), tasks, ops.device());
    Guarded<T> q(ops.examples(), tasks, ops.device());
    Guarded<T> hd(ops.weights(), tasks, ops.device());
    Guarded<T> apart(ops.weights(), tasks, ops.device());
    for (auto* block : {&d, &curvatures}) block->fill(random);
    for (auto* block : {&d, &curvatures, &q, &hd, &apart}) block->send();
    const std::vector<std::uint8_t> all(static_cast<std::size_t>(tasks), 1);
    ops.sandwich(d.view(), curvatures.view(), q.view(), all, {}, hd.view());
    ops.multiply(d.view(), q.view());
    ops.multiply_elements(q.view(), curvatures.view(), {}, q.view());
    ops.multiply_transposed(q.view(), apart.view());
    ops.synchronize();
    for (auto* block : {&q, &hd, &apart}) block->fetch();
    for (std::int64_t j = 0; j < ops.weights(); ++j)
      for (std::int32_t t = 0; t < tasks; ++t) {
        double magnitude = 0;
        for (std::int64_t i = 0; i < ops.examples(); ++i) magnitude += size(i, j, t) * (1 + std::abs(q(i, t)));
        expect_close<T>(hd(j, t), apart(j, t), magnitude * 10, "hd", j, t);
      }
  }
};

TYPED_TEST(Transforms, ProductsAreThoseOfTransformedFeatures) {
  using T = TypeParam;
  for (const bool hidden : {false, true})
    for_all<T>([hidden](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
      if (bias == 0 || (tasks != 1 && tasks != 5 && tasks != 33) || problem.shape.rows > 5000) return;
      const auto sheaf = sheaf_of(problem.shape.rows, problem.shape.columns, tasks, tasks != 5);
      if (hidden) ops.hide_bias();
      ops.load_tables(sheaf);
      ops.choose_tasks(sheaf.tasks);
      Check<T> check{problem, ops, bias, sheaf};
      check.products();
      check.transposes();
      check.sandwiches();
    });
}

}  // namespace linear_transforms_test
}  // namespace sheaf::linear
