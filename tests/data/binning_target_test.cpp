// The classes of a label: numbered in ascending order, or binned if the target is numeric.
#include <gtest/gtest.h>

#include <algorithm>

#include <sheaf/solvers/binning.hpp>

#include "core/fail.hpp"

namespace sheaf {
namespace binning_target_test {

Target numbers(std::vector<double> values) {
  Target target;
  for (const double value : values) {
    const auto name = fmt::format("{}", value);
    const auto found = std::find(target.class_names.begin(), target.class_names.end(), name);
    target.classes.push_back(static_cast<std::int32_t>(found - target.class_names.begin()));
    if (found == target.class_names.end()) target.class_names.push_back(name);
  }
  target.values = std::move(values);
  return target;
}

TEST(BinnedTarget, NumbersClassesInAscendingOrder) {
  auto target = numbers({10, -1, 2, 10, -1});
  target.kind = LabelKind::classes;
  auto binned = bin_target(target, {});
  EXPECT_EQ(binned.classes, (std::vector<std::int32_t>{2, 0, 1, 2, 0}));
  EXPECT_EQ(binned.names, (std::vector<std::string>{"-1", "2", "10"}));
  target.classes.clear();
  target.class_names.clear();
  const auto numbers = bin_target(target, {});
  EXPECT_EQ(numbers.classes, binned.classes) << "where there are too many for a list of classes";
  EXPECT_EQ(numbers.names, binned.names);
  Target words;
  words.classes = {0, 1, 2, 0};
  words.class_names = {"sick", "healthy", "10"};
  binned = bin_target(words, {});
  EXPECT_EQ(binned.classes, (std::vector<std::int32_t>{2, 1, 0, 2}));
  EXPECT_EQ(binned.names, (std::vector<std::string>{"10", "healthy", "sick"}));
}

TEST(BinnedTarget, AmountsAreBinnedOnRequestOnly) {
  const auto target = numbers({0.5, 9.5, 1, 2, 3});
  EXPECT_THROW(bin_target(target, {}), Error);
  EXPECT_THROW(bin_target(numbers({1, 2, 3, 4, 5}), {}), Error) << "whole numbers that do not repeat are no classes";
  BinningOptions options;
  options.target_bins = 3;
  auto binned = bin_target(target, options);
  EXPECT_EQ(binned.classes, (std::vector<std::int32_t>{0, 1, 0, 0, 0})) << "the bin from 3.5 to 6.5 is empty";
  EXPECT_EQ(binned.names, (std::vector<std::string>{"0.5 to 3.5", "6.5 to 9.5"}));
  options.target_method = BinMethod::equal_frequency;
  binned = bin_target(target, options);
  EXPECT_EQ(binned.classes, (std::vector<std::int32_t>{0, 2, 0, 1, 1}));
  options.target_method = BinMethod::mdlp;
  EXPECT_THROW(bin_target(target, options), UsageError);
  options = {};
  options.target_bins = 1;
  EXPECT_THROW(bin_target(target, options), UsageError);
  Target words;
  words.classes = {0};
  words.class_names = {"x"};
  options.target_bins = 4;
  EXPECT_THROW(bin_target(words, options), Error);
  EXPECT_THROW(bin_target(Target{}, {}), Error);
}

}  // namespace binning_target_test
}  // namespace sheaf
