// Columns besides features and trustworthy labels: selected features, codes, ids, guesses. Tested through the program
// itself.
#include <algorithm>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace misleading_cli_test {

class Misleading : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  nlohmann::json json(const std::string& line) const {
    const auto outcome = shell(line + " --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  /// `count` features of noise, but for those numbered 17 and 42, counted from 1; the first line is `header`.
  static std::string planted(const std::string& header, bool libsvm) {
    Random random(11);
    std::string text = header;
    for (int i = 0; i < 80; ++i) {
      const bool one = i % 2 == 0;
      if (libsvm) text += one ? "1" : "-1";
      for (int j = 1; j <= 50; ++j) {
        const double shift = j == 17 || j == 42 ? (one ? 2.0 : -2.0) : 0.0;
        const auto value = std::to_string(random.normal() + shift);
        text += libsvm ? " " + std::to_string(j) + ":" + value : value + ",";
      }
      text += libsvm ? "\n" : (one ? "1\n" : "0\n");
    }
    return text;
  }
  static std::string numbered_header() {
    std::string header;
    for (int j = 1; j <= 50; ++j) header += std::to_string(j) + ",";
    return header + "label\n";
  }
  /// Rows of `cell(i)`, an uninformative number, and a class.
  template <class Cell>
  static std::string table(const std::string& name, const Cell& cell, int rows = 60) {
    Random random(5);
    std::string text = name + ",x,label\n";
    for (int i = 0; i < rows; ++i) {
      const bool one = random.below(2) == 1;
      text +=
          std::string(cell(i)) + "," + std::to_string(random.normal() + (one ? 0.5 : 0)) + (one ? ",yes\n" : ",no\n");
    }
    return text;
  }
};

TEST_F(Misleading, SelectedFeaturesOfLibsvmKeepTheirIndices) {
  write("t.svm", planted("", true));
  ASSERT_EQ(shell("sheaf select t.svm --count 2 --bins 5 --apply two.svm").code, 0);
  const auto line = file("two.svm").substr(0, file("two.svm").find('\n'));
  const auto whole = file("t.svm").substr(0, file("t.svm").find('\n'));
  EXPECT_TRUE(holds(line, " 17:") && holds(line, " 42:")) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), ':'), 2);
  for (std::size_t at = line.find(' '); at != std::string::npos; at = line.find(' ', at + 1))
    EXPECT_TRUE(holds(whole + " ", line.substr(at, line.find(' ', at + 1) - at) + " ")) << "the values are the same";
  ASSERT_EQ(shell("sheaf fit two.svm --output m").code, 0);
  EXPECT_GT(json("sheaf predict t.svm --model-file m")["scores"]["accuracy"].get<double>(), 0.95);
}

TEST_F(Misleading, ColumnsCalledByNumbersKeepTheirNames) {
  write("t.csv", planted(numbered_header(), false));
  write("t.svm", planted("", true));
  for (const auto* input : {"t.csv", "t.svm"}) {
    ASSERT_EQ(shell("sheaf select " + std::string(input) + " --count 2 --bins 5 --apply two.csv").code, 0);
    const auto header = file("two.csv").substr(0, file("two.csv").find('\n'));
    EXPECT_TRUE(holds(header, "\"17\"") && holds(header, "\"42\"")) << header;
    ASSERT_EQ(shell("sheaf fit two.csv --output m").code, 0);
    EXPECT_GT(json("sheaf predict " + std::string(input) + " --model-file m")["scores"]["accuracy"].get<double>(),
              0.95);
  }
}

TEST_F(Misleading, ConvertKeepsColumnsAndWhatSelectNoted) {
  write("t.csv", planted(numbered_header(), false));
  ASSERT_EQ(shell("sheaf select t.csv --count 2 --bins 5 --apply two.csv && sheaf convert two.csv two.arff").code, 0);
  const auto found = shell("sheaf search two.arff --cost 1 --output s");
  EXPECT_TRUE(holds(found.err, "was made by sheaf select")) << found.err;
  std::string raw = "id,date,x,label\n";
  for (int i = 0; i < 12; ++i)
    raw += "P0" + std::to_string(i) + ",2021-03-" + std::to_string(10 + i) + "," + std::to_string(i * 7 % 5) +
           (i % 2 == 0 ? ",a\n" : ",b\n");
  write("raw.csv", raw);
  ASSERT_EQ(shell("sheaf convert raw.csv copy.csv && sheaf convert raw.csv copy.arff").code, 0);
  EXPECT_EQ(file("copy.csv"), raw);
  EXPECT_TRUE(holds(file("copy.arff"), "@attribute id string\n@attribute date string\n")) << file("copy.arff");
  const auto read = shell("sheaf info copy.arff");
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_TRUE(holds(read.out, "12 rows x 1 feature")) << read.out;
}

