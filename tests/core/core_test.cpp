#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <sheaf/context.hpp>
#include <sheaf/error.hpp>
#include <sheaf/solvers/array.hpp>

#include "core/device_cost.hpp"
#include "core/parallel.hpp"
#include "core/rounds.hpp"
#include "devices.hpp"

namespace sheaf {
namespace core_test {

TEST(Bytes, AreReadWithAndWithoutUnits) {
  EXPECT_EQ(parse_bytes("1024"), 1024);
  EXPECT_EQ(parse_bytes("7B"), 7);
  EXPECT_EQ(parse_bytes("1.5K"), 1536);
  EXPECT_EQ(parse_bytes("2GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("3MB"), std::int64_t{3} << 20);
  EXPECT_EQ(parse_bytes("1T"), std::int64_t{1} << 40);
}

TEST(Bytes, AreRefusedWithTheTextThatWasGiven) {
  for (const std::string bad :
       {"", "G", "-1", "1X", "1GG", "0", "nan", "inf", "1e300T", "5iB", "1KiBB", "1 G", "1G ", "0x10"})
    try {
      parse_bytes(bad);
      ADD_FAILURE() << bad;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + bad + "'"), std::string::npos) << error.what();
    }
}

TEST(Bytes, AreWrittenInTheLargestUnit) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(format_bytes(std::int64_t{5000} << 40), "5000.0 TiB");
}

TEST(DeviceName, IsReadBack) {
  EXPECT_EQ(parse_device("cpu"), Device::cpu());
  for (const auto device : test::devices()) EXPECT_EQ(parse_device(to_string(device)), device);
  EXPECT_EQ(parse_device("auto"), Device::automatic());
  EXPECT_EQ(to_string(Device::automatic()), "auto");
}

TEST(DeviceName, UnknownIsAnsweredWithTheKnownOnes) {
  for (const char* bad : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda0", "cuda:99999999999"}) try {
      parse_device(bad);
      ADD_FAILURE() << bad;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("auto"), std::string::npos) << error.what();
    }
}

TEST(DeviceName, MissingDeviceIsAnErrorAndNoFallBack) {
  EXPECT_THROW(parse_device("cuda:4095"), UsageError);
  EXPECT_FALSE(describe(Device::cuda(4095)).usable);
  EXPECT_FALSE(describe(Device::cuda(4095)).why_not.empty());
}

TEST(DeviceList, BeginsWithTheCpu) {
  const auto devices = list_devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_TRUE(devices.front().device.is_cpu());
  EXPECT_TRUE(devices.front().usable);
  EXPECT_GT(devices.front().free_bytes, 0);
  EXPECT_GE(devices.front().total_bytes, devices.front().free_bytes);
  for (const auto& device : devices) EXPECT_EQ(device.usable, device.why_not.empty()) << device.name;
}

TEST(ContextDefaults, AreFilledIn) {
  const Context context;
  EXPECT_EQ(context.threads(), available_threads());
  EXPECT_GE(context.threads(), 1);
  EXPECT_GT(context.memory(), 0);
  context.progress().begin("nothing listens", 1);
  Context::Options options;
  options.threads = 3;
  options.memory = 1000;
  options.seed = 9;
  const Context given(options);
  EXPECT_EQ(given.threads(), 3);
  EXPECT_EQ(given.memory(), 1000);
  EXPECT_EQ(given.seed(), 9U);
}

TEST(ContextDevice, IsChosenForTheWorkWhereItIsAutomatic) {
  const WorkEstimate small{1e3, 1e3};
  const Context automatic;
  EXPECT_EQ(automatic.device(), Device::cpu());
  EXPECT_EQ(automatic.for_work(small).device(), Device::cpu());
  EXPECT_EQ(automatic.with({.seed = 3}).for_work(small).seed(), 3U);
  const WorkEstimate large{1e15, 1e9};
  const bool has_gpu = list_devices().back().device.is_cuda() && list_devices().back().usable;
  EXPECT_EQ(automatic.for_work(large).device().is_cuda(), has_gpu);
  for (const auto device : test::devices()) {
    const Context given({.device = device, .memory = 1 << 20});
    EXPECT_EQ(given.for_work(small).device(), device);
    EXPECT_EQ(given.for_work(large).device(), device);
  }
  const Context limited({.memory = 12345});
  EXPECT_EQ(limited.for_work(large).memory(), 12345);
  EXPECT_EQ(limited.with({.seed = 1}).for_work(large).memory(), 12345);
}

