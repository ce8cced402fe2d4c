// A raw table through the program with no more options than needed: what is decided, what is said of it, and whether
// the remedies that are named help.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace defaults_cli_test {

using Json = nlohmann::json;

class DefaultsCli : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  /// Two numbers on scales that differ a thousandfold, a text, and a class of which every `share`-th row is "sick".
  void write_table(const std::string& name, int rows, int share, double effect) const {
    Random random(19);
    std::string text = "age,dose,site,status\n";
    for (int i = 0; i < rows; ++i) {
      const bool sick = i % share == 0;
      text += fmt::format("{:.3f},{:.5f},{},{}\n", 50 + 10 * random.normal() + (sick ? 10 * effect : 0),
                          0.01 * random.normal() + (sick ? 0.01 * effect : 0), i % 3 == 0 ? "Kiel" : "Ulm",
                          sick ? "sick" : "healthy");
    }
    write(name, text);
  }
  Json search(const std::string& arguments) const {
    const auto outcome = shell("sheaf search " + arguments + " --output found --force --quiet");
    EXPECT_EQ(outcome.code, 0) << arguments << outcome.err;
    return Json::parse(file("found/results.json"));
  }
  static std::string said(const Json& results) {
    std::string text;
    for (const auto* key : {"warnings", "notes"})
      for (const auto& line : results[key]) text += line.get<std::string>() + "\n";
    return text;
  }
};

TEST_F(DefaultsCli, TheFolderIsNamedAfterTheTableAndNeverOverwritten) {
  write_table("my.csv", 40, 2, 2);
  const std::string command = "sheaf search my.csv --model linear --cost 1 --quiet";
  ASSERT_EQ(shell(command).code, 0);
  EXPECT_TRUE(exists("my-search/report.html") && exists("my-search/results.json") && exists("my-search/model.txt"));
  const auto first = file("my-search/results.json");
  ASSERT_EQ(shell(command + " --seed 2").code, 0);
  EXPECT_TRUE(exists("my-search-2/results.json"));
  EXPECT_EQ(file("my-search/results.json"), first);
}

/// Texts beside the numbers change nothing; counts in a sparse file stay as they are.
TEST_F(DefaultsCli, ModelsThatCompareFeaturesSeeThemScaledUnlessTheyAreCounts) {
  write_table("t.csv", 60, 2, 2);
  for (const std::string model : {"svm", "knn", "elastic-net-logistic"}) {
    const std::string steps = "features scaled (standard)";
    const auto outcome = shell("sheaf search t.csv --output found --force --model " + model);
    EXPECT_TRUE(holds(outcome.out, steps)) << model << outcome.out;
    const auto grid = model == "elastic-net-logistic" ? " --alpha 0.1" : "";
    const auto fitted = shell("sheaf fit t.csv --output m --model " + model + grid);
    const auto line = fitted.out.find("steps before the model: " + steps);
    ASSERT_NE(line, std::string::npos) << model << fitted.out << fitted.err;
    EXPECT_LT(std::count(fitted.out.begin(), fitted.out.begin() + static_cast<std::ptrdiff_t>(line), '\n'), 3);
    EXPECT_TRUE(holds(file("m"), "standard")) << model;
  }
  EXPECT_FALSE(holds(shell("sheaf fit t.csv --output m --model svm --scale none").out, "scaled"));
  Random random(5);
  std::string counts;
  for (int i = 0; i < 40; ++i) {
    counts += i % 2 == 0 ? "1" : "-1";
    for (int j = 1; j <= 12; ++j)
      if (random.below(4) == 0) counts += fmt::format(" {}:{}", j, 1 + random.below(200));
    counts += '\n';
  }
  write("counts.svm", counts);
  for (const std::string model : {"svm", "knn", "elastic-net-logistic --alpha 0.1"})
    EXPECT_FALSE(holds(shell("sheaf fit counts.svm --output m --model " + model).out, "scaled")) << model;
}

TEST_F(DefaultsCli, UnscaledDistancesAreSaidBySearchFitAndResults) {
  write_table("t.csv", 60, 2, 2);
  const std::string part = "standard deviations differ by a factor of";
  for (const std::string model : {"svm", "knn", "svm,knn"}) {
    const auto found = shell("sheaf search t.csv --output found --force --scale none --model " + model);
    ASSERT_EQ(found.code, 0) << found.err;
    const auto first = found.err.find(part);
    EXPECT_NE(first, std::string::npos) << model << found.err;
    EXPECT_EQ(found.err.find(part, first + 1), std::string::npos) << "once is enough";
    EXPECT_TRUE(holds(said(Json::parse(file("found/results.json"))), part)) << model;
    EXPECT_TRUE(holds(file("found/report.html"), part)) << model;
    EXPECT_FALSE(holds(said(search("t.csv --model " + model)), part)) << "they are scaled by default";
  }
  EXPECT_TRUE(holds(shell("sheaf fit t.csv --model knn --scale none --output m").err, part));
  EXPECT_FALSE(holds(shell("sheaf fit t.csv --model knn --output m").err, part));
  EXPECT_FALSE(holds(shell("sheaf fit t.csv --model knn --metric cosine --scale none --output m").err, part))
      << "angles have a scale of their own";
}

