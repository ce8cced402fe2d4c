// Warnings that keep people from wrong results, and the absence of those that would cry wolf.
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace trust_cli_test {

class TrustCli : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  /// Two classes that the first feature decides; `offset` is added to the second.
  void write_table(const std::string& name, double offset, int rows = 80) const {
    Random random(3);
    std::string text = "first,second,class\n";
    for (int i = 0; i < rows; ++i) {
      const double value = random.normal();
      text += std::to_string(value) + ',' + std::to_string(offset + random.normal()) + ',' +
              (value + random.normal() / 3 > 0 ? "yes" : "no") + '\n';
    }
    write(name, text);
  }
};

TEST_F(TrustCli, ASearchOfWhatSelectOrScaleWroteSaysThatItIsTooGood) {
  ASSERT_EQ(shell("sheaf generate genes g.csv --rows 40 --features 100 --seed 1 --quiet").code, 0);
  ASSERT_EQ(shell("sheaf select g.csv --count 5 --apply s.csv --quiet").code, 0);
  ASSERT_EQ(shell("sheaf scale g.csv n.csv --method standard --quiet").code, 0);
  for (const auto& [input, command, instead] : std::vector<std::array<std::string, 3>>{
           {"s.csv", "sheaf select", "--select jmi:5"}, {"n.csv", "sheaf scale", "--scale standard"}}) {
    const auto found = shell("sheaf search " + input + " --cost 1 --output found --force");
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_TRUE(holds(found.err, command) && holds(found.err, "g.csv") && holds(found.err, instead)) << found.err;
    EXPECT_TRUE(holds(file("found/report.html"), "scores will be too good")) << input;
    EXPECT_TRUE(holds(file("found/results.json"), "scores will be too good")) << input;
  }
  const auto study = shell("sheaf select s.csv --model lasso --splits 2");
  EXPECT_TRUE(holds(study.err, "scores will be too good")) << study.err;
  EXPECT_FALSE(holds(shell("sheaf search g.csv --cost 1 --output plain").err, "too good"));
  ASSERT_EQ(shell("cp g.csv s.csv").code, 0);  // another file in its place
  EXPECT_FALSE(holds(shell("sheaf search s.csv --cost 1 --output other").err, "too good"));
  write("n.csv.made.json", "{broken");
  EXPECT_EQ(shell("sheaf search n.csv --cost 1 --output broken --quiet").code, 0) << "it is no part of the dataset";
}

TEST_F(TrustCli, ATestSetThatIsScaledAsItsTrainingSetIsFine) {
  ASSERT_EQ(shell("sheaf generate genes g.csv --rows 40 --features 20 --seed 1 --quiet").code, 0);
  ASSERT_EQ(shell("sheaf scale g.csv n.csv --save r.txt --quiet && sheaf scale g.csv t.csv --load r.txt --quiet").code,
            0);
  EXPECT_FALSE(exists("t.csv.made.json"));
  EXPECT_EQ(shell("sheaf scale g.csv - --to csv --quiet >/dev/null").code, 0);
  EXPECT_FALSE(exists("-.made.json"));
}

TEST_F(TrustCli, DoubleIsTakenWhereFloatLosesTheDifferences) {
  write_table("near.csv", 0);
  write_table("far.csv", 1e8);
  const std::string command = " --cost 1 --scale standard --precision float --output ";
  const auto near = shell("sheaf search near.csv" + command + "near");
  EXPECT_FALSE(holds(near.err, "double")) << near.err;
  const auto far = shell("sheaf search far.csv" + command + "far");
  EXPECT_EQ(far.code, 0) << far.err;
  EXPECT_TRUE(holds(far.err, "'second'") && holds(far.err, "--precision double is taken")) << far.err;
  EXPECT_TRUE(holds(file("far/settings.json"), "\"precision\": \"double\""));
  EXPECT_TRUE(holds(file("near/settings.json"), "\"precision\": \"float\""));
  EXPECT_EQ(shell("sheaf fit far.csv --precision float --output m").code, 0);
}

