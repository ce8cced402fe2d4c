// sheaf fit, sheaf predict and the commands that stand for LIBLINEAR's, as people and scripts meet them.
#include <algorithm>
#include <string>
#include <vector>

#include "devices.hpp"
#include "linear_objective.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace linear_cli_test {

using Json = nlohmann::json;
using Names = std::vector<std::string>;
using testing::AssertionResult;

class LinearCli : public ProgramTest {};

AssertionResult holds(const std::string& text, const Names& parts) {
  for (const auto& part : parts)
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "no '" << part << "' in\n" << text;
  return testing::AssertionSuccess();
}

// Classes that a plane parts: cats have a large `a`, dogs a large `b`, and `size, in cm` is noise.
const std::string animals =
    "a,b,\"size, in cm\",kind\n5,0,1,cat\n6,1,2,cat\n5,1,1,cat\n0,5,2,dog\n1,6,1,dog\n1,5,2,dog\n";
const std::string svm = "+1 1:5 3:1\n-1 2:5 3:2\n+1 1:6 2:1 3:2\n-1 1:1 2:6 3:1\n";

TEST_F(LinearCli, FitTellsHowTrainingEndedAndPredictHowGoodItIs) {
  write("t.csv", animals);
  for (const Device device : devices()) {
    const auto fit = shell("sheaf fit t.csv --output m --device " + to_string(device));
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(fit.out, {"6 rows x 3 features, 2 classes", "logistic regression, C = 1", "converged",
                                "Largest weights", "a ", "b ", "(bias)"}));
    EXPECT_TRUE(file("m").starts_with("sheaf-model 2\nfamily linear\n"));
    const auto predict = shell("sheaf predict t.csv --model-file m --output p.csv --device " + to_string(device));
    EXPECT_TRUE(predict.out.starts_with("accuracy 100 % (6 of 6)\n")) << predict.out << predict.err;
    EXPECT_TRUE(holds(predict.out, {"F1 of dog", "predicted as"}));
    EXPECT_EQ(file("p.csv"), "prediction\ncat\ncat\ncat\ndog\ndog\ndog\n");
  }
}

TEST_F(LinearCli, FitAnswersInJson) {
  write("t.csv", animals);
  const auto answer =
      Json::parse(shell("sheaf fit t.csv --output m --json --loss svm --cost 0.5 --penalise-bias no").out);
  EXPECT_EQ(answer["solver"], "L2R_L2LOSS_SVC");
  EXPECT_EQ(answer["classes"], (Json{"dog", "cat"}));
  EXPECT_EQ(answer["cost"], 0.5);
  EXPECT_EQ(answer["penalise_bias"], false);
  EXPECT_EQ(answer["training"].size(), 1U);
  EXPECT_EQ(answer["training"][0]["converged"], true);
  EXPECT_LE(answer["training"][0]["gradient_norm"], answer["training"][0]["tolerance"]);
  const auto scored = Json::parse(shell("sheaf predict t.csv --model-file m --json").out);
  EXPECT_EQ(scored["rows"], 6);
  EXPECT_EQ(scored["correct"], 6);
  EXPECT_EQ(scored["accuracy"], 1.0);
}

TEST_F(LinearCli, ProbabilitiesOfEachRowSumToOne) {
  write("t.csv", animals + "3,3,9,\"bird, small\"\n2,2,8,\"bird, small\"\n");
  ASSERT_EQ(shell("sheaf fit t.csv --output m --quiet").code, 0);
  const auto outcome = shell("sheaf predict t.csv --model-file m --output - --probabilities");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, {"accuracy"})) << "the score must not stand among the predictions";
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "prediction,\"probability of bird, small\",probability of cat,probability of dog");
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    std::istringstream fields(line.substr(line.starts_with('"') ? line.find("\",") + 2 : line.find(',') + 1));
    double sum = 0;
    double value = 0;
    for (char comma = 0; fields >> value; fields >> comma) sum += value;
    EXPECT_NEAR(sum, 1, 1e-12) << line;
  }
  EXPECT_EQ(rows, 8);
}

