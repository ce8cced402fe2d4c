// The verbs of rescoring on every device, against loops over all rows; and SVMs at their optimum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "devices.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/training/ops.hpp"
#include "rescore/training/svm.hpp"

namespace sheaf::rescore {
namespace rescore_ops_test {

/// Targets, some of which are correct, and decoys, in three training parts.
template <class T>
struct Case {
  DenseMatrix<T> x;
  std::vector<std::int8_t> labels;
  std::vector<std::vector<std::uint16_t>> bins;

  Case(std::int64_t rows, std::int64_t features, std::uint64_t seed) : x{rows, features, Array<T>(rows * features)} {
    Random random(seed);
    bins.assign(3, {});
    for (std::int64_t i = 0; i < rows; ++i) {
      const bool target = random.uniform() < 0.5;
      const bool correct = target && random.uniform() < 0.4;
      labels.push_back(target ? 1 : -1);
      for (std::int64_t j = 0; j < features; ++j)
        x.values[i * features + j] = static_cast<T>(random.normal() + (correct && j % 2 == 0 ? 1.5 : 0));
      const auto fold = random.below(3);
      for (std::uint64_t f = 0; f < 3; ++f)
        bins[f].push_back(fold == f ? 0 : static_cast<std::uint16_t>(1 + random.below(2)));
    }
  }

  double score(std::int64_t i, const std::vector<double>& w) const {
    double z = w.back();
    for (std::int64_t j = 0; j < x.columns; ++j)
      z += static_cast<double>(x.values[i * x.columns + j]) * w[static_cast<std::size_t>(j)];
    return z;
  }
  std::unique_ptr<RescoreOps<T>> ops(const Context& context) const {
    auto result = make_rescore_ops<T>(context, x, labels);
    for (std::int32_t f = 0; f < 3; ++f) result->set_part(f, bins[static_cast<std::size_t>(f)]);
    return result;
  }
};

std::vector<std::vector<double>> random_weights(std::size_t count, std::int64_t features, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> weights(count, std::vector<double>(static_cast<std::size_t>(features) + 1));
  for (auto& w : weights)
    for (auto& value : w) value = static_cast<float>(random.normal());
  return weights;
}

const std::vector<std::int64_t> sizes{1, 2, 31, 32, 33, 1000, 70001};

template <class T>
class RescoreVerbs : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RescoreVerbs, Types);

TYPED_TEST(RescoreVerbs, Scores) {
  for (const Device device : test::devices()) {
    const Context context(Context::Options{.device = device, .threads = 2});
    for (const std::int64_t rows : sizes) {
      const Case<TypeParam> one(rows, 5, 1);
      const auto ops = one.ops(context);
      const auto w = random_weights(3, 5, 2);
      std::vector<std::uint16_t> which;
      for (std::int64_t i = 0; i < rows; ++i) which.push_back(static_cast<std::uint16_t>(i % 3));
      const auto scores = ops->score(w, which).to(Device::cpu());
      for (std::int64_t i = 0; i < rows; ++i)
        EXPECT_NEAR(scores[i], one.score(i, w[static_cast<std::size_t>(i % 3)]), 2e-5);
    }
  }
}

/// By q-values of all rows of the query.
template <class T>
Accepted plain_accept(const Case<T>& one, const AcceptQuery& query, std::span<const double> scores) {
  std::vector<std::pair<double, std::uint8_t>> all;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (is_counted(query.bin, one.bins[static_cast<std::size_t>(query.part)][i]))
      all.emplace_back(scores[i], one.labels[i] > 0 ? 1 : 0);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<double> sorted;
  std::vector<std::uint8_t> targets;
  for (const auto& [score, target] : all) {
    sorted.push_back(score);
    targets.push_back(target);
  }
  const auto q = q_values({sorted, targets}, {.plus_one = query.plus_one});
  Accepted result;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (targets[i] != 0 && (q[i] < query.limit || (query.inclusive && q[i] == query.limit))) ++result.targets;
  return result;
}

TYPED_TEST(RescoreVerbs, AcceptsTheTargetsOfLowQValues) {
  for (const Device device : test::devices()) {
    const Context context(Context::Options{.device = device, .threads = 2});
    for (const std::int64_t rows : sizes) {
      const Case<TypeParam> one(rows, 4, 3);
      const auto ops = one.ops(context);
      auto w = random_weights(40, 4, 4);
      for (auto& value : w[0]) value = 1;
      for (auto& value : w[1]) value = 0;  // all tie
      std::vector<AcceptQuery> queries;
      for (std::int32_t k = 0; k < 40; ++k)
        queries.push_back({k % 3, k % 4 == 3 ? 1 + k % 2 : 0, k % 5 == 0 ? 0.3 : 0.05, k % 2 == 0, k % 7 == 0});
      const auto accepted = ops->accept(queries, w);
      for (std::size_t k = 0; k < queries.size(); ++k) {
        const auto scores = ops->score(std::span(w).subspan(k, 1), {}).to(Device::cpu());
        EXPECT_EQ(accepted[k].targets, plain_accept(one, queries[k], scores.span()).targets) << rows << " " << k;
        if (queries[k].bin != 0) continue;
        // Exactly these are marked.
        const auto parts = static_cast<std::size_t>(queries[k].part) + 1;
        const auto marked = ops->mark_positives(std::vector(parts, w[k]), std::vector(parts, accepted[k].above));
        ASSERT_EQ(marked.size(), parts);
        EXPECT_EQ(marked.back(), accepted[k].targets);
      }
    }
  }
}

SvmTask svm_task(std::int32_t part, double positive_cost, double negative_cost) {
  SvmTask task{part, std::vector<double>(12, 0.0)};
  for (const std::int32_t bin : {1, 2}) {
    task.costs[code_of(bin, positive)] = positive_cost;
    task.costs[code_of(bin, decoy)] = -negative_cost;
  }
  return task;
}

/// Loss, gradient and Hessian of one SVM by a loop over all rows.
struct PlainSums {
  double loss = 0;
  std::vector<double> gradient, hessian;

