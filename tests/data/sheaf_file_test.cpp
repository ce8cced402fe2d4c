// .sheaf files: everything that a dataset holds comes back, from where the file is mapped; no damage is read as data.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <unistd.h>

#include <sheaf/io.hpp>
#include <sheaf/solvers/profile.hpp>

#include "data/sheaf_file/layout.hpp"
#include "golden.hpp"
#include "same_dataset.hpp"
#include "scratch_folder.hpp"
#include "sheaf_file_bytes.hpp"
#include "tables.hpp"

namespace sheaf {
namespace sheaf_file_test {

using test::expect_same_dataset;
using test::ScratchFolder;
using Forged = test::SheafFileBytes;
using sheaf_file::SectionEntry;
using sheaf_file::SectionKind;
using test::with_threads;

constexpr std::int64_t rows = 300;
constexpr std::int64_t columns = 7;

template <class T>
Matrix<T> some_matrix(bool sparse) {
  const auto values = test::random_rows(rows, columns, sparse ? 0.3 : 1, 3);
  if (sparse) return test::sparse_of<T>(values, columns, 5);
  return test::dense_of<T>(values, columns);
}

std::vector<std::string> numbered(const std::string& name, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < count; ++k) names.push_back(name + std::to_string(k));
  return names;
}

template <class T>
std::vector<T> repeated(std::int64_t period, double step = 1) {
  std::vector<T> numbers;
  for (std::int64_t i = 0; i < rows; ++i) numbers.push_back(static_cast<T>(static_cast<double>(i % period) * step));
  return numbers;
}

/// A dataset of all kinds of columns.
template <class T>
Dataset<T> whole_dataset(bool sparse) {
  Dataset<T> dataset;
  dataset.x = some_matrix<T>(sparse);
  dataset.feature_names = numbered("gene, \"n\" \xC3\xA4 ", columns);
  dataset.row_names = numbered("s", rows);
  auto& target = dataset.target;
  target.name = "the label";
  target.classes = repeated<std::int32_t>(3);
  target.class_names = {"b", "a", "zw\xC3\xB6lf"};
  target.kind = LabelKind::classes;
  target.fixed_order = true;
  dataset.groups = repeated<std::int32_t>(10);
  dataset.group_names = numbered("patient ", 10);
  dataset.row_columns = {repeated<float>(4, 0.25),  repeated<std::int32_t>(rows), "day",
                         repeated<std::int32_t>(5), numbered("fold", 5),          "visited"};
  dataset.kept = {{"note", numbered("", rows)}, {"", std::vector<std::string>(rows)}};
  return dataset;
}

void expect_same_target(const Target& a, const Target& b) {
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.fixed_order, b.fixed_order);
  EXPECT_EQ(a.positive, b.positive);
  EXPECT_EQ(a.events, b.events);
  ASSERT_EQ(a.targets(), b.targets());
  for (std::size_t c = 0; c < a.further.size(); ++c) {
    EXPECT_EQ(a.further[c].name, b.further[c].name);
    EXPECT_EQ(a.further[c].values, b.further[c].values);
  }
}

template <class T>
void expect_whole(const Dataset<T>& a, const Dataset<T>& b) {
  expect_same_dataset(a, b);
  expect_same_target(a.target, b.target);
  EXPECT_EQ(a.row_names, b.row_names);
  EXPECT_EQ(a.row_columns.weights, b.row_columns.weights);
  EXPECT_EQ(a.row_columns.times, b.row_columns.times);
  EXPECT_EQ(a.row_columns.time_name, b.row_columns.time_name);
  EXPECT_EQ(a.row_columns.folds, b.row_columns.folds);
  EXPECT_EQ(a.row_columns.fold_names, b.row_columns.fold_names);
  EXPECT_EQ(a.row_columns.dates, b.row_columns.dates);
  ASSERT_EQ(a.kept.size(), b.kept.size());
  for (std::size_t k = 0; k < a.kept.size(); ++k) {
    EXPECT_EQ(a.kept[k].name, b.kept[k].name);
    EXPECT_EQ(a.kept[k].values, b.kept[k].values);
  }
}

