// sheaf fit for elastic nets and sheaf select --model, as people and scripts meet them.
#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "devices.hpp"
#include "model_text.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace study_cli_test {

using Json = nlohmann::json;

class StudyCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate classification t.csv --rows 90 --features 40 --informative 4 --quiet").code, 0);
  }
};

bool holds(const std::string& text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return text.find(part) != std::string::npos; });
}

const std::string quick = "sheaf select t.csv --model elastic-net --splits 4 --alpha-count 6 --memory 500M ";

TEST_F(StudyCli, FitWritesAReadableModelThatPredictApplies) {
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto fit = shell("sheaf fit t.csv --model elastic-net --alpha 0.1 --output m" + on);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(
        fit.out, {"elastic net, alpha = 0.1, l1-ratio 0.5", "of 40", "duality gap", "converged", "Largest weights"}))
        << fit.out;
    const auto model = file("m");
    EXPECT_TRUE(holds(model, {"solver ELASTIC_NET\n", "names used\n", "alpha 0.1 l1-ratio 0.5 plain\n", " gap "}));
    const auto predict = shell("sheaf predict t.csv --model-file m --output p.csv" + on);
    EXPECT_TRUE(holds(predict.out, {"accuracy"})) << predict.err;
    ASSERT_EQ(shell("sheaf fit t.csv --model elastic-net-logistic --alpha 0.1 --output l --quiet" + on).code, 0);
    const auto chances = shell("sheaf predict t.csv --model-file l --output - --probabilities" + on);
    EXPECT_TRUE(holds(chances.out, {"prediction,probability of "})) << chances.err;
    EXPECT_TRUE(complains(shell("sheaf predict t.csv --model-file m --output p.csv --probabilities" + on), 2,
                          {"ELASTIC_NET has no probabilities"}));
  }
}

TEST_F(StudyCli, FitAnswersInJson) {
  const auto outcome = shell("sheaf fit t.csv --model lasso --alpha 0.05 --output m --json");
  const auto answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["alpha"], 0.05);
  EXPECT_EQ(answer["l1_ratio"], 1.0);
  EXPECT_EQ(answer["intercept"], true);
  const auto& training = answer["training"][0];
  EXPECT_LE(training["duality_gap"], training["tolerance"]);
  int lines = 0;
  std::istringstream model(file("m"));
  bool weights = false;
  for (std::string line; std::getline(model, line); lines += weights ? 1 : 0) weights |= line.starts_with("weights ");
  EXPECT_EQ(lines - 2, training["nonzeros"]) << "only features with a weight have a line; the checksum is the last";
}

/// A column of 1.5 and 2.5 is a numeric target, two classes of 0 and 1 are classes, unless --labels sets another kind.
TEST_F(StudyCli, LabelsAreClassesWhereTheyLookLikeThem) {
  ASSERT_EQ(shell("sheaf generate regression r.csv --rows 60 --features 10 --quiet").code, 0);
  ASSERT_EQ(shell("sheaf fit r.csv --model elastic-net --alpha 0.1 --output r --quiet").code, 0);
  EXPECT_TRUE(holds(file("r"), {"classes 0\n", "solver ELASTIC_NET_REGRESSION\n"}));
  EXPECT_TRUE(holds(shell("sheaf predict r.csv --model-file r").out, {"mean squared error"}));
  write("two.csv", "a,b,label\n1,2,0\n2,1,1\n1,1,0\n3,0,1\n0,2,0\n4,1,1\n");
  ASSERT_EQ(shell("sheaf fit two.csv --model ridge --alpha 0.1 --output c --quiet").code, 0);
  EXPECT_TRUE(holds(file("c"), {"classes 2\n", "solver ELASTIC_NET\n"}));
  ASSERT_EQ(shell("sheaf fit two.csv --model ridge --alpha 0.1 --labels numbers --output a --quiet").code, 0);
  EXPECT_TRUE(holds(file("a"), {"solver ELASTIC_NET_REGRESSION\n"}));
  EXPECT_TRUE(complains(shell("sheaf fit two.csv --model elastic-net-logistic --labels numbers --alpha 1 --output x"),
                        2, {"for classes"}));
  // LIBLINEAR's programs can apply it.
  ASSERT_EQ(shell("sheaf fit two.csv --model lasso --alpha 0.1 --model-format liblinear --output f --quiet").code, 0);
  EXPECT_TRUE(file("f").starts_with("solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 0\nnr_feature 2\nbias 1\nw\n"));
  EXPECT_TRUE(holds(shell("sheaf predict two.csv --model-file f").out, {"accuracy"}));
}

