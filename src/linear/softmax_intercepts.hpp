// The softmax model without features if rows have offsets, which leave no formula for its intercepts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sheaf::linear {

/// Rows of a model of several classes.
struct SoftmaxRows {
  std::int64_t count = 0;
  std::int32_t classes = 0;
  std::function<double(std::int64_t row)> weight;
  std::function<double(std::int64_t row, std::int32_t k)> target;  ///< the share of the class, 0 or 1
  std::function<double(std::int64_t row, std::int32_t k)> offset;
};

/// min over b of the sum over rows of weight * (log sum over k of exp(b_k + offset_k) - sum of target_k (b_k +
/// offset_k)), from `start` on; their sum is that of `start`.
std::vector<double> softmax_intercepts(const SoftmaxRows& rows, std::vector<double> start);

/// That sum at b.
double softmax_loss(const SoftmaxRows& rows, const std::vector<double>& b);

}  // namespace sheaf::linear
