#include "data/read/impute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/nominal.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t filled_rows = 1024;

/// The values of one column that are there, in row order; for sparse columns also how many zeros are not stored.
template <class T>
struct Known {
  std::vector<T> values;
  std::int64_t implicit_zeros = 0;

  void add(T value) {
    if (!std::isnan(value)) values.push_back(value);
  }
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()) + implicit_zeros; }
};

template <class T>
double mean(const Known<T>& known) {
  double sum = 0;
  for (const T value : known.values) sum += static_cast<double>(value);
  return sum / static_cast<double>(known.count());
}

template <class T>
double median(Known<T>& known) {
  auto& values = known.values;
  values.resize(static_cast<std::size_t>(known.count()), T(0));
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*half);
  return std::midpoint(static_cast<double>(*std::max_element(values.begin(), half)), static_cast<double>(*half));
}

/// The smallest of the most frequent.
template <class T>
double most_frequent(const Known<T>& known) {
  std::map<T, std::int64_t> counts;
  if (known.implicit_zeros > 0) counts[T(0)] = known.implicit_zeros;
  for (const T value : known.values) ++counts[value];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return static_cast<double>(most->first);
}

template <class T>
double statistic(Missing method, Known<T>& known) {
  switch (method) {
    case Missing::mean:
      return mean(known);
    case Missing::median:
      return median(known);
    case Missing::most_frequent:
      return most_frequent(known);
    default:
      return 0;
  }
}

/// Column `column` of a dense dataset; for a sparse one, its transpose's row.
template <class T>
Known<T> known_values(const DenseMatrix<T>& x, std::int64_t column) {
  Known<T> known;
  for (std::int64_t k = column; k < x.values.size(); k += x.columns) known.add(x.values[k]);
  return known;
}
template <class T>
Known<T> known_values(const SparseMatrix<T>& transposed, std::int64_t column) {
  Known<T> known;
  const std::int64_t begin = transposed.offsets[column];
  const std::int64_t end = transposed.offsets[column + 1];
  for (std::int64_t k = begin; k < end; ++k) known.add(transposed.values[k]);
  known.implicit_zeros = transposed.columns - (end - begin);
  return known;
}

/// Calls work(column, value) for every stored entry of the rows in `range`.
template <class M, class Work>
void for_each_value(M& x, Range range, Work&& work) {
  if constexpr (requires { x.offsets; })
    for (std::int64_t k = x.offsets[range.begin]; k < x.offsets[range.end]; ++k)
      work(static_cast<std::size_t>(x.indices[k]), x.values[k]);
  else
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int64_t j = 0; j < x.columns; ++j) work(static_cast<std::size_t>(j), x.values[i * x.columns + j]);
}

template <class T>
const DenseMatrix<T>& by_column(const DenseMatrix<T>& x, int /*threads*/) {
  return x;
}
template <class T>
SparseMatrix<T> by_column(const SparseMatrix<T>& x, int threads) {
  return transpose(x, threads);
}

/// The columns that have a NaN.
template <class M>
std::vector<bool> columns_with_gaps(const M& x) {
  std::vector<bool> found(static_cast<std::size_t>(x.columns));
  for_each_value(x, {0, x.rows}, [&](std::size_t column, auto value) {
    if (std::isnan(value)) found[column] = true;
  });
  return found;
}

}  // namespace

bool is_missing(std::string_view text) {
  static constexpr std::array<std::string_view, 6> known{"", "?", "na", "n/a", "nan", "null"};
  const auto same = [](char k, char c) { return k == (c >= 'A' && c <= 'Z' ? c | 0x20 : c); };
  return std::any_of(known.begin(), known.end(), [&](std::string_view word) {
    return word.size() == text.size() && std::equal(word.begin(), word.end(), text.begin(), same);
  });
}

template <class T>
std::vector<bool> features_with_gaps(const Dataset<T>& dataset) {
  return std::visit([](const auto& x) { return columns_with_gaps(x); }, dataset.x);
}

template <class T>
std::vector<double> learn_fills(const Context& context, const Dataset<T>& dataset, Missing method,
                                const std::vector<bool>& wanted) {
  std::vector<double> fills(wanted.size());
  std::visit(
      [&](const auto& x) {
        const auto& columns = by_column(x, context.threads());
        parallel_for(context, x.columns, [&](std::int64_t j) {
          const auto at = static_cast<std::size_t>(j);
          if (!wanted[at]) return;
          auto known = known_values(columns, j);
          if (known.count() == 0)
            fail("{}: the column {} has no value at all, so nothing can be filled in; leave it out", dataset.source,
                 shown(dataset.feature_name(j)));
          fills[at] = statistic(is_nominal(dataset, j) ? Missing::most_frequent : method, known);
        });
      },
      dataset.x);
  return fills;
}

template <class T>
void fill_in(const Context& context, std::span<const double> fills, Matrix<T>& matrix) {
  std::visit(
      [&](auto& x) {
        parallel_ranges(context, x.rows, filled_rows, [&](Range range) {
          for_each_value(x, range, [&](std::size_t column, T& value) {
            if (std::isnan(value)) value = static_cast<T>(fills[column]);
          });
        });
      },
      matrix);
}

template <class T>
void impute(const Reading& reading, Dataset<T>& dataset) {
  if (reading.options.missing == Missing::keep) return;
  dataset.source = reading.name;
  const auto gaps = features_with_gaps(dataset);
  fill_in(reading.context, learn_fills(reading.context, dataset, reading.options.missing, gaps), dataset.x);
}

template std::vector<bool> features_with_gaps(const Dataset<float>&);
template std::vector<bool> features_with_gaps(const Dataset<double>&);
template std::vector<double> learn_fills(const Context&, const Dataset<float>&, Missing, const std::vector<bool>&);
template std::vector<double> learn_fills(const Context&, const Dataset<double>&, Missing, const std::vector<bool>&);
template void fill_in(const Context&, std::span<const double>, Matrix<float>&);
template void fill_in(const Context&, std::span<const double>, Matrix<double>&);
template void impute(const Reading&, Dataset<float>&);
template void impute(const Reading&, Dataset<double>&);

}  // namespace sheaf