TEST_F(Misleading, SelectKeepsColumnsThatAreNoFeatures) {
  Random random(21);
  std::string raw = "id,a,patient,b,label\n";
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) {
    ids.push_back("P" + std::to_string(100 + i));
    raw += ids.back() + "," + std::to_string(random.normal() + 3 * (i % 2)) + "," + std::to_string(i / 4) + "," +
           std::to_string(random.normal()) + (i % 2 == 0 ? ",x\n" : ",y\n");
  }
  write("raw.csv", raw);
  for (const std::string how : {"--bins 5", "--model lasso --task classification --splits 3"}) {
    const auto outcome = shell("sheaf select raw.csv --apply one.csv " + how + (how[2] == 'b' ? " --count 1" : ""));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "kept as they are: id and patient")) << outcome.err;
    const auto header = file("one.csv").substr(0, file("one.csv").find('\n'));
    EXPECT_TRUE(header.starts_with("id,patient,a,") && header.ends_with("label")) << header;
    EXPECT_FALSE(holds(header, "group")) << "the patients are written once";
    for (const auto& id : ids) EXPECT_TRUE(holds(file("one.csv"), "\n" + id + ",")) << id;
  }
  ASSERT_EQ(shell("sheaf select raw.csv --bins 5 --count 1 --apply one.svm").code, 0) << "which holds numbers alone";
}

TEST_F(Misleading, DoubtsAreSaidBySearchFitAndInfoAlike) {
  struct Case {
    std::string text;
    std::vector<std::string> says;
  };
  Random random(9);
  const auto number = [&](int) { return std::to_string(random.normal()); };
  const std::vector<Case> cases{
      {table("lab", [](int i) { return i % 9 == 0 ? "-999" : std::to_string(i % 13); }),
       {"lab (-999)", "--missing-codes"}},
      {table("lab", [](int i) { return i % 9 == 0 ? "9999" : std::to_string(i % 13); }), {"lab (9999)"}},
      {table("visit", [](int i) { return "202103" + std::to_string(10 + i % 20); }), {"visit", "dates as numbers"}},
      {table("smoker", [](int i) { return i % 3 == 0   ? "TRUE"
                                          : i % 3 == 1 ? "True"
                                                       : "FALSE"; }), {"'TRUE' / 'True'"}},
      {table("site", [](int i) { return i % 3 == 0   ? "north\xC2\xA0"
                                        : i % 3 == 1 ? "north"
                                                     : "south"; }),
       {"levels of site"}},
      {table("site", [](int i) { return i % 2 == 0 ? "new\xC2\xA0york" : "bonn"; }), {"no-break spaces"}},
      {table("same", [](int) { return "4"; }), {"1 feature never changes", " from it"}},
      {"a,x,label\n" +
           [&] {
             std::string text;
             for (int i = 0; i < 60; ++i) text += std::to_string(i) + "," + number(i) + (i < 30 ? ",no\n" : ",yes\n");
             return text;
           }(),
       {"a", "alone", "determine"}},
  };
  for (const auto& [text, says] : cases) {
    write("t.csv", text);
    const auto fitted = shell("sheaf fit t.csv --output m");
    const auto results = json("sheaf search t.csv --cost 1 --output s --force");
    const auto info = shell("sheaf info t.csv --json").out;
    std::string found;
    for (const auto* key : {"warnings", "notes"})
      for (const auto& line : results[key]) found += line.get<std::string>() + "\n";
    for (const auto& part : says) {
      EXPECT_TRUE(holds(fitted.err, part) || fitted.code != 0) << part << "\nfit: " << fitted.err;
      EXPECT_TRUE(holds(found, part)) << part << "\nsearch: " << found;
      EXPECT_TRUE(holds(info, part) || holds(info, nlohmann::json(part).dump().substr(1, part.size())))
          << part << "\ninfo: " << info;
    }
  }
  write("big.csv", table("big", [](int i) { return i % 2 == 0 ? "1e200" : "2e200"; }));
  EXPECT_TRUE(holds(shell("sheaf fit big.csv --output m").err, "squares overflow: big (2e+200)"));
  EXPECT_TRUE(holds(shell("sheaf info big.csv --json").out, "squares overflow: big (2e+200)"));
  write("clean.csv", table("z", number));
  EXPECT_FALSE(holds(shell("sheaf fit clean.csv --output m").err, "warning"));
}

