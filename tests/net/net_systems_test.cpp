// Systems of many weights at once, and models that are trained with them: by one thread, which keeps products, and by
// the threads of a team in memory that is given to it, as on a GPU.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "linear/net/columns_cpu.hpp"
#include "linear/net/model/model_solver.hpp"

namespace sheaf::linear {
namespace net_systems_test {

std::size_t index(std::int64_t at) { return static_cast<std::size_t>(at); }

/// Stands for a warp of a block: here a thread by itself.
struct PartOfTeam : OneThread {
  static constexpr bool fetches_ahead = true;
  template <class V>
  static V sum(V value) {
    return value;
  }
};

/// Threads that meet as those of a GPU's block do.
struct Team {
  static constexpr std::int32_t threads = 2;
  static constexpr bool fetches_ahead = true;
  static constexpr std::int32_t epochs_between_looks = 16;
  struct Meeting {
    std::barrier<> barrier{threads};
    double numbers[threads] = {};
  };

  Meeting* meeting = nullptr;
  std::int32_t own = 0;

  std::int32_t rank() const { return own; }
  static constexpr std::int32_t size() { return threads; }
  void sync() const { meeting->barrier.arrive_and_wait(); }
  static bool stopped() { return false; }
  template <class V>
  V sum(V value) const {
    double all = 0;
    with_all(double(value), [&](double number) { all += number; });
    return static_cast<V>(all);
  }
  double largest(double value) const {
    double most = value;
    with_all(value, [&](double number) { most = std::max(most, number); });
    return most;
  }
  std::int32_t part_rank() const { return own; }
  static constexpr std::int32_t parts() { return threads; }
  static PartOfTeam part() { return {}; }
  bool owns(std::int32_t row) const { return row % threads == own; }
  template <class T>
  std::int32_t list_nonzero(const T* w, std::int32_t count, std::int32_t* places) const {
    std::int32_t found = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      if (w[k] == 0) continue;
      if (own == 0) places[found] = k;
      ++found;
    }
    return found;
  }

 private:
  template <class Use>
  void with_all(double value, const Use& use) const {
    meeting->numbers[own] = value;
    sync();
    for (const double number : meeting->numbers) use(number);
    sync();
  }
};

/// run(team) in each thread of a team.
template <class Run>
void by_team(const Run& run) {
  Team::Meeting meeting;
  std::vector<std::jthread> threads;
  for (std::int32_t k = 0; k < Team::threads; ++k) threads.emplace_back([&, k] { run(Team{&meeting, k}); });
}

/// Random features, their products, and weights with ends.
struct System {
  std::int32_t size;
  std::vector<double> products;
  std::vector<double> start, pulls, low, high;

  System(std::int32_t weights, bool twins, double reach) : size(weights), products(index(size * size)) {
    const std::int64_t rows = 2 * size;
    Random random(9);
    std::vector<double> x(index(size * rows));
    for (auto& value : x) value = random.normal();
    if (twins) std::copy_n(x.begin(), rows, x.begin() + size / 2 * rows);
    for (std::int32_t a = 0; a < size; ++a)
      for (std::int32_t b = 0; b < size; ++b)
        products[index(a * size + b)] =
            dot_of(x.data() + a * rows, x.data() + b * rows, rows) / static_cast<double>(rows);
    for (std::int32_t t = 0; t < size; ++t) {
      const double w = random.normal();
      start.push_back(std::clamp(w, -reach, reach));
      pulls.push_back(3 * random.normal());
      low.push_back(w > 0 ? 0 : -reach);
      high.push_back(w > 0 ? reach : 0);
    }
    if (twins) pulls[index(size / 2)] = pulls[0];
  }
  double product(std::int32_t a, std::int32_t b) const { return products[index(a * size + b)]; }

