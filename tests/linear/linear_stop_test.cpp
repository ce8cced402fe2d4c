// Long fits of linear models end soon after a request to stop, and report their progress.
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/linear.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"

namespace sheaf {
namespace linear_stop_test {

/// Notes what is reported and by whom; calls `heard` after each report.
class Listener : public Progress {
 public:
  std::function<void()> heard = [] {};
  std::int64_t total = 0;
  std::vector<std::int64_t> reports;
  bool foreign = false;  ///< a thread other than the caller's has reported

  std::atomic<bool> begun = false;

  void on_begin(std::string_view, std::int64_t units) override {
    total = units;
    begun = true;
    begun.notify_all();
  }
  void on_advance(std::int64_t by) override {
    foreign = foreign || std::this_thread::get_id() != caller_;
    reports.push_back(by);
    heard();
  }
  std::int64_t sum() const { return std::accumulate(reports.begin(), reports.end(), std::int64_t{0}); }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
};

constexpr std::size_t features = 120;

Context context_of(Device device, Progress& progress, std::stop_token stop = {}) {
  return test::on(device).with({.progress = &progress, .stop = std::move(stop)});
}

/// A path of one alpha for each l1-ratio. Features hang together, so that coordinate descent takes many rounds.
void train_nets(const Context& context, Loss loss, int paths, double tolerance, int max_epochs = 1000000) {
  auto table = test::make_table(300, features, loss == Loss::logistic ? 2 : 0, 3);
  for (auto& row : table.rows)
    for (std::size_t k = 1; k < row.size(); ++k) row[k].second = 0.95 * row[k - 1].second + 0.05 * row[k].second;
  const auto dataset = test::dataset_of<double>(table, features, false);
  NetSheaf sheaf;
  sheaf.examples = dataset.rows();
  sheaf.targets = table.labels;
  for (int p = 0; p < paths; ++p) sheaf.paths.push_back({0, 0, 0.9 - 0.01 * p, {1e-4}});
  NetParams params;
  params.loss = loss;
  params.tolerance = tolerance;
  params.max_epochs = max_epochs;
  params.solver = NetSolver::cyclic;
  elastic_nets<double>(context, dataset, sheaf, params);
}

void train_newton(const Context& context, int tasks) {
  const auto table = test::make_table(2000, features, 2, 5);
  const auto dataset = test::dataset_of<double>(table, features, true);
  Sheaf sheaf;
  sheaf.examples = dataset.rows();
  sheaf.targets = table.labels;
  for (int t = 0; t < tasks; ++t) sheaf.tasks.push_back({0, 0, 1e4, 1e4, 0.1});
  NewtonParams params;
  params.tolerance = 1e-9;
  newton(context, dataset, sheaf, params);
}

using Train = std::function<void(const Context&)>;

/// The whole fit reports often; one that is stopped at its second report makes hardly another.
void expect_stops(Device device, const Train& train) {
  Listener whole;
  train(context_of(device, whole));
  ASSERT_GE(whole.reports.size(), 5U) << "the fit is too short to be stopped in its midst";
  EXPECT_EQ(whole.sum(), whole.total);

  Listener listener;
  std::stop_source source;
  listener.heard = [&] {
    if (listener.reports.size() == 2) std::thread([&] { source.request_stop(); }).join();
  };
  EXPECT_THROW(train(context_of(device, listener, source.get_token())), Stopped);
  EXPECT_LE(listener.reports.size(), 3U) << "rounds after the request";
}

TEST(Stop, EndsOneNet) {
  for (const Device device : test::devices())
    for (const Loss loss : {Loss::squared, Loss::logistic})
      expect_stops(device, [&](const Context& context) { train_nets(context, loss, 1, 1e-8); });
}

TEST(Stop, EndsNewton) {
  for (const Device device : test::devices())
    expect_stops(device, [](const Context& context) { train_newton(context, 1); });
}

/// A tolerance that no fit reaches: within one round it would go on for millions of passes.
TEST(Stop, EndsANetInTheMidstOfARound) {
  for (const Device device : test::devices())
    for (const Loss loss : {Loss::squared, Loss::logistic})
      for (const int paths : {1, 7}) {  // together, and each thread by itself
        Listener listener;
        std::stop_source source;
        std::jthread other([&] {
          listener.begun.wait(false);
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          source.request_stop();
        });
        EXPECT_THROW(train_nets(context_of(device, listener, source.get_token()), loss, paths, 1e-300, 2000000000),
                     Stopped);
      }
}

TEST(Stop, BeforeTheStartNothingIsTrained) {
  for (const Device device : test::devices()) {
    Listener listener;
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(train_nets(context_of(device, listener, source.get_token()), Loss::squared, 1, 1e-4), Stopped);
    EXPECT_THROW(train_newton(context_of(device, listener, source.get_token()), 1), Stopped);
    EXPECT_TRUE(listener.reports.empty());
  }
}

TEST(Progress, OfManyModelsComesFromTheCallerAndAddsUp) {
  for (const Device device : test::devices()) {
    Listener nets, newton;
    train_nets(context_of(device, nets), Loss::squared, 10, 1e-5);
    train_newton(context_of(device, newton), 5);
    for (const Listener* listener : {&nets, &newton}) {
      EXPECT_EQ(listener->sum(), listener->total);
      EXPECT_FALSE(listener->foreign);
      for (const auto by : listener->reports) EXPECT_GE(by, 0);
    }
  }
}

}  // namespace linear_stop_test
}  // namespace sheaf
