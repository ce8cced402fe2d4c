// How long a search that another program started still takes, by its journal.
#include <gtest/gtest.h>

#include "app/runs/journal_progress.hpp"

namespace sheaf::app {
namespace {

TEST(JournalProgress, OfNoJournalIsNotKnown) { EXPECT_TRUE(JournalProgress().json({.now = 100}).is_null()); }

TEST(JournalProgress, GoesOnAtTheRateSinceTheSearchBegan) {
  JournalProgress progress;
  progress.take_plan({{"models", 40}});
  SearchTimes times{.now = 1001, .process_began = 999, .settings_written = 1000, .last_record = 1000};
  auto seen = progress.json(times);
  EXPECT_EQ(seen["done"], 0);
  EXPECT_EQ(seen["total"], 40);
  EXPECT_TRUE(seen["seconds_left"].is_null());
  progress.take_models(4);
  progress.take_models(6);
  times.last_record = 1020;  // 2 s a model, so that 30 take 60 s, of which 5 have passed
  times.now = 1025;
  seen = progress.json(times);
  EXPECT_EQ(seen["done"], 10);
  EXPECT_DOUBLE_EQ(seen["seconds"].get<double>(), 25);
  EXPECT_DOUBLE_EQ(seen["seconds_left"].get<double>(), 55);
  times.now = 2000;  // longer than any model before
  EXPECT_DOUBLE_EQ(progress.json(times)["seconds_left"].get<double>(), 0);
}

TEST(JournalProgress, OfAResumedSearchCountsWhatIsSeen) {
  JournalProgress progress;
  progress.take_plan({{"models", 100}});
  progress.take_models(50);  // most of them days ago
  SearchTimes times{.now = 5000, .process_began = 4990, .settings_written = 100, .last_record = 4998};
  EXPECT_TRUE(progress.json(times)["seconds_left"].is_null());
  progress.take_models(10);
  times.last_record = times.now = 5028;  // 3 s a model
  const auto seen = progress.json(times);
  EXPECT_DOUBLE_EQ(seen["seconds"].get<double>(), 38);
  EXPECT_DOUBLE_EQ(seen["seconds_left"].get<double>(), 120);
}

TEST(JournalProgress, WithoutATotalIsACount) {
  JournalProgress progress;
  progress.take_plan({{"memory", 1}});  // as earlier versions wrote it
  progress.take_models(3);
  const auto seen = progress.json({.now = 20, .process_began = 9, .settings_written = 10, .last_record = 19});
  EXPECT_EQ(seen["done"], 3);
  EXPECT_EQ(seen["total"], 0);
  EXPECT_TRUE(seen["seconds_left"].is_null());
  progress.restart();
  EXPECT_TRUE(progress.json({.now = 21}).is_null());
}

}  // namespace
}  // namespace sheaf::app
