// Sparse matrices from arrays of a file.
#include <algorithm>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/matrices/matrix_file.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t sort_grain = 256;

/// Sorts the indices of each row. One that stands twice, or is no column, is an Error. `line` and `place`: the names of
/// rows and columns of `x` in the file.
template <class T>
void sort_rows(const Reading& reading, SparseMatrix<T>& x, std::string_view line, std::string_view place) {
  parallel_for(reading.context, (x.rows + sort_grain - 1) / sort_grain, [&](std::int64_t part) {
    std::vector<std::pair<std::int32_t, T>> entries;
    for (std::int64_t i = part * sort_grain; i < std::min((part + 1) * sort_grain, x.rows); ++i) {
      const auto begin = x.offsets[i];
      const auto end = x.offsets[i + 1];
      bool ascends = true;
      for (auto k = begin; k < end; ++k) {
        if (x.indices[k] < 0 || x.indices[k] >= x.columns)
          fail("{}: {} {} has an entry in {} {}, counted from 0, and there are {}", reading.name, line, i + 1, place,
               x.indices[k], x.columns);
        ascends = ascends && (k == begin || x.indices[k - 1] < x.indices[k]);
      }
      if (ascends) continue;
      entries.clear();
      for (auto k = begin; k < end; ++k) entries.emplace_back(x.indices[k], x.values[k]);
      std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t k = 0; k < entries.size(); ++k) {
        if (k > 0 && entries[k].first == entries[k - 1].first)
          fail("{}: {} {} has two entries in {} {}; each place may stand once", reading.name, line, i + 1, place,
               entries[k].first + 1);
        x.indices[begin + static_cast<std::int64_t>(k)] = entries[k].first;
        x.values[begin + static_cast<std::int64_t>(k)] = entries[k].second;
      }
    }
  });
}

/// Offsets of so many lines over so many indices and values.
void check_offsets(const Reading& reading, const Array<std::int64_t>& offsets, std::int64_t lines, std::int64_t indices,
                   std::int64_t values, std::string_view line) {
  if (offsets.size() != lines + 1)
    fail("{}: has {} offsets (indptr); {} {}s and one more are expected", reading.name, offsets.size(), lines, line);
  if (indices != values)
    fail("{}: has {} indices and {} values; as many of each are expected", reading.name, indices, values);
  if (offsets[0] != 0 || offsets[lines] != values)
    fail("{}: its offsets (indptr) go from {} to {}; from 0 to its {} values is expected", reading.name, offsets[0],
         offsets[lines], values);
  for (std::int64_t i = 0; i < lines; ++i)
    if (offsets[i] > offsets[i + 1])
      fail("{}: its offsets (indptr) descend from {} to {} at {} {}", reading.name, offsets[i], offsets[i + 1], line,
           i + 1);
}

/// Calls take(entry, column) for all entries, with the place of the entry in the piece that read(first, count) reads.
template <class Read, class Take>
void for_pieces(const Array<std::int64_t>& offsets, std::int64_t columns, const Read& read, const Take& take) {
  constexpr std::int64_t piece = std::int64_t{1} << 20;
  const auto entries = offsets[columns];
  std::int64_t column = 0;
  for (std::int64_t first = 0; first < entries; first += piece) {
    const auto count = std::min(piece, entries - first);
    read(first, count);
    for (std::int64_t k = 0; k < count; ++k) {
      while (offsets[column + 1] <= first + k) ++column;
      take(k, column);
    }
  }
}

}  // namespace

