#include "data/impute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

/// The values of one column that are there, in row order; in sparse columns also how many zeros are not stored.
template <class T>
struct Known {
  std::vector<T> values;
  std::int64_t implicit_zeros = 0;

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
  known.values.resize(static_cast<std::size_t>(known.count()), T(0));
  auto& values = known.values;
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
  const auto upper = static_cast<double>(values[half]);
  if (values.size() % 2 == 1) return upper;
  const auto lower =
      static_cast<double>(*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)));
  return lower / 2 + upper / 2;
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

/// The columns that have a NaN.
template <class T>
std::vector<bool> find_columns(const DenseMatrix<T>& x) {
  std::vector<bool> found(static_cast<std::size_t>(x.columns));
  for (std::int64_t k = 0; k < x.values.size(); ++k)
    if (std::isnan(x.values[k])) found[static_cast<std::size_t>(k % x.columns)] = true;
  return found;
}
template <class T>
std::vector<bool> find_columns(const SparseMatrix<T>& x) {
  std::vector<bool> found(static_cast<std::size_t>(x.columns));
  for (std::int64_t k = 0; k < x.values.size(); ++k)
    if (std::isnan(x.values[k])) found[static_cast<std::size_t>(x.indices[k])] = true;
  return found;
}

template <class T>
Known<T> known_values(const DenseMatrix<T>& x, std::int64_t column) {
  Known<T> known;
  for (std::int64_t k = column; k < x.values.size(); k += x.columns)
    if (!std::isnan(x.values[k])) known.values.push_back(x.values[k]);
  return known;
}
template <class T>
Known<T> known_values(const SparseMatrix<T>& x, std::int64_t column) {
  Known<T> known;
  std::int64_t stored = 0;
  for (std::int64_t k = 0; k < x.values.size(); ++k) {
    if (x.indices[k] != column) continue;
    ++stored;
    if (!std::isnan(x.values[k])) known.values.push_back(x.values[k]);
  }
  known.implicit_zeros = x.rows - stored;
  return known;
}

template <class T>
void replace(DenseMatrix<T>& x, const std::vector<T>& by) {
  for (std::int64_t k = 0; k < x.values.size(); ++k)
    if (std::isnan(x.values[k])) x.values[k] = by[static_cast<std::size_t>(k % x.columns)];
}
template <class T>
void replace(SparseMatrix<T>& x, const std::vector<T>& by) {
  for (std::int64_t k = 0; k < x.values.size(); ++k)
    if (std::isnan(x.values[k])) x.values[k] = by[static_cast<std::size_t>(x.indices[k])];
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
  std::visit(
      [&](auto& x) {
        const auto with_gaps = find_columns(x);
        std::vector<T> by(with_gaps.size());
        parallel_for(reading.context.threads(), x.columns, [&](std::int64_t j) {
          const auto at = static_cast<std::size_t>(j);
          if (!with_gaps[at]) return;
          auto known = known_values(x, j);
          if (known.count() == 0)
            fail("{}: the column '{}' has no value at all, so nothing can be filled in; leave it out", reading.name,
                 dataset.feature_name(j));
          const bool nominal = !dataset.levels.empty() && !dataset.levels[at].empty();
          by[at] = static_cast<T>(statistic(nominal ? Missing::most_frequent : reading.options.missing, known));
        });
        replace(x, by);
      },
      dataset.x);
}

template void impute(const Reading&, Dataset<float>&);
template void impute(const Reading&, Dataset<double>&);

}  // namespace sheaf
