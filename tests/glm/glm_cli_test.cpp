// sheaf fit, search and predict with generalised linear models, as people and scripts meet them.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace glm_cli_test {

using Json = nlohmann::json;

class GlmCli : public ProgramTest {};

testing::AssertionResult holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "no '" << part << "' in\n" << text;
  return testing::AssertionSuccess();
}

TEST_F(GlmCli, FitShowsStandardErrors) {
  for (const Device device : devices()) {
    const auto fit = shell("sheaf fit " + golden("data/heart_scale.libsvm") + " --model glm --output m --device " +
                           to_string(device));
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(fit.out, {"270 rows x 13 features, 2 classes", "family binomial, link logit, no penalty",
                                "of newton", "log odds of class +1 against class -1", "std. error", "(intercept)",
                                "deviance without features", "McFadden's R2", "AIC", "BIC"}));
    EXPECT_TRUE(file("m").starts_with("sheaf-model 2\nfamily glm\n"));
  }
}

TEST_F(GlmCli, FitAnswersInJsonWithRowsNamedByClassAndFeature) {
  write("t.csv", "u,v,kind\n1,2,a\n2,1,b\n3,3,c\n1,3,b\n2,2,c\n3,1,a\n2,3,a\n1,1,c\n3,2,b\n2,1,a\n1,2,b\n3,3,a\n");
  const auto answer = Json::parse(shell("sheaf fit t.csv --model multinomial --output m --json --reference a").out);
  EXPECT_EQ(answer["family"], "multinomial");
  EXPECT_EQ(answer["classes"], (Json{"a", "b", "c"}));
  EXPECT_EQ(answer["reference"], "a");
  EXPECT_EQ(answer["training"]["converged"], true);
  ASSERT_EQ(answer["coefficients"].size(), 6U);
  EXPECT_EQ(answer["coefficients"][0]["name"], "b:u");
  EXPECT_EQ(answer["coefficients"][5]["name"], "c:(intercept)");
  EXPECT_GT(answer["coefficients"][0]["standard_error"], 0);
  EXPECT_NEAR(answer["null_deviance"].get<double>(),
              2 * (5 * std::log(12.0 / 5) + 4 * std::log(3.0) + 3 * std::log(4.0)), 1e-9);
}

TEST_F(GlmCli, TrainsFromTheWeightsOfAFile) {
  write("t.csv", "u,v,n\n1,2,3\n2,1,1\n3,3,9\n1,3,5\n2,2,4\n3,1,2\n2,3,6\n1,1,1\n3,2,3\n2,1,2\n1,2,2\n3,3,8\n");
  const std::string fit = "sheaf fit t.csv --label n --model glm --family poisson --output m --json ";
  const auto plain = Json::parse(shell(fit).out);
  std::string start;
  for (const auto& row : plain["coefficients"]) start += fmt::format("{}\n", row["estimate"].get<double>());
  write("start.txt", start);
  const auto again = Json::parse(shell(fit + "--start start.txt").out);
  EXPECT_LE(again["training"]["iterations"].get<int>(), 1);
  ASSERT_EQ(again["coefficients"].size(), 3U);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(again["coefficients"][j]["estimate"].get<double>(), plain["coefficients"][j]["estimate"].get<double>(),
                1e-7);
  write("short.txt", "0.5\n0.25\n");
  EXPECT_TRUE(complains(shell(fit + "--start short.txt"), 2, {"start has 2 numbers", "3 weights", "the intercept"}));
  write("word.txt", "0.5\n0.25\nnone\n");
  EXPECT_TRUE(complains(shell(fit + "--start word.txt"), 1, {"word.txt:3", "a weight, a number", "'none'"}));
  write("below.txt", "0\n0\n-4\n");
  EXPECT_TRUE(complains(shell(fit + "--link identity --start below.txt"), 2, {"start", "mean"}));
}

