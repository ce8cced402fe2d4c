#include "linear/dual/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::linear::dual {

template <class T>
std::unique_ptr<DualOps<T>> make_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                          Loss loss, T bias, std::int32_t tasks) {
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return make_cpu_dual_ops<decltype(set), T>(context, dataset, sheaf, loss, bias, tasks); });
#if SHEAF_CUDA
  return make_cuda_dual_ops<T>(context, dataset, sheaf, loss, bias);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<DualOps<float>> make_dual_ops(const Context&, const Dataset<float>&, const Sheaf&, Loss, float,
                                                       std::int32_t);
template std::unique_ptr<DualOps<double>> make_dual_ops(const Context&, const Dataset<double>&, const Sheaf&, Loss,
                                                        double, std::int32_t);

}  // namespace sheaf::linear::dual
