// Files of whole matrices: NumPy, Matrix Market, BIOM, AnnData, 10x, Excel. tests/golden/formats holds one dataset in
// all of them, written by the programs of the field, and expected.csv, which holds its content.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sheaf/io.hpp>

#include "data/hdf5/hdf5.hpp"
#include "golden.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace formats_test {

std::string file_of(const std::string& name) { return golden("formats/" + name); }

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

/// expected.csv or counts.csv, read without Sheaf.
struct Expected {
  std::vector<std::string> features, ids, ages, subjects, diseases;
  Rows x;

  explicit Expected(const std::string& name = "expected.csv") {
    auto lines = lines_of(contents(file_of(name)));
    const auto header = fields_of(lines.front());
    features.assign(header.begin() + 1, header.begin() + 5);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto fields = fields_of(lines[i]);
      ids.push_back(fields[0]);
      x.emplace_back();
      for (std::size_t j = 1; j < 5; ++j) x.back().push_back(std::stod(fields[j]));
      ages.push_back(fields[5]);
      subjects.push_back(fields[6]);
      diseases.push_back(fields[7]);
    }
  }
};

Rows values_of(const Dataset<double>& dataset) {
  return std::visit([](const auto& x) { return rows_of(x); }, dataset.x);
}

std::vector<std::string> labels_of(const Dataset<double>& dataset) {
  std::vector<std::string> labels;
  for (const auto c : dataset.target.classes) labels.push_back(dataset.target.class_names[static_cast<std::size_t>(c)]);
  return labels;
}

std::vector<std::string> groups_of(const Dataset<double>& dataset) {
  std::vector<std::string> groups;
  for (const auto g : dataset.groups) groups.push_back(dataset.group_names[static_cast<std::size_t>(g)]);
  return groups;
}

Dataset<double> read(const std::string& name, const ReadOptions& options = {}, int threads = 2) {
  return read_dataset<double>(with_threads(threads), file_of(name), options);
}

ReadOptions labelled(const std::string& label = "disease") {
  ReadOptions options;
  options.label = label;
  return options;
}

/// Whether this build writes HDF5 files.
bool has_hdf5() {
  try {
    const Hdf5Writer file((std::filesystem::temp_directory_path() / "sheaf-has-hdf5.h5").string());
    return true;
  } catch (const Error&) {
    return false;
  }
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-formats-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return file(name);
  }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

