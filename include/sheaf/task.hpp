// The unit of work. A task is one model to train; a sheaf is a bundle of tasks over one dataset.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>

namespace sheaf {

/// One linear model: which rows, which target, how strongly each class's losses count. A few dozen bytes, so that a
/// search of thousands of models costs nothing to describe.
struct Task {
  std::int32_t rows = 0;     ///< column of the row-weight table
  std::int32_t target = 0;   ///< column of the target table
  double cost_positive = 1;  ///< C times the class weight of y > 0 (regression: of every row)
  double cost_negative = 1;
  double epsilon = 0.1;  ///< width of the insensitive tube (support-vector regression)
};

/// Tables are table-minor: row i's entries for all row-weight vectors stand side by side. An empty row-weight table
/// stands for one column of ones.
struct Sheaf {
  std::int64_t examples = 0;
  std::vector<Task> tasks;
  std::int32_t weight_columns = 1;
  std::vector<float> row_weights;  // examples x weight_columns, or empty
  std::int32_t target_columns = 1;
  std::vector<double> targets;  // examples x target_columns; +1 / -1 for classes
};

/// Tasks first .. first + count - 1 of a sheaf, trained together as one block.
struct Round {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// Splits `tasks` tasks into rounds that fit: fixed + per_task * block_stride(count) <= budget. Rounds are as equal as
/// can be. Not even one task fitting is an Error that names the bytes.
std::vector<Round> plan_rounds(std::int32_t tasks, std::int64_t fixed_bytes, std::int64_t bytes_per_task,
                               std::int64_t budget_bytes);

}  // namespace sheaf
