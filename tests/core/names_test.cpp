// Names, parameter rows, numbers as text, and files under construction.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/generate.hpp>
#include <sheaf/solvers/parameters.hpp>

#include "core/names.hpp"
#include "core/temporary.hpp"
#include "core/text.hpp"

namespace sheaf {
namespace names_test {

using Names = std::vector<std::string>;

TEST(Names, TheNearestIsFound) {
  const Names known{"--threads", "--memory", "--report", "--seed"};
  EXPECT_EQ(nearest_name("--treads", known), "--threads");
  EXPECT_EQ(nearest_name("--theards", known), "--threads");
  EXPECT_EQ(nearest_name("--SEED", known), "--seed");
  EXPECT_EQ(nearest_name("--mem", known), "--memory");
  EXPECT_EQ(nearest_name("--xyz", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name("a", Names{"b"}), "");
}

TEST(Names, AreJoined) {
  EXPECT_EQ(join_names(Names{}), "");
  EXPECT_EQ(join_names(Names{"a"}), "a");
  EXPECT_EQ(join_names(Names{"a", "b"}), "a and b");
  EXPECT_EQ(join_names(Names{"a", "b", "c"}, "or"), "a, b or c");
}

TEST(Names, OfMoreThan40TheRestIsCounted) {
  Names known;
  for (int i = 0; i < 100; ++i) known.push_back("f" + std::to_string(i));
  const auto message = [](const Names& names) {
    try {
      fail_unknown("feature", "f1O", names);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  const auto said = message(known);
  EXPECT_NE(said.find("known are f0, f1, "), std::string::npos) << said;
  EXPECT_NE(said.find(", f39 and 60 more; did you mean f1"), std::string::npos) << said;
  known.resize(40);
  EXPECT_NE(message(known).find(", f38 and f39; did"), std::string::npos) << message(known);
}

template <class Options>
const Parameter<Options>& row(std::string_view name) {
  for (const auto& candidate : parameters<Options>())
    if (candidate.name == name) return candidate;
  throw InternalError("no such row");
}

TEST(Parameters, ShowTheDefaultsOfTheStructs) {
  EXPECT_EQ(row<GenerateOptions>("classes").default_text, std::to_string(GenerateOptions{}.classes));
  EXPECT_EQ(row<ReadOptions>("storage").default_text, "auto");
  EXPECT_EQ(row<ReadOptions>("missing").default_text, "error");
  EXPECT_EQ(row<WriteOptions>("delimiter").default_text, ",");
  EXPECT_EQ(row<ScaleOptions>("method").default_text, "maxabs");
  EXPECT_EQ(row<Context::Options>("device").default_text, "auto");
}

TEST(Parameters, SetMembersAndRefuseOthers) {
  ReadOptions options;
  row<ReadOptions>("storage").set(options, "sparse");
  row<ReadOptions>("delimiter").set(options, "tab");
  row<ReadOptions>("ignore").set(options, "id,,date");
  row<ReadOptions>("ignore").set(options, "3");
  EXPECT_EQ(options.storage, Storage::sparse);
  EXPECT_EQ(options.delimiter, '\t');
  EXPECT_EQ(options.ignore, (Names{"id", "date", "3"}));
  EXPECT_THROW(row<ReadOptions>("delimiter").set(options, "ab"), UsageError);
  EXPECT_THROW(row<ReadOptions>("storage").set(options, "Sparse"), UsageError);
  EXPECT_THROW(row<ReadOptions>("features").set(options, "-1"), UsageError);
  EXPECT_THROW(row<ReadOptions>("features").set(options, "99999999999999999999"), UsageError);
  EXPECT_THROW(row<ReadOptions>("features").set(options, "7 "), UsageError);
}

TEST(Parameters, RefuseNumbersThatAreNone) {
  GenerateOptions options;
  for (const char* bad : {"", "nan", "x", "1,5", "-0.1"})
    EXPECT_THROW(row<GenerateOptions>("effect").set(options, bad), UsageError) << bad;
  row<GenerateOptions>("effect").set(options, "2.5");
  EXPECT_EQ(options.effect, 2.5);
}

TEST(Parameters, HaveHelpAndDistinctNames) {
  Names seen;
  for (const auto& candidate : parameters<ReadOptions>()) {
    EXPECT_FALSE(candidate.help.empty()) << candidate.name;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), candidate.name), 0) << candidate.name;
    seen.push_back(candidate.name);
  }
}

TEST(Text, NumbersAreReadable) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "class"), "0 classes");
  EXPECT_EQ(counted(12345U, "entry"), "12,345 entries");
  EXPECT_EQ(counted(2, "day"), "2 days");
  EXPECT_EQ(counted(3, "match"), "3 matches");
  EXPECT_EQ(counted(2, "index"), "2 indices");
  EXPECT_EQ(brief(0.12345678), "0.1235");
  EXPECT_EQ(brief(1234.4), "1,234");
  EXPECT_EQ(brief(12), "12");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.5), "50.0 %");
  EXPECT_EQ(percent(0.00012345), "0.0123 %");
}

