// Written data are read back as the same bits, in every format, compression and precision; data that cannot be written
// leave nothing behind.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <sys/stat.h>
#include <unistd.h>

#include <sheaf/io.hpp>

#include "core/random.hpp"
#include "same_dataset.hpp"
#include "tables.hpp"

namespace sheaf {
namespace io_round_trip_test {

using Names = std::vector<std::string>;
using test::expect_same_dataset;
using test::with_threads;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-io-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  Names files() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    return names;
  }

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Values from all over the type's range, the smallest and largest among them.
template <class T>
T any_value(Random& random) {
  using Limits = std::numeric_limits<T>;
  switch (random.below(8)) {
    case 0:
      return static_cast<T>(random.below(1000));
    case 1:
      return -T(0);
    case 2:
      return Limits::denorm_min() * static_cast<T>(random.below(1000));
    case 3:
      return random.below(2) == 0 ? Limits::max() : Limits::lowest();
    case 4:
      return std::ldexp(static_cast<T>(random.normal()), static_cast<int>(random.below(200)) - 100);
    default:
      return static_cast<T>(random.normal());
  }
}

template <class T>
void set_target(Dataset<T>& dataset, Random& random, bool words) {
  dataset.target.name = "the label";
  const Names names = words ? Names{"one", "zw\xC3\xB6lf", "x-y"} : Names{"2", "-7", "1e3"};
  for (std::int64_t i = 0; i < dataset.rows(); ++i) {
    const auto id = i < 3 ? static_cast<std::size_t>(i) : random.below(3);
    dataset.target.classes.push_back(static_cast<std::int32_t>(id));
    if (!words) dataset.target.values.push_back(std::stod(names[id]));
  }
  dataset.target.class_names = names;
  dataset.target.order_classes();
}

template <class T>
Dataset<T> random_table(bool sparse, bool words, std::uint64_t seed) {
  Random random(seed);
  constexpr std::int64_t rows = 137;
  constexpr std::int64_t columns = 11;
  DenseMatrix<T> x{rows, columns, Array<T>::zeros(rows * columns)};
  for (T& value : x.values)
    if (!sparse || random.below(4) == 0) value = any_value<T>(random);
  x.values[columns - 1] = T(1);  // the last feature is in use, or a LIBSVM file would lack it
  Dataset<T> dataset;
  if (sparse)
    dataset.x = to_sparse(x, 1);
  else
    dataset.x = std::move(x);
  set_target(dataset, random, words);
  return dataset;
}

template <class T>
Dataset<T> read_back(const std::string& path, bool sparse, const ReadOptions& base = {}) {
  ReadOptions options = base;
  options.storage = sparse ? Storage::sparse : Storage::dense;
  return read_dataset<T>(with_threads(2), path, options);
}

template <class T>
void check_round_trips(const std::string& ending) {
  const Folder folder;
  for (const bool sparse : {false, true})
    for (const bool words : {false, true}) {
      SCOPED_TRACE(ending + (sparse ? " sparse" : " dense") + (words ? " words" : " numbers"));
      auto dataset = random_table<T>(sparse, words, 5);
      if (ending.starts_with(".libsvm"))
        dataset.target.name.clear();  // which has no names
      else
        for (int j = 0; j < dataset.features(); ++j)
          dataset.feature_names.push_back("gene, \"n\" 'r' " + std::to_string(j));
      const std::string path = folder.file("table" + ending);
      write_dataset(with_threads(3), dataset, path);
      expect_same_dataset(read_back<T>(path, sparse), dataset);
    }
}

/// No compression, and every one this build has.
std::vector<std::string> endings() {
  std::vector<std::string> list{""};
  for (const std::string_view ending : compressions()) list.emplace_back(ending);
  return list;
}

TEST(RoundTrip, KeepsEveryBit) {
  for (const std::string format : {".libsvm", ".arff"})
    for (const std::string& compression : endings()) {
      check_round_trips<double>(format + compression);
      check_round_trips<float>(format + compression);
    }
}

TEST(RoundTrip, OfCsvKeepsEveryValue) {
  for (const std::string& compression : endings()) {
    const Folder folder;
    for (const bool words : {false, true}) {
      auto dataset = random_table<double>(false, words, 6);
      dataset.feature_names = {"a", "b b", "c,d", "e\"f", "5", "g\nh", "\xC3\xA4", "i;j", "k|l", "m'n", "o"};
      const std::string path = folder.file("table.csv" + compression);
      write_dataset(with_threads(3), dataset, path);
      expect_same_dataset(read_back<double>(path, false), dataset);
    }
  }
}

TEST(RoundTrip, OfUnnamedTablesStaysUnnamed) {
  const Folder folder;
  for (const char* name : {"t.csv", "t.arff"})
    for (const bool words : {false, true}) {
      const auto dataset = random_table<double>(false, words, 7);
      write_dataset(with_threads(1), dataset, folder.file(name));
      expect_same_dataset(read_back<double>(folder.file(name), false), dataset);
    }
}

TEST(RoundTrip, KeepsGroups) {
  const Folder folder;
  auto dataset = random_table<double>(true, true, 8);
  dataset.target.name.clear();
  for (std::int64_t i = 0; i < dataset.rows(); ++i) dataset.groups.push_back(static_cast<std::int32_t>(i / 10));
  for (int g = 0; g < 14; ++g) dataset.group_names.push_back(std::to_string(g * 3 + 1));
  write_dataset(with_threads(2), dataset, folder.file("g.libsvm"));
  expect_same_dataset(read_back<double>(folder.file("g.libsvm"), true), dataset);
  ReadOptions options;
  options.group = "group";
  for (const char* name : {"g.csv", "g.arff"}) {
    write_dataset(with_threads(2), dataset, folder.file(name));
    const auto back = read_back<double>(folder.file(name), true, options);
    EXPECT_EQ(back.groups, dataset.groups) << name;
    EXPECT_EQ(back.group_names, dataset.group_names) << name;
    EXPECT_EQ(back.features(), dataset.features()) << name;
  }
}

TEST(RoundTrip, KeepsStatesInArff) {
  const Folder folder;
  Dataset<double> dataset;
  dataset.x = DenseMatrix<double>{3, 2, Array<double>::copy_of(std::vector<double>{2, 0.5, 0, -1, 1, 3})};
  dataset.feature_names = {"colour", "size"};
  dataset.levels = {{"red", "sea green", "it's {odd}, 100%\\"}, {}};
  dataset.target.name = "kind";
  dataset.target.classes = {0, 1, 0};
  dataset.target.class_names = {"a b", "?"};  // in the order of the alphabet, the last is the positive one
  write_dataset(with_threads(1), dataset, folder.file("n.arff"));
  expect_same_dataset(read_back<double>(folder.file("n.arff"), false), dataset);
  write_dataset(with_threads(1), dataset, folder.file("n.csv"));
  EXPECT_EQ(text_of(folder.file("n.csv")),
            "colour,size,kind\n\"it's {odd}, 100%\\\",0.5,\"a b\"\nred,-1,\"?\"\n\"sea green\",3,\"a b\"\n");
}

TEST(RoundTrip, OfAmountsKeepsThem) {
  const Folder folder;
  auto dataset = random_table<double>(false, false, 9);
  dataset.target = {};
  Random random(3);
  for (std::int64_t i = 0; i < dataset.rows(); ++i) dataset.target.values.push_back(random.normal());
  for (const char* name : {"y.libsvm", "y.csv", "y.arff"}) {
    write_dataset(with_threads(1), dataset, folder.file(name));
    EXPECT_EQ(read_back<double>(folder.file(name), false).target.values, dataset.target.values) << name;
  }
}

TEST(Writing, IsTheSameForEveryNumberOfThreads) {
  const Folder folder;
  Dataset<double> dataset;
  constexpr std::int64_t rows = 5000;
  DenseMatrix<double> x{rows, 40, Array<double>(rows * 40)};
  Random random(4);
  for (double& value : x.values) value = random.normal();
  dataset.x = std::move(x);
  write_dataset(with_threads(1), dataset, folder.file("1.csv"));
  for (const int threads : {2, 3, 7}) {
    write_dataset(with_threads(threads), dataset, folder.file("n.csv"));
    EXPECT_EQ(text_of(folder.file("n.csv")), text_of(folder.file("1.csv"))) << threads;
  }
}

TEST(Writing, TakesDelimiterHeaderAndDigits) {
  const Folder folder;
  Dataset<double> dataset;
  dataset.x = DenseMatrix<double>{1, 2, Array<double>::copy_of(std::vector<double>{1.0 / 3, 1e10})};
  dataset.target.values = {2.5};
  WriteOptions options;
  options.header = false;
  options.delimiter = ';';
  options.digits = 3;
  write_dataset(with_threads(1), dataset, folder.file("t.csv"), options);
  EXPECT_EQ(text_of(folder.file("t.csv")), "0.333;1e+10;2.5\n");
}

TEST(Writing, RefusesWhatTheFormatCannotSay) {
  const Folder folder;
  auto dataset = random_table<double>(false, true, 10);
  for (const char* name : {"two words", "", "a:b", "1,2", "C#", "inf", "1e999"}) {
    dataset.target.class_names[1] = name;
    EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.libsvm")), Error) << name;
  }
  dataset.target.class_names[1] = "w";
  std::get<DenseMatrix<double>>(dataset.x).values[77] = std::numeric_limits<double>::quiet_NaN();
  for (const char* name : {"t.libsvm", "t.csv", "t.arff", "t.csv.gz"})
    EXPECT_THROW(write_dataset(with_threads(2), dataset, folder.file(name)), Error) << name;
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.xlsx")), UsageError);
  WriteOptions options;
  options.delimiter = '.';
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.csv"), options), UsageError);
  EXPECT_EQ(folder.files(), Names{});
}

TEST(Writing, AFullDiskIsToldAndLeavesNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  auto dataset = random_table<double>(false, true, 11);
  WriteOptions options;
  options.format = "csv";
  try {
    write_dataset(with_threads(1), dataset, "/dev/full", options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "/dev/full: cannot be written: No space left on device");
  }
}

TEST(Writing, AFolderThatIsNotThereIsTold) {
  const Folder folder;
  const auto dataset = random_table<double>(false, true, 12);
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("none/t.csv")), Error);
  EXPECT_THROW(write_text_file(folder.file("none/t.txt"), "x"), Error);
  EXPECT_EQ(folder.files(), Names{});
}

TEST(Writing, AFailureKeepsTheOldFile) {
  const Folder folder;
  write_text_file(folder.file("t.csv"), "old");
  auto dataset = random_table<double>(false, true, 13);
  std::get<DenseMatrix<double>>(dataset.x).values[5] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.csv")), Error);
  EXPECT_EQ(text_of(folder.file("t.csv")), "old");
  EXPECT_EQ(folder.files(), Names{"t.csv"});
}

TEST(Writing, ReplacesTextWhole) {
  const Folder folder;
  write_text_file(folder.file("t"), "first\n");
  write_text_file(folder.file("t"), "second");
  EXPECT_EQ(text_of(folder.file("t")), "second");
  EXPECT_EQ(folder.files(), Names{"t"});
}

}  // namespace io_round_trip_test
}  // namespace sheaf
