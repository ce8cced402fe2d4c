// Losses, sums and steps of the linear family on every device, against plain loops in double.
#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "linear_verbs.hpp"

namespace sheaf::linear {
namespace linear_steps_test {

template <class T>
class Steps : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Steps, Elements);

/// Two weight vectors, three targets, tasks that mix them.
Sheaf make_sheaf(std::int64_t examples, std::int32_t tasks) {
  Random random(3);
  Sheaf sheaf;
  sheaf.examples = examples;
  sheaf.weight_columns = 2;
  sheaf.target_columns = 3;
  for (std::int64_t i = 0; i < examples; ++i) {
    for (int c = 0; c < 2; ++c) sheaf.row_weights.push_back(static_cast<float>(random.below(3)));
    for (int c = 0; c < 3; ++c) sheaf.targets.push_back(random.uniform() < 0.4 ? 1 : -1);
  }
  for (std::int32_t t = 0; t < tasks; ++t) sheaf.tasks.push_back({t % 2, t % 3, 0.5 + t, 1.0 / (1 + t), 0.25});
  return sheaf;
}

TYPED_TEST(Steps, CountRowsCountsWhatATaskTrainsOn) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    const Sheaf sheaf = make_sheaf(ops.examples(), tasks);
    ops.load_tables(sheaf);
    ops.choose_tasks(sheaf.tasks);
    std::vector<double> used(static_cast<std::size_t>(tasks), -1.0);
    std::vector<double> positive(used);
    ops.count_rows(used, positive);
    for (std::int32_t t = 0; t < tasks; ++t) {
      double rows = 0;
      double above = 0;
      for (std::int64_t i = 0; i < ops.examples(); ++i) {
        if (sheaf.row_weights[static_cast<std::size_t>(i * 2 + t % 2)] == 0) continue;
        ++rows;
        above += sheaf.targets[static_cast<std::size_t>(i * 3 + t % 3)] > 0 ? 1 : 0;
      }
      EXPECT_EQ(used[static_cast<std::size_t>(t)], rows);
      EXPECT_EQ(positive[static_cast<std::size_t>(t)], above);
    }
  });
}

struct Terms {
  double value, slope, curvature;
};
/// The losses once more, straight from their definitions.
Terms reference_loss(Loss loss, double z, double y, double epsilon) {
  const double e = std::exp(-y * z);
  const double slack = std::max(0.0, 1 - y * z);
  const double excess = std::max(0.0, std::abs(z - y) - epsilon);
  switch (loss) {
    case Loss::logistic:
      return {std::log(1 + e), -y * e / (1 + e), e / ((1 + e) * (1 + e))};
    case Loss::squared_hinge:
      return {slack * slack, -2 * y * slack, slack > 0 ? 2.0 : 0.0};
    case Loss::squared_tube:
      return {excess * excess, (z > y ? 2 : -2) * excess, excess > 0 ? 2.0 : 0.0};
    default:
      break;
  }
  return {(z - y) * (z - y) / 2, z - y, 1};
}