/// 80 rows of noise: the labels have nothing to do with any of 300 features.
std::string noise_table() {
  Random random(4);
  std::string text = "label";
  for (int j = 0; j < 300; ++j) text += fmt::format(",f{}", j);
  text += '\n';
  for (int i = 0; i < 80; ++i) {
    text += i % 2 == 0 ? "no" : "yes";
    for (int j = 0; j < 300; ++j) text += fmt::format(",{:.4f}", random.normal());
    text += '\n';
  }
  return text;
}

TEST_F(GlmCli, WithholdsThePValuesOfFeaturesThatTheSameRowsSelected) {
  write("t.csv", noise_table());
  const std::string fit = "sheaf fit t.csv --model glm --output m ";
  const auto selected = shell(fit + "--select jmi:4");
  ASSERT_EQ(selected.code, 0) << selected.err;
  EXPECT_TRUE(holds(selected.err, {"p-values are withheld", "labels of the same rows", "--select-share"}));
  EXPECT_EQ(selected.out.find("std. error"), std::string::npos) << selected.out;
  const auto json = Json::parse(shell(fit + "--select jmi:4 --json").out);
  EXPECT_EQ(json["standard_errors"], nullptr);
  EXPECT_TRUE(holds(json["standard_errors_withheld"], {"p-values are withheld"}));
  EXPECT_TRUE(json["coefficients"].empty());
  EXPECT_EQ(file("m").find("errors 5"), std::string::npos);
  EXPECT_TRUE(complains(shell(fit + "--select jmi:4 --covariance v.csv"), 1, {"p-values are withheld"}));
  ASSERT_EQ(shell("sheaf fit t.csv --model glm --output one --select jmi:1 --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf compare one m"), 1, {"selected by the labels of the same rows"}));
  // The same by way of a file.
  ASSERT_EQ(shell("sheaf select t.csv --count 4 --apply four.csv --quiet").code, 0);
  const auto applied = Json::parse(shell("sheaf fit four.csv --model glm --output n --json").out);
  EXPECT_TRUE(applied.contains("standard_errors_withheld"));
  // Nor in a search.
  ASSERT_EQ(shell("sheaf search t.csv --model glm --alpha 0.1 --select jmi:4 --output s --quiet").code, 0);
  // Features that no label selected are tested as ever.
  write("few.csv", "u,v,kind\n1,2,a\n2,1,b\n3,3,a\n1,3,b\n2,2,b\n3,1,a\n2,3,a\n1,1,b\n3,2,b\n2,1,a\n1,2,b\n3,3,a\n");
  const auto plain = Json::parse(shell("sheaf fit few.csv --model glm --scale standard --output m --json").out);
  EXPECT_EQ(plain["standard_errors"], "expected");
  EXPECT_FALSE(plain.contains("standard_errors_withheld"));
}

TEST_F(GlmCli, SelectingOnOtherRowsGivesPValues) {
  write("t.csv", noise_table());
  const std::string fit = "sheaf fit t.csv --model glm --output m --select jmi:4 --select-share 0.5 ";
  const auto json = Json::parse(shell(fit + "--json").out);
  EXPECT_EQ(json["standard_errors"], "expected");
  ASSERT_EQ(json["coefficients"].size(), 5U);
  EXPECT_EQ(json["degrees_of_freedom"], 35);  // 40 rows, 5 weights
  EXPECT_NE(shell(fit).err.find("selected on 50 % of the rows"), std::string::npos);
  EXPECT_EQ(shell("sheaf predict t.csv --model-file m --output p.csv --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model glm --output m --select-share 0.5"), 2, {"is for --select"}));
  EXPECT_NE(shell("sheaf search t.csv --select jmi:4 --select-share 0.5 --output s").code, 0);
}