TEST_F(DefaultsCli, RareClassesAreSaidBySearchAndFit) {
  write_table("t.csv", 120, 12, 1);
  const std::string part = "sick (10 of 120 rows)";
  EXPECT_TRUE(holds(shell("sheaf fit t.csv --output m").err, part));
  EXPECT_TRUE(holds(said(search("t.csv --model linear --cost 1")), part));
  EXPECT_TRUE(holds(shell("sheaf info t.csv --json").out, "\"imbalance\""));
  write_table("even.csv", 120, 2, 1);
  EXPECT_FALSE(holds(shell("sheaf fit even.csv --output m").err, "rare"));
  std::string counts = "a,seizures\n";
  for (int i = 0; i < 60; ++i) counts += fmt::format("{},{}\n", i * 7 % 11, i % 20 == 0 ? 3 : i % 3);
  write("counts.csv", counts);
  EXPECT_FALSE(holds(shell("sheaf fit counts.csv --model elastic-net-poisson --alpha 0.1 --output m").err, "rare"));
}

/// Of a model chosen by AUC that predicts one class only, which gets a threshold unless it is chosen by classes; both
/// remedies of the warning are followed as they are printed.
TEST_F(DefaultsCli, TheRemediesForAModelThatPredictsOneClassHelp) {
  write_table("t.csv", 300, 15, 1.2);
  const std::string command = "t.csv --model elastic-net-logistic --alpha 0.03 --l1-ratio 1";
  const auto open = search(command);
  ASSERT_EQ(open["score"], "auc");
  ASSERT_EQ(open["chosen"]["recall"]["mean"], 0.0);
  EXPECT_FALSE(holds(said(open), "for every held-out row: "));
  EXPECT_TRUE(holds(said(open), "threshold youden")) << said(open);
  EXPECT_GT(open["threshold"]["elsewhere"]["sensitivity"].get<double>(), 0.5);
  const auto poor = search(command + " --score accuracy");
  ASSERT_TRUE(holds(said(poor), "threshold youden") && holds(said(poor), "class-weight balanced")) << said(poor);
  EXPECT_TRUE(holds(poor["verdict"].get<std::string>(), "predicts the class healthy for every held-out row"));
  const auto chosen = search(command + " --threshold youden");
  EXPECT_FALSE(holds(said(chosen), "for every held-out row"));
  EXPECT_GT(chosen["threshold"]["elsewhere"]["sensitivity"].get<double>(), 0.5);
  EXPECT_GT(chosen["threshold"]["elsewhere"]["specificity"].get<double>(), 0.5);
  const auto scores =
      Json::parse(shell("sheaf predict t.csv --model-file found/model.txt --json --quiet").out)["scores"];
  EXPECT_GT(scores["recall"].get<double>(), 0.5);
  const auto weighted = search(command + " --class-weight balanced");
  EXPECT_FALSE(holds(said(weighted), "for every held-out row"));
  EXPECT_GT(weighted["chosen"]["recall"]["mean"].get<double>(), 0.5);
}

TEST_F(DefaultsCli, GapsOfNewRowsAreFilledFromTraining) {
  std::string text = "a,b,y\n";
  for (int i = 1; i <= 40; ++i) text += fmt::format("{},{},{}\n", i == 7 ? "" : std::to_string(i), i * 7 % 11, 3 * i);
  write("t.csv", text);
  ASSERT_EQ(shell("sheaf fit t.csv --model linear --task regression --output m --quiet").code, 0);
  // The median of 1, 2 ... 40 without 7 is 21, whatever the rows that are predicted hold, and whatever --missing says.
  write("gap.csv", "a,b\n,4\n1000,4\n");
  write("full.csv", "a,b\n21,4\n1000,4\n");
  const auto predictions = [&](const std::string& input) {
    const auto outcome = shell("sheaf predict " + input + " --model-file m --output p.csv --quiet");
    EXPECT_EQ(outcome.code, 0) << input << outcome.err;
    return file("p.csv");
  };
  EXPECT_EQ(predictions("gap.csv"), predictions("full.csv"));
  EXPECT_EQ(predictions("gap.csv --missing mean"), predictions("full.csv"));
}