TYPED_TEST(Steps, LossesAreWeightedSumsWithDerivatives) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    const Sheaf sheaf = make_sheaf(ops.examples(), tasks);
    ops.load_tables(sheaf);
    ops.choose_tasks(sheaf.tasks);
    Random random(4);
    Guarded<T> z(ops.examples(), tasks, ops.device());
    Guarded<T> step(ops.examples(), tasks, ops.device());
    z.fill(random);
    step.fill(random);
    z.send();
    step.send();
    std::vector<std::uint8_t> wanted;
    for (std::int32_t t = 0; t < tasks; ++t) wanted.push_back(t % 4 != 1 ? 1 : 0);
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::squared_tube, Loss::squared}) {
      Guarded<T> slopes(ops.examples(), tasks, ops.device());
      Guarded<T> curvatures(ops.examples(), tasks, ops.device());
      slopes.send();
      curvatures.send();
      std::vector<double> values(static_cast<std::size_t>(tasks), -1.0);
      ops.losses(loss, z.view(), step.view(), wanted, values, slopes.view(), curvatures.view());
      slopes.fetch();
      curvatures.fetch();
      for (std::int32_t t = 0; t < tasks; ++t) {
        const Task& task = sheaf.tasks[static_cast<std::size_t>(t)];
        if (t % 4 == 1) {
          EXPECT_EQ(values[static_cast<std::size_t>(t)], 0);
          for (std::int64_t i = 0; i < ops.examples(); ++i)
            ASSERT_TRUE(std::isnan(slopes(i, t)) && std::isnan(curvatures(i, t)));
          continue;
        }
        double sum = 0;
        for (std::int64_t i = 0; i < ops.examples(); ++i) {
          const double y = sheaf.targets[static_cast<std::size_t>(i * 3 + task.target)];
          const double cost = static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(i * 2 + task.rows)]) *
                              (y > 0 ? task.cost_positive : task.cost_negative);
          const double decision = static_cast<double>(static_cast<T>(z(i, t)) + static_cast<T>(step(i, t)));
          const Terms terms = reference_loss(loss, decision, y, task.loss_parameter);
          sum += cost * terms.value;
          expect_close<T>(slopes(i, t), cost * terms.slope, cost * 4, "slope");
          // The second derivative jumps where rounding may fall on either side.
          if (std::abs(1 - y * decision) > 1e-5 && std::abs(std::abs(decision - y) - task.loss_parameter) > 1e-5)
            expect_close<T>(curvatures(i, t), cost * terms.curvature, cost * 4, "curvature");
        }
        expect_close<T>(values[static_cast<std::size_t>(t)], sum, sum, "value");
      }
      std::vector<double> alone(values.size(), -1.0);
      ops.losses(loss, z.view(), step.view(), wanted, alone, {}, {});
      EXPECT_EQ(alone, values) << "derivatives not asked for must not change the sums";
    }
  });
}

TYPED_TEST(Steps, DotsAddUpEachTask) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(5);
    Guarded<T> a(ops.examples(), tasks, ops.device());
    Guarded<T> b(ops.examples(), tasks, ops.device());
    a.fill(random);
    b.fill(random);
    a.send();
    b.send();
    std::vector<double> out(3 * static_cast<std::size_t>(tasks), -1.0);
    const std::vector<Dot<T>> products{{a.view(), b.view()}, {b.view(), b.view()}, {a.view(), a.view(), b.view()}};
    ops.dots(products, out);
    for (std::int32_t t = 0; t < tasks; ++t) {
      double sum[3] = {};
      double magnitude[3] = {};
      for (std::int64_t i = 0; i < ops.examples(); ++i) {
        const double terms[3] = {a(i, t) * b(i, t), b(i, t) * b(i, t), a(i, t) * a(i, t) / b(i, t)};
        for (int k = 0; k < 3; ++k) {
          sum[k] += terms[k];
          magnitude[k] += std::abs(terms[k]);
        }
      }
      for (int k = 0; k < 3; ++k)
        EXPECT_LE(std::abs(out[static_cast<std::size_t>(k * tasks + t)] - sum[k]), 1e-13 * magnitude[k])
            << "sums are double in any precision";
    }
  });
}

TYPED_TEST(Steps, DotsOfMoreProductsThanOneLaunchTakes) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(15);
    Guarded<T> a(ops.weights(), tasks, ops.device());
    a.fill(random);
    a.send();
    auto fewer = a.view();  // products of one call may differ in their rows
    fewer.rows /= 2;
    std::vector<Dot<T>> products;
    for (int k = 0; k < 100; ++k) products.push_back(k % 2 == 0 ? Dot<T>{a.view(), a.view()} : Dot<T>{fewer, fewer});
    std::vector<double> out(products.size() * static_cast<std::size_t>(tasks), -1.0);
    ops.dots(products, out);
    for (std::int32_t t = 0; t < tasks; ++t) {
      double sums[2] = {};
      for (std::int64_t i = 0; i < ops.weights(); ++i)
        for (int k = 0; k < 2; ++k) sums[k] += k == 0 || i < fewer.rows ? a(i, t) * a(i, t) : 0.0;
      for (std::size_t k = 0; k < products.size(); ++k)
        EXPECT_NEAR(out[k * static_cast<std::size_t>(tasks) + static_cast<std::size_t>(t)], sums[k % 2],
                    1e-13 * sums[0]);
    }
  });
}

