// The verb of relief and relieff: distances from some rows to all. Both backends add over the features in the same
// order, without fused operations: the same bits, and so the same neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <sheaf/context.hpp>

#include "core/parallel.hpp"

namespace sheaf::information {

enum class Distance : std::uint8_t {
  squared,   ///< sum of squared differences
  absolute,  ///< sum of absolute differences
};

class DistanceOps {
 public:
  DistanceOps() = default;
  DistanceOps(const DistanceOps&) = delete;
  DistanceOps& operator=(const DistanceOps&) = delete;
  virtual ~DistanceOps() = default;
  /// out[(i - rows.begin) * examples + k]: from row i to row k.
  virtual void distances(Distance distance, Range rows, std::span<double> out) = 0;
};

/// `values` feature-major: feature j of row i at [j * examples + i].
std::unique_ptr<DistanceOps> make_distance_ops(const Context& context, std::span<const double> values,
                                               std::int64_t examples, std::int64_t features);
template <class Set>
std::unique_ptr<DistanceOps> make_cpu_distance_ops_for(const Context& context, std::span<const double> values,
                                                       std::int64_t examples, std::int64_t features);
std::unique_ptr<DistanceOps> make_cuda_distance_ops(const Context& context, std::span<const double> values,
                                                    std::int64_t examples, std::int64_t features);

}  // namespace sheaf::information
