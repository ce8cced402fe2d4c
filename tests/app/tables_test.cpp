// Tables by rows, and settings as words.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/forms/design.hpp"
#include "app/runs/summary.hpp"
#include "app/tables/line_index.hpp"

namespace sheaf::app {
namespace {

using namespace std::chrono_literals;

class LineIndexTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(path) << text;
    return path;
  }
  ~LineIndexTest() override { std::filesystem::remove(path); }
  const std::string path = testing::TempDir() + "/line_index_test.csv";
};

TEST_F(LineIndexTest, FindsRowsOfALongTable) {
  std::string text = "number,square\n";
  for (int k = 0; k < 10000; ++k) text += std::to_string(k) + "," + std::to_string(k * k) + "\n";
  LineIndex index(file(text));
  EXPECT_EQ(index.columns(), (std::vector<std::string>{"number", "square"}));
  for (const int from : {0, 1, 255, 256, 257, 9998}) {
    const auto page = index.read(from, 3, 10s);
    EXPECT_TRUE(page.complete);
    EXPECT_EQ(page.rows, 10000);
    ASSERT_EQ(std::ssize(page.records), std::min(3, 10000 - from));
    EXPECT_EQ(page.records[0], std::to_string(from) + "," + std::to_string(from * from));
  }
  EXPECT_TRUE(index.read(10000, 5, 10s).records.empty());
}

TEST_F(LineIndexTest, KeepsLineEndsInQuotes) {
  LineIndex index(file("a;b\n\"x\ny\";\"say \"\"hi\"\"; now\"\r\n\n3;4"));
  const auto page = index.read(0, 10, 10s);
  ASSERT_EQ(page.records.size(), 2U);
  EXPECT_EQ(split_record(page.records[0], index.delimiter()), (std::vector<std::string>{"x\ny", "say \"hi\"; now"}));
  EXPECT_EQ(split_record(page.records[1], index.delimiter()), (std::vector<std::string>{"3", "4"}));
}

TEST_F(LineIndexTest, NamesColumnsWithoutAHeading) {
  LineIndex index(file("1,2\n3,4\n"));
  EXPECT_EQ(index.columns(), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(index.read(0, 10, 10s).rows, 2);
}

/// As readers of datasets do: names may be numbers in quotes, as those of a converted LIBSVM file, or some of them
/// numbers.
TEST_F(LineIndexTest, FindsAHeadingAsReadersDo) {
  for (const auto* heading : {"\"1\",\"2\",\"3\"", "1,2,label", "age,2,3", "\"a, b\",2,3"}) {
    LineIndex index(file(std::string(heading) + "\n4,5,6\n7,8,9\n"));
    EXPECT_EQ(index.read(0, 10, 10s).rows, 2) << heading;
    EXPECT_EQ(index.columns(), split_record(heading, ',')) << heading;
  }
  LineIndex index(file("4,5,setosa\n7,8,virginica\n"));
  EXPECT_EQ(index.read(0, 10, 10s).rows, 2);
}

TEST_F(LineIndexTest, ReadsAttributesOfArff) {
  LineIndex index(
      file("% about\n@RELATION r\n@attribute 'the first' numeric\n@ATTRIBUTE b {x,y}\n\n@data\n1,x\n2,y\n"));
  EXPECT_EQ(index.columns(), (std::vector<std::string>{"the first", "b"}));
  EXPECT_EQ(index.read(1, 1, 10s).records, (std::vector<std::string>{"2,y"}));
}

TEST_F(LineIndexTest, TakesAnEmptyFile) {
  LineIndex index(file(""));
  EXPECT_EQ(index.read(0, 10, 10s).rows, 0);
}

TEST(Summaries, ReadShallowValuesAlone) {
  std::istringstream text(R"({"a": 1, "b": {"c": {"d": "x", "e": {"f": 2}}}, "list": [{"a": 5}], "n": null})");
  const auto values = read_shallow(text);
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(values.at("a"), 1);
  EXPECT_EQ(values.at("b/c/d"), "x");
  EXPECT_EQ(values.at("n"), nullptr);
  std::istringstream damaged(R"({"a": 1, "b": )");
  EXPECT_EQ(read_shallow(damaged).at("a"), 1);
}

Commands one_command() {
  FormOption folds, label, quiet;
  folds.name = "folds";
  folds.flag = "--folds";
  label.name = "label";
  label.flag = "--label";
  quiet.name = "standardise";
  quiet.flag = "--no-standardise";
  quiet.is_switch = true;
  const auto sections = [=](std::string_view) {
    return std::vector<FormSection>{{"Search", {folds}}, {"Reading", {label, quiet}}};
  };
  const auto check = [](std::string_view, const std::string& flag, const std::string& text) {
    return flag == "--folds" && text == "x" ? std::optional<std::string>("folds takes a number") : std::nullopt;
  };
  return {sections, check};
}

Design design_of(const std::string& settings) {
  static const Forms forms(one_command());
  const Folder folder(testing::TempDir());
  return read_design(forms, folder, Json::parse(R"({"task": "neighbors", "settings": )" + settings + "}"), {"-t.csv"},
                     "out");
}

TEST(Designs, BecomeWordsThatNobodyMistakesForOthers) {
  const auto design = design_of(R"({"folds": 5, "label": "--help", "standardise": false})");
  EXPECT_TRUE(design.errors.empty());
  EXPECT_EQ(words_of(design),
            (std::vector<std::string>{"neighbors", "./-t.csv", "--folds", "5", "--label=--help", "--no-standardise"}));
  EXPECT_EQ(words_of(design_of(R"({"folds": null, "label": "", "standardise": true})")),
            (std::vector<std::string>{"neighbors", "./-t.csv"}));
}

TEST(Designs, NameTheFieldThatIsWrong) {
  const auto design = design_of(R"({"folds": "x", "nothing": 1, "standardise": "perhaps"})");
  ASSERT_EQ(design.errors.size(), 3U);
  EXPECT_EQ(design.errors[0].field, "nothing");
  EXPECT_EQ(design.errors[1].field, "folds");
  EXPECT_EQ(design.errors[2].field, "standardise");
}

TEST(Designs, AreQuotedForAShell) {
  EXPECT_EQ(command_text({"search", "my file.csv", "it's", "", "$(rm)"}),
            "sheaf search 'my file.csv' 'it'\\''s' '' '$(rm)'");
}

}  // namespace
}  // namespace sheaf::app
