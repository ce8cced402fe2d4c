// Datasets and grids at the edges of what numbers can hold, through the program: an answer or one clear error, never a
// crash, an endless loop or a model that can not be read.
#include <string>
#include <vector>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace nasty_data_cli_test {

class NastyData : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_table("plain.csv", 60, 1, "");
  }

  /// Three features, a class and a number; `odd` stands in row 8 in place of the second feature.
  void write_table(const std::string& name, int rows, double scale, const std::string& odd) const {
    Random random(3);
    std::string classes = "a,b,c,class\n";
    std::string numbers = "a,b,c,y\n";
    for (int i = 0; i < rows; ++i) {
      const double a = random.normal();
      std::ostringstream line;
      line << a * scale << ',';
      if (i == 7 && !odd.empty())
        line << odd;
      else
        line << random.normal() * scale;
      line << ',' << random.normal() * scale << ',';
      classes += line.str() + (a + random.normal() / 3 > 0 ? "yes" : "no") + '\n';
      numbers += line.str() + std::to_string(2 * a + random.normal() / 10) + '\n';
    }
    write(name, classes);
    write("numbers_" + name, numbers);
  }
  /// With limits, so that a failure ends.
  Outcome limited(const std::string& command) const {
    return shell("ulimit -v 8000000; timeout -s KILL 100 \"$program\" " + command + " --threads 1 --quiet");
  }
};

TEST_F(NastyData, ALearningCurveOfVotesHasFewRowsToVote) {
  for (const std::string more : {"", " --split kfold --k 1,48", " --split stratified"}) {
    const auto found = limited("search plain.csv --model knn --learning-curve --output found --force" + more);
    EXPECT_EQ(found.code, 0) << more << found.err;
    EXPECT_TRUE(exists("found/learning_curve.csv")) << more;
  }
}

TEST_F(NastyData, AxesMayHold0) {
  for (const std::string grid : {"elastic-net --l1-ratio 0,0.5,1", "hknn --lambda 0,1", "cknn --lambda 0",
                                 "knn --weighting class-ratio --temperature 0,1"}) {
    const auto found = limited("search plain.csv --output found --force --model " + grid);
    EXPECT_EQ(found.code, 0) << grid << found.err;
  }
}

TEST_F(NastyData, AlphasCloseTogetherAreKeptApart) {
  const auto found =
      limited("search numbers_plain.csv --model lasso --alpha-count 300 --smallest-share 0.9 --output found");
  ASSERT_EQ(found.code, 0) << found.err;
  write_table("tiny.csv", 60, 1e-310, "");
  for (const std::string table : {"tiny.csv", "numbers_tiny.csv"}) {
    const auto tiny = limited("search " + table + " --model lasso --output tiny --force");
    EXPECT_EQ(tiny.code, 0) << table << tiny.err;
  }
}

TEST_F(NastyData, ClassWeightsOfNumbersAreRefused) {
  for (const std::string model : {"linear", "svm", "elastic-net", "lasso", "ridge", "elastic-net-huber", "glm"})
    for (const std::string weight : {"balanced", "1=2"})
      for (const std::string command : {"fit", "search"}) {
        const auto found = limited(command + " numbers_plain.csv --output " + command + " --model " + model +
                                   " --class-weight " + weight);
        EXPECT_TRUE(complains(found, 2, {"class weights are for classes"})) << command << ' ' << model << ' ' << weight;
      }
}

TEST_F(NastyData, ValuesWhoseSquaresOverflowAreNamed) {
  for (const std::string value : {"1e155", "1.7976931348623157e308"}) {
    write_table("large.csv", 60, 1, value);
    for (const std::string model : {"knn", "hknn", "cknn", "alh", "local-svm", "falk-svm"})
      for (const std::string command : {"fit", "search"})
        EXPECT_TRUE(complains(limited(command + " large.csv --scale none --output " + command + " --model " + model), 1,
                              {"large.csv: row 8, feature b is 1", "scale the feature"}))
            << command << ' ' << model << ' ' << value;
    EXPECT_TRUE(complains(limited("neighbors large.csv --k 3 --output n.csv"), 1, {"row 8, feature b"}));
    EXPECT_TRUE(
        complains(limited("neighbors large.csv --k 3 --metric cosine --output n.csv"), 1, {"row 8, feature b"}));
    EXPECT_EQ(limited("neighbors large.csv --k 3 --metric hamming --output n.csv").code, 0);
  }
}

/// Kernel values are kept in float.
TEST_F(NastyData, ValuesWhoseKernelsOverflowAreNamed) {
  ASSERT_EQ(limited("fit plain.csv --output m --model svm --kernel linear --scale none").code, 0);
  for (const std::string value : {"1e80", "-1e155", "1.7976931348623157e308"}) {
    write_table("large.csv", 60, 1, value);
    for (const std::string kernel : {"linear", "polynomial", "rbf", "sigmoid"}) {
      if (value == "1e80" && (kernel == "rbf" || kernel == "sigmoid")) continue;
      for (const std::string command : {"fit", "search"}) {
        if (value == "1e80" && kernel == "polynomial" && command == "search")
          continue;  // its gamma follows from the data
        for (const std::string table : {"large.csv", "numbers_large.csv"})
          EXPECT_TRUE(complains(
              limited(command + " " + table + " --scale none --output " + command + " --model svm --kernel " + kernel),
              1, {table + ": row 8, feature b is ", "overflow", "scale"}))
              << command << ' ' << kernel << ' ' << value;
        EXPECT_FALSE(exists(command)) << "a search that is refused leaves no folder";
      }
    }
    EXPECT_TRUE(complains(limited("predict large.csv --model-file m --output p"), 1, {"large.csv: row 8, feature b"}));
  }
  write_table("far.csv", 60, 1, "1e80");
  EXPECT_EQ(limited("fit far.csv --scale none --output m --model svm --kernel rbf").code, 0)
      << "the row is far away from all others, which is a number";
}

