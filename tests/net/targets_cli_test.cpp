// Elastic nets of several targets as people and scripts meet them.
#include <sstream>

#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace targets_cli_test {

using Json = nlohmann::json;

class TargetsCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("cars.csv", contents(golden("targets/mtcars.csv")));
  }

  Outcome good(const std::string& line) const {
    auto outcome = shell(line);
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
    return outcome;
  }
};

const std::string fit =
    "sheaf fit cars.csv --label mpg,disp,qsec --model elastic-net --alpha 10 --l1-ratio 0.5 --no-relative-l2 "
    "--tolerance 1e-12 --scale none --precision double --output cars.model";

/// The predictions of the first row are glmnet's.
TEST_F(TargetsCli, FitsAndPredictsOneColumnATarget) {
  const auto fitted = good(fit);
  for (const auto* part : {"3 targets", "target mpg", "target disp", "target qsec"})
    EXPECT_NE(fitted.out.find(part), std::string::npos) << part << " in\n" << fitted.out;
  const auto predicted =
      good("sheaf predict cars.csv --model-file cars.model --precision double --output p.csv --json");
  const auto lines = lines_of(file("p.csv"));
  ASSERT_EQ(lines.size(), 33U);
  EXPECT_EQ(lines[0], "prediction of mpg,prediction of disp,prediction of qsec");
  const auto results = read_json(golden("targets/results.json"));
  const auto& expected = results["cases"][1]["path"][2]["first_row"];
  std::istringstream cells(lines[1]);
  for (std::size_t c = 0; c < 3; ++c) {
    std::string cell;
    std::getline(cells, cell, ',');
    EXPECT_NEAR(std::stod(cell), expected[c].get<double>(), 1e-4);
  }
  const auto answer = Json::parse(predicted.out);
  EXPECT_EQ(answer["targets"], Json({"mpg", "disp", "qsec"}));
  EXPECT_GT(answer["scores"]["r2"].get<double>(), 0.5);
}

TEST_F(TargetsCli, PredictsFilesWithoutTargetsAndWithOthers) {
  good(fit);
  good("cut -d, -f2,4,5,6,8- cars.csv >new.csv && sheaf predict new.csv --model-file cars.model --output a.csv");
  good("sheaf predict cars.csv --model-file cars.model --output b.csv");
  EXPECT_EQ(file("a.csv"), file("b.csv"));
  const auto outcome =
      good("cut -d, -f1,2,4,5,6,8- cars.csv >some.csv && sheaf predict some.csv --model-file cars.model");
  EXPECT_NE(outcome.out.find("no labels to compare with"), std::string::npos) << outcome.out;
  EXPECT_TRUE(complains(shell("sheaf predict cars.csv --model-file cars.model --label mpg"), 2,
                        {"--label mpg", "the model predicts mpg, disp and qsec"}));
  EXPECT_TRUE(complains(shell("sheaf predict cars.csv --model-file cars.model --label disp,mpg,qsec"), 2,
                        {"name these columns in this order"}));
  good("sheaf predict cars.csv --model-file cars.model --explain why.csv --explain-count 1");
  EXPECT_EQ(lines_of(file("why.csv")).size(), 1 + 32U * 3 * 3) << "the intercept, a feature and the others";
}

/// Columns by position, in a file without names.
TEST_F(TargetsCli, PositionsServeFilesWithoutNames) {
  good("tail -n +2 cars.csv | cut -d, -f4,5,6,2,1,3,7 >plain.csv");  // cut keeps their order: mpg cyl disp hp drat wt
                                                                     // qsec
  good("sheaf fit plain.csv --label 6,7 --model lasso --alpha 0.01 --output plain.model");
  good("sheaf predict plain.csv --model-file plain.model --output p.csv");
  EXPECT_EQ(lines_of(file("p.csv"))[0], "prediction of 6,prediction of 7");
}

