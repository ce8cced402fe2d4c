// A family added from outside (toy_family.hpp) is trained, searched, written and read as any other.
#include "family/toy_family.hpp"

#include <gtest/gtest.h>

#include "tables.hpp"

namespace sheaf::toy {
namespace {

Dataset<double> make_dataset() {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(test::random_rows(40, 3, 1.0, 2), 3);
  for (int i = 0; i < 40; ++i) dataset.target.values.push_back(5 + i % 4);
  dataset.source = "table";
  return dataset;
}

class ToyFamily : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (find_family("toy") == nullptr) add_family(toy_family());
  }
};

TEST_F(ToyFamily, IsTrainedAppliedWrittenAndReadAsAnyOther) {
  const auto dataset = make_dataset();
  auto options = find_model_kind("mean").options;
  set_parameter(options, "shrink", "0.5");
  const auto model = fit(Context(), dataset, options);
  EXPECT_EQ(model.family(), "toy");
  EXPECT_DOUBLE_EQ(model.predict(Context(), dataset).decisions.at(7), 6.5 * 0.5);
  const auto again = Model::parse(model.text(), "model");
  EXPECT_EQ(again.text(), model.text());
  EXPECT_DOUBLE_EQ(again.predict(Context(), dataset).decisions.at(0), 6.5 * 0.5);
  EXPECT_THROW(static_cast<void>(model.text(ModelFile::libsvm)), UsageError);
  EXPECT_EQ(model.trained().summary(40).lines, (std::vector<std::string>{"40 rows x 3 features", "the mean, 3.25"}));
  EXPECT_THROW(static_cast<void>(model.trained().likelihood()), UsageError);
}

TEST_F(ToyFamily, IsSearchedBehindAPipelineByName) {
  const auto dataset = make_dataset();
  for (const bool scaled : {false, true}) {
    NamedSettings settings{{"folds", "4"}, {"shrink", "0.5,0,0.25"}};
    if (scaled) settings.emplace_back("scale", "standard");
    const auto result = search(Context(), dataset, "mean", settings);
    EXPECT_EQ(result.points.size(), 3U);
    EXPECT_EQ(result.splits, 4);
    EXPECT_EQ(result.chosen(), Point{0}) << "the mean itself has the least squared error";
    EXPECT_DOUBLE_EQ(result.model->get_if<MeanModel>()->mean, 6.5);
    EXPECT_EQ(result.model->pipeline().steps.empty(), !scaled);
  }
}

TEST_F(ToyFamily, ParametersAreOneValueAListOrAVector) {
  SearchSpace space(find_model_kind("mean").options);
  set_parameter(space, "shrink", "0,1");
  EXPECT_EQ(space.numbers("shrink"), (std::vector<double>{0, 1}));
  EXPECT_THROW(set_parameter(space, "shrink", "2"), UsageError);
  EXPECT_THROW(set_parameter(space, "shrunk", "1"), UsageError);
  EXPECT_THROW(set_parameter(space, "offset", "1"), UsageError) << "one number a row";
  EXPECT_THROW(set_parameter(space.options, "shrink", std::vector<double>{1}), UsageError) << "one number";
  set_parameter(space.options, "offset", std::vector<double>{1, 2});
  EXPECT_EQ(space.get<MeanOptions>().offsets, (std::vector<double>{1, 2}));
  space["shrink"] = {0.5, 7};
  SearchOptions options;
  EXPECT_THROW(decide(make_dataset(), space, options), UsageError) << "out of range";
}

}  // namespace
}  // namespace sheaf::toy
