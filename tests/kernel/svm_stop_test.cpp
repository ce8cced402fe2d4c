// A stop ends whatever SVMs are at, wherever it comes from; progress moves while one of them is trained, and listeners
// hear from the calling thread alone.
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "kernel/smo/chunks.hpp"
#include "svm_tables.hpp"

namespace sheaf::test {
namespace svm_stop_test {

using Clock = std::chrono::steady_clock;

/// Overlapping classes that a large cost tears at for hours.
SvmParams endless() {
  SvmParams params;
  params.kernel = {.type = KernelType::rbf, .gamma = 0.01};
  params.tolerance = 1e-13;
  params.max_iterations = std::numeric_limits<std::int64_t>::max();
  return params;
}

/// Runs the work, which would take hours, and stops it from another thread after a moment. The bound is far above the
/// 0.2 s that users get, since tests share their cores with others.
void expect_stop(Device device, const std::function<void(const Context&)>& work) {
  std::stop_source source;
  const Context context = context_on(device).with({.stop = source.get_token()});
  Clock::time_point asked;
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    asked = Clock::now();
    source.request_stop();
  });
  EXPECT_THROW(work(context), Stopped);
  const auto answered = Clock::now();
  other.join();
  EXPECT_LT(std::chrono::duration<double>(answered - asked).count(), 3.0);
}

TEST(SvmStop, RoundsOverWorkingSets) {
  for (const Device device : devices()) {
    Table<double> table(3000, 10, true, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, SvmTask::rest, 1e6, 1e6}, {1, 1, SvmTask::rest, 1e6, 1e6}};
    expect_stop(device, [&](const Context& context) { train_sheaf(context, table.dataset, table.sheaf, endless()); });
  }
}

TEST(SvmStop, SmallPairsWithoutAWorkingSet) {
  for (const Device device : devices()) {
    Table<double> table(2000, 10, true, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, 1, 1e6, 1e6}};
    expect_stop(device, [&](const Context& context) { train_sheaf(context, table.dataset, table.sheaf, endless()); });
  }
}

TEST(SvmStop, ChunksOfRows) {
  for (const Device device : devices()) {
    Table<double> table(2000, 10, false, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, SvmTask::rest, 1e6, 1e6}};
    const auto params = endless();
    const auto problems =
        kernel::make_problems(Context(), table.sheaf, kernel::order_rows(table.sheaf), 0, 1, params.tolerance);
    KernelCounts counts;
    expect_stop(device, [&](const Context& context) {
      kernel::solve_in_chunks(context, table.dataset, params, problems.tasks, 400, counts);
    });
  }
}

/// Work with a stop requested before it begins.
TEST(SvmStop, NothingBegins) {
  std::stop_source source;
  source.request_stop();
  for (const Device device : devices()) {
    const Context context = context_on(device).with({.stop = source.get_token()});
    Table<double> table(300, 5, false, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, 1, 1, 1}, {0, 0, SvmTask::rest, 1, 1}};
    EXPECT_THROW(train_sheaf(context, table.dataset, table.sheaf, SvmParams{}), Stopped);
    const std::vector<BinarySvm> svms{{{0, 1}, {1.0, -1.0}, 0}};
    EXPECT_THROW(decision_values(context, KernelParams{}, table.dataset, svms, table.dataset), Stopped);
    for (std::int64_t i = 0; i < 300; ++i) table.dataset.target.classes.push_back(static_cast<std::int32_t>(i % 2));
    table.dataset.target.class_names = {"no", "yes"};
    EXPECT_THROW(cross_validate_svm(context, table.dataset, SvmOptions{}, 3), Stopped);
  }
}

class Listener final : public Progress {
 public:
  void on_begin(std::string_view, std::int64_t of) override {
    check_thread();
    total = of;
  }
  void on_advance(std::int64_t by) override {
    check_thread();
    EXPECT_GT(by, 0);
    done += by;
    ++moves;
  }
  void on_end() override { check_thread(); }

  std::int64_t total = 0, done = 0, moves = 0;

 private:
  void check_thread() const { EXPECT_EQ(std::this_thread::get_id(), caller_) << "progress must come from the caller"; }
  std::thread::id caller_ = std::this_thread::get_id();
};

/// All of the work, whichever way each task is solved.
TEST(SvmProgress, CountsEveryTask) {
  for (const Device device : devices()) {
    Table<double> table(1500, 10, true, SvmKind::c_svc);
    SvmSheaf sheaf = table.sheaf;
    for (int k = 0; k < 20; ++k) sheaf.tasks.push_back({0, 2, 1, 0.1 * (k + 1), 0.1 * (k + 1)});
    sheaf.tasks.push_back({0, 0, SvmTask::rest, 1, 1});
    SvmParams params;
    params.kernel.gamma = 0.05;
    Listener listener;
    train_sheaf(context_on(device).with({.progress = &listener}), table.dataset, sheaf, params);
    EXPECT_GT(listener.total, 0);
    EXPECT_EQ(listener.done, listener.total);
  }
}

TEST(SvmProgress, MovesDuringOneFit) {
  for (const Device device : devices())
    for (const std::int32_t negative : {SvmTask::rest, 1}) {  // by working sets; as one pair
      Table<double> table(2500, 10, true, SvmKind::c_svc);
      table.sheaf.tasks = {{0, 0, negative, 100, 100}};
      SvmParams params;
      params.kernel.gamma = 0.02;
      params.tolerance = 1e-9;
      Listener listener;
      train_sheaf(context_on(device).with({.progress = &listener}), table.dataset, table.sheaf, params);
      EXPECT_EQ(listener.done, listener.total);
      EXPECT_GE(listener.moves, 4) << to_string(device) << ", class 0 against " << negative;
    }
}

TEST(SvmProgress, MovesBetweenChunksOfRows) {
  for (const Device device : devices()) {
    Table<double> table(600, 8, false, SvmKind::c_svc);
    table.sheaf.tasks = {{0, 0, SvmTask::rest, 1, 1}};
    SvmParams params;
    params.kernel.gamma = 0.3;
    const auto problems =
        kernel::make_problems(Context(), table.sheaf, kernel::order_rows(table.sheaf), 0, 1, params.tolerance);
    KernelCounts counts;
    Listener listener;
    kernel::solve_in_chunks(context_on(device).with({.progress = &listener}), table.dataset, params, problems.tasks,
                            100, counts);
    EXPECT_EQ(listener.done, listener.total);
    EXPECT_GE(listener.moves, 3);
  }
}

}  // namespace svm_stop_test
}  // namespace sheaf::test
