// Files of whole matrices: NumPy, Matrix Market, BIOM, AnnData, 10x, Excel, and metadata that are joined.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sheaf/io.hpp>

#include "field_files.hpp"

namespace sheaf::test {
namespace formats_test {

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

}  // namespace formats_test
}  // namespace sheaf::test
