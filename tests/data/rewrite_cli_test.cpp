// Commands that rewrite or compare datasets, with every type of column, through the program itself.
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sheaf/error.hpp>

#include "data/bytes/text_source.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace rewrite_cli_test {

using Cells = std::vector<std::vector<std::string>>;

/// CSV without quotes.
Cells cells_of(const std::string& text) {
  Cells cells;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    cells.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) cells.back().push_back(field);
  }
  return cells;
}

std::vector<std::string> column(const Cells& cells, const std::string& name) {
  std::vector<std::string> values;
  for (std::size_t j = 0; j < cells.front().size(); ++j)
    if (cells.front()[j] == name)
      for (std::size_t i = 1; i < cells.size(); ++i) values.push_back(cells[i][j]);
  return values;
}

class Rewrite : public ProgramTest {
 protected:
  /// Numbers, text of three and of two levels, a nominal column of numbers, a group, and a label of words.
  static constexpr const char* table =
      "size,color,flag,grade,site,label\n"
      "1.5,red,yes,10,a,x\n"
      "2,green,no,20,a,y\n"
      "-3,blue,yes,30,b,x\n"
      "4.25,red,no,10,b,y\n"
      "0,green,yes,20,c,x\n"
      "7,blue,no,30,c,y\n";
  static constexpr const char* columns = " --group site --nominal grade --quiet ";

  void SetUp() override {
    ProgramTest::SetUp();
    write("t.csv", table);
    ASSERT_EQ(shell(std::string("sheaf convert t.csv t.arff") + columns).code, 0);
  }

  /// All columns of text are as they were, and the group and the label.
  void expect_same_texts(const std::string& name) const {
    const auto before = cells_of(table);
    const auto after = cells_of(file(name));
    for (const auto* text : {"color", "flag", "grade", "label"})
      EXPECT_EQ(column(after, text), column(before, text)) << text;
    EXPECT_EQ(column(after, "group"), column(before, "site"));
  }
};

TEST_F(Rewrite, ScalingLeavesNominalColumnsAlone) {
  // (x - shift) * factor by each method's definition, over 1.5, 2, -3, 4.25, 0, 7.
  const double mean = 11.75 / 6;
  double squares = 0;
  for (const double x : {1.5, 2.0, -3.0, 4.25, 0.0, 7.0}) squares += (x - mean) * (x - mean) / 6;
  const std::map<std::string, std::pair<double, double>> rules{{"01", {-3, 0.1}},
                                                               {"-11", {2, 0.2}},
                                                               {"standard", {mean, 1 / std::sqrt(squares)}},
                                                               {"maxabs", {0, 1 / 7.0}},
                                                               {"robust", {1.75, 1 / (3.6875 - 0.375)}}};
  for (const auto& [method, rule] : rules)
    for (const std::string input : {"t.csv", "t.arff"}) {
      const auto group = input == "t.csv" ? std::string(columns) : " --group group --label label --quiet ";
      const auto outcome = shell("sheaf scale " + input + " out.csv --method " + method + " --save ranges" + group);
      ASSERT_EQ(outcome.code, 0) << method << " " << outcome.err;
      expect_same_texts("out.csv");
      const auto sizes = column(cells_of(file("out.csv")), "size");
      const auto given = column(cells_of(table), "size");
      for (std::size_t i = 0; i < sizes.size(); ++i)
        EXPECT_NEAR(std::stod(sizes[i]), (std::stod(given[i]) - rule.first) * rule.second, 1e-12) << method;
      ASSERT_EQ(shell("sheaf scale " + input + " again.csv --load ranges" + group).code, 0);
      EXPECT_EQ(file("again.csv"), file("out.csv"));
    }
}

