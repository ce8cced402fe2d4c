// The kernel verbs on one NVIDIA GPU.
#include "cuda/check.cuh"
#include "kernel/ops.hpp"

namespace sheaf::kernel {

template <class T>
std::unique_ptr<SvmOps> make_cuda_ops(const Context&, const Dataset<T>&, std::span<const std::int32_t>,
                                      const KernelParams&) {
  throw Error("kernel machines are not yet trained on a GPU; use --device cpu");
}

template <class T>
void add_decisions_cuda(const Context&, const KernelParams&, const Dataset<T>&, std::span<const std::int32_t>,
                        const Coefficients&, const Dataset<T>&, BlockView<double>) {
  throw Error("kernel machines are not yet applied on a GPU; use --device cpu");
}

#define SHEAF_KERNEL_CUDA(T)                                                                                       \
  template std::unique_ptr<SvmOps> make_cuda_ops(const Context&, const Dataset<T>&, std::span<const std::int32_t>, \
                                                 const KernelParams&);                                             \
  template void add_decisions_cuda(const Context&, const KernelParams&, const Dataset<T>&,                         \
                                   std::span<const std::int32_t>, const Coefficients&, const Dataset<T>&,          \
                                   BlockView<double>);
SHEAF_KERNEL_CUDA(float)
SHEAF_KERNEL_CUDA(double)
#undef SHEAF_KERNEL_CUDA

}  // namespace sheaf::kernel
