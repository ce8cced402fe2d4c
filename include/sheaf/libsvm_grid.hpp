// The search that LIBSVM's grid.py does, to its last digit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/svm_model.hpp>

namespace sheaf {

/// One pair of LIBSVM's grid.py.
struct GridRate {
  double log2_cost = 0, log2_gamma = 0;
  double rate = 0;  ///< per cent of the rows, or the mean squared error
};
/// What grid.py does with svm-train -v: every pair by the same folds, those of svm-train; all costs of one gamma are
/// one sheaf. In the order in which grid.py asks for them.
template <class T>
std::vector<GridRate> libsvm_grid(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                  std::int32_t folds);
/// The best as grid.py finds it: later ones must be better, or as good with the same gamma and a smaller cost.
GridRate best_of(std::span<const GridRate> rates);

}  // namespace sheaf
