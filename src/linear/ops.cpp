#include "linear/ops.hpp"

#include <sheaf/error.hpp>

namespace sheaf::linear {

template <class T>
std::unique_ptr<LinearOps<T>> make_ops(const Context& context, const Dataset<T>& dataset, T bias) {
  if (context.device().is_cpu()) return make_cpu_ops<T>(context, dataset, bias);
#if SHEAF_CUDA
  return make_cuda_ops<T>(context, dataset, bias);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<LinearOps<float>> make_ops(const Context&, const Dataset<float>&, float);
template std::unique_ptr<LinearOps<double>> make_ops(const Context&, const Dataset<double>&, double);

}  // namespace sheaf::linear