TEST_F(TargetsCli, SearchesAndDescribes) {
  const auto found = Json::parse(
      good("sheaf search cars.csv --label mpg,disp,qsec --model elastic-net --folds 4 --scale standard --predictions "
           "--output found --json")
          .out);
  EXPECT_EQ(found["targets"], Json({"mpg", "disp", "qsec"}));
  EXPECT_GT(found["chosen"]["r2"]["mean"].get<double>(), 0.5);
  EXPECT_TRUE(
      file("found/predictions.csv").starts_with("row,split,\"truth of mpg\",\"prediction of mpg\",\"truth of disp\","));
  EXPECT_NE(file("found/coefficients.csv").find("\"weight for qsec\""), std::string::npos);
  const auto study = good("sheaf select cars.csv --label mpg,disp,qsec --model lasso --standardise --output study");
  EXPECT_NE(study.out.find("target"), std::string::npos) << study.out;
  EXPECT_NE(file("study/features.csv").find("\"mean_weight of disp\""), std::string::npos);
  const auto about = good("sheaf info cars.csv --label mpg,disp,qsec");
  for (const auto* part : {"Label mpg", "Label disp", "Label qsec", "10.4", "71.1", "14.5"})
    EXPECT_NE(about.out.find(part), std::string::npos) << part << " in\n" << about.out;
  const auto profile = Json::parse(good("sheaf info cars.csv --label mpg,disp,qsec --json").out);
  EXPECT_EQ(profile["label"]["further"][1]["name"], "qsec");
}

TEST_F(TargetsCli, SaysWhatIsWrong) {
  const auto net = [&](const std::string& label, const std::string& more = "") {
    return shell("sheaf fit cars.csv --model elastic-net --alpha 1 --output m --label " + label + " " + more);
  };
  EXPECT_TRUE(complains(net("mpg,weight"), 2, {"cars.csv", "no column 'weight'"}));
  EXPECT_TRUE(complains(net("mpg,12"), 2, {"no column 12", "11 columns"}));
  EXPECT_TRUE(complains(net("mpg,"), 2, {"no column ''"}));
  EXPECT_TRUE(complains(net("mpg,disp,1"), 2, {"--label names the column 'mpg' twice"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--group disp"), 2, {"both the label and the group"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--ignore disp"), 2, {"to be ignored"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--event vs"), 2, {"events belong to one time"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--task classification"), 2, {"several targets are numbers"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--labels classes"), 2, {"several targets are numbers"}));
  EXPECT_TRUE(complains(net("mpg,disp", "--model-format liblinear"), 2, {"hold one target"}));
  write("text.csv", "a,b,c\n1,2,3\n2,red,4\n");
  EXPECT_TRUE(complains(shell("sheaf fit text.csv --model lasso --alpha 1 --output m --label a,b"), 1,
                        {"text.csv:3:3", "the target 'b' must be a number, found 'red'"}));
  write("gap.csv", "a,b,c\n1,,3\n2,,4\n");
  EXPECT_TRUE(complains(shell("sheaf fit gap.csv --model lasso --alpha 1 --output m --label a,b"), 1,
                        {"gap.csv", "no row has a label"}));
  write("rows.libsvm", "1 1:2\n2 1:3\n");
  EXPECT_TRUE(complains(shell("sheaf fit rows.libsvm --model lasso --alpha 1 --output m --label a,b"), 2,
                        {"LIBSVM's format has one label"}));
  for (const auto* model : {"linear", "svm", "glm", "knn", "elastic-net-poisson", "elastic-net-huber"})
    EXPECT_TRUE(complains(shell(std::string("sheaf fit cars.csv --output m --label mpg,disp --model ") + model +
                                (std::string(model).starts_with("elastic") ? " --alpha 1" : "")),
                          1, {"--label names 2 targets (mpg and disp)", "elastic-net, lasso and ridge"}))
        << model;
  EXPECT_TRUE(complains(shell("sheaf select cars.csv --label mpg,disp --target-bins 3"), 1, {"names 2 targets"}));
  EXPECT_TRUE(complains(shell("sheaf convert cars.csv o.csv --label mpg,disp"), 1, {"files have one label"}));
}

}  // namespace targets_cli_test
}  // namespace sheaf::test
