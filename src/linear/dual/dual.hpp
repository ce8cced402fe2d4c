// Blocks of linear models trained by coordinate descent on their dual variables; see dual.cpp for the method.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/linear.hpp>

namespace sheaf::linear {

/// Destinations of trained models. Callers that only score them keep decision values and no weights.
template <class T>
struct DualOutput {
  BlockView<T> weights = {};    ///< features (and the bias) x tasks, in CPU memory; empty: not wanted
  BlockView<T> decisions = {};  ///< rows x tasks, on the context's device; empty: not wanted
};

/// Whether the dual is trained with this loss.
bool has_dual_solver(Loss loss);

/// Same contract as dual_descent() of <sheaf/solvers/linear.hpp>.
template <class T>
std::vector<TaskFit> train_dual(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                const DualParams& params, const DualOutput<T>& output);

}  // namespace sheaf::linear
