// sheaf search --stack as people and scripts meet it.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace sheaf::test {
namespace stack_cli_test {

using Json = nlohmann::json;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class StackCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(
        shell("sheaf generate classification c.csv --rows 150 --features 6 --informative 3 --seed 4 --quiet").code, 0);
  }

  /// The columns of a file whose names have no commas.
  std::vector<std::vector<std::string>> cells(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(file(name));
    for (std::string line; std::getline(lines, line);) {
      rows.emplace_back();
      std::istringstream words(line);
      for (std::string word; std::getline(words, word, ',');) {
        std::erase(word, '"');
        rows.back().push_back(word);
      }
    }
    return rows;
  }
};

constexpr const char* stacked =
    "sheaf search c.csv --model linear,knn --cost 0.1,1 --k 3,9 --folds 5 --seed 2 --stack 2";

TEST_F(StackCli, WeightsAreTheOptimumOfTheWrittenPredictions) {
  const auto outcome = shell(std::string(stacked) + " --output s");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "stack of "));
  EXPECT_TRUE(holds(outcome.out, "weights learnt on held-out predictions"));
  EXPECT_FALSE(holds(outcome.out, "To train it alone"));
  const auto json = Json::parse(file("s/results.json"));
  EXPECT_EQ(json["chosen"]["model"], "stack");
  const auto& members = json["stack"]["members"];
  ASSERT_EQ(members.size(), 2U);
  const auto rows = cells("s/stack.csv");
  ASSERT_EQ(rows.size(), 151U);
  ASSERT_EQ(rows[0].size(), 7U);
  const auto first_class = rows[0][3].substr(rows[0][3].rfind(' ') + 1);
  const auto loss = [&](double weight) {
    double sum = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const std::size_t c = rows[i][2] == first_class ? 3 : 4;
      const double a = std::max(std::stod(rows[i][c]), 1e-15);
      const double b = std::max(std::stod(rows[i][c + 2]), 1e-15);
      sum -= std::log(weight * a + (1 - weight) * b);
    }
    return sum;
  };
  double low = 0;  // by golden sections
  double high = 1;
  for (int k = 0; k < 100; ++k) {
    const double a = high - (high - low) * 0.6180339887498949;
    const double b = low + (high - low) * 0.6180339887498949;
    (loss(a) < loss(b) ? high : low) = loss(a) < loss(b) ? b : a;
  }
  EXPECT_NEAR(members[0]["weight"].get<double>(), low, 1e-5);
  EXPECT_NEAR(members[0]["weight"].get<double>() + members[1]["weight"].get<double>(), 1, 1e-12);
  EXPECT_TRUE(holds(file("s/report.html"), "The stack"));
}

TEST_F(StackCli, TheModelFilePredicts) {
  ASSERT_EQ(shell(std::string(stacked) + " --output s --outer 3 --quiet").code, 0);
  const auto outcome = shell("sheaf predict c.csv --model-file s/model.txt --probabilities --output p.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(cells("p.csv").size(), 151U);
  const auto json = Json::parse(file("s/results.json"));
  EXPECT_EQ(json["stack"]["outer"].size(), 3U);
  EXPECT_EQ(json["outer"]["folds"][0]["model"], "stack");
  EXPECT_TRUE(holds(json["notes"].dump(), "by nested validation the stack has"));
  // Scores of models with and without a size, which counts weights, have the same columns.
  for (const char* name : {"s/scores.csv", "s/outer.csv"})
    for (const auto& row : cells(name)) EXPECT_EQ(row.size(), cells(name)[0].size()) << name;
}

TEST_F(StackCli, AFinishedSearchGetsAStackWithoutTrainingItsPointsAgain) {
  ASSERT_EQ(shell(std::string(stacked) + " --output whole --quiet").code, 0);
  auto plain = std::string(stacked);
  plain.resize(plain.find(" --stack"));
  ASSERT_EQ(shell(plain + " --output s --quiet").code, 0);
  const auto journal = file("s/journal.txt");
  ASSERT_EQ(shell(std::string(stacked) + " --output s --resume --quiet").code, 0);
  EXPECT_EQ(file("s/journal.txt"), journal);
  for (const char* name : {"results.json", "model.txt", "stack.csv", "scores.csv"})
    EXPECT_EQ(file(std::string("s/") + name), file(std::string("whole/") + name)) << name;
}

TEST_F(StackCli, MembersFillInMissingValues) {
  ASSERT_EQ(shell("sed '3s/^[^,]*,/,/; 9s/^[^,]*,/,/' c.csv >holes.csv").code, 0);
  ASSERT_EQ(
      shell("sheaf search holes.csv --model linear,knn --cost 1 --k 5 --folds 4 --stack 2 --output s --quiet").code, 0);
  ASSERT_TRUE(exists("s/stack.csv"));
  const auto outcome = shell("sheaf predict holes.csv --model-file s/model.txt --output p.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(cells("p.csv").size(), 151U);
}

TEST_F(StackCli, ComparesWithOtherSearches) {
  ASSERT_EQ(shell(std::string(stacked) + " --output s --quiet").code, 0);
  ASSERT_EQ(shell("sheaf search c.csv --model linear --cost 1 --folds 5 --seed 2 --output l --quiet").code, 0);
  EXPECT_EQ(shell("sheaf compare s l").code, 0);
}

TEST_F(StackCli, SaysWhatIsWrong) {
  EXPECT_TRUE(complains(shell("sheaf search c.csv --model linear --stack 2 --output s"), 2, {"several models"}));
  EXPECT_TRUE(complains(shell("sheaf search c.csv --stack 1 --output s"), 2, {"two members or more"}));
  EXPECT_TRUE(complains(shell("sheaf search c.csv --stack 2 --learning-curve --output s"), 2, {"learning curve"}));
  EXPECT_FALSE(exists("s"));
}

/// An option of one of several models is set in those that have it.
TEST_F(StackCli, OptionsAreThoseOfTheModelsThatHaveThem) {
  EXPECT_EQ(shell("sheaf search c.csv --model linear,knn --cost 1 --output a --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf search c.csv --model elastic-net,knn --cost 1 --output b"), 2, {"--cost"}));
}

}  // namespace stack_cli_test
}  // namespace sheaf::test
