// Sparse matrices from arrays of a file.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

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
  const auto columns = static_cast<std::uint32_t>(x.columns);
  parallel_for(reading.context, (x.rows + sort_grain - 1) / sort_grain, [&](std::int64_t part) {
    std::vector<std::pair<std::int32_t, T>> entries;
    for (std::int64_t i = part * sort_grain; i < std::min((part + 1) * sort_grain, x.rows); ++i) {
      const auto begin = x.offsets[i];
      const auto end = x.offsets[i + 1];
      const auto indices = std::span(x.indices.data() + begin, x.indices.data() + end);
      std::uint32_t outside = 0, descends = 0;  // without a branch, so that vectors are compared
      for (const auto index : indices) outside |= static_cast<std::uint32_t>(index) >= columns ? 1U : 0U;
      for (std::size_t k = 1; k < indices.size(); ++k) descends |= indices[k - 1] >= indices[k] ? 1U : 0U;
      if (outside != 0)
        fail("{}: {} {} has an entry in {} {}, counted from 0, and there are {}", reading.name, line, i + 1, place,
             *std::find_if(indices.begin(), indices.end(),
                           [&](auto index) { return static_cast<std::uint32_t>(index) >= columns; }),
             x.columns);
      if (descends == 0) continue;
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

/// Entries of compressed columns, which are read in pieces, twice. Each thread has columns of its own: it counts their
/// entries in every row, which says where they go, and puts them there in the order of columns.
template <class T>
class ColumnScatter {
 public:
  ColumnScatter(const Reading& reading, const ColumnPieces<T>& pieces) : reading_(reading), pieces_(pieces) {
    const auto parts = std::clamp<std::int64_t>(pieces.values / (4 * pieces.rows), 1, reading.context.threads());
    const auto& offsets = pieces.offsets;
    for (std::int64_t p = 0, begin = 0; p < parts; ++p) {
      const auto end = *std::lower_bound(offsets.begin(), offsets.end(), part_of(pieces.values, parts, p).end);
      if (end > begin) {
        parts_.emplace_back();
        parts_.back().begin = begin;
        parts_.back().end = end;
      }
      begin = end;
    }
  }

  double bytes() const {
    constexpr double in_a_row = sizeof(std::int64_t) + sizeof(std::int32_t);
    return sparse_bytes<T>(pieces_.rows, pieces_.values) +
           static_cast<double>(parts_.size()) * static_cast<double>(pieces_.rows) * in_a_row;
  }

  SparseMatrix<T> scatter() {
    for (auto& part : parts_) {
      part.next.resize(static_cast<std::size_t>(pieces_.rows));
      part.last.resize(static_cast<std::size_t>(pieces_.rows));
    }
    for_pieces(false, [&](Part& part) { count(part); });
    find_places();
    for_pieces(true, [&](Part& part) { put(part); });
    return std::move(x_);
  }

 private:
  struct Entry {
    std::int32_t row;
    std::int32_t column;
    T value;
  };
  struct Part {
    std::int64_t begin = 0;  ///< its entries: those of some columns
    std::int64_t end = 0;
    std::vector<std::int64_t> next;  ///< of each row: how many there are, then where the next one goes
    std::vector<std::int32_t> last;  ///< of each row: the column of the last one, counted from 1
    std::int64_t first = 0;          ///< entry of the piece
    std::vector<std::int32_t> indices;
    std::vector<T> values;
    std::vector<Entry> sorted;        ///< by groups of rows, and in each in the order of columns
    std::vector<std::size_t> groups;  ///< where the next entry of each group goes
  };

  template <class Use>
  void for_pieces(bool with_values, const Use& use) {
    constexpr std::int64_t most_of_all = std::int64_t{1} << 20;
    const auto most = most_of_all / std::max<std::int64_t>(1, std::ssize(parts_));
    std::int64_t longest = 0;
    for (const auto& part : parts_) longest = std::max(longest, part.end - part.begin);
    for (std::int64_t done = 0; done < longest; done += most) {
      reading_.context.check_stop();
      for (auto& part : parts_) {
        part.first = std::min(part.begin + done, part.end);
        const auto some = static_cast<std::size_t>(std::min(most, part.end - part.first));
        part.indices.resize(some);
        part.values.resize(with_values ? some : 0);
        if (some > 0) pieces_.read_indices(part.first, part.indices);
        if (!part.values.empty()) pieces_.read_values(part.first, part.values);
      }
      parallel_for(reading_.context, std::ssize(parts_), [&](auto p) { use(parts_[static_cast<std::size_t>(p)]); });
    }
  }

  /// Calls take(row, column, k) for the entries of the part's piece, k counted in it.
  template <class Take>
  void for_entries(const Part& part, const Take& take) const {
    const auto& offsets = pieces_.offsets;
    auto column = std::upper_bound(offsets.begin(), offsets.end(), part.first) - offsets.begin() - 1;
    for (std::size_t k = 0; k < part.indices.size(); ++column) {
      const auto end = std::min(static_cast<std::size_t>(offsets[column + 1] - part.first), part.indices.size());
      for (; k < end; ++k) {
        const auto row = part.indices[k];
        if (row < 0 || row >= pieces_.rows) [[unlikely]]
          fail("{}: column {} has an entry in row {}, counted from 0, and there are {}", reading_.name, column + 1, row,
               pieces_.rows);
        take(static_cast<std::size_t>(row), static_cast<std::int32_t>(column), k);
      }
    }
  }

  void count(Part& part) const {
    for_entries(part, [&](std::size_t row, std::int32_t column, std::size_t) {
      if (part.last[row] == column + 1) [[unlikely]]
        fail("{}: column {} has two entries in row {}; each place may stand once", reading_.name, column + 1, row + 1);
      part.last[row] = column + 1;
      ++part.next[row];
    });
  }

  void find_places() {
    x_ = {pieces_.rows, pieces_.columns, Array<std::int64_t>(pieces_.rows + 1), Array<std::int32_t>(pieces_.values),
          Array<T>(pieces_.values)};
    std::int64_t place = 0;
    for (std::int64_t row = 0; row < pieces_.rows; ++row) {
      x_.offsets[row] = place;
      for (auto& part : parts_) place += std::exchange(part.next[static_cast<std::size_t>(row)], place);
    }
    x_.offsets[pieces_.rows] = place;
  }

  /// The entries of a column go to as many places as it has rows, far apart. Rows are served by groups, whose places
  /// are in the cache together.
  void put(Part& part) {
    constexpr unsigned group_bits = 10;
    const auto group_of = [](std::size_t row) { return row >> group_bits; };
    part.groups.assign(group_of(static_cast<std::size_t>(pieces_.rows)) + 2, 0);
    part.sorted.resize(part.indices.size());
    for_entries(part, [&](std::size_t row, std::int32_t, std::size_t) { ++part.groups[group_of(row) + 1]; });
    std::partial_sum(part.groups.begin(), part.groups.end(), part.groups.begin());
    for_entries(part, [&](std::size_t row, std::int32_t column, std::size_t k) {
      part.sorted[part.groups[group_of(row)]++] = {static_cast<std::int32_t>(row), column, part.values[k]};
    });
    for (const auto& [row, column, value] : part.sorted) {
      const auto at = part.next[static_cast<std::size_t>(row)]++;
      if (at >= pieces_.values) [[unlikely]]
        fail_changed(reading_);
      x_.indices[at] = column;
      x_.values[at] = value;
    }
  }

  const Reading& reading_;
  const ColumnPieces<T>& pieces_;
  std::vector<Part> parts_;
  SparseMatrix<T> x_;
};

}  // namespace

/// Columns come in ascending order, and so do the indices within each row.
template <class T>
SparseMatrix<T> make_sparse(const Reading& reading, ColumnPieces<T> pieces) {
  check_offsets(reading, pieces.offsets, pieces.columns, pieces.indices, pieces.values, "column");
  ColumnScatter<T> columns(reading, pieces);
  check_memory(reading, columns.bytes(), counted(pieces.values, "value"));
  return columns.scatter();
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