TEST_F(TrustCli, RareFeaturesRaiseNoAlarmAboutScales) {
  std::string train, test;
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const auto row = [&](double rare) {
      return std::string(random.uniform() < 0.5 ? "1" : "-1") + " 1:" + std::to_string(random.normal()) +
             (rare > 0 ? " 2:" + std::to_string(rare) : "") + "\n";
    };
    train += row(i == 7 ? 1 : 0);
    test += row(i % 50 == 0 ? 200 : 0);
  }
  write("train.svm", train);
  write("test.svm", test);
  ASSERT_EQ(shell("sheaf fit train.svm --output m --quiet").code, 0);
  EXPECT_FALSE(holds(shell("sheaf predict test.svm --model-file m").err, "another scale"));
  write("one.svm", "1 1:0.5 2:200\n");
  EXPECT_FALSE(holds(shell("sheaf predict one.svm --model-file m").err, "another scale"));
  write("other.svm", "1 1:500\n-1 1:700\n");
  EXPECT_TRUE(holds(shell("sheaf predict other.svm --model-file m").err, "another scale"));
}

TEST_F(TrustCli, InfoAdvisesWhatBelongsIntoTheSearch) {
  std::string text = "a,b,class\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i % 7) + ',' + std::to_string(1000 * (i % 5)) + ",c" + char('0' + i % 2) + "\n";
  write("t.csv", text);
  const auto scales = shell("sheaf info t.csv --json").out;
  EXPECT_TRUE(holds(scales, "--scale standard")) << scales;
  EXPECT_FALSE(holds(scales, "sheaf scale")) << scales;
  std::string wide;
  for (int i = 0; i < 30; ++i) {
    wide += i % 2 == 0 ? "1" : "-1";
    for (int j = 1; j <= 300; ++j)
      if (j % 30 == i) wide += " " + std::to_string(j) + ":1";
    wide += "\n";
  }
  write("wide.svm", wide);
  const auto equal = shell("sheaf info wide.svm --json").out;
  EXPECT_TRUE(holds(equal, "of 300 features are equal")) << equal;
  EXPECT_TRUE(holds(equal, "--min-prevalence")) << equal;
  EXPECT_FALSE(holds(equal, "--ignore")) << equal;
}

TEST_F(TrustCli, PredictionsAreExplained) {
  std::string text = "age,colour,outcome\n";
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    const double age = 20 + 60 * random.uniform();
    text += std::to_string(age) + (i % 3 == 0 ? ",red," : ",blue,") +
            (age + 10 * random.normal() > 50 ? "sick\n" : "healthy\n");
  }
  write("trial.csv", text);
  ASSERT_EQ(shell("sheaf fit trial.csv --scale standard --output m --quiet").code, 0);
  const auto outcome =
      shell("sheaf predict trial.csv --model-file m --explain why.csv --output p.csv --decisions --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream why(file("why.csv"));
  std::istringstream predicted(file("p.csv"));
  std::string line;
  std::getline(why, line);
  EXPECT_EQ(line, "row,prediction,decision for,feature,value,contribution");
  std::getline(predicted, line);
  for (int i = 0; i < 60; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) {  // the intercept, two features, the rest
      std::getline(why, line);
      sum += std::stod(line.substr(line.rfind(',') + 1));
      if (holds(line, "colour")) {
        EXPECT_TRUE(holds(line, "colour,red,") || holds(line, "colour,blue,")) << line;
      }
    }
    std::getline(predicted, line);
    EXPECT_NEAR(sum, std::stod(line.substr(line.rfind(',') + 1)), 1e-9);
  }
  ASSERT_EQ(shell("sheaf fit trial.csv --model svm --output s --quiet").code, 0);
  // An SVM too: the intercept, at most two features and the rest add up to the decision value.
  ASSERT_EQ(shell("sheaf predict trial.csv --model-file s --explain why.csv --output p.csv --decisions --quiet").code,
            0);
  std::map<std::string, double> sums;
  std::istringstream lines(file("why.csv"));
  std::getline(lines, line);
  while (std::getline(lines, line)) sums[line.substr(0, line.find(','))] += std::stod(line.substr(line.rfind(',') + 1));
  std::istringstream decisions(file("p.csv"));
  std::getline(decisions, line);
  for (int i = 1; std::getline(decisions, line); ++i)
    EXPECT_NEAR(sums[std::to_string(i)], std::stod(line.substr(line.rfind(',') + 1)), 1e-9);
  EXPECT_EQ(sums.size(), 60U);
  const auto why_svm = file("why.csv");
  ASSERT_EQ(shell("sheaf predict trial.csv --model-file s --explain again.csv --quiet").code, 0);
  EXPECT_EQ(file("again.csv"), why_svm);
  EXPECT_TRUE(complains(shell("sheaf predict trial.csv --model-file s --explain w --explain-by neighbours"), 2,
                        {"--explain-by neighbours", "svm"}));
}

}  // namespace trust_cli_test
}  // namespace sheaf::test
