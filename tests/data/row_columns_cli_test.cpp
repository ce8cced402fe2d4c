// Columns with times, weights and folds of rows, through the program itself; and notes about rows that stand in an
// order.
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace row_columns_cli_test {

using Json = nlohmann::json;

class RowColumnsCli : public ProgramTest {
 protected:
  /// From 2021-01-01 on, in months of 28 days.
  static std::string date_of(int day) {
    const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return "2021-" + two(1 + day / 28) + "-" + two(1 + day % 28);
  }

  /// Days from 2021-01-01 on, a random fold, a weight, two features and a label; rows are shuffled.
  static std::string table(int rows, bool shuffled, std::vector<int>* days = nullptr) {
    Random random(6);
    std::vector<int> order;
    for (int i = 0; i < rows; ++i) order.push_back(i);
    if (shuffled) random.shuffle(std::span(order));
    std::string text = "day,fold,part,w,a,b,label\n";
    for (const int day : order) {
      const double a = random.normal();
      const bool sick = a + random.normal() > 0;
      text += date_of(day) + ",f" + std::to_string(day * 7 % 3) + "," + (day * 3 % 5 == 0 ? "test" : "train") + "," +
              std::to_string(day % 2) + "," + std::to_string(a) + "," + std::to_string(random.normal()) + "," +
              (sick ? "sick" : "well") + "\n";
    }
    if (days != nullptr) *days = order;
    return text;
  }

  /// The rows (from 0) that each split tests, from predictions.csv.
  std::vector<std::set<int>> tests_in(const std::string& folder) const {
    std::istringstream lines(file(folder + "/predictions.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with("row,split,")) << line;
    std::vector<std::set<int>> tests;
    while (std::getline(lines, line)) {
      std::size_t used = 0;
      const int row = std::stoi(line, &used) - 1;
      const auto split = static_cast<std::size_t>(std::stoi(line.substr(used + 1))) - 1;
      if (split >= tests.size()) tests.resize(split + 1);
      tests[split].insert(row);
    }
    return tests;
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  static bool any_holds(const Json& list, const std::string& part) {
    return std::any_of(list.begin(), list.end(), [&](const Json& one) { return holds(one.get<std::string>(), part); });
  }
};

TEST_F(RowColumnsCli, ADateOrdersTheRowsOfSplitsByTime) {
  std::vector<int> days;
  write("t.csv", table(120, true, &days));
  const auto outcome = shell(
      "sheaf search t.csv --output o --cost 1 --predictions --order day --ignore fold,part,w "
      "--split time --folds 3 --test-size 10 --window 50 --gap 5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto tests = tests_in("o");
  ASSERT_EQ(tests.size(), 3U);
  for (std::size_t s = 0; s < 3; ++s) {
    std::set<int> wanted;
    for (int i = 0; i < 120; ++i)
      if (const int day = days[static_cast<std::size_t>(i)];
          day >= 90 + 10 * static_cast<int>(s) && day < 100 + 10 * static_cast<int>(s))
        wanted.insert(i);
    EXPECT_EQ(tests[s], wanted);
  }
  const auto results = Json::parse(file("o/results.json"));
  EXPECT_EQ(results["features"], 2) << "the order is no feature";
  EXPECT_TRUE(any_holds(results["notes"], "later than those it trains on, in the order of 'day'"));
  EXPECT_EQ(Json::parse(file("o/settings.json"))["options"]["gap"], 5);
  // An order alone means splits by time.
  ASSERT_EQ(shell("sheaf search t.csv --output p --cost 1 --order day --ignore fold,part,w").code, 0);
  EXPECT_EQ(Json::parse(file("p/results.json"))["split"], "time");
  // Other splits reject the options of splits by time.
  EXPECT_TRUE(
      complains(shell("sheaf search t.csv --output q --ignore fold,part,w --gap 3"), 2, {"gap is for the split time"}));
  EXPECT_FALSE(exists("q"));
}

TEST_F(RowColumnsCli, OrdersThatCannotBeReadAreRefusedWithTheirPlace) {
  const std::string head = "when,x,label\n";
  std::string rows;
  for (int i = 0; i < 12; ++i)
    rows += "0" + std::to_string(1 + i % 9) + "/0" + std::to_string(1 + i % 5) + "/2021," + std::to_string(i * i % 7) +
            "," + (i % 2 == 0 ? "a" : "b") + "\n";
  write("t.csv", head + rows);
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output o --order when"), 1,
                        {"t.csv:2:1", "whether the day or the month comes first", "2021-03-14"}));
  write("t.csv", head + rows + "25/03/2021,1,a\n");
  EXPECT_EQ(shell("sheaf search t.csv --output o --order when --folds 2").code, 0) << "one row shows it";
  write("t.csv", head + rows + "soon,1,a\n");
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output q --order when"), 1, {"t.csv:2:1"}));
  write("t.csv", head + "2021-01-01,1,a\nlater,2,b\n2021-01-03,3,a\n");
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output q --order when"), 1,
                        {"t.csv:3:1", "a number or a date such as 2021-03-14", "'later'"}));
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output q --order label --label label"), 2,
                        {"cannot be both the label and the order"}));
  write("t.svm", "1 1:2\n2 1:3\n");
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output q --order when"), 2, {"--order", "CSV or ARFF"}));
  EXPECT_FALSE(exists("q"));
}

