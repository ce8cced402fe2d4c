#include "kernel/verbs/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"

namespace sheaf::kernel {

template <class T>
std::unique_ptr<SvmOps> make_cpu_ops(const Context& context, const Dataset<T>& dataset,
                                     std::span<const std::int32_t> order, const KernelParams& kernel,
                                     std::span<const double> offsets, KeptRows* kept) {
  return with_instruction_set(
      [&](auto set) { return make_cpu_ops_for<decltype(set)>(context, dataset, order, kernel, offsets, kept); });
}

template <class T>
void add_decisions_cpu(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                       BlockView<double> decisions) {
  with_instruction_set([&](auto set) { add_decisions_for<decltype(set)>(context, deciders, queries, decisions); });
}

template <class T>
std::unique_ptr<SvmOps> make_ops(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> order,
                                 const KernelParams& kernel, std::span<const double> offsets, KeptRows* kept) {
  if (context.device().is_cpu()) return make_cpu_ops(context, dataset, order, kernel, offsets, kept);
#if SHEAF_CUDA
  return make_cuda_ops(context, dataset, order, kernel, offsets, kept);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template <class T>
void add_decisions(const Context& context, const Deciders<T>& deciders, const Queries<T>& queries,
                   BlockView<double> decisions) {
  if (context.device().is_cpu()) return add_decisions_cpu(context, deciders, queries, decisions);
#if SHEAF_CUDA
  return add_decisions_cuda(context, deciders, queries, decisions);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

namespace {

/// nullptr: the block has no columns.
template <class V>
V* row_of(BlockView<V> block, std::int64_t row) {
  return block.tasks > 0 ? block.data + row * block.stride : nullptr;
}

void choose_classes_cpu(const Context& context, const ClassChoice& choice, const ClassBlocks& blocks) {
  const auto* present = blocks.present.empty() ? nullptr : blocks.present.data();
  parallel_ranges(context.threads(), std::ssize(blocks.rows), 64, [&](Range range) {
    context.check_stop();
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      const std::int64_t row = blocks.rows[static_cast<std::size_t>(k)];
      for (std::int32_t m = 0; m < blocks.predicted.tasks; ++m)
        choice.decide(m, row_of(blocks.decisions, row), present, row_of(blocks.values, row),
                      row_of(blocks.predicted, row));
    }
  });
}

}  // namespace

void choose_classes(const Context& context, const ClassChoice& choice, const ClassBlocks& blocks) {
  if (context.device().is_cpu()) return choose_classes_cpu(context, choice, blocks);
#if SHEAF_CUDA
  return choose_classes_cuda(context, choice, blocks);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

#define SHEAF_KERNEL_OPS(T)                                                                                   \
  template void add_decisions_cpu(const Context&, const Deciders<T>&, const Queries<T>&, BlockView<double>);  \
  template std::unique_ptr<SvmOps> make_ops(const Context&, const Dataset<T>&, std::span<const std::int32_t>, \
                                            const KernelParams&, std::span<const double>, KeptRows*);         \
  template void add_decisions(const Context&, const Deciders<T>&, const Queries<T>&, BlockView<double>);
SHEAF_KERNEL_OPS(float)
SHEAF_KERNEL_OPS(double)
#undef SHEAF_KERNEL_OPS

}  // namespace sheaf::kernel
