// cuSPARSE's block product (SpMM), the peer of our sparse products on the GPU.
#pragma once

#include <functional>
#include <memory>

#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

namespace sheaf::bench {

/// Makes ready out = A b for row-major blocks on the GPU of `a`, with the fastest of cuSPARSE's algorithms for
/// row-major operands. Calling the result runs the product `repeats` times and waits.
std::function<void(int repeats)> cusparse_product(const SparseMatrix<float>& a, BlockView<const float> b,
                                                  BlockView<float> out);

}  // namespace sheaf::bench
