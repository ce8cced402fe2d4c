// Tables as spreadsheets and R write them, through the program itself: each is read as the plain table that it means.
#include <string>
#include <vector>

#include "program.hpp"

namespace sheaf::test {
namespace spreadsheet_cli_test {

class Spreadsheet : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  /// Whether `text` is read as `plain` is, with a note that holds all of `parts`.
  void expect_read_as(const std::string& text, const std::string& plain, const std::vector<std::string>& parts,
                      const std::string& options = "") {
    write("text.csv", text);
    write("plain.csv", plain);
    const auto outcome = shell("sheaf convert text.csv a.csv " + options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_EQ(shell("sheaf convert plain.csv b.csv --delimiter ,").code, 0);
    EXPECT_EQ(file("a.csv"), file("b.csv")) << text;
    for (const auto& part : parts) EXPECT_TRUE(holds(outcome.err, part)) << part << "\nin: " << outcome.err;
  }
};

TEST_F(Spreadsheet, DecimalCommasAreFoundBetweenSemicolons) {
  const std::string plain = "a,b,label\n1.5,1234.5,x\n-0.25,7,z\n2,1000,x\n";
  expect_read_as("a;b;label\n1,5;1.234,5;x\n-0,25;7;z\n2;1.000;x\n", plain, {"decimal commas"});
  expect_read_as("a\tb\tlabel\n1,5\t1 234,5\tx\n-0,25\t7\tz\n2\t1000\tx\n", plain, {"decimal commas"});
  expect_read_as("a,b,label\n\"1,5\",\"1.234,5\",x\n\"-0,25\",7,z\n2,1000,x\n", plain, {}, "--decimal ,");
  expect_read_as("a;b;y\n1;2;1,5\n3;4;0,25\n", "a,b,y\n1,2,1.5\n3,4,0.25\n", {"decimal commas"});
}

TEST_F(Spreadsheet, ADecimalCommaBelowTheFirstRowsCountsForAllRows) {
  std::string text = "a;b;label\n";
  std::string plain = "a,b,label\n";
  for (int i = 0; i < 300; ++i) {
    const auto whole = std::to_string(i % 9);
    text += whole + (i == 250 ? ",5" : "") + ";1.000;" + (i % 2 == 0 ? "x\n" : "z\n");
    plain += whole + (i == 250 ? ".5" : "") + ",1000," + (i % 2 == 0 ? "x\n" : "z\n");
  }
  expect_read_as(text, plain, {"decimal commas"});
}

TEST_F(Spreadsheet, ACommaThatCanBeEitherIsAnErrorThatNamesTheFlag) {
  write("t.csv", "a;label\n1,234;x\n5,678;z\n");
  EXPECT_TRUE(complains(shell("sheaf convert t.csv o.csv"), 1, {"t.csv:2:1", "'1,234'", "--decimal ,", "--decimal ."}));
  EXPECT_FALSE(exists("o.csv"));
  expect_read_as("a;label\n1,234;x\n5,678;z\n", "a,label\n1234,x\n5678,z\n", {"thousands"}, "--decimal .");
  expect_read_as("a;label\n1,234;x\n5,678;z\n", "a,label\n1.234,x\n5.678,z\n", {}, "--decimal ,");
}

TEST_F(Spreadsheet, ThousandsPerCentAndLimitsAreReadAndNoted) {
  expect_read_as("a,label\n\"1,234\",x\n999,z\n\"12,345.5\",x\n", "a,label\n1234,x\n999,z\n12345.5,x\n",
                 {"column 1 ('a')", "thousands"});
  expect_read_as("a,label\n12%,x\n3.5 %,z\n0%,x\n", "a,label\n12,x\n3.5,z\n0,x\n", {"per cent"});
  expect_read_as("a,label\n<0.5,x\n3,z\n> 100,x\n<0.5,z\n", "a,label\n0.5,x\n3,z\n100,x\n0.5,z\n",
                 {"3 values", "limit", "'<0.5'"});
  write("levels.csv", "a,label\n<30,x\n>30,z\n<30,x\n");
  EXPECT_TRUE(holds(shell("sheaf convert levels.csv o.csv").err, "a (2 levels)")) << "limits alone are levels";
  write("mixed.csv", "a,label\n12%,x\n3,z\n");
  EXPECT_TRUE(complains(shell("sheaf convert mixed.csv o2.csv"), 1, {"mixed.csv:2:1", "'12%'"}));
}

TEST_F(Spreadsheet, LabelsAreReadAsFeaturesAre) {
  expect_read_as("a,price\n1.5,\"1,234\"\n2,999\n3,\"12,345.5\"\n", "a,price\n1.5,1234\n2,999\n3,12345.5\n",
                 {"column 2 ('price')", "thousands"});
  expect_read_as("a\tprice\n1.5\t259,698\n2\t1,002,001\n", "a,price\n1.5,259698\n2,1002001\n", {"thousands"});
  expect_read_as("a,yield\n1,12%\n2,3.5%\n", "a,yield\n1,12\n2,3.5\n", {"per cent"});
  expect_read_as("a,age\n1,<30\n2,30\n3,<30\n", "a,age\n1,<30\n2,30\n3,<30\n", {});
  write("t.csv", "a,price\n1,\"1,234\"\n2,999\n");
  ASSERT_EQ(shell("sheaf convert t.csv o.csv --task classification").code, 0);
  EXPECT_EQ(file("o.csv"), file("t.csv"));
}

TEST_F(Spreadsheet, CodesOfMissingValuesAreMissing) {
  expect_read_as("a,b,label\n-999,1,x\n2,n.d.,z\n4,3,x\n", "a,b,label\n3,1,x\n2,2,z\n4,3,x\n", {},
                 "--missing-codes -999,n.d. --missing median");
  write("t.csv", "a,label\n1,x\n-999.0,z\n");
  EXPECT_TRUE(complains(shell("sheaf convert t.csv o.csv --missing-codes -999"), 1, {"t.csv:3:1", "missing"}));
}

TEST_F(Spreadsheet, LinesBeforeTheHeaderAreLeftOutAndNoted) {
  const std::string plain = "a,b,label\n1,2,x\n3,4,z\n";
  expect_read_as("# made by a machine, on a day\n# again\na,b,label\n1,2,x\n3,4,z\n", plain, {"2 lines", "made by"});
  expect_read_as("A study of mice\na,b,label\n1,2,x\n3,4,z\n", plain, {"1 line", "A study of mice"});
  expect_read_as("A study of mice,,\na,b,label\n1,2,x\n3,4,z\n", plain, {"1 line"});
  expect_read_as("The \"A\" study\n\na;b;label\n1;2;x\n3;4;z\n", plain, {"1 line"});
}

TEST_F(Spreadsheet, RowNamesOfRAreNoFeatureAndShortHeadersStayErrors) {
  const std::string plain = "a,b,label\n1,2,x\n3,4,z\n";
  expect_read_as("\"a\",\"b\",\"label\"\n\"first\",1,2,\"x\"\n\"second\",3,4,\"z\"\n", plain, {"name"});
  expect_read_as("a\tb\tlabel\n1\t1\t2\tx\n2\t3\t4\tz\n", plain, {"name"});
  write("t.csv", "a,b,label\n7,1,2,x\n9,3,4,z\n");
  EXPECT_TRUE(complains(shell("sheaf convert t.csv o.csv"), 1, {"t.csv:2:", "3 are expected"}));
}

TEST_F(Spreadsheet, CarriageReturnsEndLinesToo) {
  expect_read_as("a,b,label\r1,2,x\r3,4,z\r", "a,b,label\n1,2,x\n3,4,z\n", {});
  write("t.csv", "a,b,label\r1,2,x\r3,4\r");
  EXPECT_TRUE(complains(shell("sheaf convert t.csv o.csv"), 1, {"t.csv:3:4"}));
}

TEST_F(Spreadsheet, MatricesOfSamplesInColumnsAreTransposed) {
  expect_read_as("gene,s1,s2,s3\ng1,1,2,3\ng2,4,5,6\nlabel,x,z,x\n", "gene,g1,g2,label\ns1,1,4,x\ns2,2,5,z\ns3,3,6,x\n",
                 {}, "--transpose");
  write("t.csv", "gene,s1,s2\ng1,1\nlabel,x,z\n");
  EXPECT_TRUE(complains(shell("sheaf convert t.csv o.csv --transpose"), 1, {"t.csv:2:1", "3 are expected"}));
}

TEST_F(Spreadsheet, RowsWithoutALabelAreLeftOutOfTrainingAndPredicted) {
  expect_read_as("a,label\n1,x\n2,\n3,z\n4,NA\n", "a,label\n1,x\n3,z\n", {"2 of 4 rows", "no label"});
  std::string text = "a,label\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i) + (i % 10 == 3 ? "," : i < 20 ? ",low" : ",up") + "\n";
  write("t.csv", text);
  ASSERT_EQ(shell("sheaf fit t.csv --output m").code, 0);
  const auto predicted = shell("sheaf predict t.csv --model-file m --output -");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 41) << "all rows are predicted";
  EXPECT_TRUE(holds(predicted.err, "4 of 40 rows")) << predicted.err;
  write("none.csv", "a,label\n1,\n2,\n");
  EXPECT_TRUE(complains(shell("sheaf fit none.csv --output n"), 1, {"none.csv", "no row has a label"}));
}

TEST_F(Spreadsheet, OtherFilesSayWhatTheyAreAndHowToExportThem) {
  const auto expect = [&](const std::string& name, const std::string& bytes, const std::vector<std::string>& parts) {
    write(name, bytes);
    EXPECT_TRUE(complains(shell("sheaf info " + name), 1, parts)) << name;
  };
  using namespace std::string_literals;
  expect("t.xlsx", "PK\x03\x04\x14\0\0\0xl/workbook.xml"s, {"t.xlsx", "cut short"});
  expect("t.xls", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"s, {"t.xls", "Excel", "save the sheet as CSV"});
  expect("t.csv", "PK\x03\x04\x14\0\0\0inner.csv"s, {"zip archive", "unpack"});
  expect("t.parquet", "PAR1\x15\x04"s, {"Parquet", "to_csv"});
  expect("t.h5", "\x89HDF\r\n\x1A\n\0\0"s, {"t.h5", "HDF5"});
  write("inner.csv", "a,label\n1,x\n2,z\n");
  ASSERT_EQ(shell("tar czf t.tar.gz inner.csv").code, 0);
  EXPECT_TRUE(complains(shell("sheaf info t.tar.gz"), 1, {"tar archive", "unpack"}));
}

TEST_F(Spreadsheet, AModelReadsNumbersAsInTraining) {
  std::string text = "a;b;label\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + ",5;" + std::to_string(i % 7) + ";" + (i < 20 ? "low\n" : "up\n");
  write("t.csv", text);
  ASSERT_EQ(shell("sheaf fit t.csv --output m").code, 0);
  write("new.csv", "a;b\n0,5;1\n39,5;<1\n");
  write("plain.csv", "a,b\n0.5,1\n39.5,1\n");
  const auto predicted = shell("sheaf predict new.csv --model-file m --decisions --output -");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(predicted.out, shell("sheaf predict plain.csv --model-file m --decisions --output -").out);
  EXPECT_TRUE(holds(predicted.err, "limit")) << predicted.err;
}

}  // namespace spreadsheet_cli_test
}  // namespace sheaf::test
