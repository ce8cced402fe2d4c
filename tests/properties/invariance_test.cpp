// No result may depend on: the order of rows and features, the names of classes, units behind a scaling step, whether a
// row stands twice or weighs 2, a feature that never changes, how the matrix is stored, the number of threads, the
// precision and the device.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "devices.hpp"
#include "properties/families.hpp"

namespace sheaf::test {
namespace {

constexpr std::int64_t rows = 90;
constexpr std::int64_t features = 7;
constexpr std::int64_t queries = 25;

Context context_of(Device device, int threads = 2) {
  return Context({.device = device, .threads = threads, .memory = std::int64_t{1} << 30, .seed = 3});
}

struct Answer {
  std::vector<double> decisions;     ///< of the class whose name comes first, for two classes; else as they are
  std::vector<std::string> classes;  ///< as spelled; regression: none
};

/// Predictions for rows that stay the same while the training data are presented in another way.
Answer answer_of(const Context& context, const Model& model, const Dataset<double>& query) {
  const auto predictions = model.predict(context, query);
  Answer answer{predictions.decisions, {}};
  const auto& names = model.class_names();
  if (names.empty()) return answer;
  for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i)
    answer.classes.push_back(model.prediction_text(predictions, i));
  return answer;
}

/// Shares of the range of the expected values.
void expect_close(const Answer& answer, const Answer& expected, double accuracy, const std::string& what) {
  ASSERT_EQ(answer.decisions.size(), expected.decisions.size()) << what;
  const auto [low, high] = std::minmax_element(expected.decisions.begin(), expected.decisions.end());
  const double range = std::max(*high - *low, 1e-3);
  double worst = 0;
  for (std::size_t i = 0; i < expected.decisions.size(); ++i)
    worst = std::max(worst, std::abs(answer.decisions[i] - expected.decisions[i]) / range);
  EXPECT_LE(worst, accuracy) << what;
  EXPECT_EQ(answer.classes, expected.classes) << what;
}

class Invariance : public testing::TestWithParam<FamilyCase> {
 protected:
  Invariance() : sample_(draw_sample(GetParam().target, rows, features, 11)) {
    query_ = draw_sample(GetParam().target, queries, features, 12);
  }

  template <class T = double>
  Model train(const Context& context, const Sample& sample, bool sparse = false,
              const PipelineOptions& pipeline = {}) const {
    return fit(context, dataset_of<T>(sample, sparse), options_of(GetParam()), sample.weights, pipeline);
  }
  /// The model of a sample, applied to the queries.
  Answer answer(Device device, const Sample& sample, const Sample& query, const PipelineOptions& pipeline = {},
                bool sparse = false) const {
    const auto context = context_of(device);
    return answer_of(context, train(context, sample, sparse, pipeline), dataset_of<double>(query, sparse));
  }

