// Losses of the chosen tasks on CPU cores, with derivatives.
#pragma once

#include <vector>

#include "linear/losses/losses.hpp"
#include "linear/products/elements_cpu.hpp"
#include "linear/products/products_cpu.hpp"

namespace sheaf::linear {

/// The chosen tasks, column by column, padded to the stride with tasks that cost nothing.
template <class T>
struct Columns {
  std::vector<std::int32_t> rows, target;
  std::vector<T> positive, negative, loss_parameter;
};

/// The tables of a sheaf and the tasks chosen from it.
template <class T>
class TaskLosses {
 public:
  TaskLosses(std::int64_t examples, int threads) : examples_(examples), threads_(threads) {}

  void load_tables(const Sheaf& sheaf) {
    require(sheaf.examples == examples_, "a sheaf was made for another dataset");
    weight_columns_ = sheaf.weight_columns;
    target_columns_ = sheaf.target_columns;
    row_weights_ = converted<T, float>(sheaf.row_weights, threads_);
    if (sheaf.row_weights.empty()) {
      row_weights_ = Array<T>(examples_);
      std::fill(row_weights_.begin(), row_weights_.end(), T(1));
    }
    targets_ = converted<T, double>(sheaf.targets, threads_);
  }

  void choose_tasks(std::span<const Task> tasks) {
    columns_ = {};
    for (const Task& task : tasks) {
      columns_.rows.push_back(task.rows);
      columns_.target.push_back(task.target);
      columns_.positive.push_back(static_cast<T>(task.cost_positive));
      columns_.negative.push_back(static_cast<T>(task.cost_negative));
      columns_.loss_parameter.push_back(static_cast<T>(task.loss_parameter));
    }
    const auto stride = static_cast<std::size_t>(block_stride(static_cast<std::int32_t>(tasks.size())));
    columns_.rows.resize(stride, 0);
    columns_.target.resize(stride, 0);
    columns_.positive.resize(stride, T(0));
    columns_.negative.resize(stride, T(0));
    columns_.loss_parameter.resize(stride, T(0));
  }

  void count_rows(std::span<double> used, std::span<double> positive) {
    const auto stride = static_cast<std::int32_t>(columns_.rows.size());
    std::vector<double> counts(2 * columns_.rows.size());
    cpu::sum_over_rows(examples_, 2 * stride, threads_, counts, [&](Range range, double* sums) {
      cpu::over_rows(range, stride, [&](std::int64_t e, std::int32_t t) {
        const std::int64_t i = e / stride;
        const auto task = static_cast<std::size_t>(t);
        if (row_weights_[i * weight_columns_ + columns_.rows[task]] <= 0) return;
        sums[t] += 1;
        sums[stride + t] += targets_[i * target_columns_ + columns_.target[task]] > 0 ? 1 : 0;
      });
    });
    std::copy_n(counts.begin(), used.size(), used.begin());
    std::copy_n(counts.begin() + stride, positive.size(), positive.begin());
  }

  std::int32_t weight_columns() const { return weight_columns_; }

  // Target, cost and weight of a row for a chosen task that has one cost for all its rows.
  T target(std::int64_t row, std::size_t task) const { return targets_[row * target_columns_ + columns_.target[task]]; }
  T cost(std::int64_t row, std::size_t task) const { return weight(row, task) * columns_.positive[task]; }
  T weight(std::int64_t row, std::size_t task) const {
    return row_weights_[row * weight_columns_ + columns_.rows[task]];
  }
  std::int32_t weight_column(std::size_t task) const { return columns_.rows[task]; }
  double cost_of(std::size_t task) const { return static_cast<double>(columns_.positive[task]); }

  void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> curvatures) {
    const auto tiles = wanted_tiles(z.stride, wanted);
    with_loss(loss, [&](auto functor) {
      cpu::sum_over_rows(z.rows, z.stride, threads_, values, [&](Range range, double* sums) {
        const LossBlocks blocks{z, step, slopes, curvatures, tiles.data(), sums};
        std::int64_t i = range.begin;
        if (z.stride < loss_lanes) i = loss_groups<decltype(functor)>(range, blocks);
        for (; i < range.end; ++i)
          cpu::for_tiles<loss_lanes>(z.stride, [&](auto width, std::int32_t column) {
            if (tiles[static_cast<std::size_t>(column)] == 0) return;
            loss_tile<decltype(functor), 1, width()>(i, column, blocks);
          });
      });
    });
    for (std::size_t t = 0; t < values.size() && !wanted.empty(); ++t)
      if (wanted[t] == 0) values[t] = 0;
  }

