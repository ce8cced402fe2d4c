// The choice of classes on one NVIDIA GPU, from decision values that are there.
#include <algorithm>

#include "cuda/check.cuh"
#include "kernel/verbs/ops.hpp"

namespace sheaf::kernel {
namespace {

constexpr int choice_threads = 128;
constexpr std::int64_t most_blocks = 65535;

/// One thread takes one row of one model.
__global__ void choose_rows(ClassChoice choice, const std::int32_t* rows, std::int64_t count, std::int32_t models,
                            const std::uint8_t* present, BlockView<const double> decisions, BlockView<double> values,
                            BlockView<std::int32_t> predicted) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count * models;
       k += step) {
    const std::int64_t row = rows[k / models];
    choice.decide(static_cast<std::int32_t>(k % models), decisions.data + row * decisions.stride, present,
                  values.tasks > 0 ? values.data + row * values.stride : nullptr,
                  predicted.data + row * predicted.stride);
  }
}

}  // namespace

void choose_classes_cuda(const Context& context, const ClassChoice& choice, const ClassBlocks& blocks) {
  context.check_stop();
  const std::int64_t models = blocks.predicted.tasks;
  const std::int64_t size = std::ssize(blocks.rows) * models;
  if (size == 0) return;
  const cuda::Current current(context.device().index);
  const auto rows = Array<std::int32_t>::copy_of(blocks.rows, context.device());
  const auto present = Array<std::uint8_t>::copy_of(blocks.present, context.device());
  cuda::Stream stream;
  const auto grid = static_cast<unsigned>(std::min((size + choice_threads - 1) / choice_threads, most_blocks));
  choose_rows<<<grid, choice_threads, 0, stream>>>(
      choice, rows.data(), std::ssize(blocks.rows), static_cast<std::int32_t>(models),
      blocks.present.empty() ? nullptr : present.data(), blocks.decisions, blocks.values, blocks.predicted);
  cuda::check_launch("choose_rows");
  stream.synchronize();
}

}  // namespace sheaf::kernel
