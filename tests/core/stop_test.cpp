// Work ends after a request to stop with Stopped, leaves nothing behind, and changes nothing for the next call.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/solvers/binning.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "devices.hpp"

namespace sheaf {
namespace stop_test {

/// Requests a stop after some reports of progress.
struct StoppingListener : Progress {
  explicit StoppingListener(int reports) : left(reports) {}
  void on_advance(std::int64_t) override {
    if (--left == 0) source.request_stop();
  }
  int left;
  std::stop_source source;
};

Context context_on(Device device, std::stop_token stop, Progress* progress = nullptr) {
  Context::Options options;
  options.device = device;
  options.threads = 2;
  options.progress = progress;
  options.stop = std::move(stop);
  return Context(options);
}

Context plain(Device device) { return context_on(device, {}); }

Context stopped(Device device) {
  std::stop_source source;
  source.request_stop();
  return context_on(device, source.get_token());
}

Dataset<double> dataset() {
  GenerateOptions options;
  options.kind = "genes";
  options.rows = 120;
  options.features = 300;
  return generate<double>(plain(Device::cpu()), options).dataset;
}

std::vector<std::int64_t> indices(const Selection& selection) {
  std::vector<std::int64_t> result;
  for (const auto& feature : selection.selected) result.push_back(feature.index);
  return result;
}

struct Files : testing::Test {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("sheaf-stop-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }
};

TEST_F(Files, AreNeitherReadNorWrittenAfterAStop) {
  const auto data = dataset();
  for (const std::string name : {"a.csv", "a.libsvm", "a.arff", "a.csv.gz", "a.csv.xz", "a.csv.zst"}) {
    const auto ending = name.substr(name.rfind('.'));
    const auto known = compressions();
    if (name.size() > 6 && name.starts_with("a.csv.") && std::find(known.begin(), known.end(), ending) == known.end())
      continue;  // this build was made without its library
    EXPECT_THROW(write_dataset(stopped(Device::cpu()), data, path(name)), Stopped) << name;
    EXPECT_EQ(files(), 0) << name;
    write_dataset(plain(Device::cpu()), data, path(name));
    EXPECT_THROW(read_dataset<double>(stopped(Device::cpu()), path(name)), Stopped) << name;
    EXPECT_EQ(read_dataset<double>(plain(Device::cpu()), path(name)).rows(), data.rows()) << name;
    std::filesystem::remove(path(name));
  }
}

TEST_F(Files, ThatNeverEndAreLeft) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  EXPECT_THROW(read_dataset<double>(context_on(Device::cpu(), source.get_token()), "-"), Stopped);
  dup2(saved, STDIN_FILENO);
  for (const int end : {saved, ends[0], ends[1]}) close(end);
}

TEST(Stop, EndsEveryPassOverTheData) {
  const auto data = dataset();
  const auto context = stopped(Device::cpu());
  auto copy = dataset();
  const auto scaling = learn_scaling(plain(Device::cpu()), data, ScaleMethod::standard);
  GenerateOptions text;
  text.kind = "text";
  const std::vector<std::pair<const char*, std::function<void()>>> works{
      {"generate", [&] { generate<double>(context, {}); }},
      {"generate text", [&] { generate<float>(context, text); }},
      {"summarize", [&] { summarize(context, data); }},
      {"associate", [&] { associate(context, data); }},
      {"binning", [&] { learn_and_apply_binning(context, data, {}); }},
      {"learn_scaling", [&] { learn_scaling(context, data, ScaleMethod::standard); }},
      {"apply_scaling", [&] { apply_scaling(context, scaling, copy); }},
  };
  for (const auto& [name, work] : works) EXPECT_THROW(work(), Stopped) << name;
}

struct States {
  BinnedTable table;
  BinnedTarget target;
};

States states_of(const Dataset<double>& data) {
  return {learn_and_apply_binning(plain(Device::cpu()), data, {}).table, bin_target(data.target, {})};
}

TEST(Stop, EndsASelectionInTheMiddle) {
  const auto data = dataset();
  const auto made = states_of(data);
  for (const Device device : test::devices())
    for (const char* criterion : {"jmi", "mrmr", "cmim", "fcbf"}) {
      SelectionOptions options;
      options.criterion = criterion;
      options.count = 40;
      const auto before = indices(select_features(plain(device), made.table, made.target, options));
      StoppingListener listener(1);
      const auto context = context_on(device, listener.source.get_token(), &listener);
      EXPECT_THROW(select_features(context, made.table, made.target, options), Stopped) << criterion;
      EXPECT_EQ(indices(select_features(plain(device), made.table, made.target, options)), before) << criterion;
    }
}

TEST(Stop, EndsEnsemblesMatricesAndNeighbours) {
  const auto data = dataset();
  const auto made = states_of(data);
  for (const Device device : test::devices()) {
    SelectionOptions options;
    options.count = 5;
    EnsembleOptions ensemble;
    ensemble.resamples = 4;
    const std::vector<std::int64_t> features{0, 1, 2};
    EXPECT_THROW(select_ensemble(stopped(device), made.table, made.target, options, ensemble), Stopped);
    EXPECT_THROW(mutual_information_matrix(stopped(device), made.table, features), Stopped);
    for (const char* criterion : {"relief", "relieff"}) {
      options.criterion = criterion;
      EXPECT_THROW(select_numeric(stopped(device), data, options), Stopped) << criterion;
      EXPECT_EQ(select_numeric(plain(device), data, options).selected.size(), 5U);
    }
  }
}

TEST(Stop, EndsPrediction) {
  const auto data = dataset();
  for (const Device device : test::devices()) {
    const auto model = train_linear(plain(device), data, {});
    EXPECT_THROW(predict_linear(stopped(device), model, data), Stopped);
    EXPECT_EQ(predict_linear(plain(device), model, data).rows, data.rows());
  }
}

}  // namespace stop_test
}  // namespace sheaf
