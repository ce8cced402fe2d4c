// The verbs of multinomial and generalised linear models on every device, against plain loops in double.
#include <cmath>
#include <vector>

#include "linear_verbs.hpp"

namespace sheaf::linear {
namespace glm_ops_test {

template <class T>
class GlmVerbs : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(GlmVerbs, Elements);

/// Some tasks of some classes each: two weight vectors, three targets.
struct Shape {
  std::int32_t classes, tasks;

  explicit Shape(std::int32_t size) : classes(std::max(2, std::min(size, 33))), tasks(size <= 8 ? 1 + size % 3 : 1) {}
  std::int32_t columns() const { return classes * tasks; }
};

Sheaf make_sheaf(std::int64_t examples, const Shape& shape) {
  Random random(3);
  Sheaf sheaf;
  sheaf.examples = examples;
  sheaf.weight_columns = 2;
  sheaf.target_columns = 3;
  for (std::int64_t i = 0; i < examples; ++i) {
    for (int c = 0; c < 2; ++c) sheaf.row_weights.push_back(static_cast<float>(random.below(3)));
    for (int c = 0; c < 3; ++c)
      sheaf.targets.push_back(static_cast<double>(random.below(static_cast<std::uint64_t>(shape.classes))));
  }
  for (std::int32_t t = 0; t < shape.tasks; ++t) sheaf.tasks.push_back({t % 2, t % 3, 0.5 + t, 0.5 + t, 0});
  return sheaf;
}

double cost_of(const Sheaf& sheaf, std::int64_t i, std::int32_t t) {
  return (0.5 + t) * static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(i * 2 + t % 2)]);
}

/// The probabilities of one row and task from their definition.
template <class Decision>
std::vector<double> probabilities_of(std::int32_t classes, Decision decision) {
  double most = decision(0);
  for (std::int32_t k = 1; k < classes; ++k) most = std::max(most, decision(k));
  std::vector<double> p;
  double sum = 0;
  for (std::int32_t k = 0; k < classes; ++k) sum += p.emplace_back(std::exp(decision(k) - most));
  for (double& value : p) value /= sum;
  return p;
}

TYPED_TEST(GlmVerbs, SoftmaxHasTheLossAndItsSlopes) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const Shape shape(size);
    const Sheaf sheaf = make_sheaf(ops.examples(), shape);
    ops.load_tables(sheaf);
    ops.choose_tasks(sheaf.tasks);
    Random random(5);
    Guarded<T> z(ops.examples(), shape.columns(), ops.device());
    Guarded<T> step(ops.examples(), shape.columns(), ops.device());
    Guarded<T> slopes(ops.examples(), shape.columns(), ops.device());
    Guarded<T> probabilities(ops.examples(), shape.columns(), ops.device());
    for (auto* block : {&z, &step}) block->fill(random);
    for (auto* block : {&z, &step, &slopes, &probabilities}) block->send();
    for (const bool with_step : {false, true}) {
      std::vector<double> values(static_cast<std::size_t>(shape.tasks), -1.0);
      std::vector<std::uint8_t> wanted(values.size(), 1);
      if (with_step) wanted[0] = 0;  // keeps what the first round left
      ops.softmax(shape.classes, z.view(), with_step ? step.view() : BlockView<T>{}, with_step ? wanted : Wanted{},
                  values, slopes.view(), probabilities.view());
      ops.synchronize();
      slopes.fetch();
      probabilities.fetch();
      for (std::int32_t t = 0; t < shape.tasks; ++t) {
        const bool stepped = with_step && t > 0;
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t i = 0; i < ops.examples(); ++i) {
          const auto decision = [&](std::int32_t k) {
            const std::int32_t c = t * shape.classes + k;
            return z(i, c) + (stepped ? step(i, c) : 0.0);
          };
          const auto p = probabilities_of(shape.classes, decision);
          const auto label = static_cast<std::size_t>(sheaf.targets[static_cast<std::size_t>(i * 3 + t % 3)]);
          const double cost = cost_of(sheaf, i, t);
          sum -= cost * std::log(p[label]);
          magnitude += cost * (1 + std::abs(std::log(p[label])));
          for (std::int32_t k = 0; k < shape.classes; ++k) {
            const double expected = cost * (p[static_cast<std::size_t>(k)] - (static_cast<std::size_t>(k) == label));
            expect_close<T>(slopes(i, t * shape.classes + k), expected, cost, "slope");
            expect_close<T>(probabilities(i, t * shape.classes + k), p[static_cast<std::size_t>(k)], 1, "probability");
          }
        }
        if (with_step && t == 0) sum = 0;
        expect_close<T>(values[static_cast<std::size_t>(t)], sum, magnitude, "loss");
      }
    }
  });
}