std::string message_of(const std::string& path, const ReadOptions& options = {}) {
  try {
    read_dataset<double>(with_threads(2), path, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
}

TEST(Npy, OfEveryTypeAndOrderHoldsTheSameNumbers) {
  const Expected expected;
  const Expected counts("counts.csv");
  for (const char* name : {"f8", "big_f8", "fortran"})
    EXPECT_EQ(values_of(read(std::string("npy/") + name + ".npy")), expected.x) << name;
  for (const char* name : {"i2", "big_i4", "i8", "u1", "big_u2", "u4", "u8"})
    EXPECT_EQ(values_of(read(std::string("npy/") + name + ".npy")), counts.x) << name;
  for (const char* name : {"f4", "big_fortran_f4"}) {
    const auto rows = values_of(read(std::string("npy/") + name + ".npy"));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < 4; ++j)
        EXPECT_EQ(rows[i][j], static_cast<double>(static_cast<float>(expected.x[i][j]))) << name;
  }
  const auto half = values_of(read("npy/f2.npy"));
  EXPECT_EQ(half[0], (std::vector<double>{1.5, 0, -2, 7}));
  EXPECT_NEAR(half[1][3], 0.1, 1e-4);
  EXPECT_EQ(half[4][3], 12344) << "12345.678 in 11 bits";
  EXPECT_EQ(values_of(read("npy/i1.npy"))[0][3], 127);
  EXPECT_EQ(values_of(read("npy/bool.npy"))[0], (std::vector<double>{1, 0, 1, 1}));
  EXPECT_EQ(values_of(read("npy/one.npy")), (Rows{{1.5}, {0}, {2}, {0}, {4}, {0}}));
}

TEST(Npy, TakesItsLabelFromAColumnAndTurnsRowsAndColumns) {
  const auto dataset = read("npy/i2.npy", labelled("-1"));
  EXPECT_EQ(dataset.features(), 3);
  EXPECT_EQ(dataset.target.values, (std::vector<double>{250, 1, 0, 2, 0, 4}));
  EXPECT_TRUE(read("npy/i2.npy").target.empty()) << "no column is a label by its place";
  ReadOptions options;
  options.transpose = true;
  for (const char* name :
       {"npy/f8.npy", "npy/fortran.npy", "csr.npz", "csc.npz", "coo.npz", "general.mtx", "array.mtx"}) {
    const auto turned = values_of(read(name, options));
    ASSERT_EQ(turned.size(), 4U) << name;
    EXPECT_EQ(turned[3], (std::vector<double>{7, 0.1, 1e-3, 0, 12345.678, 0})) << name;
  }
}

TEST(Npz, HoldsMatrixNamesAndColumnsAboutTheRows) {
  const Expected expected;
  ReadOptions options;
  options.group = "subject";
  for (const char* name : {"dense.npz", "compressed.npz"}) {
    const auto dataset = read(name, options);
    EXPECT_EQ(values_of(dataset), expected.x) << name;
    EXPECT_EQ(dataset.feature_names, expected.features) << name;
    EXPECT_EQ(dataset.row_names, expected.ids) << name;
    EXPECT_EQ(labels_of(dataset), expected.diseases) << name;
    EXPECT_EQ(groups_of(dataset), expected.subjects) << name;
    EXPECT_EQ(dataset.target.name, "y");
  }
  EXPECT_EQ(values_of(read("only.npz")), expected.x);
  EXPECT_EQ(read("numbers.npz").target.values, (std::vector<double>{30.5, 41, 22, 57, 63, 35}));
}

TEST(Npz, SparseMatricesOfSciPyAreReadInEveryFormat) {
  for (const char* name : {"csr.npz", "csc.npz", "coo.npz"}) {
    ReadOptions options;
    options.storage = Storage::sparse;
    const auto dataset = read(name, options);
    EXPECT_EQ(values_of(dataset), Expected().x) << name;
    EXPECT_EQ(stored(dataset.x), 12) << name;
  }
}

TEST(Market, OfEveryKindIsRead) {
  const Expected expected;
  const Expected counts("counts.csv");
  for (const char* name : {"general.mtx", "array.mtx"}) EXPECT_EQ(values_of(read(name)), expected.x) << name;
  EXPECT_EQ(values_of(read("integer.mtx")), counts.x);
  auto pattern = counts.x;
  for (auto& row : pattern)
    for (auto& value : row) value = value != 0 ? 1 : 0;
  EXPECT_EQ(values_of(read("pattern.mtx")), pattern);
  const auto square = values_of(read("symmetric.npy"));
  EXPECT_EQ(values_of(read("symmetric.mtx")), square);
  EXPECT_EQ(values_of(read("symmetric_array.mtx")), square);
}

TEST(Market, AFolderHasNamesAndItsRowsAreFeatures) {
  const Expected expected;
  for (const char* name : {"tenx", "tenx/matrix.mtx.gz"})
    for (const int threads : {1, 2, 7}) {
      const auto dataset = read(name, {}, threads);
      EXPECT_EQ(values_of(dataset), expected.x) << name;
      EXPECT_EQ(dataset.feature_names, expected.features);
      EXPECT_EQ(dataset.row_names, expected.ids);
    }
}

TEST(Biom, OfBothVersionsAndInAnArtifactIsTheSame) {
  const Expected expected;
  auto options = labelled();
  options.group = "subject";
  for (const char* name : {"table1.biom", "dense1.biom", "table2.biom"}) {
    const auto dataset = read(name, options);
    EXPECT_EQ(dataset.format, "biom");
    EXPECT_EQ(values_of(dataset), expected.x) << name;
    EXPECT_EQ(dataset.feature_names, expected.features) << name;
    EXPECT_EQ(dataset.row_names, expected.ids) << name;
    EXPECT_EQ(labels_of(dataset), expected.diseases) << name;
    EXPECT_EQ(groups_of(dataset), expected.subjects) << name;
  }
  for (const char* name : {"plain2.biom", "table.qza"}) {
    const auto dataset = read(name);
    EXPECT_EQ(values_of(dataset), Expected("counts.csv").x) << name;
    EXPECT_EQ(dataset.row_names, expected.ids) << name;
    EXPECT_TRUE(dataset.target.empty());
  }
  EXPECT_EQ(read("table2.biom", labelled("age")).target.values, (std::vector<double>{30.5, 41, 22, 57, 63, 35}));
}

TEST(AnnData, DenseAndSparseGiveLabelsOfEveryTypeOfColumn) {
  const Expected expected;
  std::vector<const char*> names{"dense.h5ad",      "csr.h5ad",        "csc.h5ad", "dense_chunks.h5ad",
                                 "csc_chunks.h5ad", "dense_fill.h5ad", "lzf.h5ad"};
  if (has_hdf5()) names.insert(names.end(), {"later.h5ad", "checksums.h5ad"});  // read by libhdf5
  for (const char* name : names) {
    auto options = labelled();  // categorical
    options.group = "subject";  // texts
    options.weight_column = "age";
    const auto dataset = read(name, options);
    EXPECT_EQ(values_of(dataset), expected.x) << name;
    EXPECT_EQ(dataset.feature_names, expected.features) << name;
    EXPECT_EQ(dataset.row_names, expected.ids) << name;
    EXPECT_EQ(labels_of(dataset), expected.diseases) << name;
    EXPECT_EQ(groups_of(dataset), expected.subjects) << name;
    EXPECT_EQ(dataset.row_columns.weights, (std::vector<float>{30.5F, 41, 22, 57, 63, 35})) << name;
    EXPECT_EQ(labels_of(read(name, labelled("old"))),
              (std::vector<std::string>{"False", "True", "False", "True", "True", "False"}));
    EXPECT_EQ(read(name, labelled("rank")).target.values, (std::vector<double>{0, 1, 2, 3, 4, 5}));
    options.layer = "counts";
    EXPECT_EQ(values_of(read(name, options)), Expected("counts.csv").x) << name;
  }
  EXPECT_EQ(values_of(read("tenx.h5")), Expected("counts.csv").x);
  EXPECT_EQ(read("tenx.h5").feature_names, expected.features);
  EXPECT_EQ(read("tenx.h5").row_names, expected.ids);
}

TEST(Xlsx, ASheetIsReadAsCsv) {
  const Expected expected;
  auto options = labelled();
  options.sheet = "data & more";
  options.group = "subject";
  options.id = "id";
  options.ignore = {"smokes"};
  options.keep = {"taken", "smokes"};
  const auto dataset = read("table.xlsx", options);
  auto rows = values_of(dataset);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].back(), std::stod(expected.ages[i]));
    rows[i].pop_back();
  }
  EXPECT_EQ(rows, expected.x);
  EXPECT_EQ(dataset.row_names, expected.ids);
  EXPECT_EQ(labels_of(dataset), expected.diseases);
  ASSERT_EQ(dataset.kept.size(), 2U);
  EXPECT_EQ(dataset.kept[0].values[4], "2021-03-05") << "dates are texts";
  EXPECT_EQ(dataset.kept[1].values[0], "TRUE");
  options = {};
  options.sheet = "gaps";
  options.missing = Missing::zero;
  EXPECT_EQ(values_of(read("table.xlsx", options)), (Rows{{1, 0, 3}, {4, 5, 0}, {0, 8, 9}}));
}

