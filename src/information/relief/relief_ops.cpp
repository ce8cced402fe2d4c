#include "information/relief/relief_ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::information {
std::unique_ptr<DistanceOps> make_distance_ops(const Context& context, std::span<const double> values,
                                               std::int64_t examples, std::int64_t features) {
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return make_cpu_distance_ops_for<decltype(set)>(context, values, examples, features); });
#if SHEAF_CUDA
  return make_cuda_distance_ops(context, values, examples, features);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

}  // namespace sheaf::information
