// Arrays of files in many pieces: chunks of HDF5 datasets, and compressed columns that become rows.
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "data/hdf5/hdf5_heap.hpp"
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

using hdf5::Filter;
using hdf5::StoredArray;

/// An array whose element (i, j) is 100 i + j, and its bytes; elements of chunks beyond its end are -1.
struct Stored {
  StoredArray array;
  std::map<hdf5::ChunkPlace, std::vector<char>> bytes;

  Stored(std::vector<std::int64_t> shape, std::vector<std::int64_t> chunk, bool shuffled) {
    array.type = {hdf5::Type::Kind::number, {'i', 4, false}, 4};
    array.shape = std::move(shape);
    array.chunk = std::move(chunk);
    if (shuffled) array.filters = {Filter::shuffle};
    const bool one_row = array.shape.size() == 1;
    const auto rows = one_row ? 1 : array.shape[0], columns = array.shape.back();
    const auto chunk_rows = one_row ? 1 : array.chunk[0], chunk_columns = array.chunk.back();
    for (std::int64_t row = 0; row < rows; row += chunk_rows)
      for (std::int64_t column = 0; column < columns; column += chunk_columns) {
        std::vector<std::int32_t> values;
        for (auto i = row; i < row + chunk_rows; ++i)
          for (auto j = column; j < column + chunk_columns; ++j)
            values.push_back(i < rows && j < columns ? static_cast<std::int32_t>(100 * i + j) : -1);
        const auto* from = reinterpret_cast<const char*>(values.data());
        auto& to = bytes[{row, column}];
        to.assign(from, from + values.size() * sizeof(std::int32_t));
        if (shuffled)
          for (std::size_t k = 0; k < to.size(); ++k)
            to[k % sizeof(std::int32_t) * values.size() + k / sizeof(std::int32_t)] = from[k];
        array.chunks[{row, column}] = {{to.data(), to.size()}, 0};
      }
  }
};

TEST(StoredArrays, AnyPartOfARowOfChunksIsRead) {
  const Source source;
  for (const bool shuffled : {false, true}) {
    const Stored stored({23}, {5}, shuffled);
    for (std::int64_t first = 0; first < 23; ++first)
      for (std::int64_t count = 1; first + count <= 23; ++count) {
        std::vector<double> values(static_cast<std::size_t>(count));
        read_numbers<double>(source.reading, stored.array, "x", first, values);
        for (std::int64_t k = 0; k < count; ++k)
          ASSERT_EQ(values[static_cast<std::size_t>(k)], static_cast<double>(first + k)) << first << " " << count;
      }
  }
}

TEST(StoredArrays, ChunksOfTwoDimensionsMayEndBeyondTheArrayOrBeMissing) {
  const Source source;
  Stored stored({7, 10}, {3, 4}, true);
  std::vector<std::int64_t> values(70);
  read_numbers<std::int64_t>(source.reading, stored.array, "x", 0, values);
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t j = 0; j < 10; ++j) EXPECT_EQ(values[static_cast<std::size_t>(10 * i + j)], 100 * i + j);
  stored.array.chunks.erase({3, 4});
  stored.array.fill = std::string_view("\7\0\0\0", 4);
  read_numbers<std::int64_t>(source.reading, stored.array, "x", 0, values);
  EXPECT_EQ(values[43], 403);
  EXPECT_EQ(values[44], 7);
  EXPECT_EQ(values[48], 408);
}

std::string message_of(const StoredArray& array) {
  const Source source;
  std::vector<std::int32_t> values(23);
  try {
    read_numbers<std::int32_t>(source.reading, array, "X/data", 0, values);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(StoredArrays, ADamagedChunkOrANumberThatDoesNotFitIsNamed) {
  const Stored sound({23}, {5}, false);
  EXPECT_EQ(message_of(sound.array), "");
  auto cut = sound.array;
  cut.chunks[{0, 10}].bytes.remove_suffix(1);
  EXPECT_NE(message_of(cut).find("'X/data' cannot be read; the file is damaged"), std::string::npos);
  for (const auto filter : {Filter::deflate, Filter::lzf}) {
    auto packed = sound.array;
    packed.filters = {filter};
    EXPECT_NE(message_of(packed).find("damaged"), std::string::npos);
  }
  auto other = sound.array;
  other.filters = {static_cast<Filter>(32001)};
  EXPECT_NE(message_of(other).find("the HDF5 filter 32001"), std::string::npos);
  const std::vector<double> numbers(23, 1.5);
  StoredArray fractions;
  fractions.type = {hdf5::Type::Kind::number, {'f', 8, false}, 8};
  fractions.shape = {23};
  fractions.whole = {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
  EXPECT_NE(message_of(fractions).find("holds 1.5; whole numbers from -2147483648 to 2147483647"), std::string::npos);
}

/// A collection of the heap at byte 8 with the objects 1 ("abc") and 2 ("defgh").
std::string heap_file() {
  std::string file(8, '-');
  const auto number = [&](std::uint64_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) file += static_cast<char>(value >> (8 * k));
  };
  file += std::string("GCOL\1\0\0\0", 8);
  number(64, 8);
  for (const auto& [index, text] : {std::pair{1, "abc"}, std::pair{2, "defgh"}}) {
    number(static_cast<std::uint64_t>(index), 8);
    number(std::string_view(text).size(), 8);
    file += text;
    file.resize((file.size() + 7) / 8 * 8);
  }
  return file;
}

TEST(Hdf5Heap, GivesTextsAndNothingForReferencesThatLeadNowhere) {
  const auto file = heap_file();
  Hdf5Heap heap(file);
  EXPECT_EQ(heap.find({3, 8, 1}), "abc");
  EXPECT_EQ(heap.find({5, 8, 2}), "defgh");
  EXPECT_EQ(heap.find({2, 8, 2}), "de");
  EXPECT_EQ(heap.find({0, 8, 9}), "");
  EXPECT_EQ(heap.find({7, 0, 0}), "") << "no text";
  EXPECT_FALSE(heap.find({4, 8, 1})) << "longer than the object";
  EXPECT_FALSE(heap.find({3, 8, 3}));
  EXPECT_FALSE(heap.find({3, 9, 1}));
  EXPECT_FALSE(heap.find({3, UINT64_MAX - 3, 1}));
  for (std::size_t at = 0; at < file.size(); ++at)
    for (const char byte : {'\0', '\x7F', '\xFF'}) {
      auto damaged = file;
      damaged[at] = byte;
      Hdf5Heap other(damaged);
      for (std::uint32_t object = 0; object < 4; ++object) other.find({5, 8, object});
    }
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
