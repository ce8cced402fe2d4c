// Elastic nets beside the weights that glmnet and scikit-learn found (tests/golden), along paths of alphas.
#include "net_results.hpp"

namespace sheaf::test {
namespace {

TEST(NetGolden, GlmnetFoundTheSameWeights) { expect_nets(read_json(golden("glmnet/results.json")), 1e-5, find_data); }

TEST(NetGolden, ScikitLearnFoundTheSameWeights) {
  expect_nets(read_json(golden("sklearn/nets.json")), 1e-5, find_data);
}

}  // namespace
}  // namespace sheaf::test