  template <class Weights>
  void load(const Weights& weights) const {
    for (std::int32_t a = 0; a < size; ++a)
      weights.set_weight(a, start[index(a)], pulls[index(a)], low[index(a)], high[index(a)]);
  }
  /// Weights within their ends, of which none is pulled but beyond one.
  void expect_best(const double* end) const {
    for (std::int32_t a = 0; a < size; ++a) {
      double left = pulls[index(a)];
      for (std::int32_t b = 0; b < size; ++b) left -= product(a, b) * (end[b] - start[index(b)]);
      EXPECT_GE(end[a], low[index(a)]) << a;
      EXPECT_LE(end[a], high[index(a)]) << a;
      EXPECT_GT(end[a] > low[index(a)] ? left : 0, -1e-8) << a << " of " << size;
      EXPECT_LT(end[a] < high[index(a)] ? left : 0, 1e-8) << a << " of " << size;
    }
  }
};

TEST(WeightSystem, WeightsAreBestWithinTheirEnds) {
  for (const std::int32_t size : {1, 2, 5, 33, 100, 257})
    for (const double reach : {HUGE_VAL, 1.0, 0.05}) {
      const System system(size, false, reach);
      std::vector<double> memory(index(SystemRoom::numbers(size)));
      const auto fill = [&](const auto& team) {
        const WeightSystem weights(team, memory.data(), size);
        if (team.rank() == 0) {
          std::copy(system.products.begin(), system.products.end(), weights.row(0));
          system.load(weights);
        }
        team.sync();
        weights.solve(1e-9);
        if (team.rank() == 0) system.expect_best(weights.weights);
      };
      fill(OneThread{});
      by_team(fill);
    }
}

TEST(GramSystem, SystemsAreOfTheFeaturesPlacedInThem) {
  for (const bool twins : {false, true}) {
    constexpr std::int32_t size = 12;
    const System system(size, twins, HUGE_VAL);
    GramSystem gram;
    for (std::int32_t k = 0; k < size; ++k) {  // in another order than that of the system
      const std::int32_t feature = (k * 5) % size;
      gram.add(100 + feature,
               [&](std::int64_t other) { return system.product(feature, static_cast<std::int32_t>(other) - 100); });
    }
    gram.begin(size);
    for (std::int32_t t = 0; t < size; ++t) gram.place(t, 100 + t);
    gram.fill([](std::int32_t) { return 0.0; });
    system.load(gram.system());
    gram.system().solve(1e-9);
    system.expect_best(gram.system().weights);
  }
}

/// A table of some numbers that follow its first features.
template <class T>
struct Problem {
  static constexpr std::int64_t rows = 60;
  static constexpr std::int32_t features = 40;
  std::vector<T> x, y, means, variances, limits;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> entry_rows;
  std::vector<T> entries;
  ModelTask<T> task;

  explicit Problem(double quantile, double width, double alpha1, double alpha2) {
    Random random(21);
    for (std::int32_t j = 0; j < features; ++j) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        const bool there = random.uniform() < 0.6;
        x.push_back(there ? static_cast<T>(random.normal()) : T(0));
        sum += x.back();
        if (!there) continue;
        entries.push_back(x.back());
        entry_rows.push_back(static_cast<std::int32_t>(i));
      }
      offsets.push_back(std::ssize(entries));
      for (std::int64_t i = 0; i < rows; ++i) {
        const double away = double(x[index(j * rows + i)]) - sum / rows;
        squares += away * away;
      }
      means.push_back(static_cast<T>(sum / rows));
      variances.push_back(static_cast<T>(squares / rows));
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      double score = 5 + random.normal();
      for (std::int64_t j = 0; j < 6; ++j) score += double(x[index(j * rows + i)]);
      y.push_back(static_cast<T>(score));
    }
    task.examples = rows;
    task.targets = y.data();
    task.total = rows;
    task.means = means.data();
    task.variances = variances.data();
    task.loss = {quantile, width};
    task.alpha1 = alpha1;
    task.alpha2 = alpha2;
  }
  void limit(double reach) {
    for (std::int32_t j = 0; j < features; ++j) limits.insert(limits.end(), {T(-reach), T(reach)});
    task.limits = limits.data();
  }
  DenseColumns<T> dense() const { return {x.data(), rows}; }
  SparseColumns<T> sparse() const { return {offsets.data(), entry_rows.data(), entries.data()}; }
};

