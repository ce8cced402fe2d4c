// .sheaf files that earlier versions wrote are read. Their content is that of tests/golden/formats/expected.csv and
// counts.csv, with annotations; tests/golden/README.md has the commands.
#include <filesystem>

#include <gtest/gtest.h>
#include <sheaf/io.hpp>

#include "golden.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace kept_sheaf_files_test {

using Texts = std::vector<std::string>;

/// What both files of a version hold besides their values.
template <class T>
void expect_names(const Dataset<T>& dataset) {
  EXPECT_EQ(dataset.feature_names, (Texts{"geneA", "gene B", "Bacteroides; g__", "9"}));
  EXPECT_EQ(dataset.row_names, (Texts{"s1", "s2", "s3", "s4", "s5", "s6"}));
  EXPECT_EQ(dataset.groups, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(dataset.group_names, (Texts{"p1", "p2", "p3"}));
  ASSERT_EQ(dataset.annotations.size(), 2U);
  EXPECT_EQ(dataset.annotations[0].name, "taxonomy");
  EXPECT_EQ(dataset.annotations[0].values,
            (Texts{"k__Bacteria; p__Firmicutes", "k__Bacteria; p__Bacteroidetes", "", "k__Archaea"}));
  EXPECT_EQ(dataset.annotations[1].name, "note");
  EXPECT_EQ(dataset.annotations[1].values, (Texts{"common, everywhere", "", "", "said \"rare\""}));
}

TEST(KeptSheafFiles, OfEveryVersionAreRead) {
  int versions = 0;
  for (const auto& folder : std::filesystem::directory_iterator(golden("sheaf_files"))) {
    SCOPED_TRACE(folder.path().filename().string());
    ++versions;
    ReadOptions options;
    options.verify = Verify::values;
    const auto dense = read_dataset<double>(with_threads(2), (folder.path() / "dense.sheaf").string(), options);
    expect_names(dense);
    EXPECT_EQ(
        rows_of(std::get<DenseMatrix<double>>(dense.x)),
        (Rows{{1.5, 0, -2, 7}, {0, 3.25, 0, 0.1}, {2, 0, 0, 0.001}, {0, 0, 5, 0}, {4, 1, 0, 12345.678}, {0, 2, 0, 0}}));
    EXPECT_EQ(dense.target.name, "disease");
    EXPECT_EQ(dense.target.class_names, (Texts{"sick", "healthy"}));
    EXPECT_EQ(dense.target.classes, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));

    const auto sparse = read_dataset<float>(with_threads(2), (folder.path() / "sparse.sheaf").string(), options);
    expect_names(sparse);
    const auto& x = std::get<SparseMatrix<float>>(sparse.x);
    EXPECT_EQ(x.nonzeros(), 12);
    EXPECT_EQ(rows_of(x)[0], (std::vector<double>{3, 0, 1, 250}));
    EXPECT_EQ(rows_of(x)[1], (std::vector<double>{0, 7, 0, 1}));
    EXPECT_EQ(sparse.target.name, "age");
    EXPECT_EQ(sparse.target.values, (std::vector<double>{30.5, 41, 22, 57, 63, 35}));
  }
  EXPECT_EQ(versions, 1);
}

}  // namespace kept_sheaf_files_test
}  // namespace sheaf::test
