#include "neighbors/verbs/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::neighbors {

std::unique_ptr<NeighborOps> make_ops(const Context& context, const AnyRowPair& pair) {
  return std::visit(
      [&](const auto& rows) -> std::unique_ptr<NeighborOps> {
        if (context.device().is_cpu())
          return with_instruction_set([&](auto set) { return make_cpu_ops_for<decltype(set)>(context, rows); });
#if SHEAF_CUDA
        return make_cuda_ops(context, rows);
#else
        throw InternalError("a GPU was chosen in a build without CUDA");
#endif
      },
      pair);
}

}  // namespace sheaf::neighbors
