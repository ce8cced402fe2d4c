// Random tables written in many ways: the readers agree with naive ones, and with themselves for every number of
// threads and every size of chunks. Real tables, if present, have the shape in their list.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include <sheaf/io.hpp>

#include "core/random.hpp"
#include "data/read/reading.hpp"
#include "reference/naive_tables.hpp"
#include "same_dataset.hpp"
#include "tables.hpp"

namespace sheaf {
namespace io_agreement_test {

using reference::NaiveTable;
using test::expect_same_dataset;
using test::with_threads;

std::string pick(Random& random, const std::vector<std::string>& from) { return from[random.below(from.size())]; }

/// A number in one of the many ways they are written.
std::string any_number(Random& random) {
  const double value = random.uniform(-1, 1) * std::pow(10.0, static_cast<double>(random.below(12)) - 4);
  switch (random.below(8)) {
    case 0:
      return std::to_string(random.below(1000));
    case 1:
      return fmt::format("{:.3f}", value);
    case 2:
      return fmt::format("{:.6g}", value);
    case 3:
      return fmt::format("{}", value);
    case 4:
      return fmt::format("{:.20e}", value);
    case 5:
      return fmt::format("+{}", random.below(100));
    case 6:
      return pick(random, {"0", "-0", ".5", "-7.", "1e5", "1E-07", "00012", "123456789012345678901234", "3e-320"});
    default:
      return fmt::format("{:.0f}", value * 1e6);
  }
}

std::string line_end_of(Random& random) { return pick(random, {"\n", "\n", "\r\n"}); }

std::string random_libsvm(Random& random, bool grouped) {
  std::string text;
  const auto rows = random.below(60);
  for (std::uint64_t i = 0; i <= rows; ++i) {
    if (random.below(8) == 0) text += pick(random, {"", "   ", "# a: comment 3:4", "\t", "  #q"}) + line_end_of(random);
    text += pick(random, {"", "", " ", "\t"}) + pick(random, {"1", "+1", "-1", "1.0", "spam", "2e0", "quiz"});
    if (grouped) text += fmt::format(" qid:{}", i / 3);
    std::uint64_t index = 0;
    for (auto k = random.below(12); k > 0; --k) {
      index += 1 + random.below(random.below(20) == 0 ? 12'000'000 : 30);
      text += fmt::format("{}{}:{}", pick(random, {" ", "  ", "\t"}), index, any_number(random));
    }
    if (random.below(6) == 0) text += pick(random, {" ", " # trailing 1:2", "#x", "\t "});
    text += line_end_of(random);
  }
  if (random.below(2) == 0) text.pop_back();
  return text;
}

std::string random_csv(Random& random, char delimiter) {
  std::string text;
  const auto columns = 1 + random.below(6);
  const auto rows = random.below(60);
  for (std::uint64_t i = 0; i <= rows; ++i) {
    if (random.below(10) == 0) text += line_end_of(random);
    for (std::uint64_t j = 0; j < columns; ++j) {
      const std::string number = any_number(random);
      text += (random.below(10) == 0 ? "\"" + number + "\"" : number) + delimiter;
    }
    text += pick(random, {"a", "b", "7", "\"two words\"", "\"say \"\"hi\"\"\"", "\"line\nbreak\"", "\"x,y;z|\t\""});
    text += line_end_of(random);
  }
  if (random.below(2) == 0) text.pop_back();
  return text;
}

std::string random_arff(Random& random, int attributes, bool sparse) {
  std::string text = "% made up\n@RELATION r\n\n";
  for (int j = 0; j + 1 < attributes; ++j)
    text += fmt::format("@attribute a{} {}\n", j, pick(random, {"real", "NUMERIC", "integer"}));
  text += "@attribute class {first, second,third}\n@data\n";
  const auto rows = random.below(60);
  for (std::uint64_t i = 0; i <= rows; ++i) {
    if (random.below(8) == 0) text += pick(random, {"", "% c, c", "  "}) + line_end_of(random);
    if (sparse) text += "{";
    std::string separator;
    for (int j = 0; j + 1 < attributes; ++j) {
      if (sparse && random.below(3) != 0) continue;
      text += separator + (sparse ? std::to_string(j) + " " : "") + any_number(random);
      separator = pick(random, {",", ", ", " ,\t"});
    }
    text +=
        separator + (sparse ? std::to_string(attributes - 1) + " " : "") + pick(random, {"first", "second", "third"});
    text += std::string(sparse ? "}" : "") + (random.below(9) == 0 ? " % done" : "") + line_end_of(random);
  }
  if (random.below(2) == 0) text.pop_back();
  return text;
}

std::string label_of(const Target& target, std::size_t row) {
  return target.class_names[static_cast<std::size_t>(target.classes[row])];
}

bool same_label(const std::string& a, const std::string& b) {
  char* end_a = nullptr;
  char* end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a);
  const double y = std::strtod(b.c_str(), &end_b);
  const bool numbers = *end_a == 0 && *end_b == 0 && !a.empty() && !b.empty();
  return numbers ? x == y : a == b;
}

/// Compares with what the naive reader made of the same text; in T, since text is rounded once.
template <class T>
void expect_agreement(const Dataset<T>& dataset, const NaiveTable& naive) {
  ASSERT_EQ(dataset.rows(), static_cast<std::int64_t>(naive.size()));
  const auto dense = is_sparse(dataset.x) ? to_dense(std::get<SparseMatrix<T>>(dataset.x), 1)
                                          : DenseMatrix<T>(std::get<DenseMatrix<T>>(dataset.x).to(Device::cpu()));
  for (std::size_t i = 0; i < naive.size(); ++i) {
    EXPECT_TRUE(same_label(label_of(dataset.target, i), naive[i].label)) << "row " << i;
    std::vector<double> expected(static_cast<std::size_t>(dense.columns));
    for (const auto& [column, value] : naive[i].entries) {
      ASSERT_LT(column, dense.columns);
      expected[static_cast<std::size_t>(column)] = value;
    }
    for (std::int64_t j = 0; j < dense.columns; ++j) {
      const T value = dense.values[static_cast<std::int64_t>(i) * dense.columns + j];
      ASSERT_EQ(value, static_cast<T>(expected[static_cast<std::size_t>(j)])) << "row " << i << " column " << j;
    }
  }
}

ReadOptions options_for(const char* format) {
  ReadOptions options;
  options.format = format;
  options.header = Header::no;
  return options;
}

/// Whatever cut the text apart, the table is the same.
template <class T>
Dataset<T> read_every_way(const std::string& text, const ReadOptions& options) {
  auto whole = parse_chunked<T>(with_threads(1), text, "table", options, std::int64_t{1} << 20);
  for (const int threads : {1, 2, 3, 7})
    for (const std::int64_t chunk_bytes : {1, 3, 17, 64, 1000})
      expect_same_dataset(parse_chunked<T>(with_threads(threads), text, "table", options, chunk_bytes), whole);
  return whole;
}

constexpr int rounds = 60;

TEST(Agreement, OfLibsvmWithANaiveReader) {
  for (int round = 0; round < rounds; ++round) {
    Random random(1, static_cast<std::uint64_t>(round));
    std::string text = random_libsvm(random, round % 2 == 1);
    SCOPED_TRACE(text);
    auto options = options_for("libsvm");
    options.storage = Storage::sparse;
    const auto dataset = read_every_way<double>(text, options);
    const auto naive = reference::naive_libsvm(text);
    ASSERT_EQ(dataset.rows(), static_cast<std::int64_t>(naive.size()));
    const auto& x = std::get<SparseMatrix<double>>(dataset.x);
    int last_column = -1;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const auto& row = naive[static_cast<std::size_t>(i)];
      EXPECT_TRUE(same_label(label_of(dataset.target, static_cast<std::size_t>(i)), row.label));
      ASSERT_EQ(x.offsets[i + 1] - x.offsets[i], static_cast<std::int64_t>(row.entries.size()));
      std::int64_t k = x.offsets[i];
      for (const auto& [column, value] : row.entries) {
        ASSERT_EQ(x.indices[k], column);
        ASSERT_EQ(x.values[k++], value);
        last_column = std::max(last_column, column);
      }
      if (!dataset.groups.empty()) {
        EXPECT_EQ(dataset.group_names[static_cast<std::size_t>(dataset.groups[static_cast<std::size_t>(i)])],
                  row.group);
      }
    }
    EXPECT_EQ(x.columns, last_column + 1);
    EXPECT_EQ(dataset.groups.empty(), round % 2 == 0);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Agreement, OfCsvWithANaiveReader) {
  for (int round = 0; round < rounds; ++round) {
    Random random(2, static_cast<std::uint64_t>(round));
    const char delimiter = ",;\t|"[round % 4];
    const std::string text = random_csv(random, delimiter);
    SCOPED_TRACE(text);
    auto options = options_for("csv");
    options.delimiter = delimiter;
    expect_agreement(read_every_way<double>(text, options), reference::naive_csv(text, delimiter));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Agreement, OfArffWithANaiveReader) {
  for (int round = 0; round < rounds; ++round) {
    Random random(3, static_cast<std::uint64_t>(round));
    const int attributes = 2 + static_cast<int>(random.below(6));
    const std::string text = random_arff(random, attributes, round % 2 == 1);
    SCOPED_TRACE(text);
    auto options = options_for("arff");
    options.storage = round % 2 == 1 ? Storage::sparse : Storage::automatic;
    const auto dataset = read_every_way<double>(text, options);
    EXPECT_EQ(dataset.features(), attributes - 1);
    expect_agreement(dataset, reference::naive_arff(text, attributes));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Agreement, OfSinglePrecisionWithStrtof) {
  for (int round = 0; round < rounds; ++round) {
    Random random(4, static_cast<std::uint64_t>(round));
    const std::string number = fmt::format("{:.{}g}", random.normal(), 1 + random.below(24));
    const auto dataset = parse_dataset<float>(with_threads(1), "1 1:" + number, "table", options_for("libsvm"));
    EXPECT_EQ(std::get<DenseMatrix<float>>(dataset.x).values[0], std::strtof(number.c_str(), nullptr)) << number;
  }
}

// Tables with a list of their shapes, which not every copy of the sources has beside it.
std::string real_tables() { return std::string(SHEAF_TESTS_DIR) + "/../../shared/data"; }

struct RealTable {
  std::string file, rows, features, nonzeros, label_counts;
};

std::vector<RealTable> list_of_real_tables() {
  std::vector<RealTable> tables;
  std::ifstream list(real_tables() + "/MANIFEST.tsv");
  std::string line;
  std::getline(list, line);
  while (std::getline(list, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (cells.size() < 13 || cells[1].find(".pin") != std::string::npos) continue;
    tables.push_back({cells[1], cells[2], cells[3], cells[5], cells[12]});
  }
  return tables;
}

std::string label_counts_of(const Target& target) {
  std::map<std::string, std::int64_t> counts;
  for (const std::int32_t id : target.classes) ++counts[target.class_names[static_cast<std::size_t>(id)]];
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, count] : counts)
    sorted.emplace_back(std::strtod(name.c_str(), nullptr), fmt::format("{}={}", name, count));
  std::sort(sorted.begin(), sorted.end());
  constexpr std::size_t most_listed = 100;
  if (sorted.size() > most_listed) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end(),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format("{} classes, min={} max={}", counts.size(), least->second, most->second);
  }
  std::string text;
  for (const auto& [value, count] : sorted) text += (text.empty() ? "" : ",") + count;
  return text;
}

TEST(RealTables, HaveTheShapeTheirListSays) {
  if (!std::filesystem::exists(real_tables() + "/MANIFEST.tsv"))
    GTEST_SKIP() << "the real tables are not beside the sources: no " << real_tables();
  for (const RealTable& table : list_of_real_tables()) {
    SCOPED_TRACE(table.file);
    ReadOptions options;
    options.storage = Storage::sparse;
    if (table.file.find("wdbc") != std::string::npos) {
      options.label = "diagnosis";
      options.ignore = {"id"};
    }
    const auto dataset = read_dataset<double>(Context(), real_tables() + "/" + table.file, options);
    EXPECT_EQ(std::to_string(dataset.rows()), table.rows);
    // Features that no row has cannot be known from a LIBSVM file, so there may be fewer.
    EXPECT_LE(dataset.features(), std::stoll(table.features));
    EXPECT_GE(dataset.features(), std::stoll(table.features) * 9 / 10);
    if (table.nonzeros != "-") {
      EXPECT_EQ(std::to_string(stored(dataset.x)), table.nonzeros);
    }
    if (table.label_counts != "-") {
      EXPECT_EQ(label_counts_of(dataset.target), table.label_counts);
    }
  }
}

}  // namespace io_agreement_test
}  // namespace sheaf
