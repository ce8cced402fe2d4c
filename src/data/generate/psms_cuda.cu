// Peptide-spectrum matches in the memory of a GPU: one thread a spectrum.
#include "cuda/check.cuh"
#include "data/generate/psm_draw.hpp"

namespace sheaf::generating {
namespace {

__global__ void draw_rows(std::uint64_t seed, std::int64_t spectra, double correct, int files, PsmRows rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < spectra) draw_row(seed, i, spectra, correct, files, rows);
}

}  // namespace

void draw_rows_cuda(const Context& context, std::int64_t spectra, double correct, int files, const PsmRows& rows) {
  if (spectra == 0) return;
  constexpr int threads = 128;
  const cuda::Current current(context.device().index);
  cuda::Stream stream;
  draw_rows<<<static_cast<unsigned>((spectra + threads - 1) / threads), threads, 0, stream>>>(context.seed(), spectra,
                                                                                              correct, files, rows);
  cuda::check_launch("draw_rows");
  stream.synchronize();
}

}  // namespace sheaf::generating