TEST_F(RowColumnsCli, AColumnHoldsTheSplits) {
  std::vector<int> days;
  write("t.csv", table(90, true, &days));
  ASSERT_EQ(shell("sheaf search t.csv --output o --cost 1 --predictions --split-column fold --ignore day,part,w").code,
            0);
  auto tests = tests_in("o");
  ASSERT_EQ(tests.size(), 3U);
  for (int i = 0; i < 90; ++i)
    EXPECT_TRUE(tests[static_cast<std::size_t>(days[static_cast<std::size_t>(i)] * 7 % 3)].contains(i));
  EXPECT_EQ(Json::parse(file("o/results.json"))["features"], 2);
  ASSERT_EQ(shell("sheaf search t.csv --output p --cost 1 --predictions --split-column part --ignore day,fold,w").code,
            0);
  tests = tests_in("p");
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_EQ(tests[0].size(), 18U);
  for (int i = 0; i < 90; ++i) EXPECT_EQ(tests[0].contains(i), days[static_cast<std::size_t>(i)] * 3 % 5 == 0);
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output q --split-column part --ignore day,fold,w --split kfold"), 2,
                        {"split-column", "'kfold'"}));
  write("u.csv", "s,x,label\ntrain,1,a\ntest,2,b\nvalid,3,a\ntrain,4,b\n");
  EXPECT_TRUE(complains(shell("sheaf search u.csv --output q --split-column s"), 1,
                        {"rows to train on and 2 other values: test, valid"}));
  write("u.csv", "s,x,label\none,1,a\none,2,b\n");
  EXPECT_TRUE(
      complains(shell("sheaf search u.csv --output q --split-column s"), 1, {"all rows of the split 's' are 'one'"}));
  EXPECT_FALSE(exists("q"));
}

TEST_F(RowColumnsCli, AColumnHoldsTheWeights) {
  write("t.csv", table(80, true));
  shell("awk -F, 'NR > 1 { print $4 }' t.csv > weights.txt");
  for (const std::string command :
       {"fit t.csv --ignore day,fold,part", "search t.csv --cost 1 --ignore day,fold,part"}) {
    ASSERT_EQ(shell("sheaf " + command + ",w --row-weights weights.txt --output list").code, 0);
    ASSERT_EQ(shell("sheaf " + command + " --weight-column w --output column").code, 0);
    const bool folder = command.starts_with("search");
    EXPECT_EQ(file(folder ? "list/model.txt" : "list"), file(folder ? "column/model.txt" : "column"));
    shell("rm -r list column");
  }
  EXPECT_TRUE(
      complains(shell("sheaf fit t.csv --ignore day,fold,part --weight-column w --row-weights weights.txt --output m"),
                2, {"both in a column (weight-column) and in a list"}));
  write("u.csv", "w,x,label\n1,1,a\n-2,2,b\n1,3,a\n");
  EXPECT_TRUE(complains(shell("sheaf fit u.csv --weight-column w --output m"), 1, {"u.csv:3:1", "0 or more", "'-2'"}));
  EXPECT_FALSE(exists("m"));
}

