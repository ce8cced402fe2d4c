#include <algorithm>

#include "core/fail.hpp"
#include "data/budget.hpp"
#include "data/prepare/binning.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 64;

template <class T>
DenseMatrix<T> empty_dense(const Context& context, const BinnedTable& table) {
  const double need = dense_bytes(table.rows, table.features, sizeof(T));
  if (need > static_cast<double>(cpu_budget(context)))
    fail("the states of {} x {} values take {:.1f} GiB as numbers, and the memory budget is {}; raise --memory",
         table.rows, table.features, need / 0x1p30, format_bytes(cpu_budget(context)));
  return {table.rows, table.features, Array<T>(table.rows * table.features)};
}

template <class T, class Code>
Matrix<T> numbers_of(const Context& context, const BinnedTable& table, const Array<Code>& codes) {
  auto x = empty_dense<T>(context, table);
  parallel_ranges(context, table.rows, row_grain, [&](Range rows) {
    for (std::int64_t j = 0; j < table.features; ++j)
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        x.values[i * table.features + j] = static_cast<T>(codes[j * table.rows + i]);
  });
  return x;
}

template <class T>
Matrix<T> spread_out(const Context& context, const BinnedTable& table, const SparseCodes& codes) {
  auto x = empty_dense<T>(context, table);
  parallel_ranges(context, table.rows, row_grain, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = 0; j < table.features; ++j)
        x.values[i * table.features + j] = static_cast<T>(codes.common[j]);
  });
  parallel_ranges(context, table.features, row_grain, [&](Range features) {
    for (std::int64_t j = features.begin; j < features.end; ++j)
      for (std::int64_t k = codes.offsets[j]; k < codes.offsets[j + 1]; ++k)
        x.values[std::int64_t{codes.examples[k]} * table.features + j] = static_cast<T>(codes.codes[k]);
  });
  return x;
}

template <class T>
Matrix<T> numbers_of(const Context& context, const BinnedTable& table, const SparseCodes& codes) {
  const bool zeros = std::all_of(codes.common.begin(), codes.common.end(), [](auto state) { return state == 0; });
  if (!zeros) return spread_out<T>(context, table, codes);
  SparseMatrix<T> columns{table.features, table.rows, codes.offsets.to(Device::cpu()), codes.examples.to(Device::cpu()),
                          Array<T>(codes.codes.size())};
  std::copy(codes.codes.begin(), codes.codes.end(), columns.values.begin());
  return transpose(columns, context.threads());
}

}  // namespace

template <class T>
Dataset<T> states_dataset(const Context& context, const BinnedTable& table, const Dataset<T>& dataset) {
  Dataset<T> result;
  if (const auto* sparse = std::get_if<SparseCodes>(&table.codes))
    result.x = numbers_of<T>(context, table, *sparse);
  else
    result.x = std::visit([&](const auto& codes) { return numbers_of<T>(context, table, codes); },
                          std::get<DenseCodes>(table.codes));
  result.target = dataset.target;
  result.feature_names = dataset.feature_names;
  result.row_names = dataset.row_names;
  result.levels = dataset.levels;
  for (std::size_t j = 0; j < result.levels.size(); ++j)
    if (static_cast<std::size_t>(table.states[j]) > result.levels[j].size()) result.levels[j].clear();
  result.groups = dataset.groups;
  result.group_names = dataset.group_names;
  result.row_columns = dataset.row_columns;
  result.source = dataset.source;
  result.format = dataset.format;
  return result;
}

template Dataset<float> states_dataset(const Context&, const BinnedTable&, const Dataset<float>&);
template Dataset<double> states_dataset(const Context&, const BinnedTable&, const Dataset<double>&);

}  // namespace sheaf