TEST_F(StudyCli, FitRefusesWhatItWouldForget) {
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-net --output m"), 2,
                        {"--alpha is missing", "all weights are 0", "sheaf select"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-net --alpha 1"), 2, {"--output FILE", "is missing"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output m --alpha 1"), 2, {"--alpha is for --model elastic-net"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-nett --output m"), 2,
                        {"unknown model 'elastic-nett'", "elastic-net"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --cost 1 --output m"), 2,
                        {"--cost is for --model linear, svm or knn, not for lasso"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --l1-ratio 0.5 --alpha 1 --output m"), 2,
                        {"l1-ratio is for the models elastic-net", "not lasso"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-net --l1-ratio 1.5 --alpha 1 --output m"), 2,
                        {"l1-ratio is out of range"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-net --parallel 4 --alpha 1 --output m"), 2,
                        {"parallel is for the solver shotgun"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model elastic-net --solver fast --alpha 1 --output m"), 2,
                        {"unknown solver 'fast'", "shotgun"}));
  write("factors", "1\n1\n-1\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --penalty-factors factors --output m"), 1,
                        {"factors:3:1", "0 or more"}));
  write("factors", "1\n1\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --penalty-factors factors --output m"), 1,
                        {"factors:3:1", "feature 3 of 40"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --lower-limit 1 --output m"), 2,
                        {"lower-limit is out of range", "0 or less"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --upper-limit -1 --output m"), 2,
                        {"upper-limit is out of range", "0 or more"}));
  std::string limits;
  for (int j = 0; j < 40; ++j) limits += "-inf inf\n";
  write("limits", limits);
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --lower-limit 0 --limits limits --output m"), 2,
                        {"leave out lower-limit"}));
  write("factors", "-inf inf\n0 1\n0.5 1\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --limits factors --output m"), 1,
                        {"factors:3:1", "a lower limit, 0 or less or -inf"}));
  write("factors", "-inf inf\n0\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --limits factors --output m"), 1,
                        {"factors:2:2", "an upper limit"}));
  EXPECT_EQ(listing(), (std::vector<std::string>{"factors", "limits", "t.csv"})) << "nothing half-written";
}

TEST_F(StudyCli, WeightsStayWithinLimits) {
  const std::string fit = "sheaf fit t.csv --model lasso --alpha 0.001 --quiet ";
  const auto has_negative = [&](const std::string& model) {
    const auto text = file(model);
    return text.substr(text.find("\nweights ")).find(" -") != std::string::npos;
  };
  ASSERT_EQ(shell(fit + "--output free").code, 0);
  EXPECT_TRUE(has_negative("free")) << "there are negative weights without limits";
  ASSERT_EQ(shell(fit + "--lower-limit 0 --output positive").code, 0);
  EXPECT_FALSE(has_negative("positive")) << file("positive");
  ASSERT_EQ(shell("for ((j = 1; j <= 40; ++j)); do echo 0 inf; done > limits").code, 0);
  ASSERT_EQ(shell(fit + "--limits limits --output listed").code, 0);
  EXPECT_EQ(file("listed"), file("positive"));
}

TEST_F(StudyCli, ModelsAreRelaxed) {
  ASSERT_EQ(shell("sheaf fit t.csv --model lasso --alpha 0.1 --relax 0.5 --output m").code, 0);
  EXPECT_TRUE(holds(file("m"), {"\nrelax 0.5\n"})) << file("m");
  EXPECT_TRUE(holds(shell("sheaf predict t.csv --model-file m --output p.csv").out, {"accuracy"}));
  const auto study = shell(quick + "--l1-ratio 0.9 --relax 0,1 --report r.html");
  ASSERT_EQ(study.code, 0) << study.err;
  EXPECT_TRUE(holds(study.out, {"relax", " --relax "})) << study.out;
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 0.1 --relax 2 --output n"), 2, {"relax"}));
  write("damaged", std::regex_replace(without_checksum(file("m")), std::regex("relax 0.5"), "relax 1.5"));
  EXPECT_TRUE(complains(shell("sheaf predict t.csv --model-file damaged"), 1, {"damaged", "is below 1"}));
}

