// Thresholds by their definition, beside a search through all that there are, and in the models that keep them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/threshold.hpp>

#include "core/random.hpp"
#include "model_text.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace threshold_test {

struct Sample {
  std::vector<double> values;
  std::vector<std::uint8_t> positive;
};

/// With ties if `steps` is not 0.
Sample drawn(std::uint64_t seed, int rows, double steps) {
  Random random(seed);
  Sample sample;
  for (int i = 0; i < rows; ++i) {
    const bool positive = random.uniform() < 0.3;
    const double value = random.normal() + (positive ? 0.8 : 0);
    sample.values.push_back(steps > 0 ? std::round(value * steps) / steps : value);
    sample.positive.push_back(positive ? 1 : 0);
  }
  return sample;
}

struct Rates {
  double sensitivity = 0, specificity = 0, false_positives = 0, false_negatives = 0;
};

Rates rates_at(const Sample& sample, double threshold) {
  double found = 0, positives = 0, right = 0, others = 0;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const bool taken = sample.values[i] >= threshold;
    (sample.positive[i] != 0 ? positives : others) += 1;
    found += sample.positive[i] != 0 && taken ? 1 : 0;
    right += sample.positive[i] == 0 && !taken ? 1 : 0;
  }
  return {found / positives, right / others, others - right, positives - found};
}

/// All decisions that thresholds can come to, from the strictest.
std::vector<Rates> all_rates(const Sample& sample) {
  auto values = sample.values;
  values.push_back(std::numeric_limits<double>::infinity());
  std::sort(values.rbegin(), values.rend());
  std::vector<Rates> list;
  for (const double value : values) list.push_back(rates_at(sample, value));
  return list;
}

double goodness(const ThresholdOptions& options, const Rates& rates) {
  if (options.rule == ThresholdRule::youden) return rates.sensitivity + rates.specificity;
  if (options.rule == ThresholdRule::cost)
    return -options.false_positive * rates.false_positives - options.false_negative * rates.false_negatives;
  return rates.sensitivity >= options.sensitivity ? rates.specificity : -1;
}

TEST(Threshold, IsTheBestOfAllByItsRule) {
  for (const char* rule : {"youden", "cost:1:1", "cost:1:5", "cost:10:1", "cost:1:0", "cost:0:1", "sensitivity:0.9",
                           "sensitivity:1", "sensitivity:0.05"})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto options = parse_threshold(rule);
      const auto sample = drawn(seed, 10 + 15 * static_cast<int>(seed), seed % 2 == 0 ? 0 : 4);
      const auto threshold = choose_threshold(options, sample.values, sample.positive);
      const auto found = rates_at(sample, threshold.value);
      double best = -std::numeric_limits<double>::infinity();
      Rates strictest;
      for (const auto& rates : all_rates(sample))
        if (goodness(options, rates) > best) {
          best = goodness(options, rates);
          strictest = rates;
        }
      EXPECT_DOUBLE_EQ(goodness(options, found), best) << rule << " " << seed;
      EXPECT_EQ(found.false_positives, strictest.false_positives) << "of equals the largest: " << rule << " " << seed;
      EXPECT_DOUBLE_EQ(threshold.sensitivity, found.sensitivity);
      EXPECT_DOUBLE_EQ(threshold.specificity, found.specificity);
    }
}

TEST(Threshold, StandsBetweenValuesSoThatRoundingChangesNothing) {
  const std::vector<double> values{1, 2, 3, 4};
  const std::vector<std::uint8_t> positive{0, 0, 1, 1};
  EXPECT_EQ(choose_threshold({}, values, positive).value, 2.5);
  const std::vector<double> close{1, std::nextafter(1, 2)};
  const std::vector<std::uint8_t> second{0, 1};
  const auto threshold = choose_threshold({}, close, second);
  EXPECT_EQ(threshold.sensitivity, 1);
  EXPECT_EQ(threshold.specificity, 1);
  EXPECT_GT(threshold.value, close[0]);
}

TEST(Threshold, RulesAreReadAndWritten) {
  for (const char* rule : {"youden", "cost:1:5", "cost:0.5:0", "sensitivity:0.9"})
    EXPECT_EQ(to_string(parse_threshold(rule)), rule);
  for (const char* wrong : {"", "youdens", "youden:1", "cost", "cost:1", "cost:1:2:3", "cost:-1:2", "cost:0:0",
                            "sensitivity", "sensitivity:0", "sensitivity:1.5", "sensitivity:x", "0.5"})
    EXPECT_THROW(parse_threshold(wrong), UsageError) << wrong;
  const std::vector<double> values{1, 2};
  const std::vector<std::uint8_t> one_class{1, 1};
  EXPECT_THROW(choose_threshold({}, values, one_class), Error);
}

LinearModel one_weight() {
  LinearModel linear;
  linear.class_names = {"healthy", "sick"};  // positive decision values favour the first, sick is the positive one
  linear.features = 1;
  linear.weights = {-1};
  linear.cost = 1;
  linear.fits.resize(1);
  return linear;
}

TEST(Threshold, OfAModelDecidesItsPredictionsAndIsKeptInItsFile) {
  Model model{one_weight()};
  model.set_threshold(Threshold{parse_threshold("sensitivity:0.8"), 2.5, 0.8125, 0.75});
  const auto again = Model::parse(model.text(), "file");
  ASSERT_TRUE(again.threshold());
  EXPECT_EQ(again.threshold()->options, model.threshold()->options);
  EXPECT_EQ(again.threshold()->value, 2.5);
  EXPECT_EQ(again.threshold()->sensitivity, 0.8125);
  EXPECT_EQ(again.threshold()->specificity, 0.75);
  EXPECT_EQ(again.text(), model.text());
  Dataset<double> dataset;
  dataset.x = dense_of<double>({{1}, {2.4}, {2.5}, {9}}, 1);
  const auto predictions = again.predict(Context(), dataset);
  EXPECT_EQ(predictions.classes, (std::vector<std::int32_t>{0, 0, 1, 1})) << "sick from 2.5 on, where 0 was the bound";
  EXPECT_FALSE(model.peer_text()) << "LIBLINEAR has no thresholds";
  EXPECT_THROW(model.text(ModelFile::liblinear), Error);
}

TEST(Threshold, DefectsInModelFilesAreNamed) {
  Model model{one_weight()};
  model.set_threshold(Threshold{});
  const auto text = without_checksum(model.text());
  const auto broken = [&](const std::string& from, const std::string& to) {
    auto changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"threshold 0 youden", "threshold x youden"}, {"youden", "yuoden"}, {"specificity", "precision"}})
    EXPECT_THROW(Model::parse(broken(from, to), "file"), ParseError) << to;
}

}  // namespace threshold_test
}  // namespace sheaf::test