class Temporary : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  auto files() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }
  std::string target() const { return (folder_ / "result").string(); }
  std::filesystem::path folder_;
};

TEST_F(Temporary, AppearsWhenPublished) {
  {
    TemporaryFile temporary(target());
    std::ofstream(temporary.path()) << "done";
    EXPECT_FALSE(std::filesystem::exists(target()));
    temporary.publish();
  }
  EXPECT_TRUE(std::filesystem::exists(target()));
  EXPECT_EQ(files(), 1);
}

TEST_F(Temporary, VanishesOtherwise) {
  {
    const TemporaryFile temporary(target());
    std::ofstream(temporary.path()) << "half";
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(Temporary, IsRemovedOnRequestAndOnlyWhileUnderConstruction) {
  TemporaryFile published(target());
  std::ofstream(published.path()) << "done";
  published.publish();
  const TemporaryFile temporary(target());
  std::ofstream(temporary.path()) << "half";
  remove_temporaries();
  EXPECT_TRUE(std::filesystem::exists(target()));
  EXPECT_EQ(files(), 1);
}

TEST_F(Temporary, FollowsLinksAndLeavesDevicesAlone) {
  const auto link = (folder_ / "link").string();
  std::ofstream(target()) << "old";
  std::filesystem::create_symlink(target(), link);
  TemporaryFile temporary(link);
  std::ofstream(temporary.path()) << "new";
  temporary.publish();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::filesystem::file_size(target()), 3);
  EXPECT_EQ(TemporaryFile("/dev/null").path(), "/dev/null");
}

TEST_F(Temporary, HasANameThatNobodyKnows) {
  std::set<std::string> names;
  for (int k = 0; k < 20; ++k) {
    const TemporaryFile temporary(target());
    const auto name = std::filesystem::path(temporary.path()).filename().string();
    EXPECT_TRUE(is_temporary_name(name, "result")) << name;
    EXPECT_FALSE(is_temporary_name(name, "resul"));
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 20U);
  for (const char* name : {"result", "result.part", "result.0123456789abcdef", "notes.part",
                           "result.0123456789abcdeg.part", "result.0123456789abcdef.part.part"})
    EXPECT_FALSE(is_temporary_name(name, "result")) << name;
}

TEST_F(Temporary, ReplacesLinksWhereNobodyAskedForThem) {
  const auto link = (folder_ / "link").string();
  std::ofstream(target()) << "old";
  std::filesystem::create_symlink(target(), link);
  TemporaryFile temporary(link, Links::replace);
  std::ofstream(temporary.path()) << "newer";
  temporary.publish();
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::filesystem::file_size(link), 5);
  EXPECT_EQ(std::filesystem::file_size(target()), 3);
}

}  // namespace names_test
}  // namespace sheaf