TEST_F(RowColumnsCli, AttributesOfArffDoTheSame) {
  std::vector<int> days;
  const auto csv = table(90, true, &days);
  std::string arff =
      "@relation t\n@attribute day date\n@attribute fold {f0,f1,f2}\n@attribute part string\n"
      "@attribute w numeric\n@attribute a numeric\n@attribute b numeric\n@attribute label {well,sick}\n@data\n";
  arff += csv.substr(csv.find('\n') + 1);
  write("t.arff", arff);
  write("t.csv", csv);
  for (const std::string flags : {"--order day --ignore fold,part", "--split-column fold --ignore day,part",
                                  "--split-column part --ignore day,fold"}) {
    SCOPED_TRACE(flags);
    for (const std::string name : {"arff", "csv"}) {
      const auto outcome = shell("sheaf search t." + name + " --output " + name +
                                 " --force --cost 1 --predictions --weight-column w " + flags);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
    }
    EXPECT_EQ(tests_in("arff"), tests_in("csv"));
    EXPECT_EQ(Json::parse(file("arff/results.json"))["features"], 2);
  }
}

TEST_F(RowColumnsCli, RowsInTheOrderOfTimeGetAWarningIfTheyAreMixed) {
  write("t.csv", table(120, false));
  const auto mixed = shell("sheaf search t.csv --output o --cost 1 --ignore fold,part,w");
  EXPECT_TRUE(holds(mixed.err, "the rows stand in the order of 'day', and the splits mix them")) << mixed.err;
  EXPECT_TRUE(holds(mixed.err, "search --split time --order day")) << "offered as order";
  EXPECT_TRUE(any_holds(Json::parse(file("o/results.json"))["warnings"], "the rows stand in the order of 'day'"));
  EXPECT_TRUE(holds(file("o/report.html"), "the rows stand in the order of"));
  const auto in_order = shell("sheaf search t.csv --output p --cost 1 --ignore fold,part,w --order day");
  EXPECT_FALSE(holds(in_order.err, "mix them")) << in_order.err;
  EXPECT_TRUE(holds(shell("sheaf info t.csv").out, "the rows stand in the order of 'day'"));
  write("u.csv", table(120, true));
  EXPECT_FALSE(holds(shell("sheaf search u.csv --output q --cost 1 --ignore fold,part,w").err, "mix them"));
}

TEST_F(RowColumnsCli, LabelsThatGoWithTheRowBeforeGetAWarningAndSortedOnesDoNot) {
  Random random(2);
  const auto table_of = [&](const std::vector<std::string>& labels) {
    std::string text = "a,b,label\n";
    for (const auto& label : labels)
      text += std::to_string(random.normal()) + "," + std::to_string(random.normal()) + "," + label + "\n";
    return text;
  };
  const auto warns = [&](const std::vector<std::string>& labels, const std::string& more = "--cost 1") {
    write("t.csv", table_of(labels));
    const auto outcome = shell("sheaf search t.csv --output o --force " + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return holds(outcome.err, "mix them");
  };
  std::vector<std::string> labels;
  bool state = false;
  for (int i = 0; i < 300; ++i) {
    if (random.uniform() < 0.2) state = !state;
    labels.emplace_back(state ? "rain" : "sun");
  }
  EXPECT_TRUE(warns(labels)) << "weather";
  EXPECT_FALSE(warns(labels, "--cost 1 --split time"));
  std::sort(labels.begin(), labels.end());
  EXPECT_FALSE(warns(labels)) << "sorted by class";
  std::vector<std::string> blocks;
  for (int block = 0; block < 12; ++block)
    for (int i = 0; i < 30; ++i) blocks.emplace_back(i < 18 ? "a" : "b");
  EXPECT_FALSE(warns(blocks)) << "sorted by class within each block";
  random.shuffle(std::span(labels));
  EXPECT_FALSE(warns(labels)) << "in random order";
  std::vector<double> walk{0};
  for (int i = 1; i < 200; ++i) walk.push_back(0.6 * walk.back() + random.normal());
  const auto texts = [](const std::vector<double>& numbers) {
    std::vector<std::string> list;
    for (const double number : numbers) list.push_back(std::to_string(number));
    return list;
  };
  const std::string net = "--model ridge";
  EXPECT_TRUE(warns(texts(walk), net)) << "a series";
  std::sort(walk.begin(), walk.end());
  EXPECT_FALSE(warns(texts(walk), net)) << "sorted numbers";
  random.shuffle(std::span(walk));
  EXPECT_FALSE(warns(texts(walk), net)) << "in random order";
}

}  // namespace row_columns_cli_test
}  // namespace sheaf::test