TYPED_TEST(Steps, CombineAllAddsUpBlocksAndMultiplyByIsAProduct) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(16);
    const std::int64_t size = std::min<std::int64_t>(ops.weights(), 40);
    std::vector<std::unique_ptr<Guarded<T>>> parts;
    std::vector<BlockView<const T>> blocks;
    std::vector<double> factors;
    for (std::size_t k = 0; k < LinearOps<T>::most_combined; ++k) {
      parts.push_back(std::make_unique<Guarded<T>>(size, tasks, ops.device()));
      parts.back()->fill(random);
      parts.back()->send();
      blocks.push_back(parts.back()->view());
      for (std::int32_t t = 0; t < tasks; ++t) factors.push_back(random.normal());
    }
    Guarded<T> out(size, tasks, ops.device());
    out.send();  // not a number throughout
    ops.combine_all(factors, blocks, out.view());
    ops.synchronize();
    out.fetch();
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int32_t t = 0; t < tasks; ++t) {
        double sum = 0;
        for (std::size_t k = 0; k < parts.size(); ++k)
          sum += factors[k * static_cast<std::size_t>(tasks) + static_cast<std::size_t>(t)] * (*parts[k])(i, t);
        expect_close<T>(out(i, t), sum, 64, "combine_all");
      }
    Array<T> values(size * size);
    for (auto& value : values) value = static_cast<T>(random.normal());
    const DenseMatrix<T> matrix{size, size, values.to(ops.device())};
    const auto& v = *parts[0];
    for (const bool transposed : {false, true}) {
      ops.multiply_by(matrix, transposed, blocks[0], out.view());
      ops.synchronize();
      out.fetch();
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int32_t t = 0; t < tasks; ++t) {
          double sum = 0;
          double magnitude = 0;
          for (std::int64_t j = 0; j < size; ++j) {
            const double term = static_cast<double>(values[transposed ? j * size + i : i * size + j]) * v(j, t);
            sum += term;
            magnitude += std::abs(term);
          }
          expect_close<T>(out(i, t), sum, 4 * magnitude, "multiply_by");
        }
    }
  });
}

/// X' diag(d) X estimated from some rows, with at least that diagonal and what is added to it, from its definition.
template <class T>
std::vector<double> estimated_hessian(const Problem<T>& problem, T bias, std::span<const std::int32_t> rows,
                                      const Guarded<T>& d, const Guarded<T>& diagonal, std::int32_t column,
                                      double ridge, double share) {
  const std::int64_t size = problem.shape.columns + (bias > 0 ? 1 : 0);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return j < problem.shape.columns ? problem.at(i, j) : static_cast<double>(bias);
  };
  const double scale = static_cast<double>(problem.shape.rows) / static_cast<double>(rows.size());
  std::vector<double> matrix(static_cast<std::size_t>(size * size), 0.0);
  double largest = 0;
  for (std::int64_t a = 0; a < size; ++a)
    for (std::int64_t b = 0; b < size; ++b) {
      double& sum = matrix[static_cast<std::size_t>(a * size + b)];
      for (const std::int32_t i : rows) sum += scale * d(i, column) * at(i, a) * at(i, b);
      if (a == b) largest = std::max(largest, sum = std::max(sum, diagonal(a, column)));
    }
  for (std::int64_t a = 0; a < size; ++a) matrix[static_cast<std::size_t>(a * (size + 1))] += ridge + share * largest;
  return matrix;
}