TEST_F(Misleading, AGuessedLabelIsSaidWithTheReason) {
  const auto err = [&](const std::string& header) {
    write("t.csv", header + "\n1,2,0\n2,1,1\n3,2,0\n1,4,1\n");
    return shell("sheaf fit t.csv --output m").err;
  };
  EXPECT_TRUE(holds(err("a,b,outcome"), "'outcome' is taken as the label, since it is the last column"));
  EXPECT_TRUE(
      holds(err("x,y,outcome"), "'y' is taken as the label, for its name, though the last column is 'outcome'"));
  EXPECT_TRUE(holds(err("class,b,outcome"), "'class' is taken as the label"));
  EXPECT_TRUE(
      holds(err("a,Diagnosis,c"), "'Diagnosis' is taken as the label, for its name, though the last column is 'c'"));
  EXPECT_FALSE(holds(err("a,b,label"), "taken as the label"));
  EXPECT_FALSE(holds(err("target,b,c"), "taken as the label"));
  EXPECT_FALSE(holds(err("a,b,y"), "taken as the label"));
}

TEST_F(Misleading, WholeNumbersOfFewRowsNameRegression) {
  std::string text = "x,grade\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i * 7 % 11) + "," + std::to_string(i % 18) + "\n";
  write("t.csv", text);
  EXPECT_TRUE(complains(shell("sheaf search t.csv --label grade --cost 1 --output s"), 2, {"--task regression"}));
}

TEST_F(Misleading, ThePositiveClassIsWhatOneLooksFor) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"cancer", "normal"}, {"case", "control"},    {"disease", "healthy"}, {"Tumour", "normal tissue"},
      {"AD", "CTRL"},       {"mutant", "wildtype"}, {"ALS", "control"},     {"glioma", "Normal"}};
  for (const auto& [looked_for, other] : pairs) {
    std::string text = "a,label\n";
    for (int i = 0; i < 20; ++i) text += std::to_string(i * 7 % 11) + "," + (i % 2 == 0 ? looked_for : other) + "\n";
    write("t.csv", text);
    EXPECT_TRUE(holds(shell("sheaf fit t.csv --output m").out, "positive class " + looked_for)) << looked_for;
  }
}

TEST_F(Misleading, IdsOfSubjectsAreNoFeaturesAndKeepTheirRowsTogether) {
  const auto number = [](int i) { return std::to_string(100 + i / 3); };
  const auto text = [](int i) { return "P" + std::to_string(100 + i / 3); };
  for (const auto* name : {"patient", "subject_id", "PatientID", "mouse", "cage", "litter", "pair"})
    for (const bool numbers : {true, false}) {
      write("t.csv", numbers ? table(name, number) : table(name, text));
      const auto outcome = shell("sheaf fit t.csv --output m");
      EXPECT_TRUE(holds(outcome.err, "'" + std::string(name) + "') is left out")) << outcome.err;
      EXPECT_TRUE(holds(outcome.err, "--group none")) << outcome.err;
      EXPECT_TRUE(holds(shell("sheaf info t.csv").out, "60 rows x 1 feature"));
      EXPECT_EQ(json("sheaf info t.csv")["groups"], 20);
      EXPECT_EQ(json("sheaf info t.csv --group none")["groups"], 0);
    }
  write("t.csv", table("paired_grid", number));
  EXPECT_TRUE(holds(shell("sheaf info t.csv").out, "60 rows x 2 features")) << "a name that only resembles one";
}

