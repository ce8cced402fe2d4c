#include "linear/net/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::linear {

template <class T>
std::unique_ptr<NetOps<T>> make_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear) {
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return make_cpu_net_ops_for<decltype(set)>(context, dataset, linear); });
#if SHEAF_CUDA
  return make_cuda_net_ops<T>(context, dataset, linear);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<NetOps<float>> make_net_ops(const Context&, const Dataset<float>&, LinearOps<float>&);
template std::unique_ptr<NetOps<double>> make_net_ops(const Context&, const Dataset<double>&, LinearOps<double>&);

}  // namespace sheaf::linear