/// M A M' = I for a lower triangle M with a positive diagonal is what makes M the inverse of A's Cholesky factor.
TYPED_TEST(Steps, InverseFactorsMakeHessiansTheIdentity) {
  using T = TypeParam;
  const std::vector<Case> shapes{{300, 5, false, 1},   {90, 63, false, 1},    {200, 64, true, 0.3},
                                 {150, 129, false, 1}, {120, 200, true, 0.1}, {7, 70, false, 1}};
  const std::vector<std::int32_t> counts{1, 3, 10};
  for_cases<T>(shapes, counts, [](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
    Context::Options options;
    options.device = ops.device();
    options.threads = 2;
    const Context context(options);
    const std::int64_t size = ops.weights();
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < problem.shape.rows; i += 2) rows.push_back(i);
    Random random(21);
    Guarded<T> d(ops.examples(), tasks, ops.device());
    Guarded<T> diagonal(size, tasks, ops.device());
    Guarded<T> v(size, tasks, ops.device());
    for (auto* block : {&d, &diagonal, &v}) block->fill(random);
    d.square();  // curvatures are not negative
    for (auto* block : {&d, &diagonal, &v}) block->send();
    const double ridge = 20;
    const double share = 0.25;
    const auto factors = ops.inverse_factors(context, rows, d.view(), diagonal.view(), ridge, share);
    ASSERT_EQ(factors.size, size);
    ASSERT_EQ(factors.count, tasks);
    const auto inverse = factors.by_rows.to(Device::cpu());
    const auto element = [&](std::int32_t t, std::int64_t i, std::int64_t j) {
      return static_cast<double>(inverse[(t * size + i) * size + j]);
    };
    for (std::int32_t t = 0; t < tasks; ++t) {
      const auto hessian = estimated_hessian(problem, bias, rows, d, diagonal, t, ridge, share);
      for (std::int64_t i = 0; i < size; ++i) {
        EXPECT_GT(element(t, i, i), 0);
        std::vector<double> row(static_cast<std::size_t>(size), 0.0);  // of M A
        for (std::int64_t k = 0; k <= i; ++k)
          for (std::int64_t j = 0; j < size; ++j)
            row[static_cast<std::size_t>(j)] += element(t, i, k) * hessian[static_cast<std::size_t>(k * size + j)];
        for (std::int64_t j = 0; j < size; ++j) {
          ASSERT_TRUE(j <= i || element(t, i, j) == 0) << i << ' ' << j;
          double sum = 0;
          for (std::int64_t k = 0; k <= j; ++k) sum += row[static_cast<std::size_t>(k)] * element(t, j, k);
          expect_close<T>(sum, i == j ? 1.0 : 0.0, 10, "M A M'", i, j);
        }
      }
    }
    for (const bool transposed : {false, true}) {
      Guarded<T> w(size, tasks, ops.device());
      w.send();
      ops.multiply_by_each(factors, transposed, v.view(), w.view());
      ops.synchronize();
      w.fetch();
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int32_t t = 0; t < tasks; ++t) {
          double sum = 0;
          double magnitude = 0;
          for (std::int64_t j = 0; j < size; ++j) {
            const double term = (transposed ? element(t, j, i) : element(t, i, j)) * v(j, t);
            sum += term;
            magnitude += std::abs(term);
          }
          expect_close<T>(w(i, t), sum, magnitude, "multiply_by_each", i, t);
        }
    }
    EXPECT_EQ(ops.inverse_factors(context, rows, d.view(), diagonal.view(), -1e6, share).size, 0)
        << "of a matrix that is not positive definite";
  });
}

TYPED_TEST(Steps, CombineAndMultiplyElements) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(6);
    Guarded<T> a(ops.weights(), tasks, ops.device());
    Guarded<T> b(ops.weights(), tasks, ops.device());
    Guarded<T> c(ops.weights(), tasks, ops.device());
    a.fill(random);
    b.fill(random);
    const Block<T> before = b.snapshot();
    a.send();
    b.send();
    c.send();  // not a number throughout
    std::vector<double> alpha;
    std::vector<double> beta;
    std::vector<std::uint8_t> wanted;
    for (std::int32_t t = 0; t < tasks; ++t) {
      alpha.push_back(random.normal());
      beta.push_back(t % 3 == 0 ? 0 : random.normal());
      wanted.push_back(t % 2 == 0 ? 1 : 0);
    }
    const std::vector<double> zeros(alpha.size(), 0.0);
    ops.combine(alpha, a.view(), beta, b.view());
    ops.combine(alpha, a.view(), zeros, c.view());
    ops.synchronize();
    b.fetch();
    c.fetch();
    for (std::int64_t i = 0; i < ops.weights(); ++i)
      for (std::int32_t t = 0; t < tasks; ++t) {
        const auto s = static_cast<std::size_t>(t);
        expect_close<T>(b(i, t), alpha[s] * a(i, t) + beta[s] * static_cast<double>(before(i, t)), 4, "combine");
        expect_close<T>(c(i, t), alpha[s] * a(i, t), 4, "combine over what was no number");
      }
    const Block<T> held = c.snapshot();
    ops.multiply_elements(a.view(), b.view(), wanted, c.view());
    ops.synchronize();
    c.fetch();
    for (std::int64_t i = 0; i < ops.weights(); ++i)
      for (std::int32_t t = 0; t < tasks; ++t)
        expect_close<T>(c(i, t), t % 2 == 0 ? a(i, t) * b(i, t) : static_cast<double>(held(i, t)), 8,
                        "multiply_elements");
  });
}

