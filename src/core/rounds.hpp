// Blocks of tasks that fit a budget of memory.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/array.hpp>

namespace sheaf {

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
