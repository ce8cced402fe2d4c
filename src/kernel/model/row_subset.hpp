// Some rows of a dataset, and their decision values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "data/row_subset.hpp"

namespace sheaf::kernel {

/// Decision values of some rows under some tasks of a sheaf: rows x tasks, 0 for task -1. They are taken from the
/// training if it computed them (`from_training`), otherwise computed for these rows alone.
template <class T>
Block<double> decisions_of(const Context& context, const Dataset<T>& dataset, const KernelParams& kernel,
                           const SvmFits& fits, std::span<const std::int32_t> tasks, std::span<const std::int32_t> rows,
                           bool from_training) {
  Block<double> result(static_cast<std::int64_t>(rows.size()), static_cast<std::int32_t>(tasks.size()));
  if (!from_training) {
    std::vector<BinarySvm> svms;
    for (const auto task : tasks)
      svms.push_back(task < 0 ? BinarySvm{} : fits.tasks[static_cast<std::size_t>(task)].svm);
    Dataset<T> asked;
    asked.x = some_rows<T>(dataset.x, rows);
    return decision_values<T>(context, kernel, dataset, svms, asked);
  }
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int32_t t = 0; t < result.tasks(); ++t) {
      const auto task = tasks[static_cast<std::size_t>(t)];
      if (task >= 0) result(i, t) = fits.decisions(rows[static_cast<std::size_t>(i)], task);
    }
  return result;
}

}  // namespace sheaf::kernel
