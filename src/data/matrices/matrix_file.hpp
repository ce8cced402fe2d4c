// Shared by the readers of whole matrices: NumPy, Matrix Market, BIOM, AnnData, 10x. Such a reader finds the matrix,
// its names and the columns about its rows; finish_dataset() does the rest in the same way for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/dataset.hpp>

#include "data/read/reading.hpp"
#include "data/write/writing.hpp"

namespace sheaf {

/// Columns about the rows of a dataset: AnnData's obs, an array y, a file of metadata.
struct RowTable {
  struct Column {
    std::string name;
    std::function<std::vector<std::string>()> read;  ///< one text a row; "": missing
  };
  std::vector<Column> columns;

  const Column* find(std::string_view name) const;
};

template <class T>
struct MatrixFile {
  Dataset<T> dataset;  ///< x, names of features and rows; rows are samples
  RowTable table;
};

/// The dataset of a file: joins the metadata that the options name, takes label, group and other roles from the columns
/// about the rows, else from the features, and checks the values. Without a column called label, class, target or y,
/// and without --label, there is no label.
template <class T>
Dataset<T> finish_dataset(const Reading& reading, MatrixFile<T> file);

/// The same for a dataset of a format whose reader has found its own columns: the metadata alone are joined, and give
/// those roles whose columns they have.
template <class T>
using ReadRows = std::function<Dataset<T>(const Reading&)>;
template <class T>
Dataset<T> read_with_metadata(const Reading& reading, const ReadRows<T>& read);

/// The Error for a value that is infinite or, if none may be missing, NaN.
template <class T>
[[noreturn]] void fail_not_finite(const Reading& reading, const Dataset<T>& dataset, std::int64_t row,
                                  std::int64_t feature, T value);

/// An Error unless rows and columns are as many as a dataset may have, and at least one row.
void check_shape(const Reading& reading, std::int64_t rows, std::int64_t columns);

/// Names from a file: those that are not UTF-8 are an Error. Features that have one name get numbers behind it, which a
/// note mentions; rows may share an id.
std::vector<std::string> feature_names_of(const Reading& reading, std::vector<std::string> names,
                                          std::vector<std::string>& notes);
std::vector<std::string> row_names_of(const Reading& reading, std::vector<std::string> names);

/// A matrix of compressed rows, whose offsets and indices come from a file and are checked. Indices may stand in any
/// order within a row, each once; `transposed`: the arrays are compressed columns.
template <class T>
struct CompressedArrays {
  std::int64_t rows = 0;  ///< of the matrix that is made
  std::int64_t columns = 0;
  Array<std::int64_t> offsets;
  Array<std::int32_t> indices;
  Array<T> values;
  bool transposed = false;
};
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, CompressedArrays<T> arrays);

/// A matrix of compressed columns that are read in pieces, twice, so that they are never held beside the matrix of
/// rows.
template <class T>
struct ColumnPieces {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Array<std::int64_t> offsets;  ///< of the columns
  std::int64_t indices = 0;     ///< how many there are
  std::int64_t values = 0;      ///< likewise
  std::function<void(std::int64_t first, std::span<std::int32_t> to)> read_indices;
  std::function<void(std::int64_t first, std::span<T> to)> read_values;
};
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, ColumnPieces<T> pieces);

/// A matrix of entries in any order, each place once.
template <class T>
struct Triplets {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Array<std::int32_t> row_of;
  Array<std::int32_t> column_of;
  Array<T> values;
};
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, Triplets<T> triplets);

/// Bytes that a sparse matrix takes while it is made.
template <class T>
double sparse_bytes(std::int64_t rows, std::int64_t entries) {
  return static_cast<double>(rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(entries) * (sizeof(std::int32_t) + sizeof(T));
}

/// For writers of formats that hold numbers only: nominal features and a number of digits are Errors.
template <class T>
void check_numbers_only(const Writing<T>& writing);

/// Names of rows and features as a file must have them: those of the dataset, else 1, 2, 3 ...
template <class T>
std::vector<std::string> written_row_names(const Dataset<T>& dataset);
template <class T>
std::vector<std::string> written_feature_names(const Dataset<T>& dataset);

/// Columns about the rows as a file has them: kept columns, the group, the label.
struct WrittenColumn {
  std::string name;
  std::vector<std::string> texts;
  std::vector<double> numbers;  ///< of a label that is a number in every row; else empty
};
template <class T>
std::vector<WrittenColumn> written_columns(const Dataset<T>& dataset);

}  // namespace sheaf