TEST_F(Rewrite, ScalingLearntOnNumbersRefusesLevels) {
  write("numbers.csv", "a,label\n1,x\n2,y\n3,x\n");
  write("words.csv", "a,label\nlow,x\nhigh,y\nlow,x\n");
  ASSERT_EQ(shell("sheaf scale numbers.csv out.csv --method 01 --save ranges --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf scale words.csv other.csv --load ranges --quiet"), 1,
                        {"'a'", "words.csv", "levels", "numbers"}));
  EXPECT_FALSE(exists("other.csv"));
}

TEST_F(Rewrite, ConvertingBinningAndSelectingKeepNominalColumns) {
  for (const std::string command : {"sheaf convert t.csv out.csv", "sheaf bin t.csv out.csv --bins 2",
                                    "sheaf select t.csv --count 4 --apply out.csv"}) {
    const auto outcome = shell(command + columns);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expect_same_texts("out.csv");
  }
}

TEST_F(Rewrite, APipelineThatScalesBeforeItEncodesKnowsAllLevels) {
  const std::string model = " --model linear --scale standard --min-variance 0.001 --transform rank";
  for (const std::string order :
       {"impute,encode,transform,filter,scale,select", "impute,transform,filter,scale,select,encode"}) {
    const auto outcome = shell("sheaf fit t.csv --output m" + model + " --pipeline " + order + columns);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const auto* level : {"level red", "level green", "level blue"})
      EXPECT_NE(file("m").find(level), std::string::npos) << order;
    EXPECT_EQ(shell("sheaf predict t.csv --model-file m --output p" + std::string(columns)).code, 0);
  }
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output n --select lasso:2 --pipeline "
                              "impute,transform,filter,scale,select,encode" +
                              std::string(columns)),
                        2, {"t.csv", "nominal", "encode before select"}));
}

// One feature of 0 and 1 for each level, written by hand.
constexpr const char* encoded =
    "size,color=blue,color=green,color=red,flag=no,flag=yes,grade=10,grade=20,grade=30,label\n"
    "1.5,0,0,1,0,1,1,0,0,x\n"
    "2,0,1,0,1,0,0,1,0,y\n"
    "-3,1,0,0,0,1,0,0,1,x\n"
    "4.25,0,0,1,1,0,1,0,0,y\n"
    "0,0,1,0,0,1,0,1,0,x\n"
    "7,1,0,0,1,0,0,0,1,y\n";

TEST_F(Rewrite, NeighboursAndDistancesEncodeLevels) {
  write("e.csv", encoded);
  for (const std::string metric : {"euclidean", "manhattan", "cosine"}) {
    ASSERT_EQ(shell("sheaf neighbors t.csv --k 3 --output a.csv --metric " + metric + columns).code, 0);
    ASSERT_EQ(shell("sheaf neighbors e.csv --k 3 --output b.csv --quiet --metric " + metric).code, 0);
    EXPECT_EQ(file("a.csv"), file("b.csv"));
    ASSERT_EQ(shell("sheaf distances t.csv a.npy --metric " + metric + columns).code, 0);
    ASSERT_EQ(shell("sheaf distances e.csv b.npy --quiet --metric " + metric).code, 0);
    EXPECT_EQ(file("a.npy"), file("b.npy"));
  }
  // Manhattan, so that a level counts its weight on both sides.
  write("w", "1\n2\n3\n4\n");
  write("we", "1\n2\n2\n2\n3\n3\n4\n4\n4\n");
  ASSERT_EQ(shell("sheaf distances t.csv a.npy --metric manhattan --feature-weights w" + std::string(columns)).code, 0);
  ASSERT_EQ(shell("sheaf distances e.csv b.npy --metric manhattan --feature-weights we --quiet").code, 0);
  EXPECT_EQ(file("a.npy"), file("b.npy"));
}