/// On noise, 5 % of honest p-values are below 0.05; on the rows that selected the features nearly all would be.
TEST_F(GlmCli, PValuesOfOtherRowsHold) {
  write("t.csv", noise_table());
  int tests = 0;
  int small = 0;
  for (int seed = 1; seed <= 25; ++seed) {
    const auto outcome = shell(
        fmt::format("sheaf fit t.csv --model glm --output m --select jmi:4 --select-share 0.5 --json --seed {}", seed));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = Json::parse(outcome.out);
    for (std::size_t k = 0; k < 4; ++k) {
      ++tests;
      small += json["coefficients"][k]["p"].get<double>() < 0.05 ? 1 : 0;
    }
  }
  EXPECT_EQ(tests, 100);
  EXPECT_LE(small, 15);
}

TEST_F(GlmCli, FitWritesTheCovarianceOfTheWeights) {
  const std::string kinds =
      "u,v,kind\n1,2,a\n2,1,b\n3,3,c\n1,3,b\n2,2,c\n3,1,a\n2,3,a\n1,1,c\n3,2,b\n2,1,a\n1,2,b\n3,3,a\n";
  write("t.csv", kinds);
  const std::string fit = "sheaf fit t.csv --model multinomial --output m --covariance v.csv ";
  const auto robust = shell(fit + "--standard-errors hc0");
  ASSERT_EQ(robust.code, 0) << robust.err;
  EXPECT_TRUE(holds(robust.out, {"against class c), robust standard errors (HC0)"}));
  const auto lines = lines_of(file("v.csv"));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "weight,a:u,b:u,a:v,b:v,a:(intercept),b:(intercept)");
  EXPECT_TRUE(lines[6].starts_with("b:(intercept),"));
  const auto answer = Json::parse(shell(fit + "--standard-errors hc0 --json").out);
  EXPECT_EQ(answer["standard_errors"], "hc0");
  const double error = answer["coefficients"][0]["standard_error"];
  EXPECT_NEAR(std::stod(lines[1].substr(lines[1].find(',') + 1)), error * error, 1e-9 * error * error);
  EXPECT_TRUE(complains(shell(fit + "--standard-errors hc9"), 2, {"hc9", "expected", "hc1"}));
  EXPECT_TRUE(complains(shell(fit + "--alpha 1"), 1, {"no covariance of weights", "penalised"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output m --covariance v.csv"), 2, {"--covariance is for the models"}));
}

TEST_F(GlmCli, CompareTestsWhetherMoreFeaturesMatter) {
  write("t.csv", "u,v,n\n1,2,3\n2,1,5\n3,3,9\n1,3,1\n2,2,4\n3,1,9\n2,3,6\n1,1,2\n");
  write("s.csv", "u,n\n1,3\n2,5\n3,9\n1,1\n2,4\n3,9\n2,6\n1,2\n");
  const std::string options = " --label n --model glm --family poisson --output ";
  ASSERT_EQ(shell("sheaf fit t.csv" + options + "large").code, 0);
  ASSERT_EQ(shell("sheaf fit s.csv" + options + "small").code, 0);
  EXPECT_TRUE(holds(shell("sheaf compare small large").out,
                    {"Likelihood-ratio test", "the larger model is large", "1 degrees of freedom, p = "}));
  const auto answer = Json::parse(shell("sheaf compare large small --json").out);
  EXPECT_EQ(answer["larger"], "large");
  EXPECT_EQ(answer["degrees_of_freedom"], 1);
  EXPECT_NEAR(answer["chi_squared"].get<double>(),
              2 * (answer["first"]["log_likelihood"].get<double>() - answer["second"]["log_likelihood"].get<double>()),
              1e-9);
  EXPECT_TRUE(complains(shell("sheaf compare small large --score accuracy"), 2, {"--score is for searches"}));
  ASSERT_EQ(shell("sheaf fit t.csv --label n --model linear --output linear").code, 0);
  EXPECT_TRUE(complains(shell("sheaf compare small linear"), 2, {"linear is of the family linear"}));
}

TEST_F(GlmCli, PredictionsAreProbabilitiesAndMeans) {
  write("t.csv", "x,n\n0,1\n0,3\n1,4\n1,8\n");
  ASSERT_EQ(shell("sheaf fit t.csv --label n --model glm --family poisson --output m").code, 0);
  const auto predict = shell("sheaf predict t.csv --label n --model-file m --output -");
  // Poisson means of a single 0/1 feature are those of its groups.
  std::vector<double> means;
  std::istringstream lines(predict.out);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) means.push_back(std::stod(line));
  ASSERT_EQ(means.size(), 4U) << predict.err;
  EXPECT_NEAR(means[0], 2, 1e-7);
  EXPECT_NEAR(means[3], 6, 1e-7);
}

TEST_F(GlmCli, ExposuresAreOffsets) {
  // Twice the exposure and twice the count: no feature matters.
  write("t.csv", "x,n\n0,2\n1,4\n0,4\n1,2\n0,6\n1,6\n");
  write("e.txt", "1\n2\n2\n1\n3\n3\n");
  const auto answer = Json::parse(
      shell("sheaf fit t.csv --label n --model glm --family poisson --exposure e.txt --output m --json").out);
  EXPECT_NEAR(answer["coefficients"][0]["estimate"].get<double>(), 0, 1e-7);
  EXPECT_NEAR(answer["coefficients"][1]["estimate"].get<double>(), std::log(2.0), 1e-7);
  EXPECT_NEAR(answer["deviance"].get<double>(), 0, 1e-9);
  write("e.txt", "1\n2\n0\n1\n3\n3\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --label n --model glm --family poisson --exposure e.txt --output m"), 1,
                        {"e.txt", "exposure of row 3 is 0"}));
}