/// A model of all features, and the memory that training it takes.
template <class T>
struct Trained {
  static constexpr std::int64_t rows = Problem<T>::rows;
  static constexpr std::int32_t features = Problem<T>::features;
  std::vector<T> w = std::vector<T>(features), z = std::vector<T>(rows), u = std::vector<T>(rows);
  std::vector<double> over_rows = std::vector<double>(index(rows * row_vectors<Quantile>(1)));
  std::vector<double> over_features = std::vector<double>(index(features * feature_vectors(1)));
  std::vector<ColumnPlace> places = std::vector<ColumnPlace>(features);
  std::vector<std::int32_t> list, active = std::vector<std::int32_t>(features);
  std::vector<double> systems = std::vector<double>(index(SystemRoom::numbers(features)));
  double intercept = 0;
  SolveReport report;

  Trained() {
    for (std::int32_t j = 0; j < features; ++j) list.push_back(j);
  }
  SystemRoom room() { return {systems.data(), features}; }

  template <class Threads, class Columns>
  void train(const Threads& team, const Columns& x, const ModelTask<T>& task, double tolerance) {
    const auto vectors = make_row_vectors<Quantile>(over_rows.data(), rows, 1);
    const auto working = make_working_set(list.data(), features, over_features.data(), places.data(), active.data(), 1);
    const SolveOrder order{0, tolerance, {.max_epochs = 10000}};
    const auto own = solve_on_working_set<Quantile>(team, x, task, vectors, working, order, w.data(), z.data(),
                                                    u.data(), 1, &intercept);
    if (team.rank() == 0) report = own;
  }

  double gap(const Problem<T>& problem) const {
    const auto& task = problem.task;
    FeatureSums sums;
    for (std::int32_t j = 0; j < features; ++j) {
      double g = 0;
      for (std::int64_t i = 0; i < rows; ++i) g += double(problem.x[index(j * rows + i)]) * double(u[index(i)]);
      if (task.limits != nullptr)
        sums.add(g / task.total, w[index(j)], task.penalty(j), 1, task.limits_of(j));
      else
        sums.add(g / task.total, w[index(j)], task.penalty(j), 1);
    }
    const double scale = dual_scale<Quantile>(sums, report.rows, task.limits != nullptr);
    double dual = 0;
    for (std::int64_t i = 0; i < rows; ++i) dual += dual_term<Quantile>(task, i, scale * double(u[index(i)]));
    return duality_gap(sums, report.rows, scale, dual / task.total);
  }
};

template <class T>
void expect_trained(const Trained<T>& model, const Problem<T>& problem, double tolerance) {
  EXPECT_LE(model.gap(problem), tolerance);
  EXPECT_LT(model.report.epochs, 2000);
}

template <class T>
class QuantileModels : public testing::Test {
 protected:
  static constexpr double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-6;

  /// Some problems and both kinds of columns.
  template <class Use>
  static void each_problem(const std::vector<double>& quantiles, const Use& use) {
    for (const double quantile : quantiles)
      for (const double alpha2 : {0.0, 0.01})
        for (const double reach : {HUGE_VAL, 0.5}) {
          SCOPED_TRACE(testing::Message() << quantile << ", alpha2 " << alpha2 << ", limits " << reach);
          Problem<T> problem(quantile, 2 * tolerance, 0.02, alpha2);
          if (reach < HUGE_VAL) problem.limit(reach);
          use(problem, problem.dense());
          use(problem, problem.sparse());
        }
  }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(QuantileModels, Precisions);

TYPED_TEST(QuantileModels, SystemsReachTheGapInGivenMemoryToo) {
  this->each_problem({0.5, 0.9}, [&](const auto& problem, const auto& x) {
    Trained<TypeParam> kept, given;
    GramSystem gram;
    kept.train(Single{&gram}, x, problem.task, this->tolerance);
    given.train(WithRoom<Single>{{}, given.room()}, x, problem.task, this->tolerance);
    expect_trained(kept, problem, this->tolerance);
    expect_trained(given, problem, this->tolerance);
  });
}

TYPED_TEST(QuantileModels, TeamsReachTheGap) {
  this->each_problem({0.9}, [&](const auto& problem, const auto& x) {
    Trained<TypeParam> model;
    by_team([&](const Team& team) {
      model.train(WithRoom<Team>{team, model.room()}, x, problem.task, this->tolerance);
    });
    expect_trained(model, problem, this->tolerance);
  });
}

}  // namespace net_systems_test
}  // namespace sheaf::linear
