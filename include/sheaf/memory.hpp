// Datasets from arrays in memory, without a copy if the layout allows.
//
// Borrowed are dense rows that lie one after the other, and compressed rows (CSR) with 64-bit offsets, 32-bit indices
// and ascending columns, each with values in the dataset's precision. Borrowed memory must not change while the dataset
// is used and must outlive it, unless `owner` keeps it alive. Everything else is converted by all threads of the
// context, and may go away once make_dataset has returned.
//
// Memory on a GPU is brought to the CPU once and checked there; if its layout is one that is borrowed and it begins at
// a multiple of 16 bytes, the GPU uses it in place. Work that writes it must have finished before.
//
// All of it is checked: shapes, offsets, indices, finite values. A defect is a UsageError that names the argument:
// "argument 'indices': entry 17 is 40, but the matrix has 30 columns". Rows, columns and entries are numbered from 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/io.hpp>

namespace sheaf {

/// Memory of one of several element types; a std::vector of any of them converts.
template <class... Elements>
using AnySpan = std::variant<std::span<const Elements>...>;

using FloatSpan = AnySpan<float, double>;
using IndexSpan = AnySpan<std::int32_t, std::int64_t>;
/// Labels, or groups of rows. Equal numbers are one label, texts that spell numbers too ("1" and "+1.0"), as in files.
using LabelSpan = AnySpan<double, float, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                          std::uint32_t, std::int64_t, std::uint64_t, std::string, std::string_view>;

/// Element (i, j) stands at values[i * row_stride + j * column_stride].
struct DenseInput {
  FloatSpan values;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;  ///< elements from one row to the next
  std::int64_t column_stride = 1;
  Device device = {};                      ///< whose memory it is
  std::shared_ptr<const void> owner = {};  ///< kept by a dataset that borrows the memory

  /// `row_stride` 0: the rows lie one after the other.
  static DenseInput row_major(FloatSpan values, std::int64_t rows, std::int64_t columns, std::int64_t row_stride = 0,
                              Device device = {}) {
    return {values, rows, columns, row_stride == 0 ? columns : row_stride, 1, device, {}};
  }
  /// `column_stride` 0: the columns lie one after the other.
  static DenseInput column_major(FloatSpan values, std::int64_t rows, std::int64_t columns,
                                 std::int64_t column_stride = 0, Device device = {}) {
    return {values, rows, columns, 1, column_stride == 0 ? rows : column_stride, device, {}};
  }
};

enum class SparseLayout : std::uint8_t {
  csr,  ///< row i owns entries offsets[i] .. offsets[i+1] - 1, and indices are columns
  csc,  ///< the same with rows and columns exchanged
};

/// Indices may stand in any order within their row or column, each once.
struct SparseInput {
  SparseLayout layout = SparseLayout::csr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  IndexSpan offsets;  ///< rows + 1 of them, or columns + 1
  IndexSpan indices;
  FloatSpan values;
  Device device = {};                      ///< whose memory all three are
  std::shared_ptr<const void> owner = {};  ///< kept by a dataset that borrows the memory

  static SparseInput csr(std::int64_t rows, std::int64_t columns, IndexSpan offsets, IndexSpan indices,
                         FloatSpan values, Device device = {}) {
    return {SparseLayout::csr, rows, columns, offsets, indices, values, device, {}};
  }
  static SparseInput csc(std::int64_t rows, std::int64_t columns, IndexSpan offsets, IndexSpan indices,
                         FloatSpan values, Device device = {}) {
    return {SparseLayout::csc, rows, columns, offsets, indices, values, device, {}};
  }
};

using MatrixInput = std::variant<DenseInput, SparseInput>;

struct DatasetOptions {
  std::vector<std::string> feature_names = {};  ///< one a column; empty: named by position, from 1
  std::vector<std::string> class_names = {};    ///< the classes, in their order; empty: as in files
  std::string target_name = {};
  /// Survival: 1 if the event came at the time of the label, 0 if the row is censored; empty: no survival.
  std::vector<double> events = {};
  std::vector<double> entries = {};  ///< survival: after which each row is followed; empty: from the start
  LabelSpan strata = {};             ///< survival: groups of rows with a baseline hazard of their own; empty: one
  LabelSpan groups = {};             ///< the group of each row; empty: none
  std::vector<double> times = {};    ///< when each row was, in any unit, for splits by time; empty: rows stand in order
  Missing missing = Missing::error;  ///< the meaning of NaN in the matrix; a matrix that is filled in is copied
  std::string source = "memory";     ///< stands for the dataset in messages and reports
};

/// A dataset of `input`, with one label a row or none at all (to predict). Labels and groups are always copied.
template <class T>
Dataset<T> make_dataset(const Context& context, const MatrixInput& input, const LabelSpan& labels = {},
                        const DatasetOptions& options = {});

/// The target alone, by the rules of make_dataset.
Target make_target(const LabelSpan& labels, const DatasetOptions& options = {});

/// Row weights as training takes them: `rows` finite numbers of 0 or more, not all 0.
std::vector<float> make_row_weights(const FloatSpan& weights, std::int64_t rows);

}  // namespace sheaf