TEST_F(GlmCli, SearchFindsThePenalty) {
  int found = 0;
  for (const Device device : devices()) {
    const auto folder = "found" + std::to_string(++found);
    const auto search = shell("sheaf search " + golden("data/iris.libsvm") +
                              " --model multinomial --alpha 0.001,0.1,10 --score log-loss --output " + folder +
                              " --device " + to_string(device));
    ASSERT_EQ(search.code, 0) << search.err;
    EXPECT_TRUE(holds(search.out, {"generalised linear model (multinomial, logit), 3 points x 5 splits", "log-loss"}));
    const auto results = Json::parse(file(folder + "/results.json"));
    EXPECT_EQ(results["model"], "glm");
    EXPECT_EQ(results["chosen"]["alpha"], 0.001);
    EXPECT_TRUE(
        holds(shell("sheaf predict " + golden("data/iris.libsvm") + " --model-file " + folder + "/model.txt").out,
              {"accuracy"}));
  }
}

TEST_F(GlmCli, WrongUseIsAnswered) {
  write("t.csv", "x,n\n0,1\n0,-3\n1,4\n1,8\n");
  const std::string fit = "sheaf fit t.csv --label n --output m --model ";
  EXPECT_TRUE(complains(shell(fit + "glm --family poisson"), 1, {"t.csv: the target of row 2 is -3", "0 or more"}));
  EXPECT_TRUE(complains(shell(fit + "glm --family normal"), 2, {"normal", "gaussian"}));
  EXPECT_TRUE(complains(shell(fit + "glm --family poisson --link probit"), 2,
                        {"poisson has the link log or identity or sqrt, not probit"}));
  EXPECT_TRUE(
      complains(shell(fit + "multinomial --family poisson"), 2, {"family is for the model glm, not multinomial"}));
  EXPECT_TRUE(complains(shell(fit + "glm --cost 1"), 2, {"--cost"}));
  write("w.csv", "a,b,c,n\n0,1,2,1\n0,3,1,2\n1,4,0,3\n");
  EXPECT_TRUE(complains(shell("sheaf fit w.csv --label n --output m --model glm --family gaussian"), 1,
                        {"3 rows do not determine 4 weights", "--alpha"}));
}

}  // namespace glm_cli_test
}  // namespace sheaf::test