ReadOptions with_kept() {
  ReadOptions options;
  options.keep_left_out = true;
  return options;
}

template <class T>
bool is_borrowed(const Dataset<T>& dataset) {
  return std::visit([](const auto& x) { return !x.values.is_owned(); }, dataset.x);
}

template <class T>
void check_round_trip(const Dataset<T>& dataset, const ReadOptions& options = with_kept()) {
  const ScratchFolder folder;
  write_dataset(with_threads(3), dataset, folder.file("a.sheaf"));
  const auto back = read_dataset<T>(with_threads(2), folder.file("a.sheaf"), options);
  expect_whole(back, dataset);
  EXPECT_TRUE(is_borrowed(back)) << "the matrix stays where the file is mapped";
  EXPECT_EQ(back.format, "sheaf");
  write_dataset(with_threads(1), back, folder.file("b.sheaf"));
  expect_whole(read_dataset<T>(with_threads(1), folder.file("b.sheaf"), options), dataset);
}

TEST(SheafFile, KeepsAllThatADatasetHolds) {
  for (const bool sparse : {false, true}) {
    check_round_trip(whole_dataset<double>(sparse));
    check_round_trip(whole_dataset<float>(sparse));
  }
  Dataset<double> bare;
  bare.x = some_matrix<double>(false);
  check_round_trip(bare);
}

TEST(SheafFile, KeepsSurvivalSeveralTargetsLevelsAndGaps) {
  auto dataset = whole_dataset<double>(false);
  dataset.target = {};
  dataset.target.values = repeated<double>(50, 0.125);
  dataset.target.kind = LabelKind::numbers;
  dataset.target.events = repeated<std::uint8_t>(2);
  check_round_trip(dataset);
  dataset.target.events.clear();
  dataset.target.further = {{"second", repeated<double>(9, 0.5)}, {"third", repeated<double>(11, -1)}};
  check_round_trip(dataset);
  dataset.levels.resize(columns);
  dataset.levels[2] = {"red", "green", "blue"};
  auto& x = std::get<DenseMatrix<double>>(dataset.x);
  for (std::int64_t i = 0; i < rows; ++i) x.values[i * columns + 2] = static_cast<double>(i % 3);
  x.values[2] = x.values[columns] = std::numeric_limits<double>::quiet_NaN();
  auto options = with_kept();
  options.missing = Missing::keep;
  check_round_trip(dataset, options);
}

TEST(SheafFile, InAnotherPrecisionIsConverted) {
  const ScratchFolder folder;
  const auto path = folder.file("a.sheaf");
  const auto single = whole_dataset<float>(true);
  write_dataset(with_threads(2), single, path);
  const auto read = read_dataset<double>(with_threads(2), path, with_kept());
  expect_whole(read, convert_precision<double>(read_dataset<float>(with_threads(2), path, with_kept()), 1));
  ASSERT_EQ(read.notes.size(), 1U) << "double does not make it more exact";
  EXPECT_NE(read.notes[0].find("single precision"), std::string::npos);
  auto large = whole_dataset<double>(false);
  std::get<DenseMatrix<double>>(large.x).values[5] = 1e300;
  write_dataset(with_threads(2), large, path);
  EXPECT_THROW(read_dataset<float>(with_threads(2), path), Error);
}

TEST(SheafFile, HoldsWhatTheOriginalFileHeld) {
  const ScratchFolder folder;
  for (const char* name : {"dense.npz", "csr.npz", "tenx", "table1.biom", "expected.csv"}) {
    SCOPED_TRACE(name);
    const auto original = read_dataset<double>(with_threads(2), test::golden(std::string("formats/") + name));
    write_dataset(with_threads(2), original, folder.file("a.sheaf"));
    const auto read = read_dataset<double>(with_threads(2), folder.file("a.sheaf"));
    expect_whole(read, original);
  }
}

