// Tasks that follow one another in one column of a block.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/linear.hpp>

namespace sheaf::linear {

/// Whether the second derivative of a loss is above 0 everywhere: every row has curvature, and models change smoothly
/// with the cost.
bool is_strictly_convex(Loss loss);

/// Numbers of tasks of a sheaf; each begins where the one before it ended.
using Chain = std::vector<std::int32_t>;

/// Every task by itself.
std::vector<Chain> single_chains(const Sheaf& sheaf);

/// Tasks that differ in nothing but the cost, from the smallest cost to the largest.
std::vector<Chain> chains_along_costs(const Sheaf& sheaf);

/// By which factor the cost grows from one task of a chain to another.
double cost_growth(const Task& from, const Task& to);

}  // namespace sheaf::linear
