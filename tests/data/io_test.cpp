// The readers accept every way of writing a table that the formats allow.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <sheaf/io.hpp>

#include "data/bytes/text_source.hpp"
#include "tables.hpp"

namespace sheaf {
namespace io_test {

using Names = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;
using Values = std::vector<double>;
using test::with_threads;

ReadOptions as(const char* format) {
  ReadOptions options;
  options.class_order = ClassOrder::appearance;  // so that ids show the row of a new class
  options.format = format;
  return options;
}

Dataset<double> read(const std::string& text, const ReadOptions& options) {
  return parse_dataset<double>(with_threads(2), text, "table", options);
}

Values dense_values(const Dataset<double>& dataset) {
  const auto dense = is_sparse(dataset.x) ? to_dense(std::get<SparseMatrix<double>>(dataset.x), 1)
                                          : std::get<DenseMatrix<double>>(dataset.x).to(Device::cpu());
  return {dense.values.begin(), dense.values.end()};
}

// LIBSVM

TEST(Libsvm, KeepsEntriesAsWritten) {
  auto options = as("libsvm");
  options.storage = Storage::sparse;
  const auto dataset = read("+1 1:0.5 3:0 7:-2e-1\n-1\n+1 2:4\n", options);
  const auto& x = std::get<SparseMatrix<double>>(dataset.x);
  EXPECT_EQ(x.rows, 3);
  EXPECT_EQ(x.columns, 7);
  EXPECT_EQ(std::vector<std::int64_t>(x.offsets.begin(), x.offsets.end()), (std::vector<std::int64_t>{0, 3, 3, 4}));
  EXPECT_EQ(Ids(x.indices.begin(), x.indices.end()), (Ids{0, 2, 6, 1}));
  EXPECT_EQ(Values(x.values.begin(), x.values.end()), (Values{0.5, 0, -0.2, 4}));
  EXPECT_EQ(dataset.target.values, (Values{1, -1, 1}));
  EXPECT_EQ(dataset.target.classes, (Ids{0, 1, 0}));
  EXPECT_EQ(dataset.target.class_names, (Names{"+1", "-1"}));
  EXPECT_EQ(dataset.source, "table");
}

TEST(Libsvm, SkipsCommentsBlanksAndCarriageReturns) {
  const auto dataset = read("# head 1:2\r\n\r\n 1\t1:2  2:3 # tail: 5\r\n\n  \t\n2 2:1#x\n   # 3:4\n3", as("libsvm"));
  EXPECT_EQ(dense_values(dataset), (Values{2, 3, 0, 1, 0, 0}));
  EXPECT_EQ(dataset.target.values, (Values{1, 2, 3}));
}

TEST(Libsvm, GroupsRowsByQid) {
  const auto dataset = read("3 qid:7 1:1\n1 qid:2 1:2\n2 qid:7\n", as("libsvm"));
  EXPECT_EQ(dataset.groups, (Ids{0, 1, 0}));
  EXPECT_EQ(dataset.group_names, (Names{"7", "2"}));
  EXPECT_EQ(dataset.features(), 1);
}

TEST(Libsvm, EqualNumbersAreOneClassAndWordsAreLabels) {
  const auto numbers = read("1 1:1\n+1 1:1\n1.0 1:1\n-0 1:1\n0 1:1\n", as("libsvm")).target;
  EXPECT_EQ(numbers.classes, (Ids{0, 0, 0, 1, 1}));
  EXPECT_EQ(numbers.class_names, (Names{"1", "-0"}));
  const auto words = read("spam 1:1\n1 1:1\nSpam 1:1\nspam 1:1\n1e0 1:1\n", as("libsvm")).target;
  EXPECT_TRUE(words.values.empty());
  EXPECT_EQ(words.classes, (Ids{0, 1, 2, 0, 1}));
  EXPECT_EQ(words.class_names, (Names{"spam", "1", "Spam"}));
}

TEST(Libsvm, MoreDistinctNumbersThanClassesGiveNone) {
  std::string text;
  for (int i = 0; i <= Target::max_classes; ++i) text += std::to_string(i) + " 1:1\n";
  const auto numbers = read(text, as("libsvm")).target;
  EXPECT_TRUE(numbers.classes.empty());
  EXPECT_TRUE(numbers.class_names.empty());
  EXPECT_EQ(numbers.values.back(), Target::max_classes);
  // One word among them makes all of them classes.
  const auto words = read(text + "x 1:1\n", as("libsvm")).target;
  EXPECT_TRUE(words.values.empty());
  EXPECT_EQ(words.class_names.size(), static_cast<std::size_t>(Target::max_classes) + 2);
  EXPECT_EQ(words.class_names[77], "77");
  // Exactly as many are still classes.
  text.resize(text.rfind(std::to_string(Target::max_classes)));
  EXPECT_EQ(read(text, as("libsvm")).target.class_names.size(), static_cast<std::size_t>(Target::max_classes));
}

TEST(Libsvm, TakesTheLargestIndexAndAsManyFeaturesAsAsked) {
  auto options = as("libsvm");
  EXPECT_EQ(read("1 2147483646:1\n", options).features(), 2147483646);
  options.features = 10;
  EXPECT_EQ(read("1 3:1\n", options).features(), 10);
  EXPECT_EQ(read("1 12:1\n", options).features(), 12);
}

TEST(Libsvm, IsDenseOnlyWhereMoreThanHalfIsStoredUnlessAsked) {
  auto options = as("libsvm");
  EXPECT_TRUE(is_sparse(read("1 1:1\n1 2:1\n", options).x));
  EXPECT_FALSE(is_sparse(read("1 1:1 2:1\n1 2:1\n", options).x));
  options.storage = Storage::sparse;
  EXPECT_TRUE(is_sparse(read("1 1:1 2:1\n1 2:1\n", options).x));
  options.storage = Storage::dense;
  EXPECT_EQ(dense_values(read("1 1:1\n1 3:1\n", options)), (Values{1, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(is_sparse(read("1 1:1\n1 3:1\n", options).x));
}

TEST(Libsvm, ADenseTableThatDoesNotFitIsRefused) {
  auto options = as("libsvm");
  options.storage = Storage::dense;
  EXPECT_THROW(read("1 2000000000:1\n", options), Error);
}

// CSV

TEST(Csv, FindsNamesLabelAndDelimiter) {
  for (const std::string d : {",", ";", "\t", "|"}) {
    const auto dataset =
        read("width" + d + "class" + d + "height\n1.5" + d + "b" + d + "2\n-3" + d + "a" + d + "4\n", as("csv"));
    EXPECT_EQ(dataset.feature_names, (Names{"width", "height"}));
    EXPECT_EQ(dense_values(dataset), (Values{1.5, 2, -3, 4}));
    EXPECT_EQ(dataset.target.name, "class");
    EXPECT_EQ(dataset.target.class_names, (Names{"b", "a"}));
    EXPECT_FALSE(is_sparse(dataset.x));
  }
}

TEST(Csv, WithoutNamesTheLastColumnIsTheLabel) {
  const auto dataset = read("5.1,3.5,setosa\n6.2,2.2,virginica\n", as("csv"));
  EXPECT_TRUE(dataset.feature_names.empty());
  EXPECT_EQ(dense_values(dataset), (Values{5.1, 3.5, 6.2, 2.2}));
  EXPECT_EQ(dataset.target.class_names, (Names{"setosa", "virginica"}));
  EXPECT_EQ(dataset.target.name, "");
}

TEST(Csv, KnowsAHeaderWhenItSeesOne) {
  EXPECT_EQ(read("a,b\n1,2\n", as("csv")).rows(), 1);
  EXPECT_EQ(read("1,2\n3,4\n", as("csv")).rows(), 2);
  EXPECT_EQ(read("\"1\",\"2\",\"kind\"\n3,4,x\n", as("csv")).rows(), 1);           // quoted names over bare numbers
  EXPECT_EQ(read("\"1\",\"2\",\"x\"\n\"3\",\"4\",\"y\"\n", as("csv")).rows(), 2);  // everything quoted
  EXPECT_EQ(read("2019,2020,Y\n3,4,x\n", as("csv")).rows(), 1);
  EXPECT_EQ(read("1,2,x\n3,4,y\n", as("csv")).rows(), 2);
  auto options = as("csv");
  options.header = Header::yes;
  EXPECT_EQ(read("1,2\n3,4\n", options).feature_names, Names{});  // "1" is only a position
  EXPECT_EQ(read("7,2\n3,4\n", options).feature_names, Names{"7"});
  options.header = Header::no;
  options.label = "2";
  options.missing = Missing::zero;
  EXPECT_EQ(dense_values(read("NA,b\n1,2\n", options)), (Values{0, 1}));
}

TEST(Csv, ChoosesColumnsByNameAndPosition) {
  const std::string text = "id,subject,a,b,outcome\n7,s1,1,2,x\n8,s2,3,4,y\n9,s1,5,6,x\n";
  auto options = as("csv");
  options.label = "-1";
  options.group = "subject";
  options.ignore = {"1"};
  const auto dataset = read(text, options);
  EXPECT_EQ(dataset.feature_names, (Names{"a", "b"}));
  EXPECT_EQ(dense_values(dataset), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(dataset.groups, (Ids{0, 1, 0}));
  EXPECT_EQ(dataset.group_names, (Names{"s1", "s2"}));
  EXPECT_EQ(dataset.target.name, "outcome");
  options.label = "none";
  options.ignore = {"id", "outcome"};
  const auto unlabelled = read(text, options);
  EXPECT_TRUE(unlabelled.target.empty());
  EXPECT_EQ(unlabelled.features(), 2);
  options.label = "a";  // the last but one, if positions went first
  EXPECT_EQ(read(text, options).target.values, (Values{1, 3, 5}));
}

TEST(Csv, ANameThatIsANumberGoesBeforeThePosition) {
  auto options = as("csv");
  options.header = Header::yes;
  options.label = "1";
  EXPECT_EQ(read("2,1,3\n10,20,30\n", options).target.values, Values{20});
}

TEST(Csv, UnderstandsQuotes) {
  const auto dataset = read(
      "\"the \"\"x\"\"\",\"a,b\",y\n\"1.5\", 2 ,\"say \"\"no\"\"\"\n3,\"4\",\"two\nlines\"\n5 ,6,plain\n", as("csv"));
  EXPECT_EQ(dataset.feature_names, (Names{"the \"x\"", "a,b"}));
  EXPECT_EQ(dense_values(dataset), (Values{1.5, 2, 3, 4, 5, 6}));
  EXPECT_EQ(dataset.target.class_names, (Names{"say \"no\"", "two\nlines", "plain"}));
}

TEST(Csv, SkipsMarksEmptyLinesAndCarriageReturns) {
  const auto dataset = read("\xEF\xBB\xBF\r\na,y\r\n\r\n1,2\r\n\r\n\r\n3,4", as("csv"));
  EXPECT_EQ(dataset.feature_names, Names{"a"});
  EXPECT_EQ(dense_values(dataset), (Values{1, 3}));
  EXPECT_EQ(dataset.target.values, (Values{2, 4}));
}

TEST(Csv, ALineOfNamesMayEndWithADelimiter) {
  const auto dataset = read("a,y,\n1,2\n3,4\n", as("csv"));
  EXPECT_EQ(dataset.target.values, (Values{2, 4}));
}

TEST(Csv, FillsInMissingValues) {
  const std::string text = "a,b,y\n1,NA,0\n?,2,0\n4,2,0\n,N/A,0\n10,8,0\nnull,nan,1\n";
  const auto filled = [&](Missing missing) {
    auto options = as("csv");
    options.missing = missing;
    return dense_values(read(text, options));
  };
  EXPECT_EQ(filled(Missing::mean), (Values{1, 4, 5, 2, 4, 2, 5, 4, 10, 8, 5, 4}));
  EXPECT_EQ(filled(Missing::median), (Values{1, 2, 4, 2, 4, 2, 4, 2, 10, 8, 4, 2}));
  EXPECT_EQ(filled(Missing::most_frequent), (Values{1, 2, 1, 2, 4, 2, 1, 2, 10, 8, 1, 2}));
  EXPECT_EQ(filled(Missing::zero), (Values{1, 0, 0, 2, 4, 2, 0, 0, 10, 8, 0, 0}));
  EXPECT_THROW(filled(Missing::error), ParseError);
}

TEST(Csv, TheMedianOfEvenlyManyLiesBetween) {
  auto options = as("csv");
  options.missing = Missing::median;
  EXPECT_EQ(dense_values(read("a,y\n1,0\n2,0\n?,0\n8,0\n16,1\n", options)), (Values{1, 2, 5, 8, 16}));
}

TEST(Csv, IsSparseWhereAsked) {
  auto options = as("csv");
  options.storage = Storage::sparse;
  const auto dataset = read("1,0,5,0\n0,0,7,1\n", options);
  ASSERT_TRUE(is_sparse(dataset.x));
  EXPECT_EQ(stored(dataset.x), 3);
  EXPECT_EQ(dense_values(dataset), (Values{1, 0, 5, 0, 0, 7}));
}

// ARFF

constexpr const char* weather =
    "% comment\n@RELATION 'the weather'\n\n@Attribute outlook {sunny, 'over cast', \"it's\"}\n"
    "@attribute 'air temp' REAL % degrees\n@ATTRIBUTE play {yes,no}\n@DATA\n";

TEST(Arff, ReadsDenseRows) {
  const auto dataset = read(
      std::string(weather) + "sunny, 20.5, no\n'over cast',-3e1,yes % cold\n\n% none\n\"it's\", 7 ,no\n", as("arff"));
  EXPECT_EQ(dataset.feature_names, (Names{"outlook", "air temp"}));
  EXPECT_EQ(dense_values(dataset), (Values{0, 20.5, 1, -30, 2, 7}));
  EXPECT_EQ(dataset.levels, (std::vector<Names>{{"sunny", "over cast", "it's"}, {}}));
  EXPECT_EQ(dataset.target.name, "play");
  EXPECT_EQ(dataset.target.classes, (Ids{0, 1, 0}));
  EXPECT_EQ(dataset.target.class_names, (Names{"no", "yes"}));
  EXPECT_TRUE(dataset.target.values.empty());
  EXPECT_FALSE(is_sparse(dataset.x));
}

TEST(Arff, ReadsSparseRows) {
  const std::string head =
      "@relation r\n@attribute a real\n@attribute b {x,y}\n@attribute c integer\n@attribute d real\n"
      "@attribute e real\n@attribute k {p,q}\n@data\n";
  const auto dataset = read(head + "{0 1.5, 5 q}\n{}\n{1 y,2 3}\n{ 2 4 , 5 p }\n", as("arff"));
  ASSERT_TRUE(is_sparse(dataset.x));
  EXPECT_EQ(stored(dataset.x), 4);
  EXPECT_EQ(dense_values(dataset), (Values{1.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(dataset.target.class_names, (Names{"q", "p"}));  // left out: the first level
  EXPECT_EQ(dataset.target.classes, (Ids{0, 1, 1, 1}));
}

TEST(Arff, ANumericClassIsAnAmount) {
  const auto target =
      read("@relation r\n@attribute a real\n@attribute y numeric\n@data\n1,2\n3,2\n5,1\n", as("arff")).target;
  EXPECT_EQ(target.values, (Values{2, 2, 1}));
  EXPECT_TRUE(target.classes.empty());
  EXPECT_FALSE(target.looks_like_classes());
}

TEST(Arff, NominalClassesThatAreNumbersAreBoth) {
  const auto target =
      read("@relation r\n@attribute a real\n@attribute y {1,-1}\n@data\n1,-1\n3,1\n", as("arff")).target;
  EXPECT_EQ(target.values, (Values{-1, 1}));
  EXPECT_EQ(target.class_names, (Names{"-1", "1"}));
}

TEST(Arff, TextAttributesMayBeIgnoredGroupsOrLabels) {
  const std::string text =
      "@relation r\n@attribute day date 'yyyy-MM-dd HH'\n@attribute who string\n@attribute a real\n"
      "@attribute y {1,2}\n@data\n'2020-01-01 00','ann b',1,1\n?,carl,2,2\n\"x\",'ann b',3,2\n";
  auto options = as("arff");
  options.ignore = {"day"};
  options.group = "who";
  const auto dataset = read(text, options);
  EXPECT_EQ(dataset.feature_names, Names{"a"});
  EXPECT_EQ(dataset.groups, (Ids{0, 1, 0}));
  EXPECT_EQ(dataset.group_names, (Names{"ann b", "carl"}));
  options.group = "";
  options.ignore = {"day", "y"};
  options.label = "who";
  EXPECT_EQ(read(text, options).target.class_names, (Names{"ann b", "carl"}));
}

TEST(Arff, FillsInMissingValuesAndStates) {
  auto options = as("arff");
  options.missing = Missing::mean;
  const auto dense = read(std::string(weather) + "sunny,?,no\n?,4,yes\n\"it's\",8,no\n\"it's\",?,yes\n", options);
  EXPECT_EQ(dense_values(dense), (Values{0, 6, 2, 4, 2, 8, 2, 6}));
  const auto sparse =
      read("@relation r\n@attribute a real\n@attribute b real\n@attribute y {0,1}\n@data\n{0 ?}\n{0 6}\n{1 1}\n{}\n",
           options);
  EXPECT_EQ(dense_values(sparse), (Values{2, 0, 6, 0, 0, 1, 0, 0}));  // zeros left out count as values
}

TEST(Arff, EscapesAndBlanksInNames) {
  const auto dataset =
      read("@relation r\n@attribute 'it\\'s \\\\ 100\\%' real\n@attribute y {'a\\'b',c}\n@data\n1,'a\\'b'\n2,c\n",
           as("arff"));
  EXPECT_EQ(dataset.feature_names, Names{"it's \\ 100%"});
  EXPECT_EQ(dataset.target.class_names, (Names{"a'b", "c"}));
}

// Files

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-io-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string compress(const std::string& path, const std::string& name) const {
    const auto dataset = read_dataset<double>(with_threads(1), path);
    write_dataset(with_threads(1), dataset, (folder_ / name).string());
    return (folder_ / name).string();
  }
  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(Files, AreKnownByEndingElseByContent) {
  const auto context = with_threads(1);
  const std::string libsvm = "# c\n1 3:2\n";
  EXPECT_EQ(read_dataset<double>(context, write("a.libsvm", libsvm)).features(), 3);
  EXPECT_EQ(read_dataset<double>(context, write("heart_scale", libsvm)).features(), 3);
  EXPECT_EQ(read_dataset<double>(context, write("ranks.dat", "1 qid:1 3:2\n")).features(), 3);
  EXPECT_EQ(read_dataset<double>(context, write("t.tsv", "a\tb\n1\t2\n")).features(), 1);
  EXPECT_EQ(read_dataset<double>(context, write("numbers.txt", "1,2,3\n4,5,6\n")).features(), 2);
  EXPECT_EQ(read_dataset<double>(context, write("plain", "% c\n@relation r\n@attribute y real\n@data\n1\n")).features(),
            0);
}

/// Every row of the table of formats: its writer's file is known by its content and by each of its endings.
TEST_F(Files, OfEveryFormatAreKnownAndReadBack) {
  const auto context = with_threads(1);
  const auto dataset = read("a,b,class\n1.5,2,x\n3,-4,y\n5,6,x\n", as("csv"));
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    if (!format.written) continue;
    WriteOptions options;
    options.format = format.name;
    std::vector<std::string> names{"without an ending"};
    std::istringstream endings{std::string(format.endings)};
    for (std::string ending; endings >> ending;) names.push_back("t." + ending);
    for (const auto& name : names) {
      const auto path = (folder_ / name).string();
      write_dataset(context, dataset, path, options);
      ReadOptions reading;
      reading.class_order = ClassOrder::appearance;
      const auto again = read_dataset<double>(context, path, reading);
      EXPECT_EQ(again.format, format.name) << name;
      EXPECT_EQ(again.target.classes, dataset.target.classes) << name;
      EXPECT_EQ(dense_values(again), dense_values(dataset)) << name;
    }
  }
}

TEST_F(Files, AnUnknownFormatIsNotWritten) {
  const auto dataset = read("1 1:2\n", as("libsvm"));
  WriteOptions options;
  options.format = "excel";
  try {
    write_dataset(with_threads(1), dataset, (folder_ / "t.csv").string(), options);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    for (const Format& format : formats())
      EXPECT_NE(std::string(error.what()).find(format.name), std::string::npos) << error.what();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Files, MayEndExactlyAtAPage) {
  std::string text = "1 1:2\n";
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  while (text.size() + 6 <= page - 9) text += "1 1:2\n";
  const std::string last = "1 1:" + std::string(page - text.size() - 4, '7');
  const auto dataset = read_dataset<double>(with_threads(1), write("page.libsvm", text + last));
  const Values values = dense_values(dataset);
  EXPECT_EQ(values.back(), std::strtod(last.c_str() + 4, nullptr));
  for (std::size_t i = 0; i + 1 < values.size(); ++i) ASSERT_EQ(values[i], 2);
}

TEST_F(Files, CompressedMembersFollowEachOther) {
  const std::string first = write("first.libsvm", "1 1:1 2:2\n");
  const std::string second = write("second.libsvm", "2 1:3 2:4\n");
  for (const std::string_view kind : compressions()) {
    const std::string ending(kind);
    const std::string both =
        bytes_of(compress(first, "a.libsvm" + ending)) + bytes_of(compress(second, "b.libsvm" + ending));
    // The first bytes reveal the compression, not the name.
    const auto dataset = read_dataset<double>(with_threads(1), write("both.libsvm", both));
    EXPECT_EQ(dense_values(dataset), (Values{1, 2, 3, 4})) << ending;
    EXPECT_EQ(dataset.target.values, (Values{1, 2})) << ending;
  }
}

TEST_F(Files, StandardInputIsReadFromFilesAndPipes) {
  const std::string path = write("in", "1 2:5\n");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(freopen(path.c_str(), "r", stdin), nullptr);
  EXPECT_EQ(read_dataset<double>(with_threads(1), "-").source, "standard input");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text = "1,2\n3,4\n5,6\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  EXPECT_EQ(dense_values(read_dataset<double>(with_threads(1), "-")), (Values{1, 3, 5}));
  dup2(saved, STDIN_FILENO);
  close(saved);
}

struct Heard : Progress {
  void on_begin(std::string_view stage, std::int64_t total) override {
    stages.emplace_back(stage);
    totals.push_back(total);
  }
  void on_advance(std::int64_t by) override { done += by; }
  void on_end() override { ++ended; }

  std::vector<std::string> stages;
  std::vector<std::int64_t> totals;
  std::int64_t done = 0;
  int ended = 0;
};

TEST_F(Files, TellHowFarReadingIs) {
  const std::string path = write("a.libsvm", "1 1:2\n2 1:3\n");
  Heard heard;
  Context::Options options;
  options.progress = &heard;
  read_dataset<double>(Context(options), path);
  EXPECT_EQ(heard.stages, Names{"reading " + path});
  EXPECT_EQ(heard.totals, std::vector<std::int64_t>{12});
  EXPECT_EQ(heard.done, 12);
  EXPECT_EQ(heard.ended, 1);
}

}  // namespace io_test
}  // namespace sheaf