/// Files that make_sheaf.py has written from the description of the layout.
TEST(SheafFile, OfAnotherProgramIsRead) {
  ReadOptions options;
  options.label = "disease";
  const auto expected = read_dataset<double>(with_threads(2), test::golden("formats/dense.npz"));
  const auto table = read_dataset<double>(with_threads(2), test::golden("formats/table.sheaf"));
  test::expect_same_matrix(table.x, expected.x);
  EXPECT_EQ(table.feature_names, expected.feature_names);
  EXPECT_EQ(table.row_names, expected.row_names);
  EXPECT_EQ(table.target.classes, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(table.target.class_names, (std::vector<std::string>{"sick", "healthy"}));
  EXPECT_EQ(table.groups, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}));
  options.label = "age";
  EXPECT_EQ(read_dataset<double>(with_threads(2), test::golden("formats/table.sheaf"), options).target.values,
            (std::vector<double>{30.5, 41, 22, 57, 63, 35}));
  const auto counts = read_dataset<float>(with_threads(2), test::golden("formats/counts.sheaf"));
  EXPECT_EQ(std::get<SparseMatrix<float>>(counts.x).nonzeros(), 12);
  EXPECT_EQ(counts.target.values, (std::vector<double>{30.5, 41, 22, 57, 63, 35}));
  EXPECT_TRUE(is_borrowed(counts));
}

TEST(SheafFile, RolesCanBeGivenToOtherColumns) {
  const ScratchFolder folder;
  auto dataset = whole_dataset<double>(false);
  dataset.feature_names = numbered("f", columns);
  dataset.kept = {{"age", numbered("", rows)}};
  write_dataset(with_threads(2), dataset, folder.file("a.sheaf"));
  ReadOptions options;
  options.label = "age";
  options.group = "the label";
  auto read = read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options);
  EXPECT_EQ(read.target.name, "age");
  EXPECT_EQ(read.target.values[17], 17);
  EXPECT_EQ(read.group_names, (std::vector<std::string>{"b", "a", "zw\xC3\xB6lf"}));
  EXPECT_TRUE(is_borrowed(read));
  options = {};
  options.label = "f3";
  options.ignore = {"f0"};
  read = read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options);
  EXPECT_EQ(read.feature_names, (std::vector<std::string>{"f1", "f2", "f4", "f5", "f6"}));
  EXPECT_EQ(read.groups, dataset.groups);
  options = {};
  options.group = "none";
  read = read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options);
  EXPECT_TRUE(read.groups.empty());
  expect_same_target(read.target, dataset.target);
  options.label = "none";
  EXPECT_TRUE(read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options).target.empty());
}

TEST(SheafFile, SummaryIsThatOfTheValues) {
  const ScratchFolder folder;
  for (const bool sparse : {false, true}) {
    const auto dataset = whole_dataset<double>(sparse);
    write_dataset(with_threads(3), dataset, folder.file("a.sheaf"));
    const auto read = read_dataset<double>(with_threads(1), folder.file("a.sheaf"));
    ASSERT_TRUE(has_stored_summary(read));
    EXPECT_FALSE(has_stored_summary(dataset));
    const auto stored = summarize(with_threads(1), read);
    const auto expected = summarize(with_threads(2), dataset);
    EXPECT_EQ(stored.nonzeros, expected.nonzeros);
    EXPECT_EQ(stored.row_nonzeros_histogram, expected.row_nonzeros_histogram);
    EXPECT_EQ(stored.constant_features, expected.constant_features);
    EXPECT_EQ(stored.minimum, expected.minimum);
    EXPECT_EQ(stored.integers_only, expected.integers_only);
    EXPECT_EQ(stored.class_counts, expected.class_counts);
    ASSERT_EQ(stored.per_feature.size(), expected.per_feature.size());
    for (std::size_t j = 0; j < stored.per_feature.size(); ++j) {
      EXPECT_EQ(stored.per_feature[j].mean, expected.per_feature[j].mean);
      EXPECT_EQ(stored.per_feature[j].standard_deviation, expected.per_feature[j].standard_deviation);
    }
    auto changed = read.borrowed();
    changed.change_x();
    EXPECT_FALSE(has_stored_summary(changed)) << "it is not that of other values";
  }
}