TYPED_TEST(GlmVerbs, SoftmaxCurvatureIsTheSecondDerivative) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const Shape shape(size);
    const Sheaf sheaf = make_sheaf(ops.examples(), shape);
    ops.load_tables(sheaf);
    ops.choose_tasks(sheaf.tasks);
    Random random(6);
    Guarded<T> z(ops.examples(), shape.columns(), ops.device());
    Guarded<T> p(ops.examples(), shape.columns(), ops.device());
    Guarded<T> q(ops.examples(), shape.columns(), ops.device());
    for (auto* block : {&z, &q}) block->fill(random);
    for (auto* block : {&z, &p, &q}) block->send();
    const Block<T> before = q.snapshot();
    std::vector<double> values(static_cast<std::size_t>(shape.tasks));
    std::vector<std::uint8_t> wanted(values.size(), 1);
    wanted.back() = shape.tasks > 1 ? 0 : 1;
    ops.softmax(shape.classes, z.view(), {}, {}, values, {}, p.view());
    ops.softmax_curvature(shape.classes, p.view(), wanted, q.view());
    ops.synchronize();
    q.fetch();
    for (std::int64_t i = 0; i < ops.examples(); ++i)
      for (std::int32_t t = 0; t < shape.tasks; ++t) {
        const std::int32_t first = t * shape.classes;
        const auto share = probabilities_of(shape.classes, [&](std::int32_t k) { return z(i, first + k); });
        double mean = 0;
        for (std::int32_t k = 0; k < shape.classes; ++k)
          mean += share[static_cast<std::size_t>(k)] * static_cast<double>(before(i, first + k));
        for (std::int32_t k = 0; k < shape.classes; ++k) {
          const auto direction = static_cast<double>(before(i, first + k));
          const double expected = wanted[static_cast<std::size_t>(t)] != 0
                                      ? cost_of(sheaf, i, t) * share[static_cast<std::size_t>(k)] * (direction - mean)
                                      : direction;
          expect_close<T>(q(i, first + k), expected, cost_of(sheaf, i, t) * (1 + std::abs(mean)), "curvature");
        }
      }
  });
}

TYPED_TEST(GlmVerbs, SoftmaxDiagonalIsTheCurvatureOfAClassByItself) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const Shape shape(size);
    const Sheaf sheaf = make_sheaf(ops.examples(), shape);
    ops.load_tables(sheaf);
    ops.choose_tasks(sheaf.tasks);
    Random random(9);
    Guarded<T> p(ops.examples(), shape.columns(), ops.device());
    p.fill(random);
    p.send();
    const Block<T> before = p.snapshot();
    ops.softmax_diagonal(shape.classes, p.view());
    ops.synchronize();
    p.fetch();
    for (std::int64_t i = 0; i < ops.examples(); ++i)
      for (std::int32_t c = 0; c < shape.columns(); ++c) {
        const auto share = static_cast<double>(before(i, c));
        const double cost = cost_of(sheaf, i, c / shape.classes);
        expect_close<T>(p(i, c), cost * share * (1 - share), cost * (std::abs(share) + share * share), "diagonal");
      }
  });
}

TYPED_TEST(GlmVerbs, CenteredClassesAddUpToZero) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const Shape shape(size);
    Random random(10);
    Guarded<T> w(ops.weights(), shape.columns(), ops.device());
    w.fill(random);
    w.send();
    const Block<T> before = w.snapshot();
    ops.center_classes(shape.classes, w.view());
    ops.synchronize();
    w.fetch();
    for (std::int64_t j = 0; j < ops.weights(); ++j)
      for (std::int32_t t = 0; t < shape.tasks; ++t) {
        double mean = 0;
        for (std::int32_t k = 0; k < shape.classes; ++k)
          mean += static_cast<double>(before(j, t * shape.classes + k)) / shape.classes;
        for (std::int32_t k = 0; k < shape.classes; ++k) {
          const auto own = static_cast<double>(before(j, t * shape.classes + k));
          expect_close<T>(w(j, t * shape.classes + k), own - mean, std::abs(own) + 1, "centered");
        }
      }
  });
}