TEST(Metadata, AreJoinedByIdWhateverTheOrder) {
  const Expected expected;
  ReadOptions options = labelled();
  options.metadata = file_of("metadata.tsv");
  options.group = "subject";
  options.weight_column = "weight";
  std::vector<std::string> names{"tenx", "dense.npz", "table1.biom", "counts.csv"};
  names.insert(names.end(), {"plain2.biom", "table.qza", "csr.h5ad", "tenx.h5"});
  for (const auto& name : names) {
    SCOPED_TRACE(name);
    auto own = options;
    if (name == "counts.csv") {
      own.id = "SampleID";  // of the metadata; the dataset's ids are its first column
      own.ignore = {"disease", "subject", "age"};
    }
    const auto dataset = read(name, own);
    EXPECT_EQ(dataset.row_names, (std::vector<std::string>{"s1", "s2", "s3", "s5", "s6"}));
    EXPECT_EQ(labels_of(dataset), (std::vector<std::string>{"sick", "healthy", "sick", "sick", "healthy"}));
    EXPECT_EQ(groups_of(dataset), (std::vector<std::string>{"p1", "p1", "p2", "p3", "p3"}));
    EXPECT_EQ(dataset.row_columns.weights, (std::vector<float>{1, 2, 3, 5, 6}));
    EXPECT_EQ(dataset.features(), 4);
    std::string notes;
    for (const auto& note : dataset.notes) notes += note + "\n";
    expect_parts(notes, {"1 of 6 rows have no line", "left out: s4", "1 of 6 ids name no row", ": s9"});
  }
  options.known = KnownColumns{4, expected.features, {}, "disease", {}};
  EXPECT_EQ(read("tenx", options).rows(), 6) << "a model predicts rows without metadata";
}

