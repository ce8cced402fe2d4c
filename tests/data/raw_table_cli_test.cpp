// Ordinary uses on raw tables that used to end with a wrong or misleading answer, through the program itself.
#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace raw_table_cli_test {

class RawTable : public ProgramTest {
 protected:
  /// A trial: an id, a date, a number, two columns of text, the subject of each row, and what is to be predicted.
  static std::string trial(bool reversed = false, bool gaps = false, int rows = 120) {
    Random random(3);
    std::vector<std::string> lines;
    for (int i = 0; i < rows; ++i) {
      const double age = 50 + 12 * random.normal();
      const std::string site = std::vector<std::string>{"north", "south", "east"}[random.below(3)];
      const bool sick = (age - 50) / 10 + (site == "north" ? 1.5 : 0) + random.normal() > 0.8;
      lines.push_back("P" + std::to_string(1000 + i) + ",2021-0" + std::to_string(1 + i % 9) + "-11," +
                      (gaps && i % 10 == 0 ? std::string("NA") : std::to_string(age)) + "," +
                      (random.below(2) == 0 ? "f" : "m") + "," + site + ",S" + std::to_string(i % 20) + "," +
                      (sick ? "sick" : "healthy"));
    }
    if (reversed) std::reverse(lines.begin(), lines.end());
    std::string text = "id,date,age,sex,site,subject,outcome\n";
    for (const auto& line : lines) text += line + "\n";
    return text;
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  nlohmann::json json(const std::string& line) const {
    const auto outcome = shell(line + " --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(RawTable, TextColumnsAreNominalAndIdsAndDatesAreLeftOut) {
  write("trial.csv", trial());
  const auto outcome = shell("sheaf fit trial.csv --group subject --output m");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const auto* part : {"'id'", "'date'", "sex (2 levels), site (3 levels)"}) EXPECT_TRUE(holds(outcome.err, part));
  EXPECT_TRUE(holds(file("m"), "level north"));
  EXPECT_TRUE(shell("sheaf fit trial.csv --output m --quiet").err.empty());
}

TEST_F(RawTable, TheFirstLinesSayWhatIsPredictedAndWhichClassIsPositive) {
  write("trial.csv", trial());
  for (const auto* command : {"sheaf fit trial.csv --output m", "sheaf search trial.csv --output s --cost 1"}) {
    const auto out = shell(command).out;
    const auto head = out.substr(0, 300);
    EXPECT_TRUE(holds(head, "label outcome: 2 classes")) << head;
    EXPECT_TRUE(holds(head, "positive class sick")) << head;
  }
  EXPECT_TRUE(holds(shell("sheaf search trial.csv --output s --force --cost 1").out, "F1 of sick"));
}

TEST_F(RawTable, ResultsDoNotDependOnTheOrderOfRowsOrOnAPositiveClassByChance) {
  write("a.csv", trial());
  write("b.csv", trial(true));
  const auto weights = [&](const std::string& name, const std::string& more) {
    EXPECT_EQ(shell("sheaf fit " + name + " --output m --tolerance 1e-14 --impute mean " + more).code, 0);
    return json("sheaf fit " + name + " --output m --tolerance 1e-14 " + more)["training"][0];
  };
  const auto a = weights("a.csv", "");
  const auto b = weights("b.csv", "");
  EXPECT_EQ(a["class"], "sick");
  EXPECT_EQ(b["class"], "sick");
  EXPECT_NEAR(a["objective"], b["objective"], 1e-9);
  const auto other = weights("a.csv", "--positive healthy");
  EXPECT_EQ(other["class"], "healthy");
  EXPECT_NEAR(other["largest_weights"][0]["weight"].get<double>(), -a["largest_weights"][0]["weight"].get<double>(),
              1e-6);
}

TEST_F(RawTable, PredictTakesColumnsByNameInAnyOrderAndIgnoresOthersWithANote) {
  write("trial.csv", trial(false, true));
  write("new.csv", "remark,site,age,sex\nfree text,north,71,f\nmore,south,30,m\n");
  write("lacks.csv", "site,sex\nnorth,f\n");
  write("one.csv", "site,age,sex\nnorth,NA,f\n");
  ASSERT_EQ(shell("sheaf fit trial.csv --group subject --impute median --output m").code, 0);
  const auto outcome = shell("sheaf predict new.csv --model-file m --output -");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "prediction\nsick\nhealthy\n");
  EXPECT_TRUE(holds(outcome.err, "remark")) << outcome.err;
  EXPECT_TRUE(complains(shell("sheaf predict lacks.csv --model-file m"), 1, {"lacks.csv", "age"}));
  EXPECT_EQ(shell("sheaf predict one.csv --model-file m --output -").code, 0) << "what is missing comes from training";
}

TEST_F(RawTable, PredictCarriesColumnsAlongAndTakesAThreshold) {
  write("trial.csv", trial());
  ASSERT_EQ(shell("sheaf fit trial.csv --group subject --output m").code, 0);
  const auto low =
      shell("sheaf predict trial.csv --model-file m --keep id,site --threshold 1e-9 --decisions --output -");
  ASSERT_EQ(low.code, 0) << low.err;
  EXPECT_TRUE(holds(low.out, "id,site,prediction,decision for sick\nP1000,")) << low.out.substr(0, 200);
  EXPECT_FALSE(holds(low.out, ",healthy,")) << "all are taken for sick";
  const auto scores = json("sheaf predict trial.csv --model-file m --threshold 0.01")["scores"];
  EXPECT_EQ(scores["recall"], 1);
  EXPECT_TRUE(complains(shell("sheaf predict trial.csv --model-file m --threshold 2"), 2, {"0 to 1"}));
}

TEST_F(RawTable, PredictShowsAllScoresAndTheConfusions) {
  write("trial.csv", trial());
  ASSERT_EQ(shell("sheaf fit trial.csv --group subject --output m").code, 0);
  const auto answer = json("sheaf predict trial.csv --model-file m");
  const auto& confusion = answer["confusion"];
  ASSERT_EQ(confusion.size(), 4U);
  const double rows =
      confusion[0].get<double>() + confusion[1].get<double>() + confusion[2].get<double>() + confusion[3].get<double>();
  EXPECT_EQ(rows, 120);
  EXPECT_NEAR(answer["scores"]["accuracy"].get<double>(),
              (confusion[0].get<double>() + confusion[3].get<double>()) / rows, 1e-12);
  EXPECT_NEAR(answer["scores"]["recall"].get<double>(),
              confusion[0].get<double>() / (confusion[0].get<double>() + confusion[1].get<double>()), 1e-12);
  EXPECT_EQ(answer["positive_class"], "sick");
  const auto text = shell("sheaf predict trial.csv --model-file m").out;
  for (const auto* part : {"AUC of sick", "precision", "predicted as", "healthy"})
    EXPECT_TRUE(holds(text, part)) << text;
}

TEST_F(RawTable, WarningsNameWhatIsOdd) {
  write("trial.csv", trial());
  ASSERT_EQ(shell("sheaf fit trial.csv --group subject --output m").code, 0);
  write("scale.csv", "site,age,sex,outcome\nnorth,71000,f,sick\nsouth,30000,m,unclear\n");
  const auto odd = shell("sheaf predict scale.csv --model-file m");
  EXPECT_TRUE(holds(odd.err, "another scale")) << odd.err;
  EXPECT_TRUE(holds(odd.err, "'age'")) << odd.err;
  EXPECT_TRUE(holds(odd.err, "does not know: unclear")) << odd.err;
  std::string same = "site,age,sex\n";
  for (int i = 0; i < 12; ++i) same += "north,80,f\n";
  write("same.csv", same);
  EXPECT_TRUE(
      holds(shell("sheaf predict same.csv --model-file m").err, "the prediction is the same, sick, for all 12"));
  write("bare.csv", "1.5,2,0\n2.5,1,1\n1,1,0\n3,3,1\n");
  const auto bare = shell("sheaf fit bare.csv --output b");
  EXPECT_TRUE(holds(bare.err, "holds no names")) << bare.err;
  EXPECT_TRUE(holds(bare.err, "the last, 3, is taken as the label")) << bare.err;
}

TEST_F(RawTable, NumbersAreARegressionInEveryCommand) {
  std::string text = "x,z,price\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 17) + "," + std::to_string(3 * i + i % 5) + "\n";
  write("prices.csv", text);
  const auto fitted = shell("sheaf fit prices.csv --output m");
  EXPECT_TRUE(holds(fitted.out, "label price: a number from 0 to")) << fitted.out;
  EXPECT_TRUE(holds(shell("sheaf search prices.csv --output s --cost 1").out, "regression"));
  EXPECT_TRUE(holds(shell("sheaf search prices.csv --model svm --output v --cost 1 --gamma 0.1").out, "regression"));
  EXPECT_TRUE(complains(shell("sheaf select prices.csv --label price --count 1"), 1,
                        {"numeric target", "--task classification"}));
  EXPECT_TRUE(complains(shell("sheaf fit prices.csv --label price --task regression --loss logistic --output m"), 2,
                        {"--loss"}));
  EXPECT_TRUE(holds(shell("sheaf fit prices.csv --task classification --output m").out, "60 classes"));
  const auto fit_again = json("sheaf fit prices.csv --output m");
  EXPECT_TRUE(fit_again["classes"].empty());
}

TEST_F(RawTable, WordsAmongTheLabelsOfARegressionAreAnErrorWithTheirPlace) {
  write("t.csv", "x,y\n1,2\n3,four\n");
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --task regression --output m"), 1, {"t.csv:3:3", "'four'"}));
}

TEST_F(RawTable, CommandLinesThatArePrintedSayWhatTheLabelsAre) {
  write("trial.csv", trial(false, true));
  const auto study = shell(
      "sheaf select trial.csv --model lasso --group subject --positive healthy --nominal sex --impute median --splits "
      "3 "
      "--task classification");
  ASSERT_EQ(study.code, 0) << study.err;
  EXPECT_TRUE(holds(study.out, "--nominal sex --task classification --positive healthy --impute median")) << study.out;
}

TEST_F(RawTable, GroupsStayTogether) {
  write("trial.csv", trial());
  const auto together = shell("sheaf search trial.csv --group subject --cost 1 --output a");
  EXPECT_TRUE(holds(together.out, "20 groups")) << together.out;
  EXPECT_FALSE(holds(together.out, "not kept together"));
}

TEST_F(RawTable, AMissingFileLeavesNoFolderBehind) {
  EXPECT_TRUE(complains(shell("sheaf search nothing.csv --output folder"), 1, {"nothing.csv"}));
  EXPECT_FALSE(exists("folder"));
}

/// A line of a journal: 16 digits of the checksum, a blank, JSON.
TEST_F(RawTable, JournalsThatAreWholeButWrongAreRefusedInOneLine) {
  write("trial.csv", trial());
  ASSERT_EQ(shell("sheaf search trial.csv --cost 1 --output s").code, 0);
  const auto forge = [&](const std::string& record) {
    const auto made = shell(
        "j='" + record + "'; printf '%s %s\\n' $(printf '%s' \"$j\" | sha256sum | cut -c1-16) \"$j\" >s/journal.txt");
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(complains(shell("sheaf search trial.csv --cost 1 --output s --resume"), 1, {"--force"})) << record;
  };
  forge(R"({"batch": 0})");
  forge(R"({"batch": "first", "models": []})");
  forge(R"({"batch": 0, "models": [{"scores": [1, 2]}]})");
  forge(R"({"plan": {"memory": 1}})");
  forge(R"([1, 2, 3])");
  const auto forge_settings = [&](const std::string& text) {
    write("s/settings.json", text);
    EXPECT_TRUE(complains(shell("sheaf search trial.csv --cost 1 --output s --resume"), 1, {"s: ", "no search"}))
        << text;
  };
  forge_settings(R"({"journal": "three"})");
  forge_settings(R"({"journal": 1, "device": 5})");
  forge_settings(R"({})");
  forge_settings("[]");
}

TEST_F(RawTable, ConvertedTablesAreReadByLibsvm) {
  write("trial.csv", trial());
  ASSERT_EQ(shell("sheaf convert trial.csv trial.svm --group subject").code, 0);
  EXPECT_EQ(file("trial.svm.labels"), "1\tsick\n-1\thealthy\n");
  const auto first = file("trial.svm").substr(0, file("trial.svm").find('\n'));
  EXPECT_TRUE(first.starts_with("1 ") || first.starts_with("-1 ")) << first;
  EXPECT_TRUE(holds(file("trial.svm.features"), "site=north"));
  EXPECT_EQ(shell("sheaf svm-train trial.svm m").code, 0);
  ASSERT_EQ(
      shell("sheaf convert trial.csv copy.csv --group subject && sheaf convert copy.csv again.csv --group group").code,
      0);
  EXPECT_EQ(file("copy.csv"), file("again.csv"));
}

TEST_F(RawTable, PipesWork) {
  write("trial.csv", trial());
  const auto piped = shell(
      "cat trial.csv | sheaf fit - --group subject --output m && cat trial.csv | sheaf predict - --model-file m "
      "--output -");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_TRUE(piped.out.find("prediction\n") != std::string::npos);
}

TEST_F(RawTable, ASearchWritesItsPredictionsCurvesAndCoefficients) {
  write("trial.csv", trial());
  const auto outcome =
      shell("sheaf search trial.csv --group subject --cost 1 --output s --predictions --calibrate isotonic");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto predictions = file("s/predictions.csv");
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 121) << "each row is held out once";
  EXPECT_TRUE(predictions.starts_with("row,split,truth,prediction,\"decision for sick\",\"probability of sick\""));
  EXPECT_TRUE(file("s/curves.csv").starts_with("curve,split,x,y\nroc,1,0,"));
  EXPECT_TRUE(file("s/coefficients.csv").starts_with("feature,\"weight for sick\",\"standardised weight for sick\"\n"));
  EXPECT_TRUE(holds(file("s/model.txt"), "calibration isotonic 1"));
  EXPECT_EQ(shell("sheaf predict trial.csv --model-file s/model.txt --probabilities --output -").code, 0);
}

