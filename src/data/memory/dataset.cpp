#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "data/memory/argument.hpp"
#include "data/memory/labels.hpp"
#include "data/memory/matrices.hpp"
#include "data/read/impute.hpp"
#include "data/text/moments.hpp"

namespace sheaf {
namespace memory {
namespace {

/// Row and column of a stored entry.
template <class T>
std::pair<std::int64_t, std::int64_t> place_of(const Matrix<T>& x, std::int64_t entry) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) return {entry / dense->columns, entry % dense->columns};
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  const auto* behind = std::upper_bound(sparse.offsets.begin(), sparse.offsets.end(), entry);
  return {behind - sparse.offsets.begin() - 1, sparse.indices[entry]};
}

template <class T>
[[noreturn]] void fail_value(const Matrix<T>& x, std::int64_t entry, T value, bool narrowed) {
  const auto [row, column] = place_of(x, entry);
  if (std::isnan(value))
    fail_argument("values", "row {}, column {} is NaN; set 'missing' to say what stands for a missing value", row,
                  column);
  fail_argument("values", "row {}, column {} is {}{}, but a finite number is expected", row, column,
                narrowed ? "infinite, or too large for single precision" : "",
                narrowed ? "" : fmt::format("{}", value));
}

std::int64_t size_of(const LabelSpan& labels) {
  return std::visit([](auto span) { return static_cast<std::int64_t>(span.size()); }, labels);
}

void check_count(std::string_view argument, const LabelSpan& entries, std::int64_t rows) {
  if (size_of(entries) != rows)
    fail_argument(argument, "has {}, but the matrix has {}", counted(size_of(entries), "entry"), counted(rows, "row"));
}

template <class T>
Imported<T> import_matrix(const Context& context, const MatrixInput& input) {
  if (const auto* dense = std::get_if<DenseInput>(&input)) return import_dense<T>(context, *dense);
  return import_sparse<T>(context, std::get<SparseInput>(input));
}

bool is_double(const MatrixInput& input) {
  return std::visit([](const auto& in) { return std::holds_alternative<std::span<const double>>(in.values); }, input);
}

template <class T>
void fill_in(const Context& context, Missing missing, Dataset<T>& dataset) {
  ReadOptions options;
  options.missing = missing;
  dataset.change_x();
  impute(Reading{context, {}, dataset.source, options}, dataset);
}

}  // namespace

template <class T>
bool check_values(const Matrix<T>& x, Missing missing, bool narrowed, int threads) {
  const auto* stored = std::visit([](const auto& matrix) { return &matrix.values; }, x);
  const auto& values = *stored;
  const auto count = values.size();
  const auto first = find_first(threads, count, [&](std::int64_t k) { return !std::isfinite(values[k]); });
  if (first == count) return false;
  if (missing == Missing::error) fail_value(x, first, values[first], narrowed);
  const auto infinite = find_first(threads, count, [&](std::int64_t k) { return std::isinf(values[k]); });
  if (infinite < count) fail_value(x, infinite, values[infinite], narrowed);
  return true;
}

template bool check_values(const Matrix<float>&, Missing, bool, int);
template bool check_values(const Matrix<double>&, Missing, bool, int);

}  // namespace memory

template <class T>
Dataset<T> make_dataset(const Context& context, const MatrixInput& input, const LabelSpan& labels,
                        const DatasetOptions& options) {
  auto imported = memory::import_matrix<T>(context, input);
  Dataset<T> dataset;
  dataset.source = options.source;
  dataset.owner = std::visit([](const auto& in) { return in.owner; }, input);
  dataset.x = std::move(imported.x);
  if (imported.resident) dataset.keep_resident(*std::move(imported.resident));
  if (!options.feature_names.empty()) memory::check_names("feature_names", options.feature_names, dataset.features());
  dataset.feature_names = options.feature_names;
  if (memory::size_of(labels) > 0) {
    memory::check_count("labels", labels, dataset.rows());
    dataset.target = make_target(labels, options);
  }
  if (memory::size_of(options.groups) > 0) {
    memory::check_count("groups", options.groups, dataset.rows());
    auto groups = memory::number_distinct("groups", options.groups);
    dataset.groups = std::move(groups.ids);
    dataset.group_names = std::move(groups.names);
  }
  if (!options.times.empty()) {
    if (std::ssize(options.times) != dataset.rows())
      memory::fail_argument("times", "has {}, but the matrix has {}", counted(options.times.size(), "entry"),
                            counted(dataset.rows(), "row"));
    for (std::size_t i = 0; i < options.times.size(); ++i)
      if (!std::isfinite(options.times[i])) memory::fail_argument("times", "entry {} is no finite number", i);
    dataset.row_columns.times = places_of(options.times);
  }
  const bool narrowed = std::is_same_v<T, float> && memory::is_double(input);
  const bool has_nan = memory::check_values(dataset.x, options.missing, narrowed, context.threads());
  if (has_nan && options.missing != Missing::keep) memory::fill_in(context, options.missing, dataset);
  return dataset;
}

template Dataset<float> make_dataset(const Context&, const MatrixInput&, const LabelSpan&, const DatasetOptions&);
template Dataset<double> make_dataset(const Context&, const MatrixInput&, const LabelSpan&, const DatasetOptions&);

}  // namespace sheaf
