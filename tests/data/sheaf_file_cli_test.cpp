// .sheaf files through the program: the same models and predictions as from the text they were made of, described at
// once, kept beside a text as a cache.
#include <string>
#include <vector>

#include <sys/stat.h>

#include "program.hpp"

namespace sheaf::test {
namespace sheaf_file_cli_test {

class SheafFileCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("t.csv", table(90, 0));
    write("new.csv", table(25, 40));
  }
  /// Numbers, gaps, levels, ids, groups, weights, a date, and a label.
  static std::string table(int rows, int shift) {
    std::string text = "id,a,b,colour,c,subject,w,day,disease\n";
    for (int i = shift; i < shift + rows; ++i) {
      const int a = i * 7 % 13 - 6;
      const int b = i * 5 % 11 - 5;
      text +=
          "s" + std::to_string(i) + "," + std::to_string(a) + "," + (i % 9 == 4 ? "" : std::to_string(b / 8.0)) + "," +
          (i % 3 == 0   ? "red"
           : i % 3 == 1 ? "green"
                        : "blue") +
          "," + std::to_string((i * i) % 17) + ",p" + std::to_string(i / 3) + "," + std::to_string(1 + i % 2) +
          ",2021-03-" + (i % 28 < 9 ? "0" : "") + std::to_string(i % 28 + 1) + (a + b > 0 ? ",sick\n" : ",healthy\n");
    }
    return text;
  }
  Outcome must(const std::string& line) const {
    const auto outcome = shell(line);
    EXPECT_EQ(outcome.code, 0) << line << '\n' << outcome.err;
    return outcome;
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  std::string only_sheaf() const {
    std::string names;
    for (const auto& name : listing())
      if (holds(name, ".sheaf")) names += name + " ";
    return names;
  }
  static constexpr const char* columns = " --label disease --group subject --id id";
  static constexpr const char* roles = " --label disease --group subject --id id --weight-column w --order day";
};

TEST_F(SheafFileCli, GivesTheSameModelsAsTheText) {
  must(std::string("sheaf convert t.csv t.sheaf") + roles);
  for (const std::string model : {"linear", "svm", "knn", "elastic-net-logistic --alpha 0.01"}) {
    SCOPED_TRACE(model);
    must("sheaf fit t.csv --output csv.model --quiet --model " + model + roles);
    must("sheaf fit t.sheaf --output sheaf.model --quiet --model " + model);
    EXPECT_EQ(file("csv.model"), file("sheaf.model"));
  }
  must("sheaf search t.csv --folds 3 --output one --quiet --threads 1" + std::string(roles));
  must("sheaf search t.sheaf --folds 3 --output two --quiet --threads 2");
  for (const std::string part : {"/scores.csv", "/model.txt"}) EXPECT_EQ(file("one" + part), file("two" + part));
}

/// Column subject is found by its name, and its ids group the rows: a search keeps the rows of each together.
TEST_F(SheafFileCli, KeepsGroupsThatReadingFinds) {
  must("sheaf convert t.csv t.sheaf");
  must("sheaf search t.csv --model linear --folds 3 --output one --quiet");
  must("sheaf search t.sheaf --model linear --folds 3 --output two --quiet");
  EXPECT_EQ(file("one/model.txt"), file("two/model.txt"));
  EXPECT_TRUE(holds(file("two/results.json"), "\"groups\": 30"));
  must("sheaf search t.sheaf --model linear --folds 3 --output three --quiet --group none");
  EXPECT_FALSE(holds(file("three/results.json"), "\"groups\": 30"));
  must("sheaf convert t.csv again.csv --missing zero");
  EXPECT_FALSE(holds(file("again.csv"), "group"));
}

TEST_F(SheafFileCli, PredictsAsFromTheText) {
  must("sheaf fit t.csv --output m --quiet" + std::string(columns));
  must(std::string("sheaf convert new.csv new.sheaf") + columns);
  const auto text = must("sheaf predict new.csv --model-file m --decisions --output - --quiet");
  const auto binary = must("sheaf predict new.sheaf --model-file m --decisions --output - --quiet");
  EXPECT_TRUE(holds(binary.out, "decision for sick"));
  EXPECT_EQ(text.out, binary.out);
}

TEST_F(SheafFileCli, BecomesTheSameTextAgain) {
  const auto all = std::string(columns) + " --missing median";
  must("sheaf convert t.csv one.csv" + all);
  must("sheaf convert t.csv t.sheaf" + all);
  must("sheaf convert t.sheaf two.csv");
  EXPECT_EQ(file("one.csv"), file("two.csv"));
  must("sheaf convert t.sheaf again.sheaf");
  must("sheaf convert again.sheaf three.csv.gz && gunzip three.csv.gz");
  EXPECT_EQ(file("one.csv"), file("three.csv"));
  must("sheaf convert - piped.sheaf --format csv <t.csv" + all);
  EXPECT_EQ(must("sheaf convert piped.sheaf - --to csv").out, file("one.csv"));
  EXPECT_TRUE(
      complains(shell("sheaf convert t.csv lost.csv --weight-column w"), 2, {"--weight-column", ".sheaf files"}));
}

TEST_F(SheafFileCli, FollowsThePrecisionOfTheFile) {
  must("sheaf convert t.csv float.sheaf --precision float" + std::string(roles));
  must("sheaf fit t.csv --precision float --output csv.model --quiet" + std::string(roles));
  must("sheaf fit float.sheaf --output sheaf.model --quiet");
  EXPECT_EQ(file("csv.model"), file("sheaf.model"));
  EXPECT_TRUE(holds(must("sheaf fit float.sheaf --precision double --output m").err, "single precision"));
}

TEST_F(SheafFileCli, KeepsSurvivalAndSeveralTargets) {
  write("s.csv", "x,z,time,dead\n1,2,5,1\n2,1,6,0\n3,5,2,1\n4,2,9,1\n5,3,4,0\n6,1,8,1\n");
  must("sheaf convert s.csv s.sheaf --label time --event dead");
  must("sheaf fit s.csv --label time --event dead --model elastic-net-cox --alpha 0.1 --output one --quiet");
  must("sheaf fit s.sheaf --model elastic-net-cox --alpha 0.1 --output two --quiet");
  EXPECT_EQ(file("one"), file("two"));
  must("sheaf convert s.csv two.sheaf --label time,dead");
  must("sheaf fit s.csv --label time,dead --model lasso --alpha 0.1 --output one --quiet");
  must("sheaf fit two.sheaf --model lasso --alpha 0.1 --output two --quiet");
  EXPECT_EQ(file("one"), file("two"));
  EXPECT_TRUE(complains(shell("sheaf convert two.sheaf back.csv"), 1, {"files have one label"}));
}

TEST_F(SheafFileCli, IsDescribedByItsSummary) {
  must(std::string("sheaf convert t.csv t.sheaf") + roles);
  auto all = nlohmann::json::parse(must("sheaf info t.csv --json" + std::string(roles)).out);
  auto same = nlohmann::json::parse(must("sheaf info t.sheaf --json").out);
  for (auto* one : {&all, &same}) one->erase("source");
  EXPECT_EQ(all["summary"], same["summary"]);
  EXPECT_EQ(all["strongest"], same["strongest"]);
  const auto quick = nlohmann::json::parse(must("sheaf info t.sheaf --json --read-values no").out);
  EXPECT_EQ(quick["rows"], 90);
  const auto text = must("sheaf info t.sheaf --read-values no").out;
  for (const auto* part : {"90 rows x 4 features", "disease", "missing values: b", "1 nominal feature", "30 groups"})
    EXPECT_TRUE(holds(text, part)) << part << '\n' << text;
  EXPECT_FALSE(holds(text, "go with")) << "nothing was compared with the label";
  EXPECT_TRUE(complains(shell("sheaf info t.sheaf --read-values some"), 2, {"--read-values", "auto"}));
}

/// The values of a file are not read for its description; they are before anything learns from them.
TEST_F(SheafFileCli, DamageIsReported) {
  write("n.csv", "a,b,y\n1,2,u\n3,4,v\n5,6,u\n");
  must("sheaf convert n.csv n.sheaf");
  const auto size = file("n.sheaf").size();
  must("printf '\\xff' | dd of=n.sheaf bs=1 conv=notrunc seek=" + std::to_string(size - 1));
  must("printf '\\xf0' | dd of=n.sheaf bs=1 conv=notrunc seek=" + std::to_string(size - 2));
  EXPECT_TRUE(complains(shell("sheaf fit n.sheaf --output m"), 1, {"n.sheaf: row 3, feature 'b', is"}));
  must("sheaf info n.sheaf --read-values no --quiet");
  EXPECT_TRUE(complains(shell("sheaf info n.sheaf --verify checksums --read-values no"), 1, {"n.sheaf", "is"}));
  must("truncate -s -8 n.sheaf");
  EXPECT_TRUE(complains(shell("sheaf info n.sheaf"), 1, {"n.sheaf: is damaged", "its header says"}));
  EXPECT_FALSE(exists("m"));
  EXPECT_TRUE(complains(shell("sheaf convert n.csv n.sheaf --digits 3"), 2, {"--digits"}));
}

class SheafCache : public SheafFileCli {
 protected:
  /// The label of the one row that says it: proof of which file was read.
  std::string first_values(const std::string& more = "") const {
    return must("sheaf convert t.csv - --to csv --cache --quiet --missing median" + more).out;
  }
  /// Changes the text and leaves size and time as they were: only the copy still has the old values.
  void change_secretly() const { must("cp -p t.csv stamp && sed -i 's/^s0,-6/s0,-5/' t.csv && touch -r stamp t.csv"); }
};

TEST_F(SheafCache, IsReadWhileTheTextStays) {
  const auto original = first_values();
  EXPECT_EQ(only_sheaf(), "t.csv.sheaf ");
  change_secretly();
  EXPECT_EQ(first_values(), original) << "the copy was read";
  must("touch t.csv");
  EXPECT_NE(first_values(), original) << "the text was newer";
}

TEST_F(SheafCache, IsMadeAgainForOtherOptionsAndOtherTexts) {
  const auto original = first_values();
  change_secretly();
  EXPECT_NE(first_values(" --ignore c"), original);
  EXPECT_FALSE(holds(first_values(" --ignore c"), ",c,"));
  write("t.csv", table(20, 3));
  const auto short_one = first_values();
  EXPECT_EQ(std::count(short_one.begin(), short_one.end(), '\n'), 21);
}

TEST_F(SheafCache, ChangesNoResultAndSaysTheSameNotes) {
  must("sheaf fit t.csv --output plain --label disease 2>notes.txt");
  for (const std::string name : {"made", "used"}) {
    must("sheaf fit t.csv --cache --label disease --output " + name + " 2>" + name + ".txt");
    EXPECT_EQ(file(name), file("plain")) << name;
    EXPECT_EQ(file(name + ".txt"), file("notes.txt")) << name;
  }
}

TEST_F(SheafCache, LeavesOtherFilesAloneAndNeedsNoRightToWrite) {
  must("sheaf convert new.csv t.csv.sheaf --quiet");
  const auto other = file("t.csv.sheaf");
  EXPECT_TRUE(holds(must("sheaf convert t.csv out.csv --cache --missing median").err, "another file is there"));
  EXPECT_EQ(file("t.csv.sheaf"), other);
  must("rm t.csv.sheaf && mkdir t.csv.sheaf");
  EXPECT_TRUE(holds(must("sheaf convert t.csv out.csv --cache --missing median").err, "another file is there"));
}

TEST_F(SheafCache, ADamagedCopyIsNotUsed) {
  const auto original = first_values();
  must("truncate -s 100 t.csv.sheaf");
  EXPECT_TRUE(holds(must("sheaf convert t.csv out.csv --cache --missing median").err, "another file is there"));
  EXPECT_EQ(file("out.csv"), original);
}

}  // namespace sheaf_file_cli_test
}  // namespace sheaf::test
