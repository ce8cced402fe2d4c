// PIN files: what is read, and where the first defect is reported.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <sheaf/io.hpp>

#include "rescore/input/psms.hpp"

namespace sheaf::rescore {
namespace rescore_pin_test {

Context with_threads(int threads) { return Context(Context::Options{.threads = threads}); }

/// A file in the test's own folder.
std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "sheaf_pin_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

const std::string head = "SpecId\tLabel\tScanNr\tExpMass\tXcorr\tdelta\tPeptide\tProteins\n";
const std::string row1 = "a\t1\t7\t500.5\t1.5\t-2\tK.ACDE.R\tP1\n";
const std::string row2 = "b\t-1\t7\t500.5\t0.25\t1e-3\tK.CADE.R\tD1\tD2\n";

Psms<double> read(const std::string& text, PinOptions options = {}, int threads = 1,
                  const std::string& name = "one.pin") {
  return read_pins<double>(with_threads(threads), {file(name, text)}, options);
}

PinOptions by_position() {
  PinOptions options;
  options.rules = PinRules::by_position;
  return options;
}

TEST(Pin, HoldsWhatTheFileSays) {
  for (const auto& options : {PinOptions{}, by_position()}) {
    const auto psms = read(head + "DefaultDirection\t-\t-\t-\t1\t0\n" + row1 + row2, options);
    ASSERT_EQ(psms.size(), 2);
    EXPECT_EQ(psms.feature_names, (std::vector<std::string>{"Xcorr", "delta"}));
    EXPECT_EQ(psms.default_direction, (std::vector<double>{1, 0}));
    EXPECT_EQ(psms.labels[0], 1);
    EXPECT_EQ(psms.labels[1], -1);
    EXPECT_EQ(psms.scans[1], 7);
    EXPECT_EQ(psms.masses[0], 500.5);
    EXPECT_EQ(psms.row(0)[0], 1.5);
    EXPECT_EQ(psms.row(1)[1], 1e-3);
    EXPECT_EQ(psms.text(0).id, "a");
    EXPECT_EQ(psms.text(1).peptide, "K.CADE.R");
    EXPECT_EQ(psms.text(1).proteins, "D1\tD2");
  }
}

TEST(Pin, LineEndsAndCompressionDoNotMatter) {
  std::string windows = head + row1 + row2;
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
  const auto psms = read(windows);
  EXPECT_EQ(psms.text(1).proteins, "D1\tD2");
  EXPECT_EQ(read(head + row1 + row2.substr(0, row2.size() - 1)).size(), 2);
  EXPECT_EQ(read("\xEF\xBB\xBF" + head + row1).size(), 1);
}

TEST(Pin, SeveralFilesAreOneSetAndKeepTheirNames) {
  const auto first = file("first.pin", head + row1);
  const auto second = file("second.pin",
                           "SpecId\tLabel\tdelta\tXcorr\tScanNr\tExpMass\tPeptide\tProteins\n"
                           "c\t-1\t9\t8\t7\t500.5\tK.A.R\tD\n");
  const auto psms = read_pins<double>(with_threads(1), {first, second}, {});
  ASSERT_EQ(psms.size(), 2);
  EXPECT_EQ(psms.row(1)[0], 8);
  EXPECT_EQ(psms.row(1)[1], 9);
  EXPECT_EQ(psms.file_names, (std::vector<std::string>{first, second}));
  EXPECT_NE(psms.file(0), psms.file(1));
}

TEST(Pin, FileNamesAreNumberedByAppearance) {
  const auto psms = read(
      "SpecId\tLabel\tScanNr\tfilename\tx\tPeptide\tProteins\n"
      "a\t1\t1\tsecond.raw\t1\tP\tQ\nb\t-1\t1\tfirst.raw\t2\tP\tQ\nc\t1\t2\tsecond.raw\t3\tP\tQ\n");
  EXPECT_EQ(psms.file_names, (std::vector<std::string>{"second.raw", "first.raw"}));
  EXPECT_EQ(psms.file(2), 0);
}

TEST(Pin, NumericPeptidesAreNoFeaturesByName) {
  const std::string text = "SpecId\tLabel\tScanNr\tx\tPeptide\tProteins\na\t1\t1\t0.5\t12345\tP\n";
  EXPECT_EQ(read(text).features(), 1);
}

TEST(Pin, OtherLabelsAreLeftOutWithAWarning) {
  const auto psms = read(head + row1 + "x\t0\t8\t1\t1\t1\tK.A.R\tP\n" + row2);
  ASSERT_EQ(psms.size(), 2);
  EXPECT_EQ(psms.text(1).id, "b");
  ASSERT_EQ(psms.warnings.size(), 1U);
  EXPECT_NE(psms.warnings[0].find("1 PSMs have a label"), std::string::npos);
}

TEST(Pin, SameRowsForAnyOrderOfTheFile) {
  std::string forward = head;
  std::string backward = head;
  for (int i = 0; i < 500; ++i) {
    const auto line = "id" + std::to_string(i) + "\t" + (i % 2 == 0 ? "1" : "-1") + "\t" + std::to_string(i / 2) +
                      "\t3\t" + std::to_string(i * 0.5) + "\t" + std::to_string(i % 7) + "\tK.A.R\tP\n";
    forward += line;
    backward.insert(head.size(), line);
  }
  PinOptions options;
  options.keep_order = false;
  const auto one = read(forward, options, 1);
  const auto other = read(backward, options, 2, "other.pin");
  ASSERT_EQ(one.size(), other.size());
  for (std::int64_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one.text(i).id, other.text(i).id);
    EXPECT_EQ(one.row(i)[0], other.row(i)[0]);
    EXPECT_EQ(one.scans[i], other.scans[i]);
    EXPECT_EQ(one.labels[i], other.labels[i]);
  }
}

TEST(Pin, NotFiniteBecomesZeroOnRequest) {
  PinOptions options = by_position();
  options.replace_not_finite = true;
  EXPECT_EQ(read(head + "a\t1\t7\t5\tnan\tinf\tK.A.R\tP\n" + row2, options).row(0)[0], 0);
}

struct Defect {
  const char* name;
  std::string text;
  std::int64_t line, column;
  const char* says;
  PinRules rules = PinRules::by_name;
};

std::vector<Defect> defects() {
  const auto position = PinRules::by_position;
  const std::string psm = row1;
  return {
      {"no names", "\n" + psm, 1, 1, "the names of the columns expected"},
      {"only names", head, 2, 1, "the file ends where a PSM is expected"},
      {"only names and direction", head + "DefaultDirection\t-\t-\t-\t1\t1\n", 3, 1, "the file ends where a PSM"},
      {"XML", "<?xml version=\"1.0\"?>\n<pin/>\n", 1, 1, "this is XML"},
      {"no label", "SpecId\tScanNr\tx\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 1, "no column is called Label"},
      {"no id", "Name\tLabel\tx\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 1, "no column is called SpecId"},
      {"no peptide", "SpecId\tLabel\tx\tProteins\na\t1\t1\tQ\n", 1, 1, "no column is called Peptide"},
      {"no proteins", "SpecId\tLabel\tx\tPeptide\na\t1\t1\tQ\n", 1, 1, "no column is called Proteins"},
      {"proteins not last", "SpecId\tLabel\tPeptide\tProteins\tx\na\t1\tP\tQ\t1\n", 1, 22, "must be the last column"},
      {"name twice", "SpecId\tLabel\tx\tX\tPeptide\tProteins\na\t1\t1\t1\tP\tQ\n", 1, 16, "a second column is called"},
      {"two ids", "SpecId\tPSMId\tLabel\tx\tPeptide\tProteins\na\ta\t1\t1\tP\tQ\n", 1, 1, "several columns say SpecId"},
      {"name missing", "SpecId\tLabel\t\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 14, "column 3 has no name"},
      {"no features", "SpecId\tLabel\tScanNr\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 1, "no column is a feature"},
      {"empty line", head + psm + "\n" + row2, 3, 1, "a PSM expected, found an empty line"},
      {"short line", head + psm + "b\t-1\t7\t5\n", 3, 9, "the line ends before column 5 ('Xcorr')"},
      {"no protein", head + "a\t1\t7\t500.5\t1.5\t-2\tK.ACDE.R\n", 2, 28, "the line ends before column 8"},
      {"feature is text", head + psm + "b\t-1\t7\t5\thigh\t1\tP\tQ\n", 3, 10,
       "a number expected in column 5 ('Xcorr'), found 'high'"},
      {"feature is empty", head + "b\t-1\t7\t5\t\t1\tP\tQ\n", 2, 10, "a number expected in column 5"},
      {"feature is nan", head + "b\t-1\t7\t5\t1\tnan\tP\tQ\n", 2, 12, "'nan' in column 6 ('delta') is not a finite"},
      {"feature is inf", head + "b\t-1\t7\t5\t1\t-inf\tP\tQ\n", 2, 12, "is not a finite number"},
      {"feature too large", head + "b\t-1\t7\t5\t1\t1e999\tP\tQ\n", 2, 12, "is not a finite number"},
      {"comma for point", head + "b\t-1\t7\t5\t1,5\t1\tP\tQ\n", 2, 10, "found '1,5'"},
      {"label is decimal", head + "b\t1.0\t7\t5\t1\t1\tP\tQ\n", 2, 3, "1 (target) or -1 (decoy) expected, found '1.0'"},
      {"label is a word", head + "b\ttarget\t7\t5\t1\t1\tP\tQ\n", 2, 3, "found 'target'"},
      {"label is empty", head + "b\t\t7\t5\t1\t1\tP\tQ\n", 2, 3, "expected, found ''"},
      {"scan is decimal", head + "b\t1\t7.5\t5\t1\t1\tP\tQ\n", 2, 5, "a scan number expected, found '7.5'"},
      {"scan too large", head + "b\t1\t3000000000\t5\t1\t1\tP\tQ\n", 2, 5, "does not fit 32 bits"},
      {"mass is text", head + "b\t1\t7\theavy\t1\t1\tP\tQ\n", 2, 7, "a number expected in column 4 ('ExpMass')"},
      {"peptide is empty", head + "b\t1\t7\t5\t1\t1\t\tQ\n", 2, 13, "a peptide expected"},
      {"direction is text", head + "DefaultDirection\t-\t-\t-\tup\t1\n" + psm, 2, 24, "a number expected for 'Xcorr'"},
      {"too many directions", head + "DefaultDirection\t-\t-\t-\t1\t1\t1\n" + psm, 2, 28,
       "more values than there are features", position},
      {"names end early", "SpecId\tLabel\tScanNr\tProteins\na\t1\t7\t1\t2\tP\tQ\n", 1, 29,
       "more numbers than there are names", position},
      {"label missing by position", "SpecId\tKind\tx\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 1,
       "no column is called label", position},
      {"not text", head + psm + std::string("b\t-1\0\n", 6), 3, 5, "a byte of value 0"},
      {"name is not UTF-8", "SpecId\tLabel\tm\xE4ss\tPeptide\tProteins\na\t1\t1\tP\tQ\n", 1, 14, "is not UTF-8"},
  };
}

TEST(Pin, DefectsAreReportedWithLineAndColumn) {
  for (const Defect& defect : defects())
    for (const int threads : {1, 2}) {
      const auto path = file("defect.pin", defect.text);
      PinOptions options;
      options.rules = defect.rules;
      try {
        read_pins<double>(with_threads(threads), {path}, options);
        ADD_FAILURE() << defect.name;
      } catch (const ParseError& error) {
        EXPECT_EQ(error.place().file, path);
        EXPECT_EQ(error.place().line, defect.line) << defect.name << ": " << error.what();
        EXPECT_EQ(error.place().column, defect.column) << defect.name << ": " << error.what();
        EXPECT_NE(std::string(error.what()).find(defect.says), std::string::npos)
            << defect.name << ": " << error.what();
      }
    }
}

TEST(Pin, TheFirstOfManyDefectsIsReportedWhateverTheChunks) {
  std::string text = head;
  for (int i = 0; i < 60000; ++i) text += row1;
  const auto good = text.size();
  text += "b\t-1\t7\t5\tbad\t1\tP\tQ\n";
  for (int i = 0; i < 60000; ++i) text += "b\t-1\t7\t5\t1\tworse\tP\tQ\n";
  ASSERT_GT(good, std::size_t{1} << 20U);
  for (const int threads : {1, 2, 4}) try {
      read(text, {}, threads);
      ADD_FAILURE();
    } catch (const ParseError& error) {
      EXPECT_EQ(error.place().line, 60002);
    }
}

TEST(Pin, FilesMustAgreeOnFeaturesByName) {
  const auto first = file("first.pin", head + row1);
  const auto other = file("other.pin", "SpecId\tLabel\tScanNr\tXcorr\tPeptide\tProteins\nc\t-1\t1\t1\tP\tQ\n");
  EXPECT_THROW(read_pins<double>(with_threads(1), {first, other}, {}), Error);
  const auto psms = read_pins<double>(with_threads(1), {first, other}, by_position());
  EXPECT_EQ(psms.row(1)[1], 0);
  EXPECT_THROW(read_pins<double>(with_threads(1), {testing::TempDir() + "no such file"}, {}), Error);
  EXPECT_THROW(read_pins<double>(with_threads(1), {file("empty.pin", "")}, {}), Error);
}

}  // namespace rescore_pin_test
}  // namespace sheaf::rescore
