// Sparse matrices from arrays of a file.
#include <algorithm>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
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
    fail("{}: has {} (indptr); {} {}s and one more are expected", reading.name, counted(offsets.size(), "offset"),
         lines, line);
  if (indices != values)
    fail("{}: has {} and {}; as many of each are expected", reading.name, counted(indices, "index"),
         counted(values, "value"));
  if (offsets[0] != 0 || offsets[lines] != values)
    fail("{}: its offsets (indptr) go from {} to {}; from 0 to its {} is expected", reading.name, offsets[0],
         offsets[lines], counted(values, "value"));
  for (std::int64_t i = 0; i < lines; ++i)
    if (offsets[i] > offsets[i + 1])
      fail("{}: its offsets (indptr) descend from {} to {} at {} {}", reading.name, offsets[i], offsets[i + 1], line,
           i + 1);
}

/// Entries of compressed columns that are read and handed out in pieces. Each thread takes those of its own rows, so
/// that every row is written by one of them, in the order of columns.
template <class T>
class ColumnScatter {
 public:
  ColumnScatter(const Reading& reading, const ColumnPieces<T>& pieces) : reading_(reading), pieces_(pieces) {}

  SparseMatrix<T> scatter() {
    x_ = {pieces_.rows, pieces_.columns, Array<std::int64_t>::zeros(pieces_.rows + 1),
          Array<std::int32_t>(pieces_.values), Array<T>(pieces_.values)};
    for_pieces([&] { for_entries([&](std::int32_t row, std::int64_t, std::int64_t) { ++x_.offsets[row + 1]; }); });
    std::partial_sum(x_.offsets.begin(), x_.offsets.end(), x_.offsets.begin());
    next_ = Array<std::int64_t>::copy_of(std::as_const(x_.offsets).span());
    for_pieces([&] {
      values_.resize(indices_.size());
      pieces_.read_values(first_, values_);
      for_entries([&](std::int32_t row, std::int64_t column, std::int64_t k) { put(row, column, k); });
    });
    return std::move(x_);
  }

 private:
  void put(std::int32_t row, std::int64_t column, std::int64_t k) {
    const auto at = next_[row]++;
    if (at > x_.offsets[row] && x_.indices[at - 1] == column)
      fail("{}: column {} has two entries in row {}; each place may stand once", reading_.name, column + 1, row + 1);
    x_.indices[at] = static_cast<std::int32_t>(column);
    x_.values[at] = values_[static_cast<std::size_t>(k)];
  }

  template <class Use>
  void for_pieces(const Use& use) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    for (first_ = 0; first_ < pieces_.values; first_ += most) {
      reading_.context.check_stop();
      indices_.resize(static_cast<std::size_t>(std::min(most, pieces_.values - first_)));
      pieces_.read_indices(first_, indices_);
      check_rows();
      use();
    }
  }

  void check_rows() const {
    parallel_ranges(reading_.context, std::ssize(indices_), std::int64_t{1} << 16, [&](Range range) {
      for (auto k = range.begin; k < range.end; ++k) {
        const auto row = indices_[static_cast<std::size_t>(k)];
        if (row >= 0 && row < x_.rows) [[likely]]
          continue;
        const auto above = std::upper_bound(pieces_.offsets.begin(), pieces_.offsets.end(), first_ + k);
        fail("{}: column {} has an entry in row {}, counted from 0, and there are {}", reading_.name,
             above - pieces_.offsets.begin(), row, x_.rows);
      }
    });
  }

  /// Calls take(row, column, k) for the entries of the piece, k counted in it, by the thread to which the row belongs.
  template <class Take>
  void for_entries(const Take& take) {
    const auto count = std::ssize(indices_);
    parallel_parts(reading_.context.threads(), x_.rows, [&](Range rows) {
      const auto& offsets = pieces_.offsets;
      auto column = std::upper_bound(offsets.begin(), offsets.end(), first_) - offsets.begin() - 1;
      for (std::int64_t k = 0; k < count; ++column) {
        const auto end = std::min(offsets[column + 1] - first_, count);
        for (; k < end; ++k) {
          const auto row = indices_[static_cast<std::size_t>(k)];
          if (row >= rows.begin && row < rows.end) take(row, column, k);
        }
      }
    });
  }

  const Reading& reading_;
  const ColumnPieces<T>& pieces_;
  SparseMatrix<T> x_;
  Array<std::int64_t> next_;
  std::int64_t first_ = 0;  // entry of the piece
  std::vector<std::int32_t> indices_;
  std::vector<T> values_;
};

}  // namespace

/// Columns come in ascending order, and so do the indices within each row.
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, ColumnPieces<T> pieces) {
  check_offsets(reading, pieces.offsets, pieces.columns, pieces.indices, pieces.values, "column");
  check_memory(reading, sparse_bytes<T>(2 * pieces.rows, pieces.values), counted(pieces.values, "value"));
  return ColumnScatter<T>(reading, pieces).scatter();
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
               fmt::format("{} by columns and by rows", counted(x.nonzeros(), "value")));
  return transpose(x, reading.context.threads());
}

template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, Triplets<T> triplets) {
  const auto entries = triplets.values.size();
  check_memory(reading, sparse_bytes<T>(triplets.rows, 2 * entries) + static_cast<double>(entries) * 4,
               fmt::format("{} of a matrix", counted(entries, "entry")));
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