TEST(PlaceText, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(to_string(Place{"f", 0, 0}), "f");
  EXPECT_EQ(to_string(Place{"f", 3, 0}), "f:3");
  EXPECT_EQ(to_string(Place{"f", 3, 7}), "f:3:7");
  EXPECT_STREQ(ParseError({"f", 3, 7}, "bad").what(), "f:3:7: bad");
}

TEST(Rounds, FitTheBudgetAndCoverEveryTaskOnce) {
  for (const std::int32_t tasks : {1, 2, 3, 7, 8, 9, 100, 1001})
    for (const std::int64_t budget : {110, 120, 150, 199, 500, 100000}) {
      std::int32_t next = 0;
      std::int32_t shortest = tasks;
      std::int32_t longest = 0;
      const auto rounds = plan_rounds(tasks, 100, 10, budget);
      for (const auto& round : rounds) {
        EXPECT_EQ(round.first, next);
        EXPECT_GT(round.count, 0);
        EXPECT_LE(100 + 10 * block_stride(round.count), budget);
        next += round.count;
        shortest = std::min(shortest, round.count);
        longest = std::max(longest, round.count);
      }
      EXPECT_EQ(next, tasks);
      EXPECT_LE(longest - shortest, 1);
      std::int32_t most = 1;  // the widest round that fits: fewer rounds are not possible
      while (most < tasks && 100 + 10 * block_stride(most + 1) <= budget) ++most;
      EXPECT_EQ(static_cast<std::int32_t>(rounds.size()), (tasks + most - 1) / most);
    }
}

TEST(Rounds, OfNoTasksAreNone) { EXPECT_TRUE(plan_rounds(0, 100, 10, 0).empty()); }

TEST(Rounds, NameTheBytesWhenNothingFits) {
  try {
    plan_rounds(5, 2048, 1024, 3000);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("2.0 KiB"), std::string::npos) << text;
    EXPECT_NE(text.find("2.9 KiB"), std::string::npos) << text;
  }
}

TEST(BlockStride, IsWideEnoughAndAFixedWidth) {
  for (std::int32_t tasks = 1; tasks < 100; ++tasks) {
    const auto stride = block_stride(tasks);
    EXPECT_GE(stride, tasks);
    EXPECT_LT(stride, tasks + 8);
    EXPECT_TRUE(stride == 1 || stride == 2 || stride == 4 || stride % 8 == 0) << stride;
  }
}

TEST(Arrays, TravelBetweenDevicesUnchanged) {
  for (const std::int64_t size : {0, 1, 33, 1 << 21})
    for (const auto device : test::devices()) {
      Array<double> values(size);
      for (std::int64_t k = 0; k < size; ++k) values[k] = static_cast<double>(k) / 3;
      const auto there = values.to(device);
      EXPECT_EQ(there.device(), device);
      const auto back = there.to(Device::cpu());
      EXPECT_TRUE(std::equal(values.begin(), values.end(), back.begin(), back.end()));
      const auto zeros = Array<double>::zeros(size, device).to(Device::cpu());
      EXPECT_EQ(std::count(zeros.begin(), zeros.end(), 0.0), size);
    }
}

TEST(Arrays, MoveAndAlign) {
  Array<float> a(5);
  a[4] = 2;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
  Array<float> b = std::move(a);
  EXPECT_EQ(b[4], 2);
  b = Array<float>();
  EXPECT_EQ(b.size(), 0);
}

