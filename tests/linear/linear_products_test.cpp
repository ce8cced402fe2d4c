// The products with X on every device, against plain loops in double.
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "linear_verbs.hpp"

namespace sheaf::linear {
namespace linear_products_test {

template <class T>
class Products : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Products, Elements);

template <class T>
void check_product(const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
  Random random(1);
  Guarded<T> w(ops.weights(), tasks, ops.device());
  Guarded<T> z(ops.examples(), tasks, ops.device());
  w.fill(random);
  w.send();
  z.send();
  ops.multiply(w.view(), z.view());
  ops.synchronize();
  z.fetch();
  for (std::int64_t i = 0; i < problem.shape.rows; ++i)
    for (std::int32_t t = 0; t < tasks; ++t) {
      double sum = bias > 0 ? static_cast<double>(bias) * w(problem.shape.columns, t) : 0;
      double magnitude = std::abs(sum);
      for (std::int64_t j = 0; j < problem.shape.columns; ++j) {
        sum += problem.at(i, j) * w(j, t);
        magnitude += std::abs(problem.at(i, j) * w(j, t));
      }
      expect_close<T>(z(i, t), sum, magnitude, "z", i, t);
    }
}

TYPED_TEST(Products, MultiplyIsXTimesW) { for_all<TypeParam>(check_product<TypeParam>); }

template <class T>
void check_transposed(bool squares, const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
  Random random(2);
  Guarded<T> z(ops.examples(), tasks, ops.device());
  Guarded<T> g(ops.weights(), tasks, ops.device());
  z.fill(random);
  z.send();
  g.send();
  if (squares)
    ops.multiply_squared_transposed(z.view(), g.view());
  else
    ops.multiply_transposed(z.view(), g.view());
  ops.synchronize();
  g.fetch();
  for (std::int64_t j = 0; j < ops.weights(); ++j)
    for (std::int32_t t = 0; t < tasks; ++t) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t i = 0; i < problem.shape.rows; ++i) {
        const double x = j < problem.shape.columns ? problem.at(i, j) : static_cast<double>(bias);
        sum += (squares ? x * x : x) * z(i, t);
        magnitude += std::abs((squares ? x * x : x) * z(i, t));
      }
      expect_close<T>(g(j, t), sum, magnitude, "g", j, t);
    }
}

TYPED_TEST(Products, TransposeBothIsTheTwoProducts) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(8);
    Guarded<T> z(ops.examples(), tasks, ops.device());
    Guarded<T> d(ops.examples(), tasks, ops.device());
    Guarded<T> g(ops.weights(), tasks, ops.device());
    Guarded<T> h(ops.weights(), tasks, ops.device());
    Guarded<T> g_alone(ops.weights(), tasks, ops.device());
    Guarded<T> h_alone(ops.weights(), tasks, ops.device());
    z.fill(random);
    d.fill(random);
    for (auto* block : {&z, &d, &g, &h, &g_alone, &h_alone}) block->send();
    ops.transpose_both(z.view(), g.view(), d.view(), h.view());
    ops.multiply_transposed(z.view(), g_alone.view());
    ops.multiply_squared_transposed(d.view(), h_alone.view());
    ops.synchronize();
    for (auto* block : {&g, &h, &g_alone, &h_alone}) block->fetch();
    const auto magnitude = static_cast<double>(ops.examples());
    for (std::int64_t j = 0; j < ops.weights(); ++j)
      for (std::int32_t t = 0; t < tasks; ++t) {
        expect_close<T>(g(j, t), g_alone(j, t), magnitude, "g", j, t);
        expect_close<T>(h(j, t), h_alone(j, t), magnitude, "h", j, t);
      }
  });
}

template <class T>
void check_all_transposed(bool squares) {
  for_all<T>([squares](auto&&... problem) { check_transposed<T>(squares, problem...); });
}
TYPED_TEST(Products, MultiplyTransposedIsXTransposedTimesZ) { check_all_transposed<TypeParam>(false); }
TYPED_TEST(Products, MultiplySquaredTransposedIsTheDiagonal) { check_all_transposed<TypeParam>(true); }

/// Kernels of their own have dense data of 256 to 1,024 features and blocks of 8 or 16 columns: tiles of 16 rows, more
/// of them than a GPU has processors and a last one that is not full; rows that are not a whole number of 16 bytes.
TYPED_TEST(Products, FewTasksOfSomeHundredFeatures) {
  using T = TypeParam;
  const std::vector<Case> cases{{6501, 261, false, 1}, {3, 256, false, 1}, {33, 1023, false, 1}, {48, 1024, false, 1}};
  const std::vector<std::int32_t> tasks{8, 10};
  for_cases<T>(cases, tasks, check_product<T>);
  for_cases<T>(cases, tasks, [](auto&&... problem) { check_transposed<T>(false, problem...); });
}

