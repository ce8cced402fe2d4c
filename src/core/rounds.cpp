#include "core/rounds.hpp"

#include <algorithm>

#include <sheaf/context.hpp>

#include "core/fail.hpp"

namespace sheaf {

std::vector<Round> plan_rounds(std::int32_t tasks, std::int64_t fixed_bytes, std::int64_t bytes_per_task,
                               std::int64_t budget_bytes) {
  const auto fits = [&](std::int32_t count) {
    return fixed_bytes + bytes_per_task * block_stride(count) <= budget_bytes;
  };
  if (tasks == 0) return {};
  if (!fits(1))
    fail("one model needs {} beside {} of data, and the memory budget is {}; raise --memory, or use another device",
         format_bytes(bytes_per_task), format_bytes(fixed_bytes), format_bytes(budget_bytes));
  std::int32_t low = 1;  // fits
  std::int32_t high = tasks + 1;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  const std::int32_t count = (tasks + low - 1) / low;
  std::vector<Round> rounds;
  for (std::int32_t r = 0, first = 0; r < count; ++r) {
    const std::int32_t size = tasks / count + (r < tasks % count ? 1 : 0);
    rounds.push_back({first, size});
    first += size;
  }
  return rounds;
}

}  // namespace sheaf
