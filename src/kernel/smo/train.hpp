// Training with what trainers share: rows that stay laid out, and decision values that stay on the device.
#pragma once

#include <cstdint>
#include <span>

#include <sheaf/solvers/svm.hpp>

#include "kernel/values/table.hpp"

namespace sheaf::kernel {

/// Where the decision values of every row of the dataset go.
struct TrainedDecisions {
  std::span<const std::int32_t> columns;  ///< of each task of the sheaf; -1: not asked for
  BlockView<double> block;                ///< on the context's device, all 0
};

/// The same as train_sheaf(), which says the rest. Without columns, `params.decisions` is ignored.
template <class T>
SvmFits train_tasks(const Context& context, const Dataset<T>& dataset, const SvmSheaf& sheaf, const SvmParams& params,
                    const TrainedDecisions& decisions, KeptRows* kept = nullptr);

}  // namespace sheaf::kernel
