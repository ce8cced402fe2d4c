// A whole selection on a dataset is what its steps give one by one, on every device in SHEAF_TEST_DEVICES.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <sheaf/sheaf.hpp>

#include "devices.hpp"
#include "same_dataset.hpp"

namespace sheaf {
namespace selection_test {

Dataset<double> make_table(const std::string& kind = "classification", std::int64_t features = 30) {
  GenerateOptions options;
  options.kind = kind;
  options.rows = 150;
  options.features = features;
  return generate<double>(Context(), options).dataset;
}

Context on(Device device) { return Context({.device = device, .threads = 2, .seed = 3}); }

std::vector<std::int64_t> picks(const std::vector<SelectedFeature>& selected) {
  std::vector<std::int64_t> result;
  for (const auto& feature : selected) result.push_back(feature.index);
  return result;
}
std::vector<std::int64_t> picks(const std::vector<EnsembleFeature>& selected) {
  std::vector<std::int64_t> result;
  for (const auto& feature : selected) result.push_back(feature.index);
  return result;
}

TEST(Select, IsBinningAndThenTheCriterion) {
  for (const Device device : test::devices())
    for (const std::string kind : {"classification", "microbes"}) {
      const auto context = on(device);
      const auto dataset = make_table(kind);
      SelectRequest request;
      request.options.criterion = "mrmr";
      request.options.count = 5;
      request.options.preselected = {2};
      request.binning.bins = 6;
      const auto result = select(context, dataset, request);
      const auto target = bin_target(dataset.target, request.binning);
      const auto binned = learn_and_apply_binning(context, dataset, request.binning, &target);
      const auto steps = select_features(context, binned.table, target, request.options);
      ASSERT_EQ(result.selected.size(), 5U);
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(result.selected[k].feature.index, steps.selected[k].index);
        EXPECT_EQ(result.selected[k].feature.score, steps.selected[k].score);
        EXPECT_EQ(result.selected[k].feature.redundancy, steps.selected[k].redundancy);
        EXPECT_EQ(result.selected[k].name, dataset.feature_name(steps.selected[k].index));
      }
      EXPECT_EQ(result.cuts.rules, binned.binning.rules);
      EXPECT_EQ(result.rows, 150);
      EXPECT_EQ(result.seed, 3U);
      EXPECT_EQ(result.preselected, std::vector<std::string>{dataset.feature_name(2)});
      auto all = picks(steps.selected);
      all.insert(all.begin(), 2);
      EXPECT_EQ(result.indices(), all);
    }
}

TEST(Select, TakesCutsLearntElsewhere) {
  const auto dataset = make_table();
  SelectRequest request;
  request.options.count = 4;
  request.binning.method = BinMethod::equal_frequency;
  request.binning.bins = 3;
  const auto learnt = select(Context(), dataset, request);
  SelectRequest applied;
  applied.options.count = 4;
  applied.cuts = learnt.cuts;
  const auto result = select(Context(), dataset, applied);
  EXPECT_EQ(result.indices(), learnt.indices());
  EXPECT_EQ(result.cuts.method, BinMethod::equal_frequency);
}

TEST(Select, CombinesEnsembles) {
  for (const Device device : test::devices()) {
    const auto context = on(device);
    const auto dataset = make_table();
    SelectRequest request;
    request.options.count = 5;
    request.ensemble.criteria = {"jmi", "mim", "relieff"};
    request.ensemble.combination = Combination::borda;
    const auto result = select(context, dataset, request);
    EXPECT_TRUE(result.combined);
    ASSERT_EQ(result.members.size(), 3U);
    const auto target = bin_target(dataset.target, request.binning);
    const auto binned = learn_and_apply_binning(context, dataset, request.binning, &target);
    const auto by_numbers = [&](const SelectionOptions& options) { return select_numeric(context, dataset, options); };
    const auto steps = select_ensemble(context, binned.table, target, request.options, request.ensemble, by_numbers);
    EXPECT_EQ(result.indices(), picks(steps.selected));
    EXPECT_EQ(result.stability, steps.stability);
    ASSERT_TRUE(result.selected[0].votes.has_value());
    EXPECT_EQ(result.selected[0].feature.score, result.selected[0].votes->borda);
  }
}

TEST(Select, GivesRelieffTheNumbersAndReliefTheStates) {
  const auto dataset = make_table();
  SelectRequest request;
  request.options.count = 6;
  request.binning.bins = 4;
  request.options.criterion = "relieff";
  const auto numbers = select(Context(), dataset, request);
  EXPECT_EQ(numbers.indices(), picks(select_numeric(Context(), dataset, request.options).selected));
  request.options.criterion = "relief";
  const auto target = bin_target(dataset.target, request.binning);
  const auto binned = learn_and_apply_binning(Context(), dataset, request.binning, &target);
  const auto states = states_dataset(Context(), binned.table, dataset);
  EXPECT_EQ(select(Context(), dataset, request).indices(),
            picks(select_numeric(Context(), states, request.options).selected));
}

TEST(Select, OfFloatsByReliefIsThatOfTheSameNumbersInDouble) {
  const auto rounded = convert_precision<float>(make_table(), 1);
  Dataset<double> widened;
  widened.x = convert_precision<double>(rounded.x, 1);
  widened.target = rounded.target;
  SelectRequest request;
  request.options.criterion = "relieff";
  const auto ours = select(Context(), rounded, request);
  const auto wide = select(Context(), widened, request);
  ASSERT_EQ(ours.selected.size(), wide.selected.size());
  for (std::size_t k = 0; k < wide.selected.size(); ++k)
    EXPECT_EQ(ours.selected[k].feature.score, wide.selected[k].feature.score);
}

TEST(Select, OfFewerFeaturesThanAskedForIsAllOfThemOrAnError) {
  const auto dataset = make_table("classification", 4);
  SelectRequest request;
  EXPECT_EQ(select(Context(), dataset, request).selected.size(), 4U);
  request.allow_fewer = false;
  EXPECT_THROW(select(Context(), dataset, request), UsageError);
}

TEST(Select, TakesTheSelectedFeatures) {
  const auto dataset = make_table();
  SelectRequest request;
  request.options.count = 3;
  request.options.preselected = {7};
  const auto result = select(Context(), dataset, request);
  test::expect_same_dataset(take_selected(Context(), dataset, result), take_features(dataset, result.indices(), 1));
  EXPECT_EQ(take_selected(Context(), dataset, result).features(), 4);
  request.options.preselected = {};
  request.options.min_gain = 1e9;
  const auto none = select(Context(), dataset, request);
  EXPECT_TRUE(none.selected.empty());
  EXPECT_THROW(take_selected(Context(), dataset, none), Error);
}

TEST(Select, AddsWhatThePageShowsWhereAsked) {
  const auto dataset = make_table();
  SelectRequest request;
  request.options.count = 5;
  EXPECT_TRUE(select(Context(), dataset, request).information.empty());
  request.plots = true;
  const auto result = select(Context(), dataset, request);
  EXPECT_EQ(result.information.size(), 25U);
  ASSERT_EQ(result.distributions.size(), 5U);
  for (const auto& shares : result.distributions[0].share) {
    double sum = 0;
    for (const double share : shares) sum += share;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Select, ByReliefNeedsValuesThatAreThere) {
  const auto dataset = make_table();
  SelectRequest request;
  request.options.criterion = "relieff";
  request.binning.missing = MissingState::own;
  EXPECT_THROW(select(Context(), dataset, request), UsageError);
}

}  // namespace selection_test
}  // namespace sheaf
