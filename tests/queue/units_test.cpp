// Units shared by devices: each is done once, errors end the work, units of other processes are asked for again.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>

#include "queue/units.hpp"

namespace sheaf::queue {
namespace units_test {

TEST(Units, AreEachDoneOnceByAnyNumberOfDevices) {
  for (const std::size_t devices : {1, 2, 5})
    for (const std::int64_t units : {0, 1, 31, 200}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(units));
      run_units(devices, units, [&](std::size_t device, Range some) {
        EXPECT_LT(device, devices);
        EXPECT_EQ(some.end - some.begin, 1);
        ++done[static_cast<std::size_t>(some.begin)];
        return true;
      });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
}

TEST(Units, AreTakenInPiecesOfEachDevicesSize) {
  const std::vector<std::int64_t> pieces{3, 7};
  std::mutex mutex;
  std::vector<int> done(100, 0);
  const auto work = [&](std::size_t device, Range some) {
    const std::lock_guard lock(mutex);
    EXPECT_LE(some.end - some.begin, pieces[device]);
    for (auto k = some.begin; k < some.end; ++k) ++done[static_cast<std::size_t>(k)];
    return true;
  };
  run_units(2, 100, work, {.at_once = pieces});
  EXPECT_EQ(std::count(done.begin(), done.end(), 1), 100);
}

TEST(Units, OneDeviceTakesThemInTheirOrder) {
  std::vector<std::int64_t> order;
  run_units(1, 50, [&](std::size_t, Range some) {
    order.push_back(some.begin);
    return true;
  });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Units, EndWithTheFirstErrorAndBeginNoMore) {
  for (const std::size_t devices : {1, 3}) {
    std::atomic<int> begun = 0;
    const auto work = [&](std::size_t, Range some) {
      ++begun;
      if (some.begin == 5) throw Error("the fifth");
      return true;
    };
    try {
      run_units(devices, 100000, work);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the fifth");
    }
    if (devices == 1) {
      EXPECT_EQ(begun, 6);
    }
    EXPECT_LT(begun, 100000);
  }
}

/// Units of other processes are offered after all others, until they are done.
TEST(Units, OfOthersAreAskedForAgain) {
  for (const std::size_t devices : {1, 2}) {
    std::mutex mutex;
    std::vector<int> asked(20, 0);
    std::vector<std::int64_t> done;
    run_units(devices, 20, [&](std::size_t, Range some) {
      const std::lock_guard lock(mutex);
      const bool theirs = some.begin % 4 == 0 && ++asked[static_cast<std::size_t>(some.begin)] <= 3;
      if (!theirs) done.push_back(some.begin);
      return !theirs;
    });
    ASSERT_EQ(done.size(), 20U);
    for (std::size_t k = 0; k + 5 < 15; ++k) EXPECT_NE(done[k] % 4, 0);
    std::sort(done.begin(), done.end());
    EXPECT_EQ(std::unique(done.begin(), done.end()), done.end());
  }
}

TEST(Units, StopWhileTheyWaitForOthers) {
  std::stop_source source;
  int asked = 0;
  const auto never = [&](std::size_t, Range) {
    if (++asked == 3) source.request_stop();
    return false;
  };
  EXPECT_THROW(run_units(1, 2, never, {.stop = source.get_token()}), Stopped);
}

}  // namespace units_test
}  // namespace sheaf::queue
