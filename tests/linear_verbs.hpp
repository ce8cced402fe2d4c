// Code shared by the tests of the linear family's verbs: tables of awkward sizes, blocks with sentinels behind them,
// and a walk over every device in SHEAF_TEST_DEVICES.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/random.hpp"
#include "core/team/alone.hpp"
#include "devices.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {

inline constexpr std::int64_t guard_rows = 3;
inline constexpr double sentinel = 12345.0;

/// A block on a device with guard rows behind it that no verb may touch.
template <class T>
class Guarded {
 public:
  Guarded(std::int64_t rows, std::int32_t tasks, Device device)
      : rows_(rows), host_(rows + guard_rows, tasks), device_(device) {
    for (std::int64_t i = 0; i < host_.rows(); ++i)
      for (std::int32_t t = 0; t < host_.stride(); ++t)
        set(i, t, i < rows ? std::numeric_limits<T>::quiet_NaN() : T(sentinel));
  }
  void fill(Random& random) {
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int32_t t = 0; t < host_.stride(); ++t) set(i, t, static_cast<T>(random.normal()));
  }
  void square() {
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int32_t t = 0; t < host_.tasks(); ++t) set(i, t, host_(i, t) * host_(i, t));
  }
  /// Every `nth` row becomes zero.
  void clear_rows(std::int64_t nth) {
    for (std::int64_t i = 0; i < rows_; i += nth)
      for (std::int32_t t = 0; t < host_.stride(); ++t) set(i, t, T(0));
  }
  void send() { on_device_ = host_.to(device_); }
  BlockView<T> view() {
    auto view = on_device_.view();
    view.rows = rows_;
    return view;
  }
  /// Brings the result back and checks the guard rows.
  void fetch() {
    host_ = on_device_.to(Device::cpu());
    for (std::int64_t i = rows_; i < host_.rows(); ++i)
      for (std::int32_t t = 0; t < host_.stride(); ++t)
        ASSERT_EQ(static_cast<const Block<T>&>(host_).view().data[i * host_.stride() + t], T(sentinel))
            << "written behind the end";
  }
  double operator()(std::int64_t i, std::int32_t t) const { return static_cast<double>(host_(i, t)); }
  std::int64_t rows() const { return rows_; }
  Block<T> snapshot() const { return host_.to(Device::cpu()); }

 private:
  void set(std::int64_t i, std::int32_t t, T value) { host_.view().data[i * host_.stride() + t] = value; }

  std::int64_t rows_;
  Block<T> host_;
  Block<T> on_device_;
  Device device_;
};

/// A dense table of the reference and the dataset made of it.
struct Case {
  std::int64_t rows, columns;
  bool sparse;
  double density;
};

template <class T>
struct Problem {
  Case shape;
  std::vector<double> x;
  Dataset<T> dataset;

  explicit Problem(const Case& c) : shape(c), x(static_cast<std::size_t>(c.rows * c.columns), 0.0) {
    Random random(7, static_cast<std::uint64_t>(c.rows * 1000 + c.columns));
    DenseMatrix<T> dense{c.rows, c.columns, Array<T>(c.rows * c.columns)};
    for (std::int64_t e = 0; e < dense.values.size(); ++e) {
      // Column 0 of sparse tables is full: a long column beside many short ones.
      const bool present = !c.sparse || e % c.columns == 0 || random.uniform() < c.density;
      dense.values[e] = present ? static_cast<T>(random.normal()) : T(0);
      x[static_cast<std::size_t>(e)] = static_cast<double>(dense.values[e]);
    }
    if (c.sparse)
      dataset.x = to_sparse(dense, 1);
    else
      dataset.x = std::move(dense);
  }
  double at(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i * shape.columns + j)]; }
};

inline const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {0, 5, false, 1},      {0, 5, true, 0.3},    {1, 1, false, 1},      {1, 1, true, 1},
      {5, 0, false, 1},      {31, 33, false, 1},   {32, 32, true, 0.2},   {33, 31, true, 0.05},
      {33, 8, false, 1},     {257, 28, false, 1},  {70, 300, false, 1},   {5000, 3, false, 1},
      {3000, 40, true, 0.1}, {2500, 17, false, 1}, {40, 2000, true, 0.3}, {9000, 70, false, 1},
  };
  return list;
}
inline const std::vector<std::int32_t>& task_counts() {
  static const std::vector<std::int32_t> list{1, 2, 3, 5, 8, 31, 33, 64, 130};
  return list;
}

template <class T>
double tolerance() {
  return std::is_same_v<T, float> ? 2e-5 : 1e-12;
}

/// |got - wanted| against the sum of magnitudes that went into it. `place`: of the value, if there are many.
template <class T, class... Place>
void expect_close(double got, double wanted, double magnitude, const char* what, Place... place) {
  EXPECT_LE(std::abs(got - wanted), tolerance<T>() * (1 + magnitude))
      << what << fmt::format("({})", fmt::join(std::vector<std::int64_t>{place...}, ", ")) << " got " << got
      << " wanted " << wanted;
}

/// 0: as much as there is. A GPU also gets so little that X must be streamed.
template <class T>
std::vector<std::int64_t> memories(Device device, const Problem<T>& problem) {
  if (device.is_cpu()) return {0};
  return {0, std::max<std::int64_t>(1, matrix_bytes(problem.dataset.x) / 2)};
}

/// check(problem, ops, bias, tasks) for all of them, on every device.
template <class T, class Check>
void for_cases(std::span<const Case> cases, std::span<const std::int32_t> task_counts, const Check& check,
               Team* team = nullptr) {
  for (const Device device : test::devices())
    for (const Case& c : cases) {
      const Problem<T> problem(c);
      for (const std::int64_t memory : memories(device, problem))
        for (const T bias : {T(0), T(1.5)}) {
          Context::Options options;
          options.device = device;
          options.threads = 2;
          options.memory = memory;
          if (team != nullptr) options.memory = std::int64_t{1} << 32;
          options.team = team;
          const auto ops = make_ops<T>(Context(options), problem.dataset, bias);
          for (const std::int32_t tasks : task_counts) {
            SCOPED_TRACE(fmt::format("{} {}x{} sparse={} memory={} bias={} tasks={}", to_string(device), c.rows,
                                     c.columns, c.sparse, memory, bias, tasks));
            check(problem, *ops, bias, tasks);
            if (testing::Test::HasFailure()) return;
          }
        }
    }
}
/// Alone, and with rows in the slices of a team.
template <class T, class Check>
void for_all(const Check& check) {
  for_cases<T>(cases(), task_counts(), check);
  TeamOfOne team;
  for_cases<T>(cases(), std::vector<std::int32_t>{1, 3, 33}, check, &team);
}

}  // namespace sheaf::linear
