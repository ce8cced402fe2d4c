// Another program holds most of a GPU's memory: models are trained and applied in what is free, with the same answer.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/device.hpp>

#include "core/memory/less_memory.hpp"
#include "core/random.hpp"
#include "devices.hpp"

namespace sheaf {
namespace held_memory_test {

constexpr std::int64_t rows = 30'000;
constexpr std::int64_t features = 300;
constexpr int classes = 10;
constexpr std::int64_t left_free = std::int64_t{700} << 20;

/// Ten clouds of points that overlap, 72 MB.
Dataset<double> clouds() {
  Random random(4);
  DenseMatrix<double> x{rows, features, Array<double>(rows * features)};
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto name = static_cast<int>(random.below(classes));
    for (std::int64_t j = 0; j < features; ++j)
      x.values[i * features + j] = random.normal() + (j % classes == name ? 0.3 : 0);
    names.push_back("cloud " + std::to_string(name));
  }
  Dataset<double> dataset;
  dataset.target = make_target(std::span<const std::string>(names), {});
  dataset.target.kind = LabelKind::classes;
  dataset.target.order_classes();
  dataset.x = std::move(x);
  dataset.source = "clouds";
  return dataset;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

std::vector<double> decisions_of(Device device, const std::string& kind, const Settings& settings) {
  const auto dataset = clouds();                         // no copy of an earlier one is on the GPU
  const Context context({.device = device, .seed = 2});  // plans with the memory that is free now
  auto options = find_model_kind(kind).options;
  for (const auto& [name, value] : settings) set_parameter(options, name, value);
  return fit(context, dataset, options).predict(context, dataset).decisions;
}

TEST(HeldMemory, ModelsAreTrainedInWhatIsFree) {
  const std::vector<std::pair<std::string, Settings>> kinds{
      {"svm", {{"gamma", "0.003"}, {"tolerance", "1e-4"}}},
      {"multinomial", {{"alpha", "0.01"}, {"tolerance", "1e-8"}}},
      {"linear", {{"tolerance", "1e-6"}}},
      {"elastic-net-multinomial", {{"alpha", "0.01"}, {"tolerance", "1e-6"}}},
      {"knn", {{"k", "9"}}},
  };
  bool tested = false;
  for (const Device device : test::devices()) {
    if (device.is_cpu()) continue;
    tested = true;
    for (const auto& [kind, settings] : kinds) {
      SCOPED_TRACE(kind);
      const auto expected = decisions_of(device, kind, settings);
      release_cached_memory(device);
      const auto held = describe(device).free_bytes - left_free;
      ASSERT_GT(held, 0);
      const Array<char> hog(held, device);
      const auto found = decisions_of(device, kind, settings);
      ASSERT_EQ(found.size(), expected.size());
      const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
      for (std::size_t e = 0; e < found.size(); ++e) ASSERT_NEAR(found[e], expected[e], 0.01 * (*high - *low));
    }
  }
  if (!tested) GTEST_SKIP() << "only GPUs are shared with programs that hold memory: name one in SHEAF_TEST_DEVICES";
}

TEST(HeldMemory, WorkThatRanOutOfMemoryIsDoneOnceMoreInLess) {
  bool tested = false;
  for (const Device device : test::devices()) {
    const Context context({.device = device, .memory = std::int64_t{1} << 30});
    std::vector<std::int64_t> tries;
    std::vector<std::string> reports;
    const auto work = [&](const Context& where) {
      tries.push_back(where.memory());
      if (tries.size() == 1) throw OutOfMemory("no memory");
      return 7;
    };
    const auto report = [&](std::string text) { reports.push_back(std::move(text)); };
    if (device.is_cpu()) {
      EXPECT_THROW(retry_in_less_memory(context, work, report), OutOfMemory);
      EXPECT_EQ(tries.size(), 1U);
      continue;
    }
    tested = true;
    EXPECT_EQ(retry_in_less_memory(context, work, report), 7);
    ASSERT_EQ(tries.size(), 2U);
    EXPECT_LE(tries[1], tries[0] / 2);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_TRUE(reports[0].starts_with(to_string(device) + " ran out of memory")) << reports[0];
    const auto never = [](const Context&) -> int { throw OutOfMemory("no memory"); };
    EXPECT_THROW(retry_in_less_memory(context, never, report), OutOfMemory);
  }
  if (!tested)
    GTEST_SKIP() << "no GPU is named in SHEAF_TEST_DEVICES; on the CPU there is no second try, which was checked";
}

}  // namespace held_memory_test
}  // namespace sheaf
