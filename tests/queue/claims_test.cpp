// Units claimed by several workers in one folder, as several processes do.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue/claims.hpp"

namespace sheaf::queue {
namespace claims_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ClaimsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / ("sheaf-claims-" + std::to_string(getpid()))).string();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    return names;
  }

  std::string folder_;
};

TEST_F(ClaimsTest, OneWorkerAloneGetsAUnitAndAllReadItsResult) {
  Claims first(folder_, 1h);
  Claims second(folder_, 1h);
  EXPECT_TRUE(first.claim("a"));
  EXPECT_TRUE(first.claim("a")) << "it is still its own";
  EXPECT_FALSE(second.claim("a"));
  EXPECT_TRUE(first.holds("a"));
  EXPECT_FALSE(second.holds("a"));
  EXPECT_FALSE(second.find("a"));
  first.keep("a", {{"value", 0.1}});
  EXPECT_EQ(second.find("a")->at("value"), 0.1);
  EXPECT_FALSE(first.claim("a")) << "it is finished";
  EXPECT_FALSE(second.claim("a"));
  EXPECT_TRUE(second.claim("b"));
  EXPECT_EQ(Claims::results(folder_).size(), 1U);
}

TEST_F(ClaimsTest, TheFirstResultStays) {
  Claims first(folder_, 1h);
  Claims second(folder_, 1h);
  first.keep("a", 1);
  second.keep("a", 2);
  EXPECT_EQ(*second.find("a"), 1);
  EXPECT_EQ(first.agree("question", "yes"), "yes");
  EXPECT_EQ(second.agree("question", "no"), "yes");
}

TEST_F(ClaimsTest, AWorkerThatLeavesLosesItsUnitsAtOnce) {
  auto first = std::make_unique<Claims>(folder_, 1h);
  Claims second(folder_, 1h);
  Claims third(folder_, 1h);
  ASSERT_TRUE(first->claim("a"));
  first.reset();
  EXPECT_TRUE(second.claim("a"));
  EXPECT_FALSE(third.claim("a")) << "and only one other gets it";
}

/// A child that holds a unit is killed without warning, or stopped and let go on later.
TEST_F(ClaimsTest, AWorkerWithoutASignOfLifeLosesItsUnitsAfterTheLease) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    fs::remove_all(folder_);
    const auto child = fork();
    if (child == 0) {
      {
        Claims mine(folder_, 300ms);
        if (!mine.claim("a")) _exit(1);
        raise(signal);
        mine.keep("a", "late");
        if (mine.holds("a")) _exit(2);
      }
      _exit(0);
    }
    Claims other(folder_, 300ms);
    while (!fs::exists(folder_ + "/a.lease-0")) std::this_thread::sleep_for(1ms);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(other.claim("a"));
    while (!other.claim("a")) std::this_thread::sleep_for(10ms);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
    EXPECT_TRUE(other.holds("a"));
    if (signal == SIGKILL) continue;
    other.keep("a", "in time");
    kill(child, SIGCONT);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(*other.find("a"), "in time");
  }
}

TEST_F(ClaimsTest, AWorkerAtWorkKeepsItsUnitsForLongerThanItsLease) {
  Claims first(folder_, 300ms);
  Claims second(folder_, 300ms);
  ASSERT_TRUE(first.claim("a"));
  for (int k = 0; k < 60; ++k, std::this_thread::sleep_for(20ms)) EXPECT_FALSE(second.claim("a"));
}

/// Six workers ask for everything at once.
TEST_F(ClaimsTest, CrowdsDoEachUnitOnce) {
  constexpr int units = 60;
  std::vector<int> done(units, 0);
  {
    std::vector<std::jthread> crowd;
    for (int w = 0; w < 6; ++w)
      crowd.emplace_back([&] {
        Claims mine(folder_, 1h);
        for (int k = 0; k < units; ++k) {
          if (!mine.claim(std::to_string(k))) continue;
          ++done[static_cast<std::size_t>(k)];  // of one thread alone, if claims hold
          mine.keep(std::to_string(k), k);
        }
      });
  }
  EXPECT_EQ(done, std::vector<int>(units, 1));
  EXPECT_EQ(listing().size(), static_cast<std::size_t>(units)) << "leases and workers leave nothing";
}

TEST_F(ClaimsTest, ADamagedResultIsDoneAgain) {
  Claims claims(folder_, 1h);
  claims.keep("a", 1);
  const auto whole = [&] {
    std::ifstream file(folder_ + "/a", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder_ + "/a", std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(claims.find("a")) << size;
  }
  EXPECT_TRUE(claims.claim("a"));
  claims.keep("a", 2);
  EXPECT_EQ(*claims.find("a"), 2);
}

TEST_F(ClaimsTest, EndForAll) {
  Claims first(folder_, 1h);
  Claims second(folder_, 1h);
  ASSERT_TRUE(second.claim("a"));
  EXPECT_FALSE(second.is_over());
  first.end();
  EXPECT_TRUE(first.is_over());
  EXPECT_TRUE(second.is_over());
  EXPECT_FALSE(fs::exists(folder_));
  second.keep("a", 1);
  EXPECT_FALSE(second.claim("b"));
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace claims_test
}  // namespace sheaf::queue
