// The plan of work before it begins, with its estimated time: --plan.
#pragma once

#include <string>
#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::cli {

class Common;

struct PlannedWork {
  std::string title;
  SearchPlan size;  ///< of a search or a study
  WorkEstimate work;
  std::vector<std::string> notes;
};
/// On the device that would be taken.
void print_plan(const Common& common, const Context& reader, const PlannedWork& planned);

/// All options of the search must be decided.
template <class T>
PlannedWork planned_search(const Dataset<T>& dataset, const SearchSpace& space, const SearchOptions& options,
                           std::string title) {
  return {std::move(title), search_plan(dataset.rows(), space, options), search_work(dataset, space, options),
          space.notes};
}

}  // namespace sheaf::cli