/// A model that is written is read again, and predicts numbers.
TEST_F(NastyData, HugeNumbersAndEqualTargetsAreAnsweredOrNamed) {
  std::string huge = "a,b,y\n";
  std::string equal = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    const auto features = std::to_string(i % 7) + "," + std::to_string(i * i % 11);
    huge += features + "," + std::to_string(i % 5 + 1) + "e300\n";
    equal += features + ",5.5\n";
  }
  write("huge.csv", huge);
  write("equal.csv", equal);
  write_table("feature.csv", 60, 1, "1e308");
  for (const std::string model : {"linear", "glm", "svm", "lasso --alpha 0.1", "ridge --alpha 0.1"}) {
    SCOPED_TRACE(model);
    const auto fitted = [&](const std::string& table) {
      return limited("fit " + table + " --task regression --scale none --output m --model " + model);
    };
    EXPECT_TRUE(complains(fitted("huge.csv"), 1, {"huge.csv: row 1, label 'y' is 1e+300", "overflow"}));
    EXPECT_TRUE(complains(fitted("numbers_feature.csv"), 1, {"numbers_feature.csv: row 8, feature b is 1e+308"}));
    ASSERT_EQ(fitted("equal.csv").code, 0);
    ASSERT_EQ(limited("predict equal.csv --model-file m --output p.csv").code, 0);
    std::istringstream lines(file("p.csv"));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) EXPECT_NEAR(std::stod(line.substr(line.rfind(',') + 1)), 5.5, 0.2) << line;
  }
}

/// Scaling helps where squares overflow; where sums do it is an Error too.
TEST_F(NastyData, FeaturesThatCannotBeScaledAreNamedWithTheirRow) {
  std::string squares = "a,b,y\n";
  std::string sums = "a,b,y\n";
  for (int i = 0; i < 60; ++i) {
    const auto rest = "," + std::to_string(i * i % 11) + "," + std::to_string(i % 5) + "\n";
    squares += std::to_string(i % 7) + "e155" + rest;
    sums += std::to_string(i % 7) + "e307" + rest;
  }
  write("squares.csv", squares);
  write("sums.csv", sums);
  for (const std::string model : {"linear", "knn"}) {
    const auto end = " --task regression --scale standard --output m --model " + model;
    EXPECT_EQ(limited("fit squares.csv" + end).code, 0) << model;
    EXPECT_TRUE(complains(limited("fit sums.csv" + end), 1, {"sums.csv: row 7, feature a is 6e+307", "overflow"}));
  }
}

/// R's glm() fits them too; its p-values are those of rounding.
TEST_F(NastyData, GlmsOfEqualTargetsPredictThemAndHaveNoErrors) {
  std::string equal = "a,b,y\n";
  for (int i = 0; i < 40; ++i) equal += std::to_string(i % 7) + "," + std::to_string(i * i % 11) + ",5.5\n";
  write("equal.csv", equal);
  for (const std::string family : {"gaussian", "gamma", "inverse-gaussian", "quasi-poisson"}) {
    const auto fitted = shell("sheaf fit equal.csv --task regression --model glm --output m --json --family " + family);
    ASSERT_EQ(fitted.code, 0) << fitted.err;
    EXPECT_NE(fitted.err.find("the label is the same in all rows"), std::string::npos) << fitted.err;
    const auto answer = nlohmann::json::parse(fitted.out);
    EXPECT_EQ(answer["deviance"], 0) << family;
    for (const auto& row : answer["coefficients"]) EXPECT_TRUE(!row.contains("p") || row["p"].is_null()) << row;
    ASSERT_EQ(shell("sheaf predict equal.csv --model-file m --output p.csv").code, 0) << family;
    std::istringstream lines(file("p.csv"));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) EXPECT_NEAR(std::stod(line.substr(line.rfind(',') + 1)), 5.5, 1e-9) << line;
  }
}

TEST_F(NastyData, RowWeightsThatAreAll0AreRefused) {
  std::string zeros;
  for (int i = 0; i < 60; ++i) zeros += "0\n";
  write("zeros.txt", zeros);
  for (const std::string model : {"linear", "svm", "knn", "elastic-net-logistic", "glm"})
    for (const std::string command : {"fit", "search"})
      EXPECT_TRUE(
          complains(limited(command + " plain.csv --row-weights zeros.txt --output " + command + " --model " + model),
                    1, {"zeros.txt", "0"}))
          << command << ' ' << model;
}

/// scikit-learn: 1 for exact predictions, else 0. All rows of the first group have one target, which nothing predicts.
TEST_F(NastyData, R2OfEqualTargetsIs1Or0) {
  std::string text = "a,g,y\n";
  for (int i = 0; i < 30; ++i)
    text +=
        std::to_string(i % 7) + "," + std::to_string(i / 10) + "," + (i < 10 ? "5.5" : std::to_string(i % 7)) + "\n";
  write("half.csv", text);
  const auto found =
      limited("search half.csv --model ridge --alpha 0.1 --score r2 --split group --group g --folds 3 --output found");
  ASSERT_EQ(found.code, 0) << found.err;
  const auto scores = file("found/scores.csv");
  EXPECT_EQ(scores.find("e+"), std::string::npos) << "no score is far beyond 1\n" << scores;
  EXPECT_NE(scores.find(",0,"), std::string::npos) << scores;
}

}  // namespace nasty_data_cli_test
}  // namespace sheaf::test
