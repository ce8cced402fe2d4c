#include "data/prepare/impute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t row_grain = 1024;

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

/// Column `column` of a dense dataset; of a sparse one its transpose's row.
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
template <class T, class Work>
void for_each_value(DenseMatrix<T>& x, Range range, Work&& work) {
  for (std::int64_t i = range.begin; i < range.end; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) work(static_cast<std::size_t>(j), x.values[i * x.columns + j]);
}
template <class T, class Work>
void for_each_value(SparseMatrix<T>& x, Range range, Work&& work) {
  for (std::int64_t k = x.offsets[range.begin]; k < x.offsets[range.end]; ++k)
    work(static_cast<std::size_t>(x.indices[k]), x.values[k]);
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
std::vector<bool> columns_with_gaps(M& x) {
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
void impute(const Reading& reading, Dataset<T>& dataset) {
  if (reading.options.missing == Missing::keep) return;
  const auto fill = [&](auto& x) {
    const auto with_gaps = columns_with_gaps(x);
    const auto& columns = by_column(x, reading.context.threads());
    std::vector<T> by(with_gaps.size());
    parallel_for(reading.context, x.columns, [&](std::int64_t j) {
      const auto at = static_cast<std::size_t>(j);
      if (!with_gaps[at]) return;
      auto known = known_values(columns, j);
      if (known.count() == 0)
        fail("{}: the column {} has no value at all, so nothing can be filled in; leave it out", reading.name,
             shown(dataset.feature_name(j)));
      const bool nominal = !dataset.levels.empty() && !dataset.levels[at].empty();
      by[at] = static_cast<T>(statistic(nominal ? Missing::most_frequent : reading.options.missing, known));
    });
    parallel_ranges(reading.context, x.rows, row_grain, [&](Range range) {
      for_each_value(x, range, [&](std::size_t column, T& value) {
        if (std::isnan(value)) value = by[column];
      });
    });
  };
  std::visit(fill, dataset.x);
}

template void impute(const Reading&, Dataset<float>&);
template void impute(const Reading&, Dataset<double>&);

}  // namespace sheaf
