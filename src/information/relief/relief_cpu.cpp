#include <algorithm>
#include <cmath>

#include "core/instruction_sets.hpp"
#include "information/relief/relief_ops.hpp"

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

template <class Set>
std::unique_ptr<DistanceOps> make_cpu_distance_ops_for(const Context& context, std::span<const double> values,
                                                       std::int64_t examples, std::int64_t features) {
  return std::make_unique<CpuDistances>(context, values, examples, features);
}

template std::unique_ptr<DistanceOps> make_cpu_distance_ops_for<sets::Compiled>(const Context&, std::span<const double>,
                                                                                std::int64_t, std::int64_t);

}  // namespace sheaf::information