  template <class T>
  PlainSums(const Case<T>& one, const SvmTask& task, const std::vector<std::uint8_t>& positives,
            const std::vector<double>& w)
      : gradient(w.size(), 0.0), hessian(w.size() * w.size(), 0.0) {
    for (std::int64_t i = 0; i < one.x.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const auto bin = one.bins[static_cast<std::size_t>(task.part)][row];
      const Role role = one.labels[row] < 0 ? decoy : positives[row] != 0 ? positive : other_target;
      const double cost = bin == 0 ? 0 : task.costs[code_of(bin, role)];
      if (cost == 0) continue;
      const double y = cost > 0 ? 1 : -1;
      const double slack = 1 - y * one.score(i, w);
      if (slack <= 0) continue;
      loss += std::abs(cost) * slack * slack / 2;
      std::vector<double> xi(w.size(), 1.0);
      for (std::size_t j = 0; j + 1 < w.size(); ++j)
        xi[j] = static_cast<double>(one.x.values[i * one.x.columns + static_cast<std::int64_t>(j)]);
      for (std::size_t a = 0; a < w.size(); ++a) {
        gradient[a] -= cost * slack * xi[a];
        for (std::size_t b = 0; b <= a; ++b) hessian[a * w.size() + b] += std::abs(cost) * xi[a] * xi[b];
      }
    }
  }
};

TYPED_TEST(RescoreVerbs, PassSumsLossesGradientsAndHessians) {
  constexpr std::int64_t features = 6;
  for (const Device device : test::devices()) {
    const Context context(Context::Options{.device = device, .threads = 2});
    for (const std::int64_t rows : sizes) {
      const Case<TypeParam> one(rows, features, 5);
      const auto ops = one.ops(context);
      std::vector<SvmTask> tasks;
      for (std::int32_t t = 0; t < 20; ++t) tasks.push_back(svm_task(t % 3, 1 + t, 0.5 + t % 4));
      ops->set_svms(0, tasks);
      std::vector<std::uint8_t> positives(static_cast<std::size_t>(rows));
      std::vector<double> hessians(tasks.size() * 49, 0.0);
      for (std::uint64_t round = 0; round < 3; ++round) {  // Hessians follow changes of weights and of positives
        for (std::size_t i = 0; i < positives.size(); ++i) positives[i] = (i + round) % 3 == 0 ? 1 : 0;
        for (std::int32_t part = 0; part < 3; ++part) ops->mark_positives(part, positives);
        const auto w = random_weights(tasks.size(), features, 6 + round);
        const auto sums = ops->pass(0, w, hessians);
        for (std::size_t t = 0; t < tasks.size(); t += 7) {
          const PlainSums plain(one, tasks[t], positives, w[t]);
          const double scale = 1e-5 * (1 + plain.loss);
          EXPECT_NEAR(sums.losses[t], plain.loss, scale);
          for (std::size_t j = 0; j < 7; ++j) EXPECT_NEAR(sums.gradients[t * 7 + j], plain.gradient[j], scale);
          for (std::size_t a = 0; a < 7; ++a)
            for (std::size_t b = 0; b <= a; ++b)
              EXPECT_NEAR(hessians[t * 49 + a * 7 + b], plain.hessian[a * 7 + b], scale);
        }
      }
    }
  }
}

TYPED_TEST(RescoreVerbs, SvmsEndAtTheOptimumAndGoOnFromThere) {
  for (const Device device : test::devices()) {
    const Context context(Context::Options{.device = device, .threads = 2});
    const Case<TypeParam> one(3000, 8, 7);
    const auto ops = one.ops(context);
    std::vector<std::uint8_t> positives(3000);
    std::vector<SvmTask> tasks;
    for (std::int32_t t = 0; t < 40; ++t) tasks.push_back(svm_task(t % 3, std::pow(10.0, t % 4 - 2), 1 + t % 5));
    Svms<TypeParam> svms(context, *ops, tasks);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < positives.size(); ++i)
        positives[i] =
            one.labels[i] > 0 && one.score(static_cast<std::int64_t>(i), std::vector<double>(9, 1.0)) > round;
      for (std::int32_t part = 0; part < 3; ++part) ops->mark_positives(part, positives);
      const auto& w = svms.fit();
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        const PlainSums at_zero(one, tasks[t], positives, std::vector<double>(9, 0.0));
        const PlainSums plain(one, tasks[t], positives, w[t]);
        double norm = 0;
        double start = 0;
        for (std::size_t j = 0; j < 9; ++j) {
          norm += std::pow(plain.gradient[j] + w[t][j], 2);
          start += std::pow(at_zero.gradient[j], 2);
        }
        EXPECT_LE(std::sqrt(norm / start), sizeof(TypeParam) == 4 ? 1e-4 : 1e-11) << t;
      }
    }
  }
}

TEST(RescoreThreads, SameBitsForAnyNumberOfThreads) {
  const Case<float> one(20000, 6, 8);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    const Context context(Context::Options{.threads = threads});
    const auto ops = one.ops(context);
    ops->mark_positives(std::vector<std::vector<double>>(1, std::vector<double>(7, 1.0)), std::vector{1.0});
    Svms<float> svms(context, *ops, {svm_task(0, 1, 3), svm_task(0, 0.1, 1)});
    results.push_back(svms.fit()[1]);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace rescore_ops_test
}  // namespace sheaf::rescore