TYPED_TEST(Steps, ConjugateGradientSteps) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
    Random random(10);
    const auto make = [&] {
      Guarded<T> block(ops.weights(), tasks, ops.device());
      block.fill(random);
      block.send();
      return block;
    };
    Guarded<T> d = make();
    Guarded<T> hd = make();
    Guarded<T> inverse = make();
    Guarded<T> s = make();
    Guarded<T> r = make();
    const Block<T> hd_before = hd.snapshot();
    const Block<T> s_before = s.snapshot();
    const Block<T> r_before = r.snapshot();
    const Block<T> d_before = d.snapshot();
    const T bias_ridge = T(0.5);
    std::vector<double> curvature(static_cast<std::size_t>(tasks));
    std::vector<double> residual(static_cast<std::size_t>(tasks));
    std::vector<double> alpha;
    std::vector<double> beta;
    for (std::int32_t t = 0; t < tasks; ++t) {
      alpha.push_back(t % 3 == 2 ? 0 : random.normal());
      beta.push_back(random.normal());
    }
    ops.finish_curvature(bias_ridge, d.view(), hd.view(), curvature);
    ops.advance(alpha, d.view(), hd.view(), inverse.view(), s.view(), r.view(), residual);
    ops.redirect(alpha, inverse.view(), r.view(), beta, d.view());
    ops.synchronize();
    for (auto* block : {&d, &hd, &s, &r}) block->fetch();
    for (std::int32_t t = 0; t < tasks; ++t) {
      const auto at = static_cast<std::size_t>(t);
      double dhd = 0;
      double rz = 0;
      double magnitude = 0;
      for (std::int64_t j = 0; j < ops.weights(); ++j) {
        const double ridge = bias > 0 && j == problem.shape.columns ? 0.5 : 1;
        const double d0 = static_cast<double>(d_before(j, t));
        const double full = static_cast<double>(hd_before(j, t)) + ridge * d0;
        const double left = static_cast<double>(r_before(j, t)) - alpha[at] * full;
        expect_close<T>(hd(j, t), full, 4, "hd");
        expect_close<T>(s(j, t), static_cast<double>(s_before(j, t)) + alpha[at] * d0, 8, "s");
        expect_close<T>(r(j, t), left, 16, "r");
        expect_close<T>(d(j, t), alpha[at] * inverse(j, t) * left + beta[at] * d0, 64, "d");
        dhd += d0 * full;
        rz += left * inverse(j, t) * left;
        magnitude += std::abs(d0 * full) + std::abs(left * inverse(j, t) * left);
      }
      expect_close<T>(curvature[at], dhd, magnitude, "d'Hd");
      expect_close<T>(residual[at], rz, magnitude, "r'z");
    }
    Guarded<T> h(ops.weights(), tasks, ops.device());
    h.fill(random);
    Block<T> h_before = h.snapshot();
    h.send();
    ops.invert_diagonal(T(0.01), bias_ridge, h.view());
    ops.synchronize();
    h.fetch();
    for (std::int64_t j = 0; j < ops.weights(); ++j)
      for (std::int32_t t = 0; t < tasks; ++t) {
        const double ridge = bias > 0 && j == problem.shape.columns ? 0.5 : 1;
        expect_close<T>(h(j, t), 1 / (0.99 + 0.01 * (ridge + static_cast<double>(h_before(j, t)))), 4, "inverse");
      }
  });
}

