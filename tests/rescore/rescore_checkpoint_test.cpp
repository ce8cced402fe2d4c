// The file that training is saved in: whatever is in it, a run goes on from what was saved, or refuses with a word.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <sheaf/error.hpp>

#include "core/hash/sha256.hpp"
#include "core/random.hpp"
#include "rescore/training/checkpoint.hpp"

namespace sheaf::rescore {
namespace rescore_checkpoint_test {

constexpr CheckpointShape shape{7, 3, 4, 3};

Checkpoint checkpoint_of(int iterations) {
  Checkpoint made;
  for (int k = 0; k < iterations; ++k)
    made.iterations.push_back({10 + k, 20 + k, {{5, 1, 3, 6}, {7, 0.1, 1, 8}, {9, 10, 10, 10}}});
  made.initial_accepted = 4;
  made.start_weights.assign(shape.folds, {0, 1, 0});
  made.weights.assign(shape.folds, {0.1 * iterations, -2.5, 1e-300});
  made.svm_weights.assign(shape.svms, {1.0 / iterations, 3, -4});
  made.warnings = {"few decoys"};
  return made;
}

std::string text_of(const Checkpoint& one) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& iteration : one.iterations) {
    text << iteration.estimated << ' ' << iteration.tested;
    for (const auto& fold : iteration.folds)
      text << ' ' << fold.positives << ' ' << fold.cost_positive << ' ' << fold.cost_ratio << ' ' << fold.accepted;
  }
  text << ' ' << one.initial_accepted;
  for (const auto* models : {&one.start_weights, &one.weights, &one.svm_weights})
    for (const auto& model : *models)
      for (const double w : model) text << ' ' << w;
  for (const auto& warning : one.warnings) text << ' ' << warning;
  return text.str();
}

class CheckpointFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sheaf_checkpoint_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    path_ = folder_ + "/journal.txt";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string bytes() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  void put(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  /// A file with checkpoints after 5 and 6 iterations.
  std::string made() const {
    CheckpointFile file(path_, false);
    file.begin("this run");
    file.write(checkpoint_of(5));
    file.write(checkpoint_of(6));
    return bytes();
  }
  /// The last checkpoint of `text`; what was refused, if it was, is in `refused`.
  std::optional<Checkpoint> read(const std::string& text, std::string& refused) const {
    put(text);
    refused.clear();
    try {
      CheckpointFile file(path_, true);
      file.begin("this run");
      return file.read(shape);
    } catch (const Error& error) {
      refused = error.what();
      EXPECT_NE(refused.find(path_), std::string::npos) << refused;
      return std::nullopt;
    }
  }

  std::string folder_, path_;
};

TEST_F(CheckpointFiles, EndWhereTheyWereTornAndGoOn) {
  const auto whole = made();
  const std::vector<std::size_t> records{whole.find('\n') + 1, whole.find('\n', whole.find('\n') + 1) + 1,
                                         whole.size()};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::string refused;
    const auto found = read(whole.substr(0, size), refused);
    EXPECT_TRUE(refused.empty()) << size << ": " << refused;
    EXPECT_EQ(found.has_value(), size >= records[1]) << size;
    if (found) {
      EXPECT_EQ(text_of(*found), text_of(checkpoint_of(size >= records[2] ? 6 : 5))) << size;
    }
    if (size % 7 != 0) continue;
    // Pages that a power cut left unwritten.
    read(whole.substr(0, size) + std::string(300, '\0'), refused);
    EXPECT_TRUE(refused.empty()) << size << ": " << refused;
  }
}

/// Bytes changed, inserted, removed, repeated: never anything but a checkpoint that was written.
TEST_F(CheckpointFiles, NeverGiveWhatWasNotWritten) {
  const auto whole = made();
  const std::string five = text_of(checkpoint_of(5));
  const std::string six = text_of(checkpoint_of(6));
  Random random(7);
  int refusals = 0;
  for (int k = 0; k < 1500; ++k) {
    auto text = whole;
    for (auto changes = 1 + random.below(3); changes > 0; --changes) {
      const auto at = static_cast<std::size_t>(random.below(text.size()));
      const auto length = static_cast<std::size_t>(random.below(40));
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, length, static_cast<char>(random.below(256)));
          break;
        default:
          text.insert(at, text.substr(text.size() - at, length));
          break;
      }
    }
    std::string refused;
    const auto found = read(text, refused);
    refusals += refused.empty() ? 0 : 1;
    if (found) {
      EXPECT_TRUE(text_of(*found) == five || text_of(*found) == six) << k;
    }
  }
  EXPECT_GT(refusals, 30);
}

std::string record(const nlohmann::json& json) {
  const auto text = json.dump();
  return sha256(text).substr(0, 16) + " " + text + "\n";
}

