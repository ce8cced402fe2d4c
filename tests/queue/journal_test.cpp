// The one journal: what survives of it, and what is refused.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <sheaf/error.hpp>

#include "queue/journal.hpp"

namespace sheaf::queue {
namespace journal_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr JournalKind kind{"test", 3, 3, "name another one"};

class JournalTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove(path_); }
  void TearDown() override { fs::remove(path_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string made() const {
    Journal journal(kind, path_);
    journal.begin("this work");
    journal.agree({{"size", 7}});
    journal.keep(1, "one");
    journal.keep(0, "zero");
    return bytes();
  }
  /// The units of a journal of these bytes; the message if it is refused.
  std::string read(const std::string& text, std::map<std::int64_t, Json>& units) const {
    put(text);
    try {
      Journal journal(kind, path_);
      journal.read([&](std::int64_t unit, const Json& result) { units[unit] = result; });
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::string path_ = (fs::temp_directory_path() / ("sheaf-journal-" + std::to_string(getpid()))).string();
};

TEST_F(JournalTest, KeepsUnitsAndThePlan) {
  made();
  Journal journal(kind, path_);
  std::map<std::int64_t, Json> units;
  journal.read([&](std::int64_t unit, const Json& result) { units[unit] = result; });
  EXPECT_EQ(journal.work(), "this work");
  EXPECT_EQ(journal.found(), 2U);
  EXPECT_FALSE(journal.ended());
  EXPECT_EQ(units, (std::map<std::int64_t, Json>{{0, "zero"}, {1, "one"}}));
  EXPECT_EQ(journal.agree({{"size", 8}}), Json({{"size", 7}})) << "the plan is that of the first run";
  journal.end();
}

TEST_F(JournalTest, TornAnywhereKeepsEveryWholeRecordAndGoesOn) {
  const auto whole = made();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::map<std::int64_t, Json> units;
    EXPECT_EQ(read(whole.substr(0, size), units), "") << size;
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size), '\n');
    EXPECT_EQ(std::ssize(units), std::max<std::ptrdiff_t>(lines - 2, 0)) << size;
    Journal journal(kind, path_);
    journal.read([](std::int64_t, const Json&) {});
    if (journal.work().empty()) journal.begin("this work");
    journal.agree({{"size", 7}});
    if (!units.contains(1)) journal.keep(1, "one");
    if (!units.contains(0)) journal.keep(0, "zero");
    EXPECT_EQ(bytes(), whole) << size;
  }
}

TEST_F(JournalTest, OfOtherWorksVersionsAndContentsIsRefusedAndStays) {
  const auto whole = made();
  const auto head = [](const Json& json) { return record_line(json); };
  const auto begun = whole.substr(0, whole.find('\n') + 1);
  const std::vector<std::pair<std::string, std::string>> cases{
      {head({{"journal", "other"}, {"version", 3}, {"work", "w"}}), "something else"},
      {head({{"journal", "test"}, {"version", 4}, {"work", "w"}}), "version 4; this one reads 3"},
      {head({{"unit", 0}, {"result", 1}}), "record 1"},
      {head(3), "record 1"},
      {begun + head({{"unit", -1}, {"result", 1}}), "record 2"},
      {begun + head({{"unit", "x"}, {"result", 1}}), "record 2"},
      {begun + head({{"unit", 1}}), "record 2"},
      {begun + head(Json::array({1})), "record 2"}};
  for (const auto& [text, says] : cases) {
    std::map<std::int64_t, Json> units;
    const auto refused = read(text, units);
    EXPECT_NE(refused.find(says), std::string::npos) << refused;
    EXPECT_NE(refused.find(kind.remedy), std::string::npos) << refused;
    EXPECT_EQ(bytes(), text);
  }
}

TEST_F(JournalTest, IsOfOneWriterOrOfManyReaders) {
  {
    const Journal writer(kind, path_);
    EXPECT_THROW(Journal(kind, path_), Error);
    EXPECT_THROW(Journal(kind, path_, Journal::Access::shared), Error);
  }
  Journal one(kind, path_, Journal::Access::shared);
  {
    const Journal other(kind, path_, Journal::Access::shared);
    EXPECT_THROW(Journal(kind, path_), Error);
    EXPECT_FALSE(one.is_alone());
  }
  EXPECT_TRUE(one.is_alone());
}

}  // namespace journal_test
}  // namespace sheaf::queue
