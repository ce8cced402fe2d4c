#include <algorithm>
#include <array>
#include <type_traits>

#include "data/memory/argument.hpp"
#include "data/memory/matrices.hpp"

namespace sheaf::memory {
namespace {

void check_stride(std::string_view name, std::int64_t stride, std::int64_t count) {
  if (count > 1 && stride < 1) fail_argument(name, "is {}, but 1 or more is expected", stride);
}

/// Elements from the first to the last one of the matrix. A UsageError if `size` elements are too few.
std::int64_t checked_span(const DenseInput& input, std::int64_t size) {
  check_extent("rows", input.rows);
  check_extent("columns", input.columns);
  check_stride("row_stride", input.row_stride, input.rows);
  check_stride("column_stride", input.column_stride, input.columns);
  if (input.rows == 0 || input.columns == 0) return 0;
  std::int64_t left = size - 1;  // elements behind the last one of the matrix
  bool fits = left >= 0;
  const auto take = [&](std::int64_t count, std::int64_t stride) {
    if (!fits || count == 1) return;
    fits = count - 1 <= left / stride;  // not the product, which might not fit 64 bits
    if (fits) left -= (count - 1) * stride;
  };
  take(input.rows, input.row_stride);
  take(input.columns, input.column_stride);
  if (!fits)
    fail_argument("values", "has {} elements, too few for {} x {} with strides {} and {}", size, input.rows,
                  input.columns, input.row_stride, input.column_stride);
  return size - left;
}

/// Whether the rows lie one after the other: the layout of DenseMatrix.
bool is_row_major(const DenseInput& input) {
  return (input.column_stride == 1 || input.columns <= 1) && (input.row_stride == input.columns || input.rows <= 1);
}

/// Neighbours in a row are nearer than those in a column.
template <class T, class From>
void gather_by_rows(const DenseInput& input, const From* from, int threads, T* to) {
  const std::int64_t grain = std::max<std::int64_t>(1, entry_grain / std::max<std::int64_t>(input.columns, 1));
  parallel_ranges(threads, input.rows, grain, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = 0; j < input.columns; ++j)
        to[i * input.columns + j] = static_cast<T>(from[i * input.row_stride + j * input.column_stride]);
  });
}

/// Neighbours in a column are nearer: tile by tile through a buffer that stays in the first cache, so that each line of
/// memory is read and written once, whatever the strides are.
template <class T, class From>
void gather_by_columns(const DenseInput& input, const From* from, int threads, T* to) {
  constexpr std::int64_t tile_rows = 64;
  constexpr std::int64_t tile_columns = 32;
  const std::int64_t across = (input.columns + tile_columns - 1) / tile_columns;
  const std::int64_t tiles = (input.rows + tile_rows - 1) / tile_rows * across;
  parallel_ranges(threads, tiles, entry_grain / (tile_rows * tile_columns), [&](Range range) {
    std::array<T, tile_rows * tile_columns> buffer;
    for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
      const std::int64_t row = tile / across * tile_rows;
      const std::int64_t column = tile % across * tile_columns;
      const std::int64_t rows = std::min(tile_rows, input.rows - row);
      const std::int64_t columns = std::min(tile_columns, input.columns - column);
      for (std::int64_t j = 0; j < columns; ++j) {
        const From* source = from + row * input.row_stride + (column + j) * input.column_stride;
        for (std::int64_t i = 0; i < rows; ++i)
          buffer[static_cast<std::size_t>(j * tile_rows + i)] = static_cast<T>(source[i * input.row_stride]);
      }
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          to[(row + i) * input.columns + column + j] = buffer[static_cast<std::size_t>(j * tile_rows + i)];
    }
  });
}

template <class T, class From>
Imported<T> import_values(const DenseInput& input, std::span<const From> values, int threads) {
  const auto used = values.first(static_cast<std::size_t>(checked_span(input, std::ssize(values))));
  auto host = on_host("values", used, input.device);
  DenseMatrix<T> x{input.rows, input.columns, {}};
  Imported<T> result;
  if constexpr (std::is_same_v<T, From>) {
    if (is_row_major(input)) {
      x.values = std::move(host);
      if (!input.device.is_cpu() && suits_kernels(used))
        result.resident =
            DenseMatrix<T>{input.rows, input.columns, Array<T>::over(used.data(), std::ssize(used), input.device)};
      result.x = std::move(x);
      return result;
    }
  }
  x.values = Array<T>(input.rows * input.columns);
  const bool by_rows = input.column_stride <= input.row_stride;
  (by_rows ? gather_by_rows<T, From> : gather_by_columns<T, From>)(input, host.data(), threads, x.values.data());
  result.x = std::move(x);
  return result;
}

}  // namespace

template <class T>
Imported<T> import_dense(const Context& context, const DenseInput& input) {
  return std::visit([&](auto values) { return import_values<T>(input, values, context.threads()); }, input.values);
}

template Imported<float> import_dense(const Context&, const DenseInput&);
template Imported<double> import_dense(const Context&, const DenseInput&);

}  // namespace sheaf::memory
