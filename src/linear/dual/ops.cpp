#include "linear/dual/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "linear/dual/multiclass.hpp"

namespace sheaf::linear::dual {

template <class T>
std::unique_ptr<DualOps<T>> make_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                          Loss loss, T bias, std::int32_t tasks) {
  const bool coupled = loss == Loss::crammer_singer;
  if (context.device().is_cpu())
    return with_instruction_set([&](auto set) {
      using Set = decltype(set);
      return coupled ? make_cpu_multiclass_ops<Set, T>(context, dataset, sheaf, bias)
                     : make_cpu_dual_ops<Set, T>(context, dataset, sheaf, loss, bias, tasks);
    });
#if SHEAF_CUDA
  if (coupled) return make_cuda_multiclass_ops<T>(context, dataset, sheaf, bias);
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