TEST(Metadata, ThatDoNotFitAreExplained) {
  const Folder folder;
  ReadOptions options = labelled();
  options.metadata = folder.write("other.csv", "id,disease\nx1,sick\nx2,healthy\n");
  expect_parts(message_of(file_of("tenx"), options), {"other.csv", "none of its ids", "x1", "s1", "--id"});
  options.metadata = folder.write("twice.csv", "id,disease\ns1,sick\ns1,healthy\n");
  expect_parts(message_of(file_of("tenx"), options), {"twice.csv:3:1", "'s1'", "twice"});
  options.metadata = folder.write("short.csv", "id,disease\ns1,sick\ns2\n");
  expect_parts(message_of(file_of("tenx"), options), {"short.csv:3:1", "1 field;", "2 are expected"});
  options.metadata = folder.write("good.csv", "id,disease\ns1,sick\ns2,healthy\ns3,\n");
  options.id = "sampel";
  expect_parts(message_of(file_of("tenx"), options), {"good.csv", "'sampel'", "id, disease"});
  options.id = "";
  options.label = "diseas";
  expect_parts(message_of(file_of("tenx"), options), {"'diseas'", "did you mean 'disease'"});
  options.label = "disease";
  EXPECT_EQ(read("tenx", options).rows(), 2) << "s3 has no label";
  expect_parts(message_of(file_of("csr.npz"), options), {"csr.npz", "no ids"});
  expect_parts(message_of(folder.write("a.libsvm", "1 1:2\n"), options), {"a.libsvm", "no ids"});
}

TEST(MatrixFiles, AreKnownByContentWhateverTheirName) {
  const Folder folder;
  std::vector<std::pair<std::string, std::string>> files{{"npy/f8.npy", "npy"},   {"dense.npz", "npz"},
                                                         {"csr.npz", "npz"},      {"general.mtx", "mtx"},
                                                         {"table1.biom", "biom"}, {"table.xlsx", "xlsx"}};
  files.insert(files.end(), {{"table2.biom", "biom"}, {"table.qza", "qza"}, {"csr.h5ad", "h5ad"}, {"tenx.h5", "10x"}});
  ReadOptions options;
  options.sheet = "gaps";
  options.missing = Missing::mean;
  for (const auto& [name, format] : files)
    for (const char* other : {"plain", "t.csv", "t.h5"})
      EXPECT_EQ(read_dataset<double>(with_threads(1), folder.write(other, contents(file_of(name))), options).format,
                format)
          << name << " as " << other;
}

