// Row weights of training are checked in one way for every family, whoever gives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>

#include "tables.hpp"

namespace sheaf {
namespace row_weights_test {

Dataset<double> some_rows() {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(test::random_rows(40, 3, 1, 5), 3);
  std::vector<std::string> labels;
  for (int i = 0; i < 40; ++i) labels.emplace_back(i % 2 == 0 ? "a" : "b");
  dataset.target = make_target(LabelSpan(std::span<const std::string>(labels)));
  return dataset;
}

class RowWeights : public testing::TestWithParam<std::string> {};

TEST_P(RowWeights, ThatTeachNothingAreRefused) {
  const auto dataset = some_rows();
  auto options = find_model_kind(GetParam()).options;
  if (GetParam() == "elastic-net-logistic") set_parameter(options, "alpha", "0.01");
  const auto message = [&](const std::vector<float>& weights) -> std::string {
    try {
      fit(test::with_threads(2), dataset, options, weights);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const std::vector<float> ones(40, 1);
  EXPECT_EQ(message(ones), "");
  EXPECT_NE(message(std::vector<float>(40, 0)).find("all 40 row weights are 0"), std::string::npos);
  EXPECT_NE(message(std::vector<float>(39, 1)).find("39 row weights for 40 rows"), std::string::npos);
  for (const float odd : {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    auto weights = ones;
    weights[7] = odd;
    EXPECT_NE(message(weights).find("the weight of row 8 is"), std::string::npos) << odd;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RowWeights, testing::Values("linear", "svm", "knn", "elastic-net-logistic", "glm"),
                         [](const auto& family) {
                           auto name = family.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace row_weights_test
}  // namespace sheaf
