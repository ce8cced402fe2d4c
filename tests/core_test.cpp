#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/array.hpp>
#include <sheaf/context.hpp>
#include <sheaf/error.hpp>

#include "core/parallel.hpp"
#include "core/rounds.hpp"
#include "devices.hpp"

namespace sheaf {
namespace {

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
  const auto chosen = parse_device("auto");
  EXPECT_TRUE(describe(chosen).usable);
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

}  // namespace
}  // namespace sheaf
