// One file for each named defect in tests/invalid: the place and the text of its message.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>

#include <sheaf/io.hpp>

#include "data/bytes/text_source.hpp"
#include "data/read/reading.hpp"
#include "tables.hpp"

namespace sheaf {
namespace io_invalid_test {

using test::with_threads;

struct Defect {
  const char* file;
  std::int64_t line;  // 0: the message names the file only
  std::int64_t column;
  const char* says;
  ReadOptions options;
};

std::string path_of(const std::string& file) { return std::string(SHEAF_TESTS_DIR) + "/invalid/" + file; }

ReadOptions columns(const std::string& label, const std::string& group = "", std::vector<std::string> ignore = {}) {
  ReadOptions options;
  options.label = label;
  options.group = group;
  options.ignore = std::move(ignore);
  return options;
}

ReadOptions filled_in() {
  ReadOptions options;
  options.missing = Missing::median;
  return options;
}

const std::vector<Defect>& defects() {
  static const std::vector<Defect> table{
      // clang-format off
      {"truncated.sheaf", 0, 0, "is damaged: it has 4125 bytes, and its header says 4128", {}},
      {"newer_version.sheaf", 0, 0, "has version 9 of the layout, and this Sheaf reads version 1", {}},
      {"class_without_name.sheaf", 0, 0, "row 2 has number 2 of its 2 classes", {}},
      {"value_nan.sheaf", 0, 0, "row 2, feature 2, is NaN", {}},
      {"values_few.sheaf", 0, 0, "its values take 24 bytes, and 4 of 8 bytes are expected", {}},
      {"index_out_of_range.sheaf", 0, 0, "row 2 has an entry in column 3 behind column 0 of 2", {}},
      {"offsets_descend.sheaf", 0, 0, "row 1 goes from value 0 to 5 of 2", {}},
      {"rows_zero.sheaf", 0, 0, "it declares 0 rows", {}},
      {"section_outside.sheaf", 0, 0, "from byte 1099511627776 on, which is no place for it", {}},
      {"header_damaged.sheaf", 0, 0, "the checksum of its header is another one", {}},
      {"truncated.libsvm", 3, 12, "a value is missing behind '2:'", {}},
      {"index_not_ascending.libsvm", 3, 12, "the index 4 follows 7; indices must ascend", {}},
      {"index_repeated.libsvm", 3, 8, "the index 2 follows 2", {}},
      {"index_zero.libsvm", 3, 4, "the index is 0; indices count from 1", {}},
      {"index_negative.libsvm", 3, 4, "the index '-3' is negative", {}},
      {"index_text.libsvm", 3, 4, "index:value expected, found 'width:1'", {}},
      {"index_decimal.libsvm", 3, 4, "index:value expected, found '1.5:1'", {}},
      {"index_too_large.libsvm", 3, 8, "the index '2147483647' is too large; at most 2147483646", {}},
      {"index_far_too_large.libsvm", 3, 8, "is too large; at most 2147483646", {}},
      {"index_eight_digits_not_ascending.libsvm", 1, 14, "the index 12345677 follows 12345678", {}},
      {"colon_missing.libsvm", 3, 8, "found '3' without a colon", {}},
      {"colon_twice.libsvm", 3, 6, "a number expected, found '2:3'", {}},
      {"value_missing.libsvm", 3, 6, "a value is missing behind '1:'", {}},
      {"value_text.libsvm", 3, 10, "a number expected, found 'high'", {}},
      {"value_hexadecimal.libsvm", 3, 6, "a number expected, found '0x1p3'", {}},
      {"value_decimal_comma.libsvm", 3, 6, "a number expected, found '0,5'", {}},
      {"value_two_points.libsvm", 3, 6, "a number expected, found '1.2.3'", {}},
      {"value_infinite.libsvm", 3, 6, "the value '-inf' is not finite", {}},
      {"value_nan.libsvm", 3, 6, "the value 'NaN' is not finite", {}},
      {"value_overflow.libsvm", 3, 6, "the value '1e999' is too large", {}},
      {"value_long.libsvm", 3, 6, "found '1234567892345678923456789234567892345678...'", {}},
      {"value_control_bytes.libsvm", 3, 6, "found '\\x01\\x1b[31m\\xff'", {}},
      {"label_missing.libsvm", 3, 1, "a label expected at the beginning of the row, found '1:0.5'", {}},
      {"label_several.libsvm", 3, 1, "one label expected, found '1,3'", {}},
      {"label_infinite.libsvm", 3, 1, "the label 'inf' is not a finite number", {}},
      {"label_overflow.libsvm", 3, 1, "the label '-1e400' is not a finite number", {}},
      {"label_not_utf8.libsvm", 3, 1, "the name 'caf\\xe9' is not UTF-8", {}},
      {"qid_text.libsvm", 2, 3, "a whole number expected behind 'qid:', found 'first'", {}},
      {"qid_late.libsvm", 2, 7, "qid stands behind the label, once, before all features", {}},
      {"qid_twice.libsvm", 1, 9, "qid stands behind the label, once, before all features", {}},
      {"qid_in_some_rows.libsvm", 2, 3, "some rows have a qid and some have none", {}},
      {"nul_byte.libsvm", 3, 6, "a byte of value 0 stands here: this is not a text file", {}},
      {"utf16.libsvm", 1, 1, "this is UTF-16; convert the file to UTF-8", {}},
      {"empty.libsvm", 0, 0, "is empty", {}},
      {"only_comments.libsvm", 0, 0, "holds no rows", {}},
      {"text_in_number.csv", 3, 3, "a number expected in column 2 ('height'), found 'tall'", {}},
      {"text_in_number_without_header.csv", 2, 3, "a number expected in column 2, found '5 cm'", {}},
      {"row_short.csv", 3, 4, "the row ends after 2 fields; 3 are expected", {}},
      {"row_long.csv", 3, 7, "the row has 5 fields; 3 are expected", {}},
      {"quote_not_closed.csv", 3, 5, "the quote that opens here is never closed", {}},
      {"quote_inside_field.csv", 3, 6, "a quote inside a field that does not begin with one", {}},
      {"text_behind_quote.csv", 3, 8, "a delimiter or the end of the line expected behind the closing quote", {}},
      {"value_missing.csv", 3, 3, "the value of column 2 ('height') is missing", {}},
      {"value_na.csv", 3, 1, "the value of column 1 ('width') is missing ('NA')", {}},
      {"column_without_values.csv", 0, 0, "the column 'height' has no value at all", filled_in()},
      {"label_infinite.csv", 3, 3, "the label 'inf' is not a finite number", {}},
      {"group_missing.csv", 3, 1, "the group is missing ('?')", columns("", "subject")},
      {"value_infinite.csv", 3, 3, "a finite number expected in column 2 ('height'), found 'Infinity'", {}},
      {"value_overflow.csv", 3, 3, "found '1e309'", {}},
      {"name_twice.csv", 1, 14, "the name 'width' stands twice in the header: columns 1 and 3", {}},
      {"name_not_utf8.csv", 1, 7, "the name 'gr\\xf6\\xdfe' is not UTF-8", {}},
      {"header_only.csv", 0, 0, "holds a header and no rows", {}},
      {"only_empty_lines.csv", 0, 0, "holds no rows", {}},
      {"unknown_label.csv", 0, 0, "there is no column 'colour' among 3", columns("colour")},
      {"unknown_position.csv", 0, 0, "there is no column 4: the file has 3 columns", columns("4")},
      {"label_is_group.csv", 0, 0, "column 3 cannot be both the label and the group", columns("kind", "-1")},
      {"ignored_label.csv", 0, 0, "column 3 is to be ignored, but is the label, the event, the entry, the strata, the group, the order, the weight or the split", columns("kind", "", {"3"})},
      {"data_missing.arff", 5, 1, "@data expected, and the file ends", {}},
      {"attributes_missing.arff", 2, 1, "@data without any @attribute before it", {}},
      {"rows_missing.arff", 0, 0, "no rows stand behind @data", {}},
      {"text_before_data.arff", 3, 1, "@relation, @attribute or @data expected, found '1'", {}},
      {"keyword_unknown.arff", 2, 1, "@relation, @attribute or @data expected, found '@atribute'", {}},
      {"name_missing.arff", 2, 11, "a name expected behind @attribute", {}},
      {"type_missing.arff", 2, 17, "the type of attribute 'width' is missing", {}},
      {"type_unknown.arff", 2, 18, "unknown type 'float' of attribute 'width'", {}},
      {"text_behind_type.arff", 2, 23, "nothing more expected behind the type of 'width', found 'positive'", {}},
      {"attribute_twice.arff", 3, 12, "there are two attributes 'width': number 1 and 2", {}},
      {"level_twice.arff", 2, 24, "the value 'a' stands twice in the list of 'kind'", {}},
      {"levels_not_closed.arff", 2, 17, "the list of values that opens here is not closed", {}},
      {"levels_empty.arff", 2, 17, "'kind' has an empty list of values", {}},
      {"quote_not_closed.arff", 2, 12, "the quote that opens here is not closed on this line", {}},
      {"nominal_unknown.arff", 7, 4, "'blue' is none of the 2 values of 'colour'", {}},
      {"class_unknown.arff", 7, 9, "'c' is none of the 2 values of 'class'", {}},
      {"text_in_number.arff", 7, 1, "a number expected for 'size', found 'wide'", {}},
      {"value_infinite.arff", 7, 1, "a finite number expected for 'size', found 'nan'", {}},
      {"value_overflow.arff", 7, 1, "found '1e999'", {}},
      {"value_missing.arff", 7, 1, "the value of 'size' is missing ('?')", {}},
      {"value_empty.arff", 7, 4, "a value of 'colour' expected, found ','", {}},
      {"class_missing.arff", 7, 9, "the label is missing ('?')", {}},
      {"row_short.arff", 7, 7, "the row ends after 2 values; there are 3 attributes", {}},
      {"row_long.arff", 7, 10, "the row should end here, after 3 attributes", {}},
      {"row_weight.arff", 7, 10, "weights of rows are not supported", {}},
      {"sparse_index_out_of_range.arff", 7, 7, "there is no attribute '3': the last of 3 is 2", {}},
      {"sparse_index_not_ascending.arff", 7, 9, "the index 0 follows 1; indices must ascend", {}},
      {"sparse_index_text.arff", 7, 7, "the number of an attribute expected, counted from 0, found 'colour'", {}},
      {"sparse_value_missing.arff", 7, 3, "a value of 'size' expected, found '}'", {}},
      {"sparse_not_closed.arff", 7, 1, "the row that opens here is not closed by }", {}},
      {"dense_row_among_sparse.arff", 7, 1, "a sparse row in { } expected", {}},
      {"sparse_row_among_dense.arff", 7, 1, "a dense row expected, as the rows before, found '{'", {}},
      {"truncated.libsvm.gz", 0, 0, "as gzip-compressed data: the file is cut short", {}},
      {"truncated_at_trailer.libsvm.gz", 0, 0, "as gzip-compressed data: the file is cut short", {}},
      {"damaged.libsvm.gz", 0, 0, "as gzip-compressed data", {}},
      {"garbage_behind.libsvm.gz", 0, 0, "something else stands behind the compressed data", {}},
      {"truncated.libsvm.xz", 0, 0, "as xz-compressed data: the file is cut short", {}},
      {"damaged.libsvm.xz", 0, 0, "as xz-compressed data: the data are damaged", {}},
      {"truncated.libsvm.zst", 0, 0, "as zstd-compressed data: the file is cut short", {}},
      {"damaged.libsvm.zst", 0, 0, "as zstd-compressed data", {}},
      // clang-format on
  };
  return table;
}

std::string place_of(const Defect& defect) {
  return defect.line == 0
             ? path_of(defect.file)
             : path_of(defect.file) + ":" + std::to_string(defect.line) + ":" + std::to_string(defect.column);
}

/// The message of the Error that reading throws; empty when it throws none.
template <class T>
std::string message_of(const Defect& defect, int threads) {
  try {
    read_dataset<T>(with_threads(threads), path_of(defect.file), defect.options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool is_one_printable_line(const std::string& message) {
  return std::all_of(message.begin(), message.end(),
                     [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
}

class InvalidFile : public testing::TestWithParam<Defect> {};

/// Whether this build can open the file at all: each kind of compression needs its library.
bool can_be_opened(const std::string& file) {
  const auto built = compressions();
  const auto ends = [&](std::string_view ending) { return file.ends_with(ending); };
  const bool compressed = ends(".gz") || ends(".xz") || ends(".zst");
  return !compressed || std::any_of(built.begin(), built.end(), ends);
}

TEST_P(InvalidFile, IsToldInOneClearMessage) {
  const Defect& defect = GetParam();
  if (!can_be_opened(defect.file)) {
    EXPECT_NE(message_of<double>(defect, 1).find("it was built without"), std::string::npos);
    return;
  }
  const std::string message = message_of<double>(defect, 1);
  EXPECT_EQ(message.substr(0, message.find(": ")), place_of(defect)) << message;
  EXPECT_NE(message.find(defect.says), std::string::npos) << message;
  EXPECT_TRUE(is_one_printable_line(message)) << message;
  EXPECT_LT(message.size(), path_of(defect.file).size() + 250) << message;
}

TEST_P(InvalidFile, IsToldTheSameInSinglePrecisionAndByManyThreads) {
  const Defect& defect = GetParam();
  EXPECT_EQ(message_of<float>(defect, 1), message_of<double>(defect, 1));
  EXPECT_EQ(message_of<double>(defect, 3), message_of<double>(defect, 1));
}

TEST_P(InvalidFile, IsToldTheSameFromChunksOfAnySize) {
  const Defect& defect = GetParam();
  if (std::string(defect.file).ends_with("z") || std::string(defect.file).ends_with("zst")) return;  // no text to cut
  const std::string expected = message_of<double>(defect, 1);
  const FileBytes bytes(path_of(defect.file));
  ReadOptions options = defect.options;
  options.format = std::filesystem::path(defect.file).extension().string().substr(1);
  for (const std::int64_t chunk_bytes : {1, 2, 5, 16, 64}) {
    try {
      parse_chunked<double>(with_threads(2), bytes.view(), path_of(defect.file), options, chunk_bytes);
      ADD_FAILURE() << "no error with chunks of " << chunk_bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), expected) << "with chunks of " << chunk_bytes;
    }
  }
}

std::string test_name(const testing::TestParamInfo<Defect>& info) {
  std::string name = info.param.file;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, InvalidFile, testing::ValuesIn(defects()), test_name);

TEST(InvalidFiles, AllStandInTheTable) {
  std::set<std::string> in_table;
  for (const Defect& defect : defects()) in_table.insert(defect.file);
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(path_of("")))
    there.insert(entry.path().filename().string());
  EXPECT_EQ(in_table, there);
}

TEST(InvalidFiles, ADirectoryIsNotRead) {
  try {
    read_dataset<double>(with_threads(1), SHEAF_TESTS_DIR);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), std::string(SHEAF_TESTS_DIR) + ": is a directory; name a file");
  }
}

TEST(InvalidFiles, AFileThatIsNotThereIsNamed) {
  try {
    read_dataset<double>(with_threads(1), "/no/such/table.csv");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "/no/such/table.csv: cannot be opened: No such file or directory");
  }
}

TEST(InvalidFiles, AnUnknownFormatIsAnsweredWithTheKnownOnes) {
  ReadOptions options;
  options.format = "excel";
  try {
    parse_dataset<double>(with_threads(1), "1 1:1\n", "table", options);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    for (const Format& format : formats())
      EXPECT_NE(std::string(error.what()).find(format.name), std::string::npos) << error.what();
  }
}

TEST(InvalidFiles, ADelimiterThatNumbersNeedIsRefused) {
  for (const char delimiter : {'"', '.', '-', '7', 'e', '\n'}) {
    ReadOptions options;
    options.format = "csv";
    options.delimiter = delimiter;
    EXPECT_THROW(parse_dataset<double>(with_threads(1), "1,2\n", "table", options), UsageError) << delimiter;
  }
}

TEST(InvalidFiles, AValueTooLargeForFloatIsFineForDouble) {
  ReadOptions options;
  options.format = "libsvm";
  const auto context = with_threads(1);
  EXPECT_NO_THROW(parse_dataset<double>(context, "1 1:1e300\n", "table", options));
  try {
    parse_dataset<float>(context, "1 1:1e300\n", "table", options);
    FAIL() << "no error";
  } catch (const ParseError& error) {
    EXPECT_EQ(std::string(error.what()), "table:1:5: the value '1e300' is too large");
  }
}

TEST(InvalidFiles, TheFirstDefectWinsHoweverManyThereAre) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += i % 10 == 7 ? "1 1:x\n" : "1 1:2\n";
  ReadOptions options;
  options.format = "libsvm";
  for (const int threads : {1, 2, 7})
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        parse_chunked<double>(with_threads(threads), text, "table", options, 32);
        FAIL() << "no error";
      } catch (const ParseError& error) {
        EXPECT_EQ(error.place().line, 8);
        EXPECT_EQ(error.place().column, 5);
      }
    }
}

}  // namespace io_invalid_test
}  // namespace sheaf