/// Files that are cut short are Errors, and damaged ones are Errors or datasets, never anything else.
TEST(MatrixFiles, ThatAreCutShortOrDamagedAreErrors) {
  const Folder folder;
  const std::vector<std::string> names{"npy/f8.npy",  "npy/big_fortran_f4.npy",
                                       "dense.npz",   "compressed.npz",
                                       "csr.npz",     "coo.npz",
                                       "general.mtx", "array.mtx",
                                       "table1.biom", "table.xlsx",
                                       "tenx.h5",     "table.qza",
                                       "csr.h5ad",    "dense_fill.h5ad"};
  Random random(7);
  for (const auto& name : names) {
    SCOPED_TRACE(name);
    const auto bytes = contents(file_of(name));
    const auto ending = std::filesystem::path(name).extension().string();
    const auto step = std::max<std::size_t>(bytes.size() / 40, 1);
    const auto last_line = ending == ".mtx" ? bytes.rfind('\n', bytes.size() - 2) : bytes.size() - 2;
    for (std::size_t size = 1; size < last_line; size += step) {
      const auto message = message_of(folder.write("cut" + ending, bytes.substr(0, size)));
      EXPECT_NE(message, "") << size << " of " << bytes.size() << " bytes";
      EXPECT_NE(message.find("cut" + ending), std::string::npos) << message;
    }
    for (int repeat = 0; repeat < 60; ++repeat) {
      auto damaged = bytes;
      for (int k = 0; k < 3; ++k) damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      message_of(folder.write("damaged" + ending, damaged));
    }
  }
}

std::string npy_of(const std::string& header, const std::string& data = std::string(64, '\0')) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  return bytes + header + data;
}

TEST(MatrixFiles, WithAKnownDefectNameIt) {
  const Folder folder;
  const auto expect = [&](const std::string& name, const std::string& bytes, const std::vector<std::string>& parts,
                          const ReadOptions& options = {}) {
    const auto message = message_of(folder.write(name, bytes), options);
    expect_parts(message, parts);
    expect_parts(message, {name});
  };
  expect("a.npy", npy_of("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"), {"pickled"});
  expect("a.npy", npy_of("{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }"), {"'<c16'", "integers"});
  expect("a.npy", npy_of("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }"), {"record"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }"),
         {"3 dimensions", "2 x 2 x 2", "reshape"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (), }"), {"0 dimensions"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }"), {"no rows"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }"),
         {"cut short"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False}"), {"descr, fortran_order and shape"});
  expect("a.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -1), }"), {"shape"});
  std::string nan(8, '\0');
  const double missing = std::nan("");
  std::copy_n(reinterpret_cast<const char*>(&missing), 8, nan.data());
  const auto gap = npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", nan + std::string(8, '\0'));
  expect("a.npy", gap, {"row 1, feature 1", "NaN", "--missing"});
  ReadOptions zero;
  zero.missing = Missing::zero;
  EXPECT_EQ(values_of(read_dataset<double>(with_threads(1), folder.write("b.npy", gap), zero)), (Rows{{0}, {0}}));
  expect("a.npz", "a,b\n1,2\n", {"zip archive is expected"});
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  expect("a.mtx", "1 2 3\n", {":1:1", "%%MatrixMarket"});
  expect("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", {":1:34", "'complex'"});
  expect("a.mtx", head + "2 2 2\n1 1 5\n", {"declares 2 entries", "has 1 line;"});
  expect("a.mtx", head + "2 2 9000000000000000\n1 1 5\n", {"declares 9000000000000000 entries"});
  expect("a.mtx", head + "2 2 1\n3 1 5\n", {":3:1", "a row from 1 to 2", "'3'"});
  expect("a.mtx", head + "2 2 1\n1 0 5\n", {":3:3", "a column from 1 to 2"});
  expect("a.mtx", head + "2 2 1\n1 1 five\n", {":3:5", "'five'"});
  expect("a.mtx", head + "2 2 1\n1 1 inf\n", {":3:5", "finite"});
  expect("a.mtx", head + "2 2 1\n1 1 5 6\n", {":3:7", "end of the line"});
  expect("a.mtx", head + "2 2 2\n1 1 5\n1 1 6\n", {"row 1", "two entries", "column 1"});
  expect("a.mtx", head + "2 2 2\n1 1 x\n3 1 5\n", {":3:5", "'x'"});  // the first of two
  expect("a.mtx", head + "2 x 2\n", {":2:1", "rows, columns and entries"});
  expect("a.biom", "{\"format\": \"Biological Observation Matrix 1.0.0\"}", {"no 'shape'"});
  expect("a.biom", "{\"shape\": [1, 1], \"rows\": [], \"columns\": []}", {"'rows' has 0 entries"});
  expect("a.biom", "not JSON", {"JSON"});
  expect("a.h5ad", "a,b\n1,2\n", {"no HDF5 file"});
  expect("a.xlsx", "a,b\n1,2\n", {"Excel", "zip archive is expected"});
}