TEST_F(StudyCli, AFeatureWithoutPenaltyIsAlwaysIn) {
  ASSERT_EQ(shell("for ((j = 1; j <= 40; ++j)); do echo $((j != 40)); done > factors").code, 0);
  ASSERT_EQ(shell("sheaf fit t.csv --model lasso --alpha 1000 --penalty-factors factors --output m --quiet").code, 0);
  EXPECT_TRUE(holds(file("m"), {"weights 1\n40 "})) << file("m");
  ASSERT_EQ(shell("sheaf fit t.csv --model lasso --alpha 1000 --unpenalised x00007,12 --output n --quiet").code, 0);
  EXPECT_TRUE(holds(file("n"), {"weights 2\n7 ", "\n12 "})) << file("n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model lasso --alpha 1 --unpenalised age --output n"), 2,
                        {"there is no feature 'age'"}));
}

TEST_F(StudyCli, TellsWhatTheSplitsChose) {
  for (const Device device : devices()) {
    const auto outcome = shell(quick + "--device " + to_string(device));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.out, {"90 rows x 40 features, 2 classes", "18 points x 4 resamples", "x 3 splits",
                                    "On held-out rows", "AUC", "Chosen", "l1-ratio", "frequency", "Stability",
                                    "sheaf fit t.csv --model elastic-net --alpha "}))
        << outcome.out;
  }
}

/// The command it names at its end trains.
TEST_F(StudyCli, TheNextStepItNamesWorks) {
  const auto out = shell(quick + "--class-weight balanced").out;
  const auto begin = out.find("sheaf fit ");
  ASSERT_NE(begin, std::string::npos);
  auto line = out.substr(begin, out.find('\n', begin) - begin);
  line.replace(line.find("FILE"), 4, "next.model");
  EXPECT_NE(line.find("--class-weight balanced"), std::string::npos) << line;
  EXPECT_EQ(shell(line).code, 0) << line;
  EXPECT_TRUE(exists("next.model"));
}

