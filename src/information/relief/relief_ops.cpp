#include "information/relief/relief_ops.hpp"

#include <algorithm>
#include <cmath>

#include <sheaf/error.hpp>

namespace sheaf::information {
namespace {

class CpuDistances final : public DistanceOps {
 public:
  CpuDistances(const Context& context, std::span<const double> values, std::int64_t examples, std::int64_t features)
      : context_(context), values_(values), examples_(examples), features_(features) {}

  void distances(Distance distance, Range rows, std::span<double> out) override {
    parallel_for(context_, rows.end - rows.begin, [&](std::int64_t r) {
      double* sums = out.data() + r * examples_;
      std::fill_n(sums, examples_, 0.0);
      for (std::int64_t j = 0; j < features_; ++j) add(distance, values_.data() + j * examples_, rows.begin + r, sums);
    });
  }

 private:
  void add(Distance distance, const double* feature, std::int64_t i, double* sums) const {
    const double own = feature[i];
    if (distance == Distance::squared)
      for (std::int64_t k = 0; k < examples_; ++k) sums[k] += (own - feature[k]) * (own - feature[k]);
    else
      for (std::int64_t k = 0; k < examples_; ++k) sums[k] += std::abs(own - feature[k]);
  }

  Context context_;
  std::span<const double> values_;
  std::int64_t examples_;
  std::int64_t features_;
};

}  // namespace

std::unique_ptr<DistanceOps> make_distance_ops(const Context& context, std::span<const double> values,
                                               std::int64_t examples, std::int64_t features) {
  if (context.device().is_cpu()) return std::make_unique<CpuDistances>(context, values, examples, features);
#if SHEAF_CUDA
  return make_cuda_distance_ops(context, values, examples, features);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

}  // namespace sheaf::information