TEST_F(Rewrite, QueriesHaveTheLevelsOfTheRows) {
  // 'red' is the first level of these queries and the last of the rows; 'pink' is none.
  write("q.csv", "color,size,flag,grade,site,label\nred,1.5,yes,10,a,x\npink,1.5,yes,10,a,x\n");
  const auto outcome =
      shell("sheaf neighbors t.csv --queries q.csv --k 1 --group site --nominal grade --output near.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("pink"), std::string::npos);
  const auto near = cells_of(file("near.csv"));
  EXPECT_EQ(column(near, "index"), (std::vector<std::string>{"0", "0"}));
  EXPECT_EQ(std::stod(column(near, "distance")[0]), 0);
  EXPECT_EQ(std::stod(column(near, "distance")[1]), 1);  // without 'red'
}

TEST_F(Rewrite, NumbersBeyondDoubleStayApart) {
  // 20 groups and two classes, which double rounds to one of each.
  std::string csv = "x,z,who,label\n", svm, arff = "@relation r\n@attribute x numeric\n@attribute who {";
  for (int g = 0; g < 20; ++g) arff += (g > 0 ? ",9007199254740" : "9007199254740") + std::to_string(992000 + g);
  arff += "}\n@attribute label {90071992547409930,90071992547409931}\n@data\n";
  for (int i = 0; i < 40; ++i) {
    const auto who = "9007199254740" + std::to_string(992000 + i % 20);
    const std::string label = i % 2 == 0 ? "90071992547409930" : "90071992547409931";
    const auto x = std::to_string(i * 7 % 11);
    csv += x + "," + std::to_string(i * 5 % 13) + "," + who + "," + label + "\n";
    svm += label + " qid:" + who + " 1:" + x + "\n";
    arff += x + "," + who + "," + label + "\n";
  }
  write("big.csv", csv);
  write("big.svm", svm);
  write("big.arff", arff);
  for (const std::string input : {"big.csv --group who", "big.svm", "big.arff --group who --label label"}) {
    const auto outcome = shell("sheaf info --json " + input);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto info = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(info["groups"], 20) << input;
    EXPECT_EQ(info["label"]["classes"].size(), 2U) << input;
  }
  ASSERT_EQ(shell("sheaf convert big.csv a.svm --group who --ignore z --quiet").code, 0);
  EXPECT_TRUE(
      file("a.svm").starts_with("90071992547409930 qid:9007199254740992000\n"
                                "90071992547409931 qid:9007199254740992001 1:7\n"));
  ASSERT_EQ(shell("sheaf fit big.csv --group who --output m --quiet").code, 0);
  const auto model = file("m");
  EXPECT_NE(model.find("90071992547409930"), std::string::npos);
  EXPECT_NE(model.find("90071992547409931"), std::string::npos);
  // Levels too.
  ASSERT_EQ(shell("sheaf convert big.csv b.arff --nominal who --quiet").code, 0);
  EXPECT_NE(file("b.arff").find("9007199254740992000,9007199254740992001"), std::string::npos);
}

/// The first whole number that is not one of its own is 2^53 + 1: it reads as 2^53.
TEST_F(Rewrite, TwoToThe53AndTheNextStayApart) {
  std::string csv = "x,label\n";
  for (int i = 0; i < 20; ++i)
    csv += std::to_string(i * 7 % 11) + (i % 2 == 0 ? ",9007199254740992\n" : ",9007199254740993\n");
  write("edge.csv", csv);
  const auto outcome = shell("sheaf info --json edge.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["label"]["classes"].size(), 2U);
}

TEST_F(Rewrite, ConvertingThereAndBackGivesTheSameDataset) {
  ASSERT_EQ(shell(std::string("sheaf convert t.csv first.csv") + columns).code, 0);
  const std::string same = " --group group --label label --nominal grade --quiet";
  // The first line of ARFF has the name of the file it was made from.
  const auto dataset = [&](const std::string& name) {
    const auto text = file(name);
    return name.ends_with("arff") ? text.substr(text.find('\n')) : text;
  };
  for (const std::string from : {"csv", "tsv", "arff", "csv.gz"})
    for (const std::string to : {"csv", "tsv", "arff", "csv.gz", "arff.gz"}) {
      ASSERT_EQ(shell("sheaf convert first.csv a." + from + same).code, 0);
      ASSERT_EQ(shell("sheaf convert a." + from + " b." + to + same).code, 0);
      ASSERT_EQ(shell("sheaf convert b." + to + " c." + from + same).code, 0);
      EXPECT_EQ(dataset("c." + from), dataset("a." + from)) << from << " " << to;
    }
}

TEST_F(Rewrite, ReadingKeepsTheMemoryBudget) {
  ASSERT_EQ(shell("sheaf generate classification big.csv --rows 20000 --features 100 --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf info big.csv --memory 5M"), 1, {"big.csv", "20,000 rows of 100", "--memory 16M"}));
  EXPECT_TRUE(complains(shell("sheaf fit big.csv --memory 5M --output m"), 1, {"big.csv", "--memory"}));
  EXPECT_EQ(shell("sheaf convert big.csv out.csv --memory 100M --quiet").code, 0);
}

TEST_F(Rewrite, CompressedTextKeepsTheMemoryBudget) {
  // 60 MB of blank lines behind one row.
  for (const std::string ending : {"gz", "xz", "zst"}) {
    const auto packer = ending == "gz" ? "gzip" : ending == "xz" ? "xz" : "zstd";
    const auto made =
        shell("command -v " + std::string(packer) + " || exit 77; (echo '1 1:1'; yes '' | head -c 60000000) | " +
              packer + " -c >bomb.svm." + ending);
    if (made.code == 77) continue;
    if (shell("sheaf info bomb.svm." + ending + " --memory 20M").err.find("this build of Sheaf has no") !=
        std::string::npos)
      continue;
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(complains(shell("ulimit -v 4000000; sheaf info bomb.svm." + ending + " --memory 20M"), 1,
                          {"bomb.svm." + ending, "--memory"}));
  }
}

TEST_F(Rewrite, AnIndexFarOutTakesNoMemory) {
  write("far.svm", "1 1:1 100000000:2\n-1 2:1\n1 3:1 100000000:1\n-1 4:1\n");
  const auto converted = shell("ulimit -v 2000000; sheaf convert far.svm out.svm --memory 1G --quiet");
  EXPECT_EQ(converted.code, 0) << converted.err;
  for (const std::string command :
       {"info far.svm", "scale far.svm out.svm --method maxabs", "fit far.svm --output m", "select far.svm --count 2",
        "bin far.svm out.svm", "fit far.svm --model svm --output m", "search far.svm --folds 2 --output s",
        "search far.svm --folds 2 --model svm --output s",
        "search far.svm --folds 2 --model elastic-net-logistic --output s",
        "search far.svm --folds 2 --model knn --k 1 --output s", "neighbors far.svm --k 1 --output n",
        "distances far.svm d.npy"}) {
    const auto outcome =
        shell("/usr/bin/env bash -c 'ulimit -v 4000000; \"$0\" " + command + " --memory 1G --quiet' \"$program\"");
    EXPECT_TRUE(outcome.code == 0 || (outcome.code == 1 && outcome.err.find("far.svm") != std::string::npos))
        << command << ": " << outcome.err;
  }
}

/// 60 bytes become no gigabytes of names and zeros.
TEST_F(Rewrite, AnIndexFarOutFillsNoDisk) {
  write("far.svm", "1 1:1 100000000:2\n-1 2:1\n");
  for (const std::string name : {"out.csv", "out.arff", "out.csv.gz"}) {
    EXPECT_TRUE(complains(shell("ulimit -v 2000000; sheaf convert far.svm " + name + " --quiet"), 1,
                          {name, "100,000,000 features", "3 values", "write LIBSVM"}));
    EXPECT_FALSE(exists(name));
  }
}

/// LIBSVM and its flags take memory by what is stored, whatever the kernel; so do support vectors far out.
TEST_F(Rewrite, SvmsOfAnIndexFarOutTakeNoMemory) {
  write("far.svm", "1 1:1 100000000:2\n-1 2:1\n1 3:1 100000000:1\n-1 4:1\n");
  write("near.svm", "1 1:1 5:2\n-1 2:1\n1 3:1 5:1\n-1 4:1\n");
  for (const std::string kernel : {"0", "1", "2", "3"}) {
    const auto options = " -q -g 0.25 -t " + kernel + " ";
    for (const std::string name : {"far", "near"}) {
      const auto trained = shell("ulimit -v 2500000; sheaf svm-train" + options + name + ".svm " + name +
                                 ".model && sheaf svm-predict -q " + name + ".svm " + name + ".model " + name + ".out");
      ASSERT_EQ(trained.code, 0) << kernel << trained.err;
    }
    EXPECT_EQ(file("far.out"), file("near.out")) << kernel;
    // Rows of fewer and of more features than the model, as text and by Sheaf's own command.
    ASSERT_EQ(
        shell("sheaf svm-predict -q near.svm far.model a.out && sheaf svm-predict -q far.svm near.model b.out").code,
        0);
    for (const std::string line :
         {"far.svm --model-file far", "near.svm --model-file far", "far.svm --model-file near"}) {
      const auto predicted = shell("ulimit -v 2500000; sheaf predict " + line + ".model --output p.csv --quiet");
      EXPECT_EQ(predicted.code, 0) << line << predicted.err;
    }
    auto model = file("far.model");
    for (auto at = model.find("100000000:"); at != std::string::npos; at = model.find("100000000:"))
      model.replace(at, 9, "5");
    EXPECT_EQ(model, file("near.model")) << kernel;
  }
}

TEST_F(Rewrite, WeightsOfRowsAreCheckedWhereTheyStand) {
  const std::map<std::string, std::string> defects{{"1\n1\nnan\n1\n1\n1\n", "w:3:1"},
                                                   {"1\ninf\n1\n1\n1\n1\n", "w:2:1"},
                                                   {"1\n1\n1\n-1\n1\n1\n", "w:4:1"},
                                                   {"1\n1\n", "w:3:1"},
                                                   {"0\n0\n0\n0\n0\n0\n", "w: all 6 weights are 0"}};
  for (const auto& [text, where] : defects) {
    write("w", text);
    for (const std::string model : {"linear", "svm", "elastic-net-logistic", "glm", "knn"}) {
      const auto outcome = shell("sheaf fit t.csv --output m --row-weights w --model " + model + columns);
      if (outcome.err.find("row-weights") != std::string::npos && outcome.code == 2) continue;  // it takes none
      EXPECT_TRUE(complains(outcome, 1, {where})) << model << " " << text;
    }
  }
}

TEST_F(Rewrite, AFileThatIsCutShortWhileItIsReadIsAnError) {
  // 16 MiB of rows, cut to one page: what lies behind is gone from the mapping too.
  std::string text;
  while (text.size() < (std::size_t{16} << 20U)) text += "1 1:0.5 2:0.25\n";
  const auto path =
      (std::filesystem::temp_directory_path() / ("sheaf-cut-short-" + std::to_string(getpid()) + ".svm")).string();
  std::ofstream(path, std::ios::binary) << text;
  const FileBytes bytes(path);
  ASSERT_TRUE(bytes.mapped());
  EXPECT_NO_THROW(bytes.check_whole());
  std::filesystem::resize_file(path, 4096);
  char last = 1;
  for (const char c : bytes.view()) last = c;  // ends the process unless someone looks after it
  EXPECT_EQ(last, 0);
  EXPECT_THROW(bytes.check_whole(), Error);
  const FileBytes other(path);
  EXPECT_EQ(other.view(), text.substr(0, 4096));
  EXPECT_NO_THROW(other.check_whole());
  std::filesystem::remove(path);
}

}  // namespace rewrite_cli_test
}  // namespace sheaf::test