/// Of points that were not chosen one warning stands for all, and those of the chosen one are named.
TEST_F(DefaultsCli, ModelsThatDidNotConvergeAreNamedIfTheyWereChosen) {
  write_table("t.csv", 80, 2, 0.5);
  const auto results = search("t.csv --model linear --cost 0.1,1,10,1000 --tolerance 1e-12 --max-iterations 1");
  std::vector<std::string> warnings;
  for (const auto& line : results["warnings"])
    if (holds(line, "did not converge")) warnings.push_back(line);
  const auto chosen = fmt::format("C = {}", results["chosen"]["cost"].get<double>());
  int of_chosen = 0, of_others = 0;
  for (const auto& line : warnings) {
    of_chosen += line.starts_with(chosen + ", split") ? 1 : 0;
    of_others += holds(line, "models of points that were not chosen did not converge") ? 1 : 0;
  }
  EXPECT_EQ(of_chosen, 5) << "one for each split";
  EXPECT_EQ(of_others, 1);
  EXPECT_EQ(warnings.size(), 7U) << "and one for the final model";
}

/// With ridge penalties every net finds about what the model without a penalty finds on many rows of few features.
TEST_F(DefaultsCli, RidgePenaltiesOfEveryNetReachSmallOnes) {
  Random random(29);
  std::string classes = "a,b,c,y\n", counts = "a,b,c,y\n";
  for (int i = 0; i < 300; ++i) {
    const double a = random.normal(), b = random.normal(), c = random.normal();
    const auto line = fmt::format("{:.4f},{:.4f},{:.4f},", a, b, c);
    const auto noise = [&] { return -std::log(-std::log(random.uniform())); };
    const double p = 2 * a - b + noise(), q = 1.5 * c + noise(), r = noise();
    classes += line + (p > q && p > r ? "p\n" : q > r ? "q\n" : "r\n");
    counts += line + fmt::format("{}\n", std::floor(std::exp(0.5 + 0.6 * a - 0.4 * b) + random.uniform()));
  }
  write("classes.csv", classes);
  write("counts.csv", counts);
  struct Case {
    std::string input, net, plain, score;
  };
  for (const Case& one : {Case{"classes.csv", "elastic-net-multinomial", "multinomial --alpha 0", "log-loss"},
                          Case{"counts.csv --task regression", "elastic-net-poisson", "glm --family poisson --alpha 0",
                               "mean-poisson-deviance"},
                          Case{"counts.csv --task regression", "ridge", "glm --alpha 0", "rmse"}}) {
    const auto found = [&](const std::string& model) {
      const auto results = search(one.input + " --score " + one.score + " --model " + model);
      return results["chosen"][one.score]["mean"].get<double>();
    };
    const auto ratio = one.net == "ridge" ? "" : " --l1-ratio 0";
    EXPECT_LT(found(one.net + ratio), 1.02 * found(one.plain)) << one.net;
  }
}

/// What is printed trains the chosen one of several models alone, to the same bytes.
TEST_F(DefaultsCli, TheCommandThatIsPrintedTrainsTheChosenModelAlone) {
  write_table("t.csv", 90, 2, 1);
  for (const std::string models : {"auto", "knn,svm", "linear,knn"}) {
    const auto outcome = shell("sheaf search t.csv --output found --force --model " + models);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::string lead = "To train it alone: ";
    const auto begin = outcome.out.find(lead);
    ASSERT_NE(begin, std::string::npos) << outcome.out;
    const auto line = outcome.out.substr(begin + lead.size(), outcome.out.find('\n', begin) - begin - lead.size());
    ASSERT_EQ(shell(line + " --quiet").code, 0) << line;
    EXPECT_EQ(file("model.txt"), file("found/model.txt")) << line;
  }
}

/// Penalties, tubes and costs follow the unit of the target, in searches and where models are fitted.
TEST_F(DefaultsCli, TheUnitOfTheTargetChangesNoLinearSupportVectorRegression) {
  Random random(23);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 90; ++i) {
    rows.push_back({random.normal(), random.normal(), random.normal()});
    rows.back().push_back(2 * rows.back()[0] - rows.back()[1] + 0.3 * random.normal());
  }
  const std::vector<double> units{1, std::exp2(-17), std::exp2(17)};
  for (const double unit : units) {
    std::string text = "a,b,c,y\n";
    for (const auto& row : rows) text += fmt::format("{},{},{},{}\n", row[0], row[1], row[2], unit * row[3]);
    write(fmt::format("{}.csv", unit), text);
  }
  for (const std::string loss : {"svr", "epsilon-insensitive"}) {
    std::vector<double> found;
    for (const double unit : units) {
      const auto results = search(fmt::format("{}.csv --model linear --loss {}", unit, loss));
      found.push_back(results["chosen"]["r2"]["mean"]);
    }
    EXPECT_GT(found[0], 0.9) << loss;
    for (const double one : found) EXPECT_NEAR(one, found[0], 1e-3) << loss;
  }
  for (const double unit : units) {
    ASSERT_EQ(shell(fmt::format("sheaf fit {}.csv --model linear --loss svr --output m --quiet", unit)).code, 0);
    const auto outcome = shell(fmt::format("sheaf predict {}.csv --model-file m --json --quiet", unit));
    EXPECT_GT(Json::parse(outcome.out)["scores"]["r2"].get<double>(), 0.9) << unit;
  }
}

}  // namespace defaults_cli_test
}  // namespace sheaf::test