TYPED_TEST(Steps, StepsTouchOnlyTheWantedTasks) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>& problem, LinearOps<T>& ops, T bias, std::int32_t tasks) {
    Random random(6);
    const auto make = [&] {
      Guarded<T> block(ops.weights(), tasks, ops.device());
      block.fill(random);
      block.send();
      return block;
    };
    Guarded<T> hd = make();
    Guarded<T> g = make();
    Guarded<T> inverse = make();
    Guarded<T> r = make();
    Guarded<T> s = make();
    Guarded<T> d = make();
    Guarded<T> w = make();
    Guarded<T> step = make();
    Guarded<T> d_after = make();
    const auto before = [](const Guarded<T>& block) { return block.snapshot(); };
    const Block<T> g0 = before(g);
    const Block<T> r0 = before(r);
    const Block<T> s0 = before(s);
    const Block<T> d0 = before(d);
    const Block<T> w0 = before(w);
    const Block<T> d1 = before(d_after);
    std::vector<std::uint8_t> wanted;
    for (std::int32_t t = 0; t < tasks; ++t) wanted.push_back(t % 5 != 2 ? 1 : 0);
    std::vector<double> norms(static_cast<std::size_t>(tasks), -1.0);
    std::vector<double> rz(norms);
    std::vector<double> wRw(norms);
    ops.keep_gradients(wanted, hd.view(), g.view(), norms);
    ops.start_directions(wanted, g.view(), inverse.view(), r.view(), s.view(), d.view(), rz);
    ops.take_steps(wanted, T(0.5), step.view(), w.view(), d_after.view(), wRw);
    ops.synchronize();
    for (auto* block : {&g, &r, &s, &d, &w, &d_after}) block->fetch();
    for (std::int32_t t = 0; t < tasks; ++t) {
      const auto at = static_cast<std::size_t>(t);
      double sums[3] = {};
      double magnitudes[3] = {};
      for (std::int64_t j = 0; j < ops.weights(); ++j) {
        if (wanted[at] == 0) {
          EXPECT_EQ(g(j, t), static_cast<double>(g0(j, t)));
          EXPECT_EQ(r(j, t), static_cast<double>(r0(j, t)));
          EXPECT_EQ(s(j, t), static_cast<double>(s0(j, t)));
          EXPECT_EQ(d(j, t), static_cast<double>(d0(j, t)));
          EXPECT_EQ(w(j, t), static_cast<double>(w0(j, t)));
          EXPECT_EQ(d_after(j, t), static_cast<double>(d1(j, t)));
          continue;
        }
        const double gradient = hd(j, t);
        const double weight = static_cast<double>(w0(j, t)) + step(j, t);
        const double ridge = bias > 0 && j == problem.shape.columns ? 0.5 : 1;
        EXPECT_EQ(g(j, t), gradient);
        EXPECT_EQ(r(j, t), -gradient);
        EXPECT_EQ(s(j, t), 0);
        expect_close<T>(d(j, t), -inverse(j, t) * gradient, 8, "d");
        expect_close<T>(w(j, t), weight, 8, "w");
        EXPECT_EQ(d_after(j, t), w(j, t));
        const double terms[3] = {gradient * gradient, inverse(j, t) * gradient * gradient, ridge * weight * weight};
        for (int k = 0; k < 3; ++k) {
          sums[k] += terms[k];
          magnitudes[k] += std::abs(terms[k]);
        }
      }
      if (wanted[at] == 0) continue;
      expect_close<T>(norms[at], sums[0], magnitudes[0], "|g|^2");
      expect_close<T>(rz[at], sums[1], magnitudes[1], "r'd");
      expect_close<T>(wRw[at], sums[2], magnitudes[2], "w'Rw");
    }
  });
}

TYPED_TEST(Steps, KeptTasksStandSideBySide) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    Random random(8);
    Guarded<T> from(ops.weights(), tasks, ops.device());
    from.fill(random);
    from.send();
    std::vector<std::int32_t> keep;
    for (std::int32_t t = tasks - 1; t >= 0; t -= 2) keep.push_back(t);
    Guarded<T> to(ops.weights(), static_cast<std::int32_t>(keep.size()), ops.device());
    to.send();
    ops.keep_tasks(from.view(), keep, to.view());
    ops.synchronize();
    to.fetch();
    for (std::int64_t i = 0; i < ops.weights(); ++i)
      for (std::size_t t = 0; t < keep.size(); ++t) ASSERT_EQ(to(i, static_cast<std::int32_t>(t)), from(i, keep[t]));
    const Block<T> untouched = from.snapshot();
    Guarded<T> fresh(ops.weights(), static_cast<std::int32_t>(keep.size()), ops.device());
    fresh.fill(random);
    fresh.send();
    ops.place_tasks(fresh.view(), keep, from.view());
    ops.synchronize();
    from.fetch();
    for (std::int64_t i = 0; i < ops.weights(); ++i) {
      for (std::size_t t = 0; t < keep.size(); ++t) ASSERT_EQ(from(i, keep[t]), fresh(i, static_cast<std::int32_t>(t)));
      for (std::int32_t t = tasks - 2; t >= 0; t -= 2) ASSERT_EQ(from(i, t), static_cast<double>(untouched(i, t)));
    }
  });
}

}  // namespace linear_steps_test
}  // namespace sheaf::linear