  Sample sample_, query_;
};

Sample take(const Sample& from, const std::vector<std::size_t>& places) {
  Sample to;
  for (const auto i : places) {
    to.x.push_back(from.x[i]);
    if (!from.classes.empty()) to.classes.push_back(from.classes[i]);
    if (!from.numbers.empty()) to.numbers.push_back(from.numbers[i]);
    if (!from.events.empty()) to.events.push_back(from.events[i]);
    if (!from.weights.empty()) to.weights.push_back(from.weights[i]);
  }
  return to;
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  random.shuffle(std::span(order));
  return order;
}

TEST_P(Invariance, OrderOfRows) {
  for (const auto device : devices())
    expect_close(answer(device, take(sample_, shuffled(rows, 5)), query_), answer(device, sample_, query_),
                 GetParam().accuracy, to_string(device));
}

TEST_P(Invariance, OrderOfFeatures) {
  const auto order = shuffled(features, 6);
  const auto permute = [&](Sample sample) {
    for (auto& row : sample.x) {
      std::vector<double> other;
      for (const auto j : order) other.push_back(row[j]);
      row = other;
    }
    return sample;
  };
  for (const auto device : devices())
    expect_close(answer(device, permute(sample_), permute(query_)), answer(device, sample_, query_),
                 GetParam().accuracy, to_string(device));
}

TEST_P(Invariance, NamesOfClasses) {
  if (sample_.classes.empty()) GTEST_SKIP() << "the target is a number";
  // The order of the new names is another one than that of the old.
  const std::map<std::string, std::string> renamed{
      {"case", "a"}, {"control", "b"}, {"low", "y"}, {"middle", "x"}, {"top", "z"}};
  const auto rename = [&](Sample sample) {
    for (auto& name : sample.classes) name = renamed.at(name);
    return sample;
  };
  for (const auto device : devices()) {
    auto expected = answer(device, sample_, query_).classes;
    for (auto& name : expected) name = renamed.at(name);
    EXPECT_EQ(answer(device, rename(sample_), query_).classes, expected) << to_string(device);
  }
}

TEST_P(Invariance, UnitsBehindAScalingStep) {
  PipelineOptions pipeline;
  pipeline.scale = ScaleMethod::standard;
  const auto rescale = [](Sample sample) {
    for (auto& row : sample.x)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = row[j] * std::pow(8.0, static_cast<double>(j) - 3) + 4;
    return sample;
  };
  for (const auto device : devices())
    expect_close(answer(device, rescale(sample_), rescale(query_), pipeline), answer(device, sample_, query_, pipeline),
                 GetParam().accuracy, to_string(device));
}

TEST_P(Invariance, WeightTwoIsARowTwice) {
  if (!GetParam().row_weights) GTEST_SKIP() << "the model takes no row weights";
  auto weighted = sample_;
  std::vector<std::size_t> twice;
  for (std::size_t i = 0; i < weighted.x.size(); ++i) {
    weighted.weights.push_back(i % 3 == 0 ? 2.0F : i % 7 == 0 ? 0.0F : 1.0F);
    for (int k = 0; k < static_cast<int>(weighted.weights.back()); ++k) twice.push_back(i);
  }
  for (const auto device : devices())
    expect_close(answer(device, weighted, query_), answer(device, take(sample_, twice), query_), GetParam().accuracy,
                 to_string(device));
}

TEST_P(Invariance, FeatureThatNeverChanges) {
  const auto constant = [](Sample sample, double value) {
    for (auto& row : sample.x) row.push_back(value);
    return sample;
  };
  for (const auto device : devices()) {
    const auto expected = answer(device, sample_, query_);
    expect_close(answer(device, constant(sample_, 0), constant(query_, 0)), expected, GetParam().accuracy,
                 to_string(device) + ", all 0");
    if (GetParam().ignores_constants)
      expect_close(answer(device, constant(sample_, 3), constant(query_, 3)), expected, GetParam().accuracy,
                   to_string(device) + ", all 3");
  }
}

TEST_P(Invariance, StorageOfTheMatrix) {
  const auto sparser = [](Sample sample) {
    for (auto& row : sample.x)
      for (auto& value : row)
        if (std::abs(value) < 0.7) value = 0;
    return sample;
  };
  const auto few = sparser(sample_);
  const auto query = sparser(query_);
  for (const auto device : devices())
    expect_close(answer(device, few, query, {}, true), answer(device, few, query), GetParam().accuracy,
                 to_string(device));
}

TEST_P(Invariance, ThreadsGiveTheSameBytes) {
  const auto expected = train(context_of(Device::cpu(), 1), sample_).text();
  for (const int threads : {2, 3, 16, 64})
    EXPECT_EQ(train(context_of(Device::cpu(), threads), sample_).text(), expected) << threads;
}

TEST_P(Invariance, PrecisionAndDevice) {
  constexpr double single = 2e-3;
  const auto expected = answer(Device::cpu(), sample_, query_);
  for (const auto device : devices()) {
    const auto context = context_of(device);
    const auto query = dataset_of<double>(query_);
    expect_close(answer(device, sample_, query_), expected, GetParam().accuracy, to_string(device));
    expect_close(answer_of(context, train<float>(context, sample_), query), expected,
                 std::max(single, GetParam().accuracy), to_string(device) + ", float");
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Invariance, testing::ValuesIn(family_cases()), [](const auto& one) {
  auto name = name_of(one.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(InvarianceCases, EveryKindOfModelIsThere) {
  std::set<std::string> there;
  for (const auto& one : family_cases()) there.insert(one.kind);
  for (const auto& kind : model_kinds()) EXPECT_TRUE(there.contains(std::string(kind.name))) << kind.name;
}

}  // namespace
}  // namespace sheaf::test
