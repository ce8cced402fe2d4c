#include "kernel/verbs/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::kernel {

template <class T>
std::unique_ptr<SvmOps> make_cpu_ops(const Context& context, const Dataset<T>& dataset,
                                     std::span<const std::int32_t> order, const KernelParams& kernel,
                                     std::span<const double> offsets) {
  return with_instruction_set(
      [&](auto set) { return make_cpu_ops_for<decltype(set)>(context, dataset, order, kernel, offsets); });
}

template <class T>
void add_decisions_cpu(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                       std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                       const Dataset<T>& queries, BlockView<double> decisions) {
  with_instruction_set([&](auto set) {
    add_decisions_for<decltype(set)>(context, kernel, support, support_rows, coefficients, queries, decisions);
  });
}

template <class T>
std::unique_ptr<SvmOps> make_ops(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
                                 const KernelParams& kernel, std::span<const double> offsets) {
  if (context.device().is_cpu()) return make_cpu_ops(context, dataset, order, kernel, offsets);
#if SHEAF_CUDA
  return make_cuda_ops(context, dataset, order, kernel, offsets);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template <class T>
void add_decisions(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                   std::span<const std::int32_t> support_rows, const Coefficients& coefficients,
                   const Dataset<T>& queries, BlockView<double> decisions) {
  if (context.device().is_cpu())
    return add_decisions_cpu(context, kernel, support, support_rows, coefficients, queries, decisions);
#if SHEAF_CUDA
  return add_decisions_cuda(context, kernel, support, support_rows, coefficients, queries, decisions);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

#define SHEAF_KERNEL_OPS(T)                                                                                          \
  template void add_decisions_cpu(const Context&, const KernelParams&, const Dataset<T>&,                            \
                                  std::span<const std::int32_t>, const Coefficients&, const Dataset<T>&,             \
                                  BlockView<double>);                                                                \
  template std::unique_ptr<SvmOps> make_ops(const Context&, const Dataset<T>&, std::span<const std::int32_t>,        \
                                            const KernelParams&, std::span<const double>);                           \
  template void add_decisions(const Context&, const KernelParams&, const Dataset<T>&, std::span<const std::int32_t>, \
                              const Coefficients&, const Dataset<T>&, BlockView<double>);
SHEAF_KERNEL_OPS(float)
SHEAF_KERNEL_OPS(double)
#undef SHEAF_KERNEL_OPS

}  // namespace sheaf::kernel
