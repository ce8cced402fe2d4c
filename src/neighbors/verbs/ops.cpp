#include "neighbors/verbs/ops.hpp"

#include <type_traits>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "neighbors/verbs/pieces.hpp"

namespace sheaf::neighbors {

std::unique_ptr<NeighborOps> make_ops(const Context& context, const AnyRowPair& pair) {
  return std::visit(
      [&](const auto& rows) -> std::unique_ptr<NeighborOps> {
        if (context.device().is_cpu())
          return with_instruction_set([&](auto set) { return make_cpu_ops_for<decltype(set)>(context, rows); });
#if SHEAF_CUDA
        using Pair = std::decay_t<decltype(rows)>;
        if (needs_pieces(rows, context.memory()))
          return make_piece_ops(context, rows, context.memory(),
                                {[context](const Pair& some) { return make_cuda_ops(context, some); }});
        return make_cuda_ops(context, rows);
#else
        throw InternalError("a GPU was chosen in a build without CUDA");
#endif
      },
      pair);
}

}  // namespace sheaf::neighbors
