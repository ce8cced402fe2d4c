// The plan of a search over the rows of a dataset: the groups that stay together, and notes about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

struct PlannedRows {
  Plan plan;
  std::int64_t groups = 0;  ///< of the dataset, that stay together
  std::vector<std::string> notes = {}, warnings = {};
};

/// Equal rows stay together according to SearchOptions::equal_rows. `labels` and `options` must outlive the plan.
template <class T>
PlannedRows plan_rows(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                      const SearchOptions& options);

}  // namespace sheaf::engine