/// Gaps are counted and left out of the statistics.
TEST(SheafFile, SummaryLeavesGapsOut) {
  const ScratchFolder folder;
  Dataset<double> dataset;
  const double gap = std::numeric_limits<double>::quiet_NaN();
  dataset.x = test::dense_of<double>({{1, gap}, {3, 8}, {gap, 8}}, 2);
  dataset.feature_names = {"a", "b"};
  write_dataset(with_threads(2), dataset, folder.file("a.sheaf"));
  ReadOptions options;
  options.missing = Missing::keep;
  const auto read = read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options);
  const auto described = profile(with_threads(2), read, {.values = false});
  EXPECT_EQ(described.summary.per_feature[0].mean, 2);
  EXPECT_EQ(described.summary.per_feature[0].maximum, 3);
  EXPECT_EQ(described.summary.per_feature[1].standard_deviation, 0);
  std::string findings;
  for (const auto& finding : described.findings) findings += finding.code + ": " + finding.message + "\n";
  EXPECT_NE(findings.find("missing-values: 2 features have missing values: a (33.3 %), b (33.3 %)"), std::string::npos)
      << findings;
  options.missing = Missing::mean;
  const auto filled = read_dataset<double>(with_threads(2), folder.file("a.sheaf"), options);
  EXPECT_EQ(std::get<DenseMatrix<double>>(filled.x).values[4], 2);
  EXPECT_FALSE(is_borrowed(filled));
}