TEST(Blocks, BeginAsZerosWithPadding) {
  Block<float> block(3, 5);
  EXPECT_EQ(block.stride(), 8);
  block(2, 4) = 7;
  const auto copy = block.to(Device::cpu());
  const auto view = copy.view();
  for (std::int64_t k = 0; k < 24; ++k) EXPECT_EQ(view.data[k], k == 20 ? 7 : 0);
}

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : {1, 2, 7})
    for (const std::int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(threads, count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& call : calls) EXPECT_EQ(call, 1);
    }
}

TEST(ParallelFor, ThrowsTheErrorOfTheLowestIndex) {
  for (const int threads : {1, 2, 7})
    for (int repeat = 0; repeat < 20; ++repeat) try {
        parallel_for(threads, 500, [](std::int64_t i) {
          if (i % 100 == 37) throw Error(std::to_string(i));
        });
        FAIL();
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "37");
      }
}

TEST(ParallelFor, ALoopInsideALoopRunsOnItsOwnThread) {
  std::atomic<int> strangers = 0;
  std::atomic<int> calls = 0;
  parallel_for(4, 40, [&](std::int64_t) {
    const auto me = std::this_thread::get_id();
    parallel_for(4, 10, [&](std::int64_t) {
      strangers += std::this_thread::get_id() != me ? 1 : 0;
      ++calls;
    });
  });
  EXPECT_EQ(calls, 400);
  EXPECT_EQ(strangers, 0);
}