TYPED_TEST(GlmVerbs, PredictionsOfClassesAreLogOdds) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t size) {
    const Shape shape(size);
    Random random(7);
    Guarded<T> z(ops.examples(), shape.columns(), ops.device());
    z.fill(random);
    z.send();
    const Block<T> before = z.snapshot();
    ops.predict(Loss::logistic, T(0), shape.classes, z.view());
    ops.synchronize();
    z.fetch();
    for (std::int64_t i = 0; i < ops.examples(); ++i)
      for (std::int32_t t = 0; t < shape.tasks; ++t) {
        const auto decision = [&](std::int32_t k) { return static_cast<double>(before(i, t * shape.classes + k)); };
        const auto p = probabilities_of(shape.classes, decision);
        for (std::int32_t k = 0; k < shape.classes; ++k) {
          double others = 0;
          for (std::int32_t j = 0; j < shape.classes; ++j) others += j == k ? 0.0 : p[static_cast<std::size_t>(j)];
          const double expected = std::log(p[static_cast<std::size_t>(k)]) - std::log(others);
          expect_close<T>(z(i, t * shape.classes + k), expected, 10 + std::abs(expected), "log odds");
        }
      }
  });
}

TYPED_TEST(GlmVerbs, PredictionsOfNumbersAreMeans) {
  using T = TypeParam;
  for_all<T>([](const Problem<T>&, LinearOps<T>& ops, T, std::int32_t tasks) {
    for (const Loss loss : {Loss::squared, Loss::poisson, Loss::gamma_inverse, Loss::tweedie, Loss::probit}) {
      Random random(8);
      Guarded<T> z(ops.examples(), tasks, ops.device());
      z.fill(random);
      z.send();
      const Block<T> before = z.snapshot();
      ops.predict(loss, T(1.5), 1, z.view());
      ops.synchronize();
      z.fetch();
      with_glm_loss(loss, [&](auto functor) {
        for (std::int64_t i = 0; i < ops.examples(); ++i)
          for (std::int32_t t = 0; t < tasks; ++t) {
            const double expected = functor.prediction(static_cast<double>(before(i, t)), 1.5);
            expect_close<T>(z(i, t), expected, 10 * std::abs(expected), to_string(loss).data());
          }
      });
    }
  });
}

/// Losses far from 0 neither overflow nor lose the loss of a class that is all but certain.
TYPED_TEST(GlmVerbs, SoftmaxStaysExactAtExtremes) {
  using T = TypeParam;
  for (const Device device : test::devices()) {
    const Problem<T> problem({3, 1, false, 1});
    Context::Options options;
    options.device = device;
    const auto ops = make_ops<T>(Context(options), problem.dataset, T(0));
    Sheaf sheaf;
    sheaf.examples = 3;
    sheaf.targets = {0, 1, 2};
    sheaf.tasks = {{0, 0, 1, 1, 0}};
    ops->load_tables(sheaf);
    ops->choose_tasks(sheaf.tasks);
    Block<T> z(3, 3);
    z(0, 0) = T(80);   // right
    z(1, 0) = T(60);   // wrong
    z(2, 2) = T(1e6);  // right, beyond any exponential
    const Block<T> there = z.to(device);
    Block<T> slopes(3, 3, device);
    std::vector<double> values(1);
    ops->softmax(3, there.view(), {}, {}, values, slopes.view(), {});
    ops->synchronize();
    const auto here = slopes.to(Device::cpu());
    EXPECT_NEAR(values[0], 60, 1e-4);
    EXPECT_NEAR(static_cast<double>(here(0, 0)), -2 * std::exp(-80.0), 1e-5 * std::exp(-80.0));
    EXPECT_NEAR(static_cast<double>(here(1, 1)), -1, 1e-6);
    EXPECT_EQ(static_cast<double>(here(2, 2)), 0);
  }
}

}  // namespace glm_ops_test
}  // namespace sheaf::linear
