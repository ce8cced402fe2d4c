// How the models that are wanted next are cut into batches, each of which is trained as one sheaf and recorded whole.
#pragma once

#include <cstdint>
#include <vector>

#include "family/search.hpp"

namespace sheaf::engine {

/// A model that is wanted.
struct Cell {
  std::int32_t point = 0;  // place in the engine's list
  std::int32_t split = 0;  // number in the plan
};

struct Batch {
  std::vector<std::int32_t> splits;  // ascending
  std::vector<Cell> cells;
};

/// Batches of about limits.tasks tasks, `tasks` of which make a model. Points with the same shared part (one value for
/// each point, numbered by `group_of`) are trained together; batches over the same splits follow one another.
std::vector<Batch> plan_batches(const std::vector<Cell>& cells, const std::vector<std::int32_t>& group_of,
                                const BatchLimits& limits, std::int32_t tasks);

}  // namespace sheaf::engine