 private:
  /// Arguments of losses(); a flag of `wanted` and a sum for each column.
  struct LossBlocks {
    BlockView<const T> z, step;
    BlockView<T> slopes, curvatures;
    const std::uint8_t* wanted;
    double* sums;
  };

  static constexpr int loss_lanes = 8;

  /// Blocks of few tasks, several rows at a time; returns the first row that is left.
  template <class Functor>
  std::int64_t loss_groups(Range range, const LossBlocks& blocks) const {
    std::int64_t i = range.begin;
    cpu::for_tiles<4>(blocks.z.stride, [&](auto width, std::int32_t) {
      constexpr int rows = loss_lanes / width();
      for (; i + rows <= range.end; i += rows) loss_tile<Functor, rows, width()>(i, 0, blocks);
    });
    return i;
  }

  /// Rows x Tasks neighbouring elements: several rows only if Tasks is the whole stride.
  template <class Functor, int Rows, int Tasks>
  void loss_tile(std::int64_t i, std::int32_t column, const LossBlocks& blocks) const {
    constexpr int width = Rows * Tasks;
    T y[width];
    T cost[width];
    T loss_parameter[width];
    T decision[width];
    const std::int64_t at = i * blocks.z.stride + column;
    for (int e = 0; e < width; ++e) {
      const auto task = static_cast<std::size_t>(column) + static_cast<std::size_t>(e % Tasks);
      const std::int64_t row = i + e / Tasks;
      y[e] = targets_[row * target_columns_ + columns_.target[task]];
      cost[e] = row_weights_[row * weight_columns_ + columns_.rows[task]] *
                (y[e] > 0 ? columns_.positive[task] : columns_.negative[task]);
      loss_parameter[e] = columns_.loss_parameter[task];
      decision[e] = blocks.z.data[at + e];
    }
    for (int e = 0; e < width && blocks.step.data != nullptr; ++e) decision[e] += blocks.step.data[at + e];
    T value[width];
    T slope[width];
    T curvature[width];
#pragma omp simd
    for (int e = 0; e < width; ++e) {
      const auto terms = Functor::terms(decision[e], y[e], loss_parameter[e]);
      value[e] = cost[e] * terms.value;
      slope[e] = cost[e] * terms.slope;
      curvature[e] = cost[e] * terms.curvature;
    }
    for (int e = 0; e < width; ++e) blocks.sums[column + e % Tasks] += static_cast<double>(value[e]);
    const std::uint8_t* wanted = blocks.wanted + column;
    if (blocks.slopes.data != nullptr) store_wanted<width, Tasks>(slope, wanted, blocks.slopes.data + at);
    if (blocks.curvatures.data != nullptr) store_wanted<width, Tasks>(curvature, wanted, blocks.curvatures.data + at);
  }

  template <int Width, int Tasks>
  static void store_wanted(const T* values, const std::uint8_t* wanted, T* to) {
    for (int e = 0; e < Width; ++e) to[e] = (wanted[e % Tasks] & exactly) != 0 ? values[e] : to[e];
  }

  static constexpr std::uint8_t nearby = 1;   // some task of the tile is wanted
  static constexpr std::uint8_t exactly = 2;  // this task is wanted

  /// For each column, whether its tile has a wanted task and whether it is one.
  static std::vector<std::uint8_t> wanted_tiles(std::int32_t stride, Wanted wanted) {
    auto flags = cpu::padded_flags(stride, wanted);
    for (auto& flag : flags) flag = flag != 0 ? std::uint8_t{exactly} : std::uint8_t{0};
    cpu::for_tiles<loss_lanes>(stride, [&](auto width, std::int32_t column) {
      bool any = false;
      for (int t = 0; t < width(); ++t)
        any = any || flags[static_cast<std::size_t>(column) + static_cast<std::size_t>(t)] != 0;
      for (int t = 0; t < width() && any; ++t)
        flags[static_cast<std::size_t>(column) + static_cast<std::size_t>(t)] |= nearby;
    });
    return flags;
  }

  std::int64_t examples_;
  int threads_;
  std::int32_t weight_columns_ = 1;
  std::int32_t target_columns_ = 1;
  Array<T> row_weights_;
  Array<T> targets_;
  Columns<T> columns_;
};

}  // namespace sheaf::linear