TYPED_TEST(Products, SandwichIsBothProductsWithCurvaturesBetween) {
  using T = TypeParam;
  int fused = 0;
  for_all<T>([&fused](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
    if (!ops.fuses(tasks)) return;
    ++fused;
    Random random(9);
    Guarded<T> d(ops.weights(), tasks, ops.device());
    Guarded<T> curvatures(ops.examples(), tasks, ops.device());
    Guarded<T> u(ops.examples(), tasks, ops.device());
    Guarded<T> hd(ops.weights(), tasks, ops.device());
    for (auto* block : {&d, &curvatures, &u}) block->fill(random);
    curvatures.clear_rows(3);
    Guarded<T> kept(ops.examples(), tasks, ops.device());
    for (auto* block : {&d, &curvatures, &u, &hd, &kept}) block->send();
    std::vector<std::uint8_t> wanted;
    for (std::int32_t t = 0; t < tasks; ++t) wanted.push_back(t % 3 != 1 ? 1 : 0);
    const bool keep = tasks % 2 == 1;
    ops.sandwich(d.view(), curvatures.view(), u.view(), wanted, keep ? kept.view() : BlockView<T>{}, hd.view());
    ops.synchronize();
    hd.fetch();
    kept.fetch();
    const auto x = [&](std::int64_t i, std::int64_t j) {
      return j < problem.shape.columns ? problem.at(i, j) : static_cast<double>(bias);
    };
    for (std::int32_t t = 0; t < tasks; ++t) {
      std::vector<double> sums(static_cast<std::size_t>(ops.weights()), 0.0);
      std::vector<double> magnitudes(sums.size(), 0.0);
      for (std::int64_t i = 0; i < problem.shape.rows; ++i) {
        double q = 0;
        double size = 0;
        for (std::int64_t j = 0; j < ops.weights(); ++j) {
          q += x(i, j) * d(j, t);
          size += std::abs(x(i, j) * d(j, t));
        }
        const bool through = wanted[static_cast<std::size_t>(t)] != 0;
        if (keep && through) expect_close<T>(kept(i, t), q, size, "q", i, t);
        const double v = through ? curvatures(i, t) * q : u(i, t);
        const double weight = through ? std::abs(curvatures(i, t)) * size : std::abs(u(i, t));
        for (std::int64_t j = 0; j < ops.weights(); ++j) {
          sums[static_cast<std::size_t>(j)] += x(i, j) * v;
          magnitudes[static_cast<std::size_t>(j)] += std::abs(x(i, j)) * weight;
        }
      }
      for (std::int64_t j = 0; j < ops.weights(); ++j)
        expect_close<T>(hd(j, t), sums[static_cast<std::size_t>(j)], magnitudes[static_cast<std::size_t>(j)], "hd", j,
                        t);
    }
  });
  EXPECT_GT(fused, 0);
}

TYPED_TEST(Products, GramIsXTransposedTimesX) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
    if (tasks > 1 || problem.shape.columns > 300) return;
    Context::Options options;
    options.device = ops.device();
    options.threads = 2;
    Random random(31);
    Guarded<T> d(ops.examples(), 2, ops.device());
    d.fill(random);
    d.square();  // weights of rows are not negative
    d.send();
    for (const bool weighted : {false, true}) {
      const auto gram = ops.gram(Context(options), weighted ? d.view() : BlockView<T>{});
      const std::int64_t size = ops.weights();
      ASSERT_EQ(std::ssize(gram), size * size);
      const auto at = [&](std::int64_t i, std::int64_t j) {
        return j < problem.shape.columns ? problem.at(i, j) : static_cast<double>(bias);
      };
      for (std::int64_t a = 0; a < size; ++a)
        for (std::int64_t b = 0; b < size; ++b) {
          double sum = 0;
          double magnitude = 0;
          for (std::int64_t i = 0; i < problem.shape.rows; ++i) {
            const double term = (weighted ? d(i, 0) : 1.0) * at(i, a) * at(i, b);
            sum += term;
            magnitude += std::abs(term);
          }
          expect_close<T>(gram[static_cast<std::size_t>(a * size + b)], sum, magnitude, "gram", a, b);
        }
    }
  });
}

/// Same device, same input: the same bits, whatever the number of threads.
TYPED_TEST(Products, ProductsRepeatBitForBit) {
  using T = TypeParam;
  for (const Device device : test::devices())
    for (const Case& c : {Case{3000, 40, true, 0.1}, Case{9000, 28, false, 1}, Case{40, 2000, true, 0.3}}) {
      const Problem<T> problem(c);
      std::vector<Block<T>> results;
      std::vector<std::vector<double>> grams;
      for (const int threads : {1, 2, 3}) {
        Context::Options options;
        options.device = device;
        options.threads = threads;
        const auto ops = make_ops<T>(Context(options), problem.dataset, T(1));
        Random random(9);
        Guarded<T> z(ops->examples(), 17, device);
        Guarded<T> g(ops->weights(), 17, device);
        z.fill(random);
        z.send();
        g.send();
        ops->multiply_transposed(z.view(), g.view());
        ops->multiply(g.view(), z.view());
        ops->synchronize();
        z.fetch();
        Block<T> copy(z.rows(), 17);
        for (std::int64_t i = 0; i < z.rows(); ++i)
          for (std::int32_t t = 0; t < 17; ++t) copy(i, t) = static_cast<T>(z(i, t));
        results.push_back(std::move(copy));
        grams.push_back(ops->gram(Context(options)));
      }
      ASSERT_EQ(grams[0], grams[1]);
      ASSERT_EQ(grams[0], grams[2]);
      for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int32_t t = 0; t < 17; ++t) {
          ASSERT_EQ(results[0](i, t), results[1](i, t));
          ASSERT_EQ(results[0](i, t), results[2](i, t));
        }
    }
}

}  // namespace linear_products_test
}  // namespace sheaf::linear