// ---- damage --------------------------------------------------------------------------------------------------------

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string message_of(std::string_view bytes, const ReadOptions& given = {}) {
  auto options = given;
  options.format = "sheaf";
  try {
    parse_dataset<double>(with_threads(2), bytes, "x.sheaf", options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class DamagedSheafFile : public testing::Test {
 protected:
  static Forged file(bool sparse = false) {
    const ScratchFolder folder;
    auto dataset = whole_dataset<double>(sparse);
    if (!sparse) {
      dataset.levels.resize(columns);
      dataset.levels[0] = {"u", "v"};
      auto& values = std::get<DenseMatrix<double>>(dataset.x).values;
      for (std::int64_t i = 0; i < rows; ++i) values[i * columns] = static_cast<double>(i % 2);
    }
    write_dataset(with_threads(2), dataset, folder.file("a.sheaf"));
    return {bytes_of(folder.file("a.sheaf"))};
  }
  static void expect_refused(const std::string& bytes, const std::string& part) {
    const auto message = message_of(bytes);
    EXPECT_TRUE(message.starts_with("x.sheaf: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
};

TEST_F(DamagedSheafFile, ThatIsWholeIsRead) {
  for (const bool sparse : {false, true}) {
    EXPECT_EQ(message_of(file(sparse).bytes), "");
    EXPECT_EQ(message_of(file(sparse).sealed()), "");
  }
}

TEST_F(DamagedSheafFile, CutShortOrLongerIsRefused) {
  const auto bytes = file().bytes;
  for (std::size_t size = 0; size < bytes.size(); size += size < 2000 ? 37 : 1001)
    EXPECT_NE(message_of(std::string_view(bytes).substr(0, size)), "") << size;
  expect_refused(bytes.substr(0, bytes.size() - 1), "its header says");
  expect_refused(bytes + "x", "its header says");
}

TEST_F(DamagedSheafFile, AnyChangeOutsideOfTheMatrixIsNoticed) {
  const auto whole = file();
  const auto matrix = whole.entry(whole.section(SectionKind::values)).offset;
  std::size_t noticed = 0;
  for (std::size_t k = 0; k < whole.header().sections; ++k) {
    const auto entry = whole.entry(k);
    if (entry.offset >= matrix) continue;
    auto bytes = whole.bytes;
    bytes[entry.offset + entry.bytes / 2] ^= 0x10;
    expect_refused(bytes, "checksum of section " + std::to_string(k + 1));
    ++noticed;
  }
  EXPECT_GE(noticed, 12U);
  for (std::size_t at = 8; at < whole.header().header_bytes; at += 13) {
    auto bytes = whole.bytes;
    bytes[at] ^= 1;
    EXPECT_NE(message_of(bytes), "") << "byte " << at << " of the header";
  }
}

TEST_F(DamagedSheafFile, AChangeOfTheMatrixIsNoticedIfAsked) {
  auto changed = file().put(SectionKind::values, 4, 123.0).bytes;
  EXPECT_EQ(message_of(changed), "") << "a finite number is a number";
  ReadOptions options;
  options.verify = Verify::checksums;
  EXPECT_NE(message_of(changed, options).find("checksum"), std::string::npos);
  EXPECT_EQ(message_of(file().bytes, options), "");
}

TEST_F(DamagedSheafFile, OfTheFutureIsRefused) {
  expect_refused(file().set([](sheaf_file::Header& h) { h.version = 2; }).sealed_header(), "version 2 of the layout");
  expect_refused(file().set([](sheaf_file::Header& h) { h.version = 0; }).sealed_header(), "no version");
}

TEST_F(DamagedSheafFile, ForgedSizesAreRefused) {
  constexpr auto huge = std::numeric_limits<std::int64_t>::max();
  const auto with = [&](const std::function<void(sheaf_file::Header&)>& change) {
    return file().set(change).sealed_header();
  };
  expect_refused(with([](sheaf_file::Header& h) { h.rows = huge; }), "declares");
  expect_refused(with([](sheaf_file::Header& h) { h.rows = 0; }), "declares");
  expect_refused(with([](sheaf_file::Header& h) { h.features = -1; }), "declares");
  expect_refused(with([](sheaf_file::Header& h) { h.features = columns + 1; }), "do not have");
  expect_refused(with([](sheaf_file::Header& h) { h.stored = huge; }), "do not have");
  expect_refused(with([](sheaf_file::Header& h) { h.element_bytes = 4; }), "values take");
  expect_refused(with([](sheaf_file::Header& h) { h.element_bytes = 3; }), "bytes in layout");
  expect_refused(with([](sheaf_file::Header& h) { h.compressed_rows = 1; }), "indices take");
  expect_refused(with([](sheaf_file::Header& h) { h.sections = sheaf_file::most_sections; }), "does not have");
  expect_refused(with([](sheaf_file::Header& h) { h.header_bytes = 64; }), "does not have");
  const auto place = [&](const std::function<void(SectionEntry&)>& change) {
    return file().set(SectionKind::values, change).sealed_header();
  };
  expect_refused(place([](SectionEntry& e) { e.offset = ~std::uint64_t{63}; }), "no place");
  expect_refused(place([](SectionEntry& e) { e.bytes = ~std::uint64_t{0}; }), "no place");
  expect_refused(place([](SectionEntry& e) { e.offset = 64; }), "no place");
  expect_refused(place([](SectionEntry& e) { e.bytes -= 8; }), "values take");
  expect_refused(file().set(SectionKind::classes, [](SectionEntry& e) { e.bytes -= 4; }).sealed(), "classes of rows");
  expect_refused(file().set(SectionKind::about, [](SectionEntry& e) { e.kind = 900; }).sealed(), "does not say");
}

TEST_F(DamagedSheafFile, ForgedNumbersAreRefused) {
  expect_refused(file().put(SectionKind::classes, 1, 3).sealed(), "row 2 has number 3 of its 3 classes");
  expect_refused(file().put(SectionKind::classes, 0, -1).sealed(), "number -1");
  expect_refused(file().put(SectionKind::groups, 5, 10).sealed(), "row 6 has number 10 of its 10 groups");
  expect_refused(file().put(SectionKind::folds, 0, 5).sealed(), "folds");
  expect_refused(file().put(SectionKind::times, 0, -5).sealed(), "times");
  expect_refused(file().put(SectionKind::weights, 2, -1.0F).sealed(), "weight of row 3 is -1");
  expect_refused(file().put(SectionKind::level_counts, 1, 1000).sealed(), "levels");
  expect_refused(file().put(SectionKind::feature_names, 0, std::uint64_t{1} << 60U).sealed(), "names of features");
  expect_refused(file().put(SectionKind::feature_names, 3, std::uint64_t{1} << 60U).sealed(), "ends nowhere");
  expect_refused(file().put(SectionKind::summary, 4, std::int64_t{1} << 40U).sealed(), "summary");
  expect_refused(file().put(SectionKind::about, 0, '[').sealed(), "no JSON");
  expect_refused(file().put(SectionKind::values, columns, 2.0).sealed(), "row 2 has level 2 of feature");
  expect_refused(file().put(SectionKind::values, columns + 1, std::numeric_limits<double>::infinity()).sealed(),
                 "row 2, feature 'gene, \"n\" \xC3\xA4 1', is infinite");
  expect_refused(file().put(SectionKind::values, 1, std::numeric_limits<double>::quiet_NaN()).sealed(), "row 1");
  expect_refused(file(true).put(SectionKind::indices, 0, std::int32_t{columns}).sealed(), "entry in column 8");
  expect_refused(file(true).put(SectionKind::indices, 0, -1).sealed(), "entry in column 0");
  expect_refused(file(true).put(SectionKind::offsets, 0, std::int64_t{1}).sealed(), "do not hold");
  expect_refused(file(true).put(SectionKind::offsets, 2, std::int64_t{1} << 50U).sealed(), "goes from value");
  expect_refused(file(true).put(SectionKind::offsets, 2, std::int64_t{-1}).sealed(), "goes from value");
}

TEST(SheafFile, WithoutACheckOpensWithoutReading) {
  const ScratchFolder folder;
  const auto path = folder.file("a.sheaf");
  write_dataset(with_threads(2), whole_dataset<double>(false), path);
  Forged forged{bytes_of(path)};
  forged.put(SectionKind::values, 3, std::numeric_limits<double>::infinity());
  std::ofstream(path, std::ios::binary) << forged.bytes;
  EXPECT_THROW(read_dataset<double>(with_threads(2), path), Error);
  ReadOptions options;
  options.verify = Verify::none;
  EXPECT_EQ(read_dataset<double>(with_threads(2), path, options).rows(), rows);
}

/// Pages that are gone read as zeros; the work ends, and nothing is written.
TEST(SheafFile, CutShortInUseEndsTheWork) {
  const ScratchFolder folder;
  const auto path = folder.file("a.sheaf");
  const auto context = with_threads(2);
  {
    write_dataset(context, whole_dataset<double>(false), path);
    const auto dataset = read_dataset<double>(context, path);
    context.check_stop();
    const auto& values = std::get<DenseMatrix<double>>(dataset.x).values;
    ASSERT_EQ(truncate(path.c_str(), 4096), 0);
    EXPECT_EQ(values[values.size() - 1], 0);
    try {
      context.check_stop();
      ADD_FAILURE() << "the work goes on";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(path + ": was cut short"), 0U) << error.what();
    }
    EXPECT_THROW(write_text_file(folder.file("result.txt"), "zeros"), Error);
    EXPECT_FALSE(std::filesystem::exists(folder.file("result.txt")));
  }
  context.check_stop();  // the next dataset is another one
}

}  // namespace sheaf_file_test
}  // namespace sheaf