TEST_F(StudyCli, WritesJsonCsvAPageAndTheReducedTable) {
  const auto outcome = shell(quick + "--json --csv r.csv --report r.html --apply small.csv --min-frequency 1");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["outer"]["folds"].size(), 4U);
  EXPECT_EQ(answer["stability"]["points"].size(), 18U);
  EXPECT_EQ(answer["asked"]["score"], "auc");
  double sum = 0;
  for (const auto& fold : answer["outer"]["folds"]) sum += fold["scores"]["auc"].get<double>();
  EXPECT_NEAR(answer["outer"]["auc"]["mean"].get<double>(), sum / 4, 1e-12);
  std::vector<std::string> always;
  for (const auto& feature : answer["stability"]["features"])
    if (feature["frequency"] == 1.0) always.push_back(feature["name"]);
  EXPECT_EQ(answer["stability"]["selected"], Json(always));
  ASSERT_FALSE(always.empty());
  const auto table = file("r.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'),
            static_cast<std::ptrdiff_t>(answer["stability"]["features"].size()) + 1);
  const auto page = file("r.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(holds(page, {"AUC of each point", "How often each feature was chosen", "on held-out rows",
                           "Weights along the path of resample 1", "Score of each resample", always[0]}));
  for (const char* word : {"src=", "href=", "<script ", "@import", "url(", "nan"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  const auto small = file("small.csv");
  for (const auto& name : always) EXPECT_NE(small.substr(0, small.find('\n')).find(name), std::string::npos) << name;
}

/// Groups of a named column, or of qid, are kept together unless an option changes it, and all output states it.
TEST_F(StudyCli, GroupsAreKeptTogether) {
  std::string table = "patient,a,b,c,label\n";
  std::string libsvm;
  for (int i = 0; i < 120; ++i) {
    const int patient = i * 7 % 30;
    const int label = patient % 2;
    table += fmt::format("p{},{},{},{},{}\n", patient, i % 11 + 4 * label, i * i % 7, i % 5, label);
    libsvm += fmt::format("{} qid:{} 1:{} 2:{} 3:{}\n", label, patient, i % 11 + 4 * label, i * i % 7, i % 5);
  }
  write("g.csv", table);
  write("g.svm", libsvm);
  const std::string grid = " --model elastic-net --splits 4 --alpha-count 6 --memory 500M ";
  for (const std::string given : {"g.csv --group patient", "g.svm"}) {
    const auto outcome = shell("sheaf select " + given + grid + "--report g.html");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.out, {"30 groups", "4 resamples (group-shuffle)"})) << outcome.out;
    EXPECT_FALSE(holds(outcome.out, {"not kept together"}));
    EXPECT_TRUE(holds(file("g.html"), {"4 resamples", "groups, kept together"}));
    const auto answer = Json::parse(shell("sheaf select " + given + grid + "--json").out);
    EXPECT_EQ(answer["groups"], 30);
    EXPECT_EQ(answer["asked"]["outer_split"], "group-shuffle");
    EXPECT_TRUE(complains(shell("sheaf select " + given + grid + "--folds 40"), 1, {"41 groups, not 30"}));
    const auto mixed = shell("sheaf select " + given + grid + "--split stratified");
    if (given != "g.svm") {
      EXPECT_TRUE(complains(mixed, 2, {"--split stratified", "--group patient", "stratified-group"}));
      continue;
    }
    EXPECT_TRUE(holds(mixed.out, {"4 resamples (shuffle)", "groups of rows are not kept together"}))
        << mixed.out << mixed.err;
    const auto asked = Json::parse(shell("sheaf select " + given + grid + "--split stratified --json").out);
    EXPECT_EQ(asked["asked"]["split"], "stratified");
    EXPECT_TRUE(asked["groups"].is_null());
  }
  EXPECT_TRUE(complains(shell(quick + "--split group"), 2, {"needs groups of rows", "(group)"}));
  EXPECT_TRUE(complains(shell(quick + "--split patients"), 2, {"unknown split 'patients'", "group"}));
  ASSERT_EQ(shell("sheaf select g.svm" + grid + "--output d --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf select g.svm" + grid + "--output d --resume --split stratified"), 1,
                        {"options/split was", "group"}));
}

TEST_F(StudyCli, KilledAndResumedEndsWithTheSameBytes) {
  const std::string command =
      "sheaf select t.csv --model elastic-net --splits 12 --batch 1 --alpha-count 60 --tolerance 1e-9 --memory 500M "
      "--output ";
  ASSERT_EQ(shell(command + "whole --quiet").code, 0);
  for (const char* records : {"3", "7", "13"}) {
    const auto resumed = kill_and_resume(
        command, records, {"/results.json", "/features.csv", "/splits.csv", "/report.html", "/journal.txt"});
    EXPECT_NE(resumed.err.find("batches were finished before"), std::string::npos);
  }
}

TEST_F(StudyCli, TheLineToGoOnWithReadsTheSameColumns) {
  std::string table = "patient,visit no,a,b,outcome\n";
  for (int i = 0; i < 40; ++i)
    table += std::to_string(i / 2) + "," + std::to_string(i % 2) + "," + std::to_string(i * 7 % 11) + "," +
             std::to_string(i * 5 % 13) + "," + (i / 2 % 2 == 0 ? "well" : "ill") + "\n";
  write("p.csv", table);
  const auto told = shell(
      "sheaf select p.csv --model elastic-net --splits 3 --alpha-count 5 --group patient "
      "--ignore 'visit no' --label outcome");
  ASSERT_EQ(told.code, 0) << told.err;
  const auto line = told.out.substr(told.out.find("sheaf fit p.csv"));
  const auto fit = shell(line.substr(0, line.find(" --output")) + " --output m.txt --json");
  ASSERT_EQ(fit.code, 0) << line << fit.err;
  EXPECT_EQ(nlohmann::json::parse(fit.out)["features"], 2) << line;
}

