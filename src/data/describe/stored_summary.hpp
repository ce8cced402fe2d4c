// Summaries of the matrix that a .sheaf file holds, so that describing it reads no values.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/profile.hpp>

namespace sheaf {

struct StoredSummary {
  Summary matrix;                     ///< without labels and groups; over the values that are there
  std::vector<std::int64_t> missing;  ///< values that each feature lacks; empty: none does
};

/// Kept beside the dataset until its matrix is changed.
template <class T>
void keep_stored_summary(StoredSummary summary, const Dataset<T>& dataset);
/// nullptr: there is none.
template <class T>
std::shared_ptr<const StoredSummary> find_stored_summary(const Dataset<T>& dataset);

template <class T>
StoredSummary summarize_to_store(const Context& context, const Dataset<T>& dataset);

/// Adds what a summary says of labels and groups.
Summary with_labels(Summary summary, const Target& target, const std::vector<std::int32_t>& groups);

/// The facts about the columns that need no value to be read.
template <class T>
std::vector<Finding> stored_findings(const Dataset<T>& dataset, const StoredSummary& summary);

/// Adds the NaN of each feature to `missing`. Returns whether there is one.
template <class Rows>
bool count_missing(const Rows& x, std::vector<std::int64_t>& missing) {
  bool any = false;
  for (std::int64_t k = 0; k < x.values.size(); ++k) {
    if (!std::isnan(x.values[k])) [[likely]]
      continue;
    any = true;
    if constexpr (requires { x.indices; })
      ++missing[static_cast<std::size_t>(x.indices[k])];
    else
      ++missing[static_cast<std::size_t>(k % x.columns)];
  }
  return any;
}

}  // namespace sheaf