TEST(MatrixFiles, WithEqualNamesOfFeaturesGetNumbersAndIdsMayRepeat) {
  const Folder folder;
  folder.write("matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n2 2 6\n3 2 7\n");
  folder.write("genes.tsv", "g\tx\ng\ty\nh\tz\n");
  folder.write("barcodes.tsv", "c\nc\n");
  ReadOptions options = labelled("kind");
  options.metadata = folder.write("m.csv", "id,kind\nc,u\n");
  const auto dataset = read_dataset<double>(with_threads(1), folder.file(""), options);
  EXPECT_EQ(dataset.feature_names, (std::vector<std::string>{"g", "g-1", "h"}));
  EXPECT_EQ(dataset.row_names, (std::vector<std::string>{"c", "c"}));
  EXPECT_EQ(labels_of(dataset), (std::vector<std::string>{"u", "u"}));
  EXPECT_EQ(values_of(dataset), (Rows{{5, 0, 0}, {0, 6, 7}}));
  ASSERT_EQ(dataset.notes.size(), 1U);
  expect_parts(dataset.notes[0], {"more than once", "g"});
}

TEST(MatrixFiles, LargerThanTheMemoryAreErrorsBeforeTheyAreRead) {
  const Folder folder;
  Context::Options small;
  small.threads = 1;
  small.memory = 1 << 16;
  const Context context(small);
  const auto npy = folder.write(
      "a.npy", npy_of("{'descr': '|i1', 'fortran_order': False, 'shape': (200, 200), }", std::string(40000, '\1')));
  std::string entries;
  for (int i = 1; i <= 9000; ++i) entries += std::to_string(i) + " 1 1\n";
  const auto mtx =
      folder.write("a.mtx", "%%MatrixMarket matrix coordinate integer general\n9000 9000 9000\n" + entries);
  for (const auto& path : {npy, mtx}) try {
      read_dataset<double>(context, path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      expect_parts(error.what(), {"MiB of memory", "--memory"});
    }
}

/// Written files are read back unchanged, in every format that holds whole matrices.
TEST(MatrixFiles, AreReadBackAsTheyWereWritten) {
  const Expected expected;
  const Folder folder;
  std::vector<std::string> names{"t.npz", "t.mtx", "t.mtx.gz"};
  if (has_hdf5()) names.insert(names.end(), {"t.biom", "t.h5ad"});
  for (const auto storage : {Storage::dense, Storage::sparse}) {
    ReadOptions options = labelled();
    options.id = "id";
    options.group = "subject";
    options.storage = storage;
    const auto dataset = read("expected.csv", options);
    for (const auto& name : names) {
      SCOPED_TRACE(name);
      write_dataset(with_threads(2), dataset, folder.file(name));
      ReadOptions again = labelled(name == "t.npz" ? "y" : "disease");
      again.group = "group";
      const auto back = read_dataset<double>(with_threads(2), folder.file(name), again);
      EXPECT_EQ(values_of(back), values_of(dataset));
      EXPECT_EQ(back.feature_names, dataset.feature_names);
      EXPECT_EQ(back.row_names, expected.ids);
      EXPECT_EQ(back.target.name, "disease");
      EXPECT_EQ(labels_of(back), labels_of(dataset));
      EXPECT_EQ(groups_of(back), groups_of(dataset));
    }
  }
}

TEST(MatrixFiles, ThatCannotBeWrittenLeaveNothing) {
  const Folder folder;
  auto dataset = read("expected.csv", labelled());
  for (const char* name : {"t.npz", "t.mtx", "t.h5ad", "t.biom"}) {
    try {
      write_dataset(with_threads(1), dataset, folder.file(name));
      ADD_FAILURE() << name << ": columns of text are no numbers";
    } catch (const Error& error) {
      expect_parts(error.what(), {name});
    }
  }
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.npy")), UsageError);
  EXPECT_THROW(write_dataset(with_threads(1), dataset, folder.file("t.xlsx")), UsageError);
  EXPECT_TRUE(folder.empty());
}

/// What the programs of the field wrote about features.
TEST(MatrixFiles, KeepAnnotationsOfFeatures) {
  std::vector<std::pair<std::string, std::vector<std::string>>> files{{"table1.biom", {"taxonomy"}},
                                                                      {"tenx", {"name"}}};
  files.insert(files.end(), {{"table2.biom", {"taxonomy"}}, {"csr.h5ad", {"symbol"}}, {"tenx.h5", {"name"}}});
  for (const auto& [name, columns] : files) {
    SCOPED_TRACE(name);
    auto options = labelled("none");
    const auto dataset = read(name, options);
    ASSERT_EQ(dataset.annotations.size(), columns.size());
    EXPECT_EQ(dataset.annotations[0].name, columns[0]);
    ASSERT_EQ(std::ssize(dataset.annotations[0].values), dataset.features());
    const auto expected = columns[0] == "taxonomy" ? std::string("k__Bacteria; g__") : std::string("symbol");
    for (std::size_t j = 0; j < dataset.annotations[0].values.size(); ++j)
      EXPECT_EQ(dataset.annotations[0].values[j], expected + std::to_string(j));
  }
}

/// NumPy, SciPy, biom-format and anndata read what Sheaf writes.
TEST(MatrixFiles, AreReadByTheProgramsOfTheField) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import anndata, biom, h5py, openpyxl, scipy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "python3-anndata, python3-biom-format and python3-openpyxl are not all there";
  const Folder folder;
  ReadOptions options = labelled();
  options.id = "id";
  options.group = "subject";
  auto dataset = read("expected.csv", options);
  options.storage = Storage::sparse;
  auto sparse = read("expected.csv", options);
  std::vector<std::string> taxa, symbols;
  for (int j = 0; j < 5; ++j) {
    taxa.push_back(fmt::format("k__Bacteria; g__{}", j));
    symbols.push_back(fmt::format("symbol{}", j));
  }
  dataset.annotations = sparse.annotations = {{"taxonomy", taxa}, {"symbol", symbols}};
  const auto context = with_threads(2);
  write_dataset(context, dataset, folder.file("table.npz"));
  write_dataset(context, sparse, folder.file("sparse.npz"));
  write_dataset(context, dataset, folder.file("table.mtx"));
  if (has_hdf5()) {
    write_dataset(context, dataset, folder.file("table.h5ad"));
    write_dataset(context, sparse, folder.file("sparse.h5ad"));
    write_dataset(context, sparse, folder.file("table.biom"));
  }
  EXPECT_EQ(std::system((python + " " + file_of("make.py") + " check " + folder.file("") + " > " + folder.file("said") +
                         " 2>&1")
                            .c_str()),
            0)
      << contents(folder.file("said"));
}

}  // namespace formats_test
}  // namespace sheaf::test
