// Searches that earlier versions began: their folders are kept in tests/golden/journals, and this version goes on with
// them.
#include <filesystem>

#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace journal_versions_cli_test {

class EarlierJournals : public ProgramTest {
 protected:
  /// The search of a folder, with its data beside it.
  void copy(const std::string& version) const {
    namespace fs = std::filesystem;
    const fs::path from = golden("journals/" + version);
    fs::copy(from / "table.csv", path("table.csv"), fs::copy_options::overwrite_existing);
    fs::copy(from / "found", path("found"), fs::copy_options::recursive);
  }
  /// What the search was begun with.
  std::string command() const {
    return nlohmann::json::parse(file("found/settings.json")).at("command").get<std::string>() + " --quiet";
  }
};

TEST_F(EarlierJournals, AreContinued) {
  for (const std::string version : {"version7"}) {
    SCOPED_TRACE(version);
    copy(version);
    const auto begun = file("found/journal.txt");
    const auto resumed = shell(command() + " --resume");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_TRUE(file("found/journal.txt").starts_with(begun)) << "finished batches are kept";
    const auto scores = lines_of(file("found/scores.csv")).size();
    const auto model = file("found/model.txt");
    ASSERT_EQ(shell(command() + " --force").code, 0);
    EXPECT_EQ(lines_of(file("found/scores.csv")).size(), scores) << "as many points as from the beginning";
    EXPECT_EQ(file("found/model.txt"), model) << "the same choice";
    std::filesystem::remove_all(path("found"));
  }
}

/// Another search does not go on with it, and a journal of a version that is not known is not read in part.
TEST_F(EarlierJournals, OfAnotherSearchAreRefused) {
  copy("version7");
  write("about.csv", "feature,text\na,A\nb,B\n");
  EXPECT_TRUE(complains(shell(command() + " --resume --scale none"), 1, {"another one", "scale"}));
  EXPECT_TRUE(complains(shell(command() + " --resume --annotations about.csv"), 1, {"another one", "annotations"}));
  auto settings = file("found/settings.json");
  const std::string number = "\"journal\": 7";
  ASSERT_NE(settings.find(number), std::string::npos);
  write("found/settings.json", settings.replace(settings.find(number), number.size(), "\"journal\": 8"));
  EXPECT_TRUE(complains(shell("sheaf search table.csv --model svm --output found --resume"), 1, {"another version"}));
}

}  // namespace journal_versions_cli_test
}  // namespace sheaf::test