/// Two rows of every subject are equal but for little noise, and their class is drawn: only a search that parts them
/// finds something.
TEST_F(Misleading, SearchesOfRepeatedSubjectsAreHonest) {
  Random random(3);
  std::string text = "patient,a,b,c,label\n";
  for (int p = 0; p < 60; ++p) {
    const std::vector<double> middle{random.normal(), random.normal(), random.normal()};
    const auto* name = random.below(2) == 1 ? "yes" : "no";
    for (int visit = 0; visit < 3; ++visit) {
      text += "P" + std::to_string(p);
      for (const double one : middle) text += "," + std::to_string(one + 0.02 * random.normal());
      text += "," + std::string(name) + "\n";
    }
  }
  write("t.csv", text);
  const auto best = [&](const std::string& more) {
    EXPECT_EQ(shell("sheaf search t.csv --model knn --k 1 --score accuracy --force --output s" + more).code, 0);
    return nlohmann::json::parse(file("s/results.json"))["chosen"]["accuracy"]["mean"].get<double>();
  };
  EXPECT_LT(best(""), 0.7);
  EXPECT_GT(best(" --group none"), 0.95) << "what was guessed can be said otherwise";
}

/// Few rows are on the wrong side, or have a gap; columns of noise are not named, however many there are.
TEST_F(Misleading, ColumnsThatNearlyDetermineTheLabelAreSaid) {
  Random random(29);
  const auto rows = [&](bool text, bool leaks) {
    std::string lines = "a,b,status,label\n";
    for (int i = 0; i < 200; ++i) {
      const bool one = i % 3 == 0;
      const bool shown = leaks ? one != (i == 30) : random.below(2) == 1;
      lines += std::to_string(random.normal()) + "," + std::to_string(random.normal()) + ",";
      if (i != 77)
        lines += text ? (shown ? "closed" : i % 2 == 0 ? "open" : "new") : std::to_string(shown ? 5.5 : 1.25);
      lines += one ? ",sick\n" : ",well\n";
    }
    return lines;
  };
  const std::string part = "status alone nearly determines the label";
  for (const bool text : {false, true}) {
    write("t.csv", rows(text, true));
    for (const std::string more : {"fit t.csv --output m", "search t.csv --model linear --cost 1 --output s --force"})
      EXPECT_TRUE(holds(shell("sheaf " + more).err, part)) << more << text;
    EXPECT_TRUE(holds(file("s/report.html"), part)) << text;
    write("t.csv", rows(text, false));
    EXPECT_FALSE(holds(shell("sheaf fit t.csv --output m").err, "determine")) << text;
  }
  std::string noise = "label";
  for (int j = 0; j < 2000; ++j) noise += ",x" + std::to_string(j);
  for (int i = 0; i < 20; ++i) {
    noise += i % 2 == 0 ? "\nsick" : "\nwell";
    for (int j = 0; j < 2000; ++j) noise += "," + std::to_string(random.normal());
  }
  write("wide.csv", noise + "\n");
  EXPECT_FALSE(holds(shell("sheaf fit wide.csv --label label --output m").err, "determine"));
  write("numbers.csv", [&] {
    std::string lines = "a,copy,y\n";
    for (int i = 0; i < 100; ++i) {
      const double y = random.normal();
      lines += std::to_string(random.normal()) + "," + std::to_string(y + 0.02 * random.normal()) + "," +
               std::to_string(y) + "\n";
    }
    return lines;
  }());
  EXPECT_TRUE(holds(shell("sheaf fit numbers.csv --output m").err, "copy alone nearly determines"));
}

/// Rows of a subject are alike, which says nothing of the order of subjects.
TEST_F(Misleading, RowsOfASubjectAreNoOrderOfRows) {
  Random random(3);
  std::string text = "patient,a,label\n";
  for (int p = 0; p < 120; ++p) {
    const auto* name = random.below(2) == 1 ? ",yes\n" : ",no\n";
    for (int visit = 0; visit <= p % 3; ++visit)
      text += "P" + std::to_string(p) + "," + std::to_string(random.normal()) + name;
  }
  write("t.csv", text);
  EXPECT_FALSE(holds(shell("sheaf info t.csv").out, "neighbouring rows"));
  EXPECT_TRUE(holds(shell("sheaf info t.csv --group none").out, "neighbouring rows"));
}

TEST_F(Misleading, NamesOfSubjectsWithFewValuesStayFeatures) {
  write("t.csv", table("family", [](int i) { return i % 3 == 0 ? "fern" : "moss"; }));
  const auto outcome = shell("sheaf info t.csv");
  EXPECT_TRUE(holds(outcome.out, "60 rows x 3 features")) << "a number and two levels\n" << outcome.out;
  EXPECT_TRUE(holds(outcome.err + outcome.out, "--group family")) << outcome.err;
}