TEST_F(StudyCli, OnlyTheSameStudyGoesOn) {
  const auto command = quick + "--output d ";
  ASSERT_EQ(shell(command + "--quiet").code, 0);
  EXPECT_TRUE(complains(shell(command), 1, {"d: exists already", "--resume", "--force"}));
  EXPECT_TRUE(complains(shell(command + "--resume --folds 4"), 1, {"options/folds was 3 then and is 4 now"}));
  EXPECT_TRUE(complains(shell(command + "--resume --scale none"), 1, {"pipeline/scale"}));
  EXPECT_TRUE(complains(shell(command + "--resume --force"), 2, {"give one of them"}));
  EXPECT_EQ(shell(command + "--resume --quiet --min-frequency 0.9").code, 0) << "what is only reported may change";
  EXPECT_TRUE(complains(shell(quick + "--resume"), 2, {"--output DIR"}));
}

TEST_F(StudyCli, RefusesWhatItWouldForget) {
  const auto refuses = [&](const std::string& words, const std::vector<std::string>& parts, int code = 2) {
    return complains(shell("sheaf select t.csv " + words), code, parts);
  };
  EXPECT_TRUE(refuses("--model elastic-nett", {"unknown model 'elastic-nett'", "did you mean elastic-net?"}));
  EXPECT_TRUE(refuses("--model ridge", {"selects none"}));
  EXPECT_TRUE(refuses("--model elastic-net --criterion mrmr", {"--criterion is for criteria"}));
  EXPECT_TRUE(refuses("--model elastic-net --bins 4", {"--bins is for --select"}));
  EXPECT_TRUE(refuses("--splits 4", {"--splits is for --model"}));
  EXPECT_TRUE(refuses("--standardise", {"--standardise is for --model"}));
  EXPECT_TRUE(refuses("--model lasso --l1-ratio 0.5", {"l1-ratio is for the models elastic-net", "not lasso"}));
  EXPECT_TRUE(refuses("--model elastic-net --l1-ratio 0.5,2", {"l1-ratio is out of range"}));
  EXPECT_TRUE(refuses("--model elastic-net --alpha 0", {"alpha must be more than 0"}));
  EXPECT_TRUE(refuses("--model elastic-net --alpha 1:0.1:5", {"must be larger"}));
  EXPECT_TRUE(refuses("--model elastic-net --alpha 1,2 --alpha-count 5", {"leave out alpha-count"}));
  EXPECT_TRUE(refuses("--model elastic-net --smallest-share 1", {"smallest-share is out of range"}));
  EXPECT_TRUE(refuses("--model elastic-net --score r2", {"r2 is a score of a numeric target"}));
  EXPECT_TRUE(refuses("--model elastic-net --score log-loss", {"elastic-net-logistic"}));
  EXPECT_TRUE(refuses("--model elastic-net --strategy genetic", {"unknown strategy", "descent"}));
  EXPECT_TRUE(refuses("--model elastic-net --trials 5", {"trials are for"}));
  EXPECT_TRUE(refuses("--model elastic-net --folds 1", {"at least 2 folds"}));
  EXPECT_TRUE(refuses("--model elastic-net --folds 80", {"fold"}, 1));
  EXPECT_TRUE(refuses("--model elastic-net --path-split 50", {"resample 50"}));
  EXPECT_TRUE(refuses("--model elastic-net --missing bin", {"must be filled in"}));
  write("one.csv", "a,b,label\n1,2,x\n2,1,x\n3,1,x\n");
  EXPECT_TRUE(complains(shell("sheaf select one.csv --model elastic-net"), 1, {"all rows have class x"}));
  write("rare.csv", "a,b,label\n1,2,x\n2,1,x\n3,1,x\n1,1,x\n2,2,x\n3,3,x\n1,2,rare\n2,1,rare\n");
  EXPECT_TRUE(complains(shell("sheaf select rare.csv --model elastic-net"), 1, {"class rare has 2 rows", "folds"}));
  write("numbers.csv", "a,b,label\n1,2,0.5\n2,1,1.5\n3,1,2.5\n1,1,3.5\n");
  EXPECT_TRUE(complains(shell("sheaf select numbers.csv --model elastic-net-logistic"), 1,
                        {"do not look like classes", "--labels classes"}));
}

}  // namespace study_cli_test
}  // namespace sheaf::test
