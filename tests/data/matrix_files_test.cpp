// All formats of whole matrices: defects, memory, writing, and the programs of the field.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sheaf/io.hpp>

#include "field_files.hpp"

namespace sheaf::test {
namespace formats_test {

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

/// A column in a form that is not known, and a layer of another shape.
TEST(MatrixFiles, AreReadOnlyAsFarAsTheyAreNeeded) {
  if (!has_hdf5()) GTEST_SKIP();
  const Folder folder;
  const auto path = folder.file("cells.h5ad");
  {
    Hdf5Writer file(path);
    for (const std::string frame : {"obs", "var"}) {
      file.group(frame);
      file.attribute(frame, "_index", std::string("_index"));
      file.texts(frame + "/_index", {"a", "b"});
    }
    file.texts("obs/kind", {"x", "y"});
    file.group("obs/odd");
    file.group("layers");
    file.numbers<double>("layers/short", std::vector<double>{1, 2, 3}, {3, 1});
    file.numbers<double>("X", std::vector<double>{1, 2, 3, 4}, {2, 2});
    file.finish();
  }
  const auto dataset = read_dataset<double>(with_threads(1), path, labelled("kind"));
  EXPECT_EQ(values_of(dataset), (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(labels_of(dataset), (std::vector<std::string>{"x", "y"}));
  EXPECT_THROW(read_dataset<double>(with_threads(1), path, labelled("odd")), Error);
  auto options = labelled("kind");
  options.layer = "short";
  EXPECT_THROW(read_dataset<double>(with_threads(1), path, options), Error);
}

/// Compressed columns of whole numbers, rows in descending order if `turned`, with one entry twice if `twice`.
void write_columns(const std::string& path, std::int64_t rows, std::int64_t columns, bool turned, bool twice) {
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t k = 0; k < rows; ++k) {
      const auto i = turned ? rows - 1 - k : k;
      if ((7 * i + 13 * j) % 5 == 0) continue;
      indices.push_back(static_cast<std::int32_t>(i));
      values.push_back(static_cast<double>(i * columns + j + 1));
    }
    offsets.push_back(std::ssize(indices));
  }
  if (twice) indices[indices.size() - 1] = indices[indices.size() - 3];
  Hdf5Writer file(path);
  std::vector<std::string> names(static_cast<std::size_t>(std::max(rows, columns)));
  for (std::size_t k = 0; k < names.size(); ++k) names[k] = std::to_string(k) + "n";
  for (const auto& [frame, count] : {std::pair("obs", rows), std::pair("var", columns)}) {
    file.group(frame);
    file.attribute(frame, "_index", std::string("_index"));
    file.texts(frame + std::string("/_index"), {names.begin(), names.begin() + count});
  }
  file.group("X");
  file.attribute("X", "encoding-type", std::string("csc_matrix"));
  file.attribute("X", "shape", std::vector<std::int64_t>{rows, columns});
  file.numbers<double>("X/data", values);
  file.numbers<std::int32_t>("X/indices", indices);
  file.numbers<std::int64_t>("X/indptr", offsets);
  file.finish();
}

/// More entries than are read at once, more rows than one group has.
TEST(MatrixFiles, CompressedColumnsBecomeRowsByAnyNumberOfThreads) {
  if (!has_hdf5()) GTEST_SKIP();
  const Folder folder;
  constexpr std::int64_t rows = 2500, columns = 600;
  for (const bool turned : {false, true}) {
    write_columns(folder.file("cells.h5ad"), rows, columns, turned, false);
    for (const int threads : {1, 2, 3}) {
      auto options = labelled("none");
      options.storage = Storage::sparse;
      const auto dataset = read_dataset<double>(with_threads(threads), folder.file("cells.h5ad"), options);
      const auto& x = std::get<SparseMatrix<double>>(dataset.x);
      std::int64_t k = 0, wrong = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          if ((7 * i + 13 * j) % 5 == 0) continue;
          wrong += x.indices[k] != j || x.values[k] != static_cast<double>(i * columns + j + 1) ? 1 : 0;
          ++k;
        }
        wrong += x.offsets[i + 1] != k ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0) << threads << " threads, turned " << turned;
    }
  }
  write_columns(folder.file("twice.h5ad"), rows, columns, true, true);
  expect_parts(message_of(folder.file("twice.h5ad"), labelled("none")), {"column 600 has two entries in row"});
}

}  // namespace formats_test
}  // namespace sheaf::test