TEST(ParallelFor, ServesSeveralCallersAtOnce) {
  std::atomic<int> wrong = 0;
  const auto caller = [&](std::int64_t own) {
    for (std::int64_t repeat = 0; repeat < 300; ++repeat) {
      std::vector<std::int64_t> sums(static_cast<std::size_t>(1 + (own + repeat) % 70));
      parallel_for(3, std::ssize(sums), [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] += i + own; });
      for (std::size_t i = 0; i < sums.size(); ++i) wrong += sums[i] == static_cast<std::int64_t>(i) + own ? 0 : 1;
    }
  };
  {
    std::vector<std::jthread> callers;
    for (std::int64_t c = 0; c < 5; ++c) callers.emplace_back(caller, c);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, WorksInAForkedProcess) {
  const auto sum_of = [](std::int64_t count) {
    std::atomic<std::int64_t> sum = 0;
    parallel_for(3, count, [&](std::int64_t i) { sum += i; });
    return sum.load();
  };
  ASSERT_EQ(sum_of(100), 4950);  // the parent's threads are there now
  const pid_t child = fork();
  if (child == 0) _exit(sum_of(100) == 4950 && sum_of(200) == 19900 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(sum_of(100), 4950);
}

TEST(ParallelFor, ThreadsThatWaitUseNoProcessorTime) {
  parallel_for(4, 1000, [](std::int64_t) {});
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
}

TEST(ParallelFor, EndsSoonAfterAStop) {
  for (const int threads : {1, 2, 7}) {
    std::stop_source source;
    Context::Options options;
    options.threads = threads;
    options.stop = source.get_token();
    std::atomic<std::int64_t> calls = 0;
    const auto work = [&](std::int64_t i) {
      ++calls;
      if (i == 10) source.request_stop();
    };
    EXPECT_THROW(parallel_for(Context(options), 1'000'000, work), Stopped);
    EXPECT_LT(calls, 100'000) << threads;
    EXPECT_THROW(parallel_ranges(Context(options), 100, 1, [](Range) { FAIL(); }), Stopped);
  }
}

/// Hears on one thread only, whoever did the work.
struct Listener : Progress {
  explicit Listener(std::int64_t stop_at = -1) : fail_at(stop_at) {}
  void on_begin(std::string_view, std::int64_t) override { note(0); }
  void on_advance(std::int64_t by) override {
    note(by);
    ++calls;
    if (fail_at >= 0 && done >= fail_at) throw Error("enough");
  }
  void on_end() override { note(0); }
  void note(std::int64_t by) {
    done += by;
    strangers += std::this_thread::get_id() != thread ? 1 : 0;
  }

  std::thread::id thread = std::this_thread::get_id();
  std::int64_t fail_at, done = 0, strangers = 0;
  std::atomic<std::int64_t> calls = 0;
};

Context listened_to(Progress& listener, int threads) {
  Context::Options options;
  options.threads = threads;
  options.progress = &listener;
  return Context(options);
}

TEST(ProgressOf, LoopsIsHeardOnTheCallingThread) {
  for (const int threads : {1, 2, 5}) {
    Listener listener;
    const auto context = listened_to(listener, threads);
    {
      Stage stage(context.progress(), "counting", 5000);
      parallel_for(context, 5000, [&](std::int64_t) { stage.advance(1); });
    }
    EXPECT_EQ(listener.done, 5000);
    EXPECT_EQ(listener.strangers, 0);
  }
}

TEST(ProgressOf, LoopsMovesWhileTheCallerWaits) {
  Listener listener;
  const auto context = listened_to(listener, 2);
  const auto me = std::this_thread::get_id();
  std::atomic<bool> helped = false;
  std::atomic<bool> heard_early = false;
  const Stage stage(context.progress(), "waiting", 2);
  parallel_for(context, 2, [&](std::int64_t) {
    if (std::this_thread::get_id() == me) {  // leaves the work to the helper
      for (int k = 0; k < 2000 && !helped; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    helped = true;
    context.progress().advance(1);
    for (int k = 0; k < 2000 && listener.calls == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    heard_early = listener.calls > 0;
  });
  EXPECT_TRUE(helped);
  EXPECT_TRUE(heard_early);
}

TEST(ProgressOf, LoopsLetsTheListenersErrorOut) {
  for (const int threads : {1, 4}) {
    Listener listener(100);
    const auto context = listened_to(listener, threads);
    Stage stage(context.progress(), "counting", 0);
    const auto work = [&](std::int64_t) {
      stage.advance(1);
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    };
    EXPECT_THROW(parallel_for(context, 20000, work), Error);
    listener.fail_at = -1;
  }
}

TEST(ChosenDevice, IsTheCpuForWorkThatEndsBeforeAGpuHasStarted) {
  const WorkEstimate small{1e8, 1e7};
  EXPECT_LT(cpu_seconds(small, 1), gpu_seconds(small));
  EXPECT_EQ(choose_device(small, 1), Device::cpu());
  const WorkEstimate large{1e14, 1e9};
  EXPECT_GT(cpu_seconds(large, 64), gpu_seconds(large));
  EXPECT_TRUE(describe(choose_device(large, 64)).usable);
}

TEST(ChosenDevice, FollowsTheCostOfTheCopyAndOfTheCores) {
  const WorkEstimate once{4e9, 16e9};  // every byte is read once: the copy alone takes longer
  EXPECT_LT(cpu_seconds(once, 4), gpu_seconds(once));
  const WorkEstimate work{3e9, 1e8};
  EXPECT_GT(cpu_seconds(work, 1), gpu_seconds(work));
  EXPECT_LT(cpu_seconds(work, 64), gpu_seconds(work));
}

TEST(CachedMemory, CanBeReturnedAtAnyTime) {
  for (const Device device : test::devices()) {
    { const Array<char> array(1 << 22, device); }
    release_cached_memory(device);
    const auto again = Array<char>::zeros(1 << 22, device);
    EXPECT_EQ(again.size(), 1 << 22);
  }
}

TEST(ParallelRanges, CoverEverythingInPartsOfAboutTheGrain) {
  for (const int threads : {1, 3})
    for (const std::int64_t count : {0, 1, 99, 100, 101, 5000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      std::atomic<int> short_parts = 0;
      parallel_ranges(threads, count, 100, [&](Range range) {
        if (range.end - range.begin < std::min<std::int64_t>(count, 50)) ++short_parts;
        for (auto i = range.begin; i < range.end; ++i) ++calls[static_cast<std::size_t>(i)];
      });
      for (const auto& call : calls) EXPECT_EQ(call, 1);
      EXPECT_EQ(short_parts, 0);
    }
}

}  // namespace core_test
}  // namespace sheaf
