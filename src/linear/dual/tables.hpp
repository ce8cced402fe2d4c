// Arrays that both devices derive from the tables of a sheaf, in CPU memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "linear/dual/losses.hpp"
#include "linear/dual/ops.hpp"

namespace sheaf::linear::dual {

/// The costs of a block's rows: rows x width, times y for classes, 0 if a model does not train on a row; and, for a
/// regression, its targets.
template <class T>
struct BlockTables {
  Array<T> costs, targets;
};

template <class Functor, class T>
BlockTables<T> fill_tables(const Sheaf& sheaf, std::span<const Task> tasks, std::int32_t width,
                           std::span<Start> starts) {
  constexpr bool regression = Functor::Primal::regression;
  BlockTables<T> tables{Array<T>::zeros(sheaf.examples * width),
                        regression ? Array<T>::zeros(sheaf.examples * width) : Array<T>()};
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const Task& task = tasks[t];
      const double y = sheaf.targets[static_cast<std::size_t>(i * sheaf.target_columns + task.target)];
      const double weight =
          sheaf.row_weights.empty()
              ? 1.0
              : static_cast<double>(sheaf.row_weights[static_cast<std::size_t>(i * sheaf.weight_columns + task.rows)]);
      const double cost = weight * (y > 0 ? task.cost_positive : task.cost_negative);
      const std::int64_t at = i * width + static_cast<std::int64_t>(t);
      tables.costs[at] = static_cast<T>(regression || y > 0 ? cost : -cost);
      if (tables.costs[at] == 0) continue;
      if (regression) tables.targets[at] = static_cast<T>(y);
      starts[t].rows += 1;
      starts[t].losses += cost * Functor::Primal::terms(0.0, y > 0 || regression ? y : -1.0, task.loss_parameter).value;
    }
  return tables;
}

/// The rows in an order drawn from the seed.
inline Array<std::int32_t> shuffled_rows(std::uint64_t seed, std::int64_t rows) {
  Array<std::int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order.span());
  return order;
}

/// Squared lengths of the rows, with the bias.
template <class T>
Array<T> squared_lengths(const Matrix<T>& matrix, T bias, int threads) {
  Array<T> squares(rows(matrix));
  std::visit(
      [&](const auto& x) {
        parallel_ranges(threads, x.rows, 256, [&](Range range) {
          for (std::int64_t i = range.begin; i < range.end; ++i) {
            std::int64_t begin = i * x.columns;
            std::int64_t end = begin + x.columns;
            if constexpr (requires { x.offsets; }) {
              begin = x.offsets[i];
              end = x.offsets[i + 1];
            }
            double sum = static_cast<double>(bias) * static_cast<double>(bias);
            for (std::int64_t k = begin; k < end; ++k)
              sum += static_cast<double>(x.values[k]) * static_cast<double>(x.values[k]);
            squares[i] = static_cast<T>(sum);
          }
        });
      },
      matrix);
  return squares;
}

}  // namespace sheaf::linear::dual