TEST_F(LinearCli, RegressionIsScoredByItsError) {
  write("t.csv", "x,y\n1,2.5\n2,4.5\n3,6.5\n4,8.5\n");
  ASSERT_EQ(shell("sheaf fit t.csv --output m --loss svr --cost 1e6 --epsilon 0 --tolerance 1e-9 --quiet").code, 0);
  const auto answer = Json::parse(shell("sheaf predict t.csv --model-file m --json").out);
  EXPECT_LT(answer["mean_squared_error"], 1e-6) << "the targets lie on a line";
  EXPECT_NEAR(answer["squared_correlation"].get<double>(), 1, 1e-6);
}

TEST_F(LinearCli, NonConvergenceIsAWarningNotAnError) {
  write("t.csv", animals);
  const auto outcome = shell("sheaf fit t.csv --label kind --output m --max-iterations 1 --tolerance 1e-9 --cost 3");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.err.starts_with("sheaf: warning: class dog at C = 3 did not converge")) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, {"not converged"}));
  EXPECT_TRUE(holds(file("m"), {"unfinished 1 steps"}));
}

TEST_F(LinearCli, ModelsOfBothFormatsPredictTheSame) {
  write("t.svm", svm);
  ASSERT_EQ(
      shell("sheaf fit t.svm --output own --quiet && sheaf fit t.svm --output l --model-format liblinear --quiet").code,
      0);
  EXPECT_TRUE(file("l").starts_with("solver_type L2R_LR\nnr_class 2\nlabel 1 -1\n"));
  ASSERT_EQ(shell("sheaf predict t.svm --model-file own --output a --probabilities --quiet").code, 0);
  ASSERT_EQ(shell("sheaf predict t.svm --model-file l --output b --probabilities --quiet").code, 0);
  EXPECT_TRUE(file("a").starts_with("prediction,probability of +1,probability of -1\n+1,")) << "labels as spelled";
  auto respelled = file("a");
  for (auto at = respelled.find("+1"); at != std::string::npos; at = respelled.find("+1")) respelled.erase(at, 1);
  EXPECT_EQ(respelled, file("b"));
}

TEST_F(LinearCli, ARowOfWeightTwoCountsAsTwoRows) {
  write("once.csv", "a,b,label\n1,0,x\n0,1,y\n1,1,x\n-1,0.5,y\n");
  write("twice.csv", "a,b,label\n1,0,x\n1,0,x\n0,1,y\n-1,0.5,y\n");
  write("weights.txt", "2\n1\n0\n1\n");
  const auto fit = [&](const std::string& line) {
    const auto run = shell("sheaf fit " + line + " --label label --tolerance 1e-9 --json");
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out)["training"][0]["objective"].get<double>();
  };
  EXPECT_NEAR(fit("once.csv --row-weights weights.txt --output m1"), fit("twice.csv --output m2"), 1e-9);
  write("short.txt", "1\n1\n1\n");
  write("long.txt", "1\n1\n1\n1\n1\n");
  write("bad.txt", "1\n-1\n1\n1\n");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"short.txt", "short.txt:4:1: the file ends where the weight of row 4 of 4 was expected"},
      {"long.txt", "long.txt:5:1: expected the end of the file after the weights of 4 rows"},
      {"bad.txt", "bad.txt:2:1: a weight is 0 or more, not -1"}};
  for (const auto& [name, message] : wrong) {
    const auto run = shell("sheaf fit once.csv --label label --output m3 --row-weights " + name);
    EXPECT_NE(run.code, 0);
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_FALSE(exists("m3"));
  }
}