/// Columns come in ascending order, and so do the indices within each row.
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, ColumnPieces<T> pieces) {
  const auto& from = pieces.offsets;
  check_offsets(reading, from, pieces.columns, pieces.indices, pieces.values, "column");
  check_memory(reading, sparse_bytes<T>(2 * pieces.rows, pieces.values), fmt::format("{} values", pieces.values));
  SparseMatrix<T> x{pieces.rows, pieces.columns, Array<std::int64_t>::zeros(pieces.rows + 1),
                    Array<std::int32_t>(pieces.values), Array<T>(pieces.values)};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  const auto read_indices = [&](std::int64_t first, std::int64_t count) {
    reading.context.check_stop();
    indices.resize(static_cast<std::size_t>(count));
    pieces.read_indices(first, indices);
  };
  for_pieces(from, pieces.columns, read_indices, [&](std::int64_t k, std::int64_t column) {
    const auto row = indices[static_cast<std::size_t>(k)];
    if (row < 0 || row >= x.rows)
      fail("{}: column {} has an entry in row {}, counted from 0, and there are {}", reading.name, column + 1, row,
           x.rows);
    ++x.offsets[row + 1];
  });
  std::partial_sum(x.offsets.begin(), x.offsets.end(), x.offsets.begin());
  auto next = Array<std::int64_t>::copy_of(std::as_const(x.offsets).span());
  const auto read_both = [&](std::int64_t first, std::int64_t count) {
    read_indices(first, count);
    values.resize(static_cast<std::size_t>(count));
    pieces.read_values(first, values);
  };
  for_pieces(from, pieces.columns, read_both, [&](std::int64_t k, std::int64_t column) {
    const auto row = indices[static_cast<std::size_t>(k)];
    const auto at = next[row]++;
    if (at > x.offsets[row] && x.indices[at - 1] == column)
      fail("{}: column {} has two entries in row {}; each place may stand once", reading.name, column + 1, row + 1);
    x.indices[at] = static_cast<std::int32_t>(column);
    x.values[at] = values[static_cast<std::size_t>(k)];
  });
  return x;
}

template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, CompressedArrays<T> arrays) {
  const bool turned = arrays.transposed;
  SparseMatrix<T> x{turned ? arrays.columns : arrays.rows, turned ? arrays.rows : arrays.columns,
                    std::move(arrays.offsets), std::move(arrays.indices), std::move(arrays.values)};
  const std::string_view line = turned ? "column" : "row";
  const std::string_view place = turned ? "row" : "column";
  check_offsets(reading, x.offsets, x.rows, x.indices.size(), x.values.size(), line);
  sort_rows(reading, x, line, place);
  if (!turned) return x;
  check_memory(reading, 2 * sparse_bytes<T>(std::max(x.rows, x.columns), x.nonzeros()),
               fmt::format("{} values by columns and by rows", x.nonzeros()));
  return transpose(x, reading.context.threads());
}

template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, Triplets<T> triplets) {
  const auto entries = triplets.values.size();
  check_memory(reading, sparse_bytes<T>(triplets.rows, 2 * entries) + static_cast<double>(entries) * 4,
               fmt::format("{} entries of a matrix", entries));
  SparseMatrix<T> x{triplets.rows, triplets.columns, Array<std::int64_t>::zeros(triplets.rows + 1),
                    Array<std::int32_t>(entries), Array<T>(entries)};
  for (std::int64_t k = 0; k < entries; ++k) {
    const auto row = triplets.row_of[k];
    if (row < 0 || row >= x.rows)
      fail("{}: entry {} stands in row {}, counted from 0, and there are {}", reading.name, k + 1, row, x.rows);
    ++x.offsets[row + 1];
  }
  std::partial_sum(x.offsets.begin(), x.offsets.end(), x.offsets.begin());
  auto next = Array<std::int64_t>::copy_of(std::as_const(x.offsets).span());
  for (std::int64_t k = 0; k < entries; ++k) {
    const auto at = next[triplets.row_of[k]]++;
    x.indices[at] = triplets.column_of[k];
    x.values[at] = triplets.values[k];
  }
  sort_rows(reading, x, "row", "column");
  return x;
}

template SparseMatrix<float> make_sparse(const Reading&, CompressedArrays<float>);
template SparseMatrix<double> make_sparse(const Reading&, CompressedArrays<double>);
template SparseMatrix<float> make_sparse(const Reading&, ColumnPieces<float>);
template SparseMatrix<double> make_sparse(const Reading&, ColumnPieces<double>);
template SparseMatrix<float> make_sparse(const Reading&, Triplets<float>);
template SparseMatrix<double> make_sparse(const Reading&, Triplets<double>);

}  // namespace sheaf