TEST_F(RawTable, TwoSearchesOfTheSameSplitsAreCompared) {
  write("trial.csv", trial());
  ASSERT_EQ(
      shell("sheaf search trial.csv --ignore site --cost 1 --output a && sheaf search trial.csv --cost 1 --output b")
          .code,
      0);
  const auto answer = json("sheaf compare a b --score auc");
  EXPECT_EQ(answer["first"].size(), 5U);
  EXPECT_LT(answer["difference"].get<double>(), 0) << "the site says something";
  EXPECT_TRUE(holds(shell("sheaf compare a b").out, "corrected resampled t-test"));
  ASSERT_EQ(shell("sheaf search trial.csv --model knn --k 3 --folds 5 --output n").code, 0);
  const auto three = json("sheaf compare a n b --score auc");
  ASSERT_EQ(three["searches"].size(), 3U);
  const auto of = [&](const std::string& name) {
    for (const auto& search : three["searches"])
      if (search["search"] == name) return search;
    return nlohmann::json();
  };
  EXPECT_EQ(of("a")["scores"], answer["first"]);
  EXPECT_EQ(of("b")["scores"], answer["second"]);
  EXPECT_TRUE(three["searches"][0]["p_value"].is_null()) << "the best one is compared with nothing";
  for (std::size_t k = 1; k < 3; ++k) {
    EXPECT_LE(three["searches"][k]["mean"], three["searches"][k - 1]["mean"]);
    EXPECT_GE(three["searches"][k]["adjusted_p_value"], three["searches"][k]["p_value"]);
  }
  EXPECT_TRUE(holds(shell("sheaf compare a b n --score auc").out, "adjusted for 2 comparisons (Holm)"));
  ASSERT_EQ(shell("sheaf search trial.csv --cost 1 --seed 2 --output c").code, 0);
  EXPECT_TRUE(complains(shell("sheaf compare a c"), 1, {"the seed"}));
  EXPECT_TRUE(complains(shell("sheaf compare a b c"), 1, {"a and c", "the seed"}));
  EXPECT_TRUE(complains(shell("sheaf compare a nothing"), 1, {"nothing"}));
  write("b/results.json", "{\"score\": 1}");
  EXPECT_TRUE(complains(shell("sheaf compare a b"), 1, {"no results folder"}));
}

TEST_F(RawTable, TheRangeOfCostsFollowsTheData) {
  std::string text;
  Random random(5);
  for (int i = 0; i < 80; ++i) {
    const bool one = random.below(2) == 1;
    text += one ? "1" : "-1";
    for (int j = 1; j <= 3; ++j)
      text += " " + std::to_string(j) + ":" + std::to_string(1e-4 * (random.normal() + (one ? 0.8 : -0.8)));
    text += "\n";
  }
  write("tiny.svm", text);
  const auto answer = json("sheaf search tiny.svm --model linear --score log-loss --output s");
  EXPECT_GT(answer["chosen"]["cost"].get<double>(), 1000) << "features so small need a larger C than the first ones";
  for (const auto& note : answer["notes"]) EXPECT_FALSE(holds(note.get<std::string>(), "may be better still"));
}

}  // namespace raw_table_cli_test
}  // namespace sheaf::test