TEST_F(LinearCli, TheBiasIsPenalisedOnRequestAndByTheDual) {
  write("t.csv", animals);
  const auto penalised = [&](const std::string& options) {
    const auto text = shell("sheaf fit t.csv --output m " + options).out;
    const auto answer = Json::parse(shell("sheaf fit t.csv --output m --json " + options).out);
    EXPECT_EQ(text.find("bias 1, penalised") != std::string::npos, answer["penalise_bias"].get<bool>()) << text;
    return answer["penalise_bias"].get<bool>();
  };
  for (const auto* options : {"", "--loss svm --penalise-bias no", "--solver newton"})
    EXPECT_FALSE(penalised(options)) << options;
  for (const auto* options :
       {"--penalise-bias yes", "--loss svm", "--loss hinge", "--loss crammer-singer", "--loss svm --solver dual"})
    EXPECT_TRUE(penalised(options)) << options;
}

TEST_F(LinearCli, MistakesAreAnsweredClearly) {
  write("t.csv", animals);
  write("names.csv", "a,c,\"size, in cm\",kind\n5,0,1,cat\n");
  write("bad.model", "solver_type L2R_LR\nnr_class 2\nlabel 1 x\n");
  ASSERT_EQ(shell("sheaf fit t.csv --output m --quiet && sheaf fit t.csv --output s --loss svm --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf fit t.csv"), 2, {"--output FILE is missing"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --loss huber"), 2,
                        {"'huber'", "logistic, svm, hinge, crammer-singer, svr"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --loss hinge --solver newton"), 2, {"hinge", "dual"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --cost 0"), 2, {"cost", "more than 0"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --class-weight cow=2"), 2, {"'cow'", "dog and cat"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --class-weight cat"), 2, {"NAME=WEIGHT"}));
  EXPECT_TRUE(
      complains(shell("sheaf fit t.csv --output x --model-format xml"), 2, {"'xml'", "sheaf, liblinear and libsvm"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --loss svr"), 1, {"t.csv", "not numbers"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --label none --ignore kind"), 1, {"t.csv", "no labels"}));
  EXPECT_TRUE(
      complains(shell("sheaf fit t.csv --output x --model-format liblinear"), 1, {"'dog'", "Sheaf's own format"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output no/x"), 1, {"no/x"}));
  EXPECT_TRUE(complains(shell("sheaf predict t.csv"), 2, {"--model-file"}));
  EXPECT_TRUE(complains(shell("sheaf predict t.csv --model-file missing"), 1, {"missing"}));
  EXPECT_TRUE(complains(shell("sheaf predict t.csv --model-file t.csv"), 1, {"t.csv:1:1", "no model"}));
  EXPECT_TRUE(complains(shell("sheaf predict t.csv --model-file bad.model"), 1, {"bad.model:3:9", "'x'"}));
  EXPECT_TRUE(complains(shell("sheaf predict names.csv --model-file m"), 1,
                        {"names.csv", "1 feature of the model is missing: b"}));
  EXPECT_TRUE(
      complains(shell("sheaf predict t.csv --model-file s --probabilities"), 2, {"L2R_L2LOSS_SVC", "probabilities"}));
  EXPECT_FALSE(exists("x"));
}

TEST_F(LinearCli, LiblinearsFlagsAreHeldToTheirMeaning) {
  write("t", svm);
  EXPECT_TRUE(
      complains(shell("sheaf liblinear-train -s 8 t m"), 2, {"-s 8", "no solver", "0 to 7, 11, 12, 13 and 21"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -R -B 1 t m"), 2, {"-R", "0, 2, 5, 6 and 11"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 4 -R -B 1 t m"), 2, {"-R", "0, 2, 5, 6 and 11"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 1 -C t m"), 2, {"-C", "-s 0, -s 2 and -s 11"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 5 -C t m"), 2, {"-C", "-s 0, -s 2 and -s 11"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 99 t m"), 2, {"-s 99"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 21 -n 1.5 t m"), 2, {"-n", "at most 1"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 2 -n 0.1 t m"), 2, {"-n", "-s 21"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 21 -v 3 t m"), 2, {"-v", "-s 21"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 21 -B 1 t m"), 2, {"-B", "-s 21"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 -z t m"), 2, {"'-z'"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 -c -1 t m"), 2, {"-c", "above 0"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 -R t m"), 2, {"-R", "-B 1"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 -v 1 t"), 2, {"-v", "2 or more"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0"), 2, {"training_set_file is missing"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 a b c"), 2, {"'c'"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-train -s 0 -w1 t m"), 2, {"-w1", "'t'"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-predict -b 2 t m o"), 2, {"-b", "'2'"}));
  EXPECT_TRUE(complains(shell("sheaf liblinear-predict t m"), 2, {"output_file is missing"}));
  EXPECT_EQ(listing(), Names{"t"});
}

TEST_F(LinearCli, LiblinearTrainNamesItsModelLikeLiblinear) {
  write("t", svm);
  ASSERT_EQ(shell("mkdir d && cp t d/u && sheaf liblinear-train -q -s 0 -B 1 d/u").code, 0);
  EXPECT_TRUE(exists("u.model"));
  const auto outcome = shell("sheaf liblinear-predict -b 1 t u.model o");
  EXPECT_EQ(outcome.out, "Accuracy = 100% (4/4)\n");
  EXPECT_TRUE(file("o").starts_with("labels 1 -1\n1 ")) << file("o");
  ASSERT_EQ(shell("sheaf liblinear-train -s 0 -w7 2 t m").code, 0) << "an unknown class in -w is no error to LIBLINEAR";
  EXPECT_TRUE(shell("sheaf liblinear-train -q -s 0 t m").out.empty());
}

TEST_F(LinearCli, AnUnpenalisedBiasIsTheOptimumWithoutItsPenalty) {
  ASSERT_EQ(shell("sheaf generate classification t --rows 200 --features 6 --to libsvm --quiet").code, 0);
  for (const std::string solver : {"0", "2"}) {
    ASSERT_EQ(shell("sheaf liblinear-train -q -s " + solver + " -e 1e-8 -B 1 -R t m").code, 0);
    Costs costs;
    costs.penalise_bias = false;
    const auto table = plain_table(file("t"));
    const auto model = plain_model(file("m"));
    auto start = model;
    std::fill(start.w.begin(), start.w.end(), 0.0);
    EXPECT_LE(measure(table, model, costs, 0).gradient, 1e-8 * measure(table, start, costs, 0).gradient);
  }
}

TEST_F(LinearCli, CrossValidationAndCostSearchPrintLiblinearsWords) {
  ASSERT_EQ(shell("sheaf generate classification t --rows 120 --features 6 --classes 3 --to libsvm --quiet").code, 0);
  const auto rate = shell("sheaf liblinear-train -s 2 -v 4 t").out;
  EXPECT_TRUE(rate.starts_with("Cross Validation Accuracy = ") && rate.ends_with("%\n")) << rate;
  EXPECT_EQ(shell("sheaf liblinear-train -s 2 -v 4 t --seed 0 --threads 1").out, rate)
      << "the seed decides, not the threads";
  const auto search = shell("sheaf liblinear-train -C -c 0.25 t");
  EXPECT_EQ(search.err, "Solver not specified. Using -s 2\n");
  EXPECT_TRUE(search.out.starts_with("log2c=  -2.00\trate=")) << search.out;
  EXPECT_TRUE(holds(search.out, {"log2c=  -1.00\trate=", "\nBest C = ", "  CV accuracy = "}));
  ASSERT_EQ(shell("sheaf generate regression r --rows 60 --features 4 --to libsvm --quiet").code, 0);
  EXPECT_TRUE(holds(shell("sheaf liblinear-train -s 11 -v 3 r").out,
                    {"Cross Validation Mean squared error = ", "Cross Validation Squared correlation coefficient = "}));
  const auto tube = shell("sheaf liblinear-train -s 11 -C -c 1 -v 3 r").out;
  EXPECT_TRUE(tube.starts_with("log2c=   0.00\tp=")) << tube;
  EXPECT_TRUE(holds(tube, {"\tMean squared error=", "\nBest C = ", " Best p = ", "  CV MSE = "}));
  EXPECT_FALSE(exists("t.model"));
}

}  // namespace linear_cli_test
}  // namespace sheaf::test