TEST_F(Misleading, SubjectsWithGapsGroupNothing) {
  write("t.csv", table("patient", [](int i) { return i == 7 ? "" : "P" + std::to_string(i / 3); }));
  const auto outcome = shell("sheaf info t.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "60 rows x 1 feature")) << outcome.out;
  EXPECT_TRUE(holds(outcome.err + outcome.out, "--group patient")) << outcome.err;
}

TEST_F(Misleading, ASplitThatIgnoresTheNamedGroupsIsAnError) {
  write("t.csv", table("mouse", [](int i) { return std::to_string(i / 3); }));
  for (const auto* split : {"stratified", "kfold", "shuffle", "loo", "bootstrap"})
    EXPECT_TRUE(complains(shell("sheaf search t.csv --group mouse --cost 1 --output s --split " + std::string(split)),
                          2, {"--split " + std::string(split), "--group mouse", "stratified-group"}));
  EXPECT_FALSE(exists("s/results.json"));
  EXPECT_EQ(shell("sheaf search t.csv --group mouse --cost 1 --output s --force --split group").code, 0);
}

TEST_F(Misleading, NamesOfClassesDrawNoOtherFolds) {
  const auto rows = [&](const std::string& one, const std::string& other) {
    auto text = table("z", [](int i) { return std::to_string(i * 7 % 11); });
    for (const auto& [from, to] : {std::pair<std::string, std::string>{",yes", "," + one}, {",no", "," + other}})
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    write("t.csv", text);
    EXPECT_EQ(shell("sheaf search t.csv --cost 1 --predictions --output s --force").code, 0);
    const auto predictions = file("s/predictions.csv");
    std::string splits;  // row,split of each line
    for (std::size_t at = predictions.find('\n') + 1; at < predictions.size(); at = predictions.find('\n', at) + 1)
      splits += predictions.substr(at, predictions.find(',', predictions.find(',', at) + 1) - at) + "\n";
    return splits;
  };
  EXPECT_EQ(rows("a", "b"), rows("b", "a"));
}

TEST_F(Misleading, HugeValuesHaveMeansAndFarIndicesAnError) {
  write("t.csv", table("big", [](int i) { return i % 2 == 0 ? "1e308" : "-1e308"; }));
  const auto info = shell("sheaf info t.csv").out;
  EXPECT_FALSE(holds(info, "nan")) << info;
  EXPECT_TRUE(holds(info, "1e+308")) << info;
  write("range", "x\n-1 1\n2147483647 0 1\n");
  write("t.svm", "1 1:1\n-1 2:1\n");
  EXPECT_TRUE(complains(shell("sheaf svm-scale -r range t.svm"), 1, {"range:3:", "2147483647"}));
}

TEST_F(Misleading, ATableWithoutTheColumnsOfTheModelIsRefused) {
  std::string table = "Age,dose,label\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(i) + "," + std::to_string(i % 7) + (i < 15 ? ",a\n" : ",b\n");
  write("t.csv", table);
  ASSERT_EQ(shell("sheaf fit t.csv --output m").code, 0);
  write("other.csv", "height,weight\n1,2\n3,4\n");
  for (const std::string flag : {"", " --quiet"})
    EXPECT_TRUE(complains(shell("sheaf predict other.csv --model-file m" + flag), 1, {"other.csv", "Age"}));
}

TEST_F(Misleading, NamesThatDifferInLetterCaseAreNamed) {
  std::string table = "Age,dose,label\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(i) + "," + std::to_string(i % 7) + (i < 15 ? ",a\n" : ",b\n");
  write("t.csv", table);
  ASSERT_EQ(shell("sheaf fit t.csv --output m").code, 0);
  write("small.csv", "dose,age,remark\n3,40,x\n4,50,y\n");
  ASSERT_EQ(shell("sheaf convert small.csv small.sheaf --label none").code, 0);
  for (const std::string other : {"small.csv", "small.sheaf"})
    EXPECT_TRUE(complains(shell("sheaf predict " + other + " --model-file m"), 1,
                          {other, "missing: Age", "'Age' is there as 'age'", "letter case"}));
}

}  // namespace misleading_cli_test
}  // namespace sheaf::test
