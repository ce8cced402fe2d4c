#include "linear/products/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"

namespace sheaf::linear {

template <class To, class From>
Array<To> converted(std::span<const From> from, int threads) {
  Array<To> to(static_cast<std::int64_t>(from.size()));
  parallel_ranges(threads, to.size(), 1 << 16, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) to[i] = static_cast<To>(from[static_cast<std::size_t>(i)]);
  });
  return to;
}

template Array<float> converted(std::span<const float>, int);
template Array<double> converted(std::span<const float>, int);
template Array<float> converted(std::span<const double>, int);
template Array<double> converted(std::span<const double>, int);

template <class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops(const Context& context, const Dataset<T>& dataset, T bias) {
  return with_instruction_set([&](auto set) { return make_cpu_ops_for<decltype(set)>(context, dataset, bias); });
}

template std::unique_ptr<LinearOps<float>> make_cpu_ops(const Context&, const Dataset<float>&, float);
template std::unique_ptr<LinearOps<double>> make_cpu_ops(const Context&, const Dataset<double>&, double);

template <class T>
std::unique_ptr<LinearOps<T>> make_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                       [[maybe_unused]] std::int64_t blocks) {
  if (context.device().is_cpu()) return make_cpu_ops<T>(context, dataset, bias);
#if SHEAF_CUDA
  return make_cuda_ops<T>(context, dataset, bias, blocks);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<LinearOps<float>> make_ops(const Context&, const Dataset<float>&, float, std::int64_t);
template std::unique_ptr<LinearOps<double>> make_ops(const Context&, const Dataset<double>&, double, std::int64_t);

}  // namespace sheaf::linear
