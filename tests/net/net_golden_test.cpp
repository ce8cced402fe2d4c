// Elastic nets beside the weights that glmnet and scikit-learn found (tests/golden), along paths of alphas.
#include "net_results.hpp"

namespace sheaf::test {
namespace net_golden_test {

/// A gap of 1e-11 leaves weights sqrt(2e-11 / m) from the best, with m = alpha (1 - l1-ratio) of the L2 penalty.
constexpr double weight_tolerance = 3e-5;

TEST(NetGolden, GlmnetFoundTheSameWeights) {
  expect_nets(read_json(golden("glmnet/results.json")), weight_tolerance, find_data);
}

TEST(NetGolden, GlmnetFoundTheSameWeightsWithGroupedPenalties) {
  expect_nets(read_json(golden("glmnet/grouped.json")), weight_tolerance, find_data);
}

TEST(NetGolden, GlmnetFoundTheSameWeightsWithinLimits) {
  // The L2 part of wide tables is small: a gap of 1e-11 leaves weights 4e-5 of room.
  expect_nets(read_json(golden("glmnet/limits.json")), weight_tolerance, find_data, 1e-12);
}

TEST(NetGolden, ScikitLearnFoundTheSamePositiveWeights) {
  expect_nets(read_json(golden("sklearn/limits_nets.json")), weight_tolerance, find_data);
}

TEST(NetGolden, ScikitLearnFoundTheSameWeightsOfSeveralTargets) {
  expect_nets(read_json(golden("sklearn/grouped_nets.json")), weight_tolerance, find_data);
}

TEST(NetGolden, ScikitLearnFoundTheSameWeights) {
  expect_nets(read_json(golden("sklearn/nets.json")), weight_tolerance, find_data);
}

}  // namespace net_golden_test
}  // namespace sheaf::test
