// Arrays of files in many pieces: chunks of HDF5 datasets, and compressed columns that become rows.
#include <cstring>

#include <gtest/gtest.h>

#include "data/hdf5/hdf5_pieces.hpp"
#include "data/matrices/matrix_file.hpp"
#include "tables.hpp"

namespace sheaf::test {
namespace stored_arrays_test {

struct Source {
  Context context = with_threads(3);
  std::string name = "file";
  ReadOptions options;
  Reading reading{context, {}, name, options};
};

/// The bytes of a chunk of a dataset whose element (i, j) is 100 i + j; those beyond its end are -1.
bool chunk_of(const Hdf5Layout& layout, std::int64_t row, std::int64_t column, std::vector<char>& to) {
  std::vector<std::int32_t> values;
  for (auto i = row; i < row + layout.chunk_rows; ++i)
    for (auto j = column; j < column + layout.chunk_columns; ++j)
      values.push_back(i < layout.rows && j < layout.columns ? static_cast<std::int32_t>(100 * i + j) : -1);
  const auto bytes = values.size() * sizeof(std::int32_t);
  const auto* from = reinterpret_cast<const char*>(values.data());
  to.assign(from, from + bytes);
  if (layout.shuffled)
    for (std::size_t k = 0; k < bytes; ++k)
      to[k % sizeof(std::int32_t) * values.size() + k / sizeof(std::int32_t)] = from[k];
  return true;
}

TEST(StoredArrays, AnyPartOfARowOfChunksIsRead) {
  const Source source;
  for (const bool shuffled : {false, true}) {
    const Hdf5Layout layout{{'i', 4, false}, 1, 23, {}, 1, 5, shuffled, false};
    ASSERT_TRUE(can_read_pieces<double>(layout));
    const FetchChunk fetch = [&](auto row, auto column, auto& to) { return chunk_of(layout, row, column, to); };
    for (std::int64_t first = 0; first < 23; ++first)
      for (std::int64_t count = 1; first + count <= 23; ++count) {
        std::vector<double> values(static_cast<std::size_t>(count));
        ASSERT_TRUE(read_pieces(source.reading, layout, fetch, first, count, values.data()));
        for (std::int64_t k = 0; k < count; ++k)
          ASSERT_EQ(values[static_cast<std::size_t>(k)], static_cast<double>(first + k)) << first << " " << count;
      }
  }
}

TEST(StoredArrays, ChunksOfTwoDimensionsMayEndBeyondTheArray) {
  const Source source;
  const Hdf5Layout layout{{'i', 4, false}, 7, 10, {}, 3, 4, true, false};
  const FetchChunk fetch = [&](auto row, auto column, auto& to) { return chunk_of(layout, row, column, to); };
  std::vector<std::int64_t> values(70);
  ASSERT_TRUE(read_pieces(source.reading, layout, fetch, 0, 70, values.data()));
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t j = 0; j < 10; ++j) EXPECT_EQ(values[static_cast<std::size_t>(10 * i + j)], 100 * i + j);
}

TEST(StoredArrays, AChunkThatIsNotAsTheLayoutSaysIsNoticed) {
  const Source source;
  const Hdf5Layout layout{{'i', 4, false}, 1, 23, {}, 1, 5, false, false};
  std::vector<double> values(23);
  const FetchChunk missing = [&](auto row, auto column, auto& to) {
    return column != 10 && chunk_of(layout, row, column, to);
  };
  EXPECT_FALSE(read_pieces(source.reading, layout, missing, 0, 23, values.data()));
  const FetchChunk cut = [&](auto row, auto column, auto& to) {
    chunk_of(layout, row, column, to);
    to.pop_back();
    return true;
  };
  EXPECT_FALSE(read_pieces(source.reading, layout, cut, 0, 23, values.data()));
  EXPECT_FALSE(can_read_pieces<std::int32_t>({{'i', 8, false}, 1, 23, {}, 1, 5, false, false})) << "values may change";
}

/// Column c has entries in the rows c % 3, c % 3 + 3 ...: more entries than are read at once.
ColumnPieces<double> many_columns() {
  constexpr std::int64_t rows = 999, columns = 4000, in_column = rows / 3;
  ColumnPieces<double> pieces{rows, columns, Array<std::int64_t>(columns + 1), columns * in_column, columns * in_column,
                              {},   {}};
  for (std::int64_t c = 0; c <= columns; ++c) pieces.offsets[c] = c * in_column;
  const auto row_of = [](std::int64_t k) { return k / in_column % 3 + k % in_column * 3; };
  pieces.read_indices = [=](std::int64_t first, std::span<std::int32_t> to) {
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = static_cast<std::int32_t>(row_of(first + static_cast<std::int64_t>(k)));
  };
  pieces.read_values = [=](std::int64_t first, std::span<double> to) {
    for (std::size_t k = 0; k < to.size(); ++k) {
      const auto entry = first + static_cast<std::int64_t>(k);
      to[k] = static_cast<double>(row_of(entry) * columns + entry / in_column);
    }
  };
  return pieces;
}

TEST(StoredArrays, CompressedColumnsBecomeRows) {
  const Source source;
  const auto x = make_sparse(source.reading, many_columns());
  ASSERT_EQ(x.nonzeros(), 4000 * 333);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    auto column = i % 3;
    for (auto k = x.offsets[i]; k < x.offsets[i + 1]; ++k, column += 3) {
      ASSERT_EQ(x.indices[k], column);
      ASSERT_EQ(x.values[k], static_cast<double>(i * 4000 + column));
    }
    ASSERT_GE(column, 4000);
  }
}

TEST(StoredArrays, AWrongEntryOfACompressedColumnIsNamed) {
  const Source source;
  const auto message_of = [&](std::int64_t at, std::int32_t row) -> std::string {
    auto pieces = many_columns();
    pieces.read_indices = [=, read = pieces.read_indices](std::int64_t first, std::span<std::int32_t> to) {
      read(first, to);
      if (at >= first && at < first + std::ssize(to)) to[static_cast<std::size_t>(at - first)] = row;
    };
    try {
      make_sparse(source.reading, std::move(pieces));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const auto outside = message_of(3800 * 333 + 5, 999);
  EXPECT_NE(outside.find("column 3801 has an entry in row 999, counted from 0, and there are 999"), std::string::npos)
      << outside;
  const auto first_row = static_cast<std::int32_t>(3800 % 3);
  const auto twice = message_of(3800 * 333 + 1, first_row);
  EXPECT_NE(twice.find("column 3801 has two entries in row " + std::to_string(first_row + 1)), std::string::npos)
      << twice;
}

}  // namespace stored_arrays_test
}  // namespace sheaf::test
