#include "neighbors/local/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "neighbors/local/svm.hpp"

namespace sheaf::neighbors {

void local_costs(const Context& context, const LocalProblem& problem, std::span<double> costs) {
  if (context.device().is_cpu())
    return with_instruction_set([&](auto set) { local_costs_cpu<decltype(set)>(context, problem, costs); });
#if SHEAF_CUDA
  local_costs_cuda(context, problem, costs);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

std::int64_t local_svm_values(const Context& context, const LocalSvmProblem& problem, std::span<double> values) {
  if (values.empty()) return 0;
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return local_svm_values_cpu<decltype(set)>(context, problem, values); });
#if SHEAF_CUDA
  return local_svm_values_cuda(context, problem, values);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

}  // namespace sheaf::neighbors
