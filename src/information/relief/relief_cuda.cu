// Distances between rows on one NVIDIA GPU: one thread for each pair.
#include "cuda/check.cuh"
#include "information/relief/relief_ops.hpp"

#include <sheaf/solvers/array.hpp>

namespace sheaf::information {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    distance_rows(const double* values, std::int64_t examples, std::int64_t features, std::int64_t first, bool squared,
                  double* out) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t i = first + blockIdx.y;
  if (k >= examples) return;
  double sum = 0;
  for (std::int64_t j = 0; j < features; ++j) {
    const double difference = values[j * examples + i] - values[j * examples + k];
    sum += squared ? difference * difference : fabs(difference);
  }
  out[blockIdx.y * examples + k] = sum;
}

class CudaDistances final : public DistanceOps {
 public:
  CudaDistances(Device device, std::span<const double> values, std::int64_t examples, std::int64_t features)
      : device_(device), examples_(examples), features_(features), values_(Array<double>::copy_of(values, device)) {}

  void distances(Distance distance, Range rows, std::span<double> out) override {
    const cuda::Current current(device_.index);
    if (out.empty()) return;
    const auto size = static_cast<std::int64_t>(out.size());
    if (out_.size() < size) out_ = Array<double>(size, device_);
    const dim3 blocks(static_cast<unsigned>((examples_ + threads - 1) / threads),
                      static_cast<unsigned>(rows.end - rows.begin));
    distance_rows<<<blocks, threads, 0, stream_>>>(values_.data(), examples_, features_, rows.begin,
                                                   distance == Distance::squared, out_.data());
    cuda::check_launch("distance_rows");
    cuda::check(cudaMemcpyAsync(out.data(), out_.data(), out.size_bytes(), cudaMemcpyDeviceToHost, stream_),
                "fetching distances");
    stream_.synchronize();
  }

 private:
  Device device_;
  std::int64_t examples_;
  std::int64_t features_;
  cuda::Stream stream_;
  Array<double> values_;
  Array<double> out_;
};

}  // namespace

std::unique_ptr<DistanceOps> make_cuda_distance_ops(const Context& context, std::span<const double> values,
                                                    std::int64_t examples, std::int64_t features) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaDistances>(context.device(), values, examples, features);
}

}  // namespace sheaf::information