/// Records with right checksums and wrong contents.
TEST_F(CheckpointFiles, RefuseForgedRecords) {
  const auto whole = made();
  const auto head_end = whole.find('\n') + 1;
  const auto head = whole.substr(0, head_end);
  const auto unit = nlohmann::json::parse(whole.substr(head_end + 17, whole.find('\n', head_end) - head_end - 17));
  const auto& good = unit.at("result");
  const auto as_unit = [](const nlohmann::json& result) { return record({{"unit", 5}, {"result", result}}); };
  std::string refused;
  ASSERT_TRUE(read(head + as_unit(good), refused)) << refused;
  nlohmann::json deep = 1;
  for (int k = 0; k < 1000; ++k) deep = nlohmann::json::array({std::move(deep)});
  const std::vector<nlohmann::json> wrong{nullptr,
                                          true,
                                          -1,
                                          1e300,
                                          "text",
                                          nlohmann::json::array(),
                                          nlohmann::json::object(),
                                          {{1, 2}, {3}},
                                          18446744073709551615ULL,
                                          deep};
  const std::vector<std::string> places{"/iterations",
                                        "/iterations/0",
                                        "/iterations/2/estimated",
                                        "/iterations/1/tested",
                                        "/iterations/4/folds",
                                        "/iterations/4/folds/1",
                                        "/iterations/4/folds/1/0",
                                        "/iterations/4/folds/2/1",
                                        "/initial_accepted",
                                        "/start_weights",
                                        "/start_weights/1",
                                        "/weights",
                                        "/weights/2",
                                        "/weights/2/0",
                                        "/svm_weights",
                                        "/svm_weights/3",
                                        "/svm_weights/3/2",
                                        "/warnings",
                                        "/warnings/0"};
  for (const auto& place : places)
    for (const auto& value : wrong) {
      auto forged = good;
      forged[nlohmann::json::json_pointer(place)] = value;
      const auto found = read(head + as_unit(forged), refused);
      // Another number, or other warnings, are what a run could have written.
      const bool possible = (value.is_number() && place.find("weights") != std::string::npos) ||
                            (value.is_number() && value.get<double>() > 0 && place == "/iterations/4/folds/2/1") ||
                            (place.starts_with("/warnings") && (value.is_string() || value.empty()));
      // Text that is nested too deep is no record at all.
      EXPECT_TRUE(!refused.empty() || (found ? possible : value == deep)) << place << " " << value.dump().substr(0, 80);
    }
  for (const auto* list : {"iterations", "weights", "start_weights", "svm_weights"}) {
    auto longer = good;
    while (longer[list].size() < 8) longer[list].push_back(longer[list][0]);
    EXPECT_FALSE(read(head + as_unit(longer), refused)) << list;
    EXPECT_NE(refused.find("does not fit"), std::string::npos) << refused;
  }
}

TEST_F(CheckpointFiles, OfOtherRunsVersionsAndProgramsStayAsTheyAre) {
  const auto whole = made();
  const auto head = nlohmann::json::parse(whole.substr(17, whole.find('\n') - 17));
  auto future = head;
  future["version"] = head["version"].get<int>() + 1;
  auto other = head;
  other["work"] = "another";
  const std::vector<std::pair<std::string, std::string>> cases{
      {record(future), "another version"},
      {record({{"plan", {{"memory", 5}, {"tasks", 1}}}}), "record 1"},
      {record({{"journal", "search"}, {"version", 1}, {"work", "a search"}}), "something else"},
      {record(other), "other options"},
      {"{", "first line"},
      {"dear diary\n", "first line"},
      {std::string(5000, 'a'), "first line"}};
  for (const auto& [text, says] : cases) {
    std::string refused;
    EXPECT_FALSE(read(text, refused)) << says;
    EXPECT_NE(refused.find(says), std::string::npos) << refused;
    EXPECT_EQ(bytes(), text) << says;
  }
}

TEST_F(CheckpointFiles, AreOfOneProcessAtATimeAndLeaveNothingWithoutReason) {
  {
    CheckpointFile file(path_, false);
    EXPECT_THROW(CheckpointFile(path_, true), Error);
    file.begin("a run that fails before its first checkpoint");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_));
  made();
  { CheckpointFile file(path_, false); }  // nothing has begun: what was there stays
  std::string refused;
  EXPECT_TRUE(read(bytes(), refused)) << refused;
  std::filesystem::rename(path_, folder_ + "/other");
  std::filesystem::create_symlink("other", path_);
  EXPECT_THROW(CheckpointFile(path_, true), Error);
}

TEST_F(CheckpointFiles, KnowWhetherTheRunHadEnded) {
  made();
  {
    CheckpointFile file(path_, true);
    file.begin("this run");
    EXPECT_FALSE(file.had_ended());
    file.end();
  }
  {
    CheckpointFile file(path_, true);
    file.begin("this run");
    EXPECT_TRUE(file.had_ended());
    EXPECT_EQ(text_of(*file.read(shape)), text_of(checkpoint_of(6)));
  }
  CheckpointFile anew(path_, false);
  anew.begin("this run");
  EXPECT_FALSE(anew.had_ended());
  EXPECT_FALSE(anew.read(shape));
}

}  // namespace rescore_checkpoint_test
}  // namespace sheaf::rescore
