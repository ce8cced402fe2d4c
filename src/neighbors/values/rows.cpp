#include "neighbors/values/rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/borrowed.hpp"
#include "data/budget.hpp"
#include "data/nominal.hpp"
#include "data/row_subset.hpp"

namespace sheaf::neighbors {
namespace {

constexpr std::int64_t grain = 1 << 16;

/// The first stored entry for which `bad` holds; -1: none.
template <class T, class Bad>
std::int64_t first_entry(const Array<T>& values, int threads, const Bad& bad) {
  std::atomic<std::int64_t> first = values.size();
  parallel_ranges(threads, values.size(), grain, [&](Range range) {
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      if (!bad(values[k])) continue;
      for (auto known = first.load(); k < known && !first.compare_exchange_weak(known, k);) {
      }
      return;
    }
  });
  return first < values.size() ? first.load() : -1;
}

template <class T>
const Array<T>& values_of(const Matrix<T>& x) {
  return std::visit([](const auto& m) -> const Array<T>& { return m.values; }, x);
}

/// No distance between rows of smaller values overflows, and no term on the way to it.
double largest_value(const DistanceOptions& distance, std::int64_t columns) {
  constexpr double most = std::numeric_limits<double>::max();
  double terms = static_cast<double>(std::max<std::int64_t>(columns, 1));
  if (!distance.weights.empty())
    terms *= std::max(1.0, *std::max_element(distance.weights.begin(), distance.weights.end()));
  switch (distance.metric) {
    case DistanceType::hamming:
    case DistanceType::jaccard:
      return most;
    case DistanceType::chebyshev:
      return most / 4;
    case DistanceType::manhattan:
      return most / 4 / terms;
    case DistanceType::minkowski:
      return std::pow(most / 4 / terms, 1 / distance.power) / 4;
    default:
      return std::sqrt(most / 4 / terms) / 4;
  }
}

template <class T>
void check_values(const Dataset<T>& dataset, double largest, std::string_view what, int threads) {
  const auto& values = values_of(dataset.x);
  const auto at =
      first_entry(values, threads, [largest](T value) { return !(std::abs(static_cast<double>(value)) <= largest); });
  if (at < 0) return;
  std::int64_t row = 0;
  std::int64_t column = 0;
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&dataset.x)) {
    row = std::upper_bound(sparse->offsets.begin(), sparse->offsets.end(), at) - sparse->offsets.begin() - 1;
    column = sparse->indices[at];
  } else {
    row = at / dataset.features();
    column = at % dataset.features();
  }
  if (!std::isfinite(values[at]))
    fail("{}: row {}, feature {} is {}; distances need finite numbers", dataset.source, row + 1,
         dataset.feature_name(column), values[at]);
  fail(
      "{}: row {}, feature {} is {}; {} need numbers of at most {:.3g}: scale the feature, or mark values that stand "
      "for missing ones as such",
      dataset.source, row + 1, dataset.feature_name(column), values[at], what, largest);
}

template <class T>
bool fits_float(const Matrix<T>& x, int threads) {
  if constexpr (std::is_same_v<T, float>) return true;
  return first_entry(values_of(x), threads,
                     [](T value) { return static_cast<T>(static_cast<float>(value)) != value; }) < 0;
}

template <class S, class T>
Array<S> converted(const Array<T>& from, int threads) {
  if constexpr (std::is_same_v<S, T>) {
    return borrowed(from);
  } else {
    Array<S> to(from.size());
    parallel_ranges(threads, from.size(), grain, [&](Range range) {
      for (std::int64_t k = range.begin; k < range.end; ++k) to[k] = static_cast<S>(from[k]);
    });
    return to;
  }
}

template <class S, class T>
DenseMatrix<S> dense_matrix(const Context& context, const Matrix<T>& x, std::int64_t columns) {
  const auto rows = sheaf::rows(x);
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x); dense != nullptr && dense->columns == columns)
    return {rows, columns, converted<S>(dense->values, context.threads())};
  const double bytes = dense_bytes(rows, columns, sizeof(S));
  if (bytes > static_cast<double>(cpu_budget(context)))
    fail("the rows take {} in memory when zeros are written out, more than may be used ({}); choose features first",
         format_bytes(static_cast<std::int64_t>(bytes)), format_bytes(cpu_budget(context)));
  DenseMatrix<S> result{rows, columns, Array<S>::zeros(rows * columns)};
  parallel_ranges(context.threads(), rows, 64, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for_row_entries(x, i, [&](std::int64_t j, T value) { result.values[i * columns + j] = static_cast<S>(value); });
  });
  return result;
}

template <class S, class T>
SparseMatrix<S> sparse_matrix(const Context& context, const Matrix<T>& x, std::int64_t columns) {
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x))
    return {sparse->rows, columns, borrowed(sparse->offsets), borrowed(sparse->indices),
            converted<S>(sparse->values, context.threads())};
  const auto& dense = std::get<DenseMatrix<T>>(x);
  auto made = to_sparse(dense, context.threads());
  if constexpr (std::is_same_v<S, T>) {
    made.columns = columns;
    return made;
  } else {
    return {made.rows, columns, std::move(made.offsets), std::move(made.indices),
            converted<S>(made.values, context.threads())};
  }
}

/// The mean is subtracted before the norm is taken, if requested.
template <class S>
RowTerms terms_of(const Matrix<S>& x, std::int64_t row, std::int64_t columns, DistanceType metric) {
  RowTerms terms;
  double sum = 0;
  double squares = 0;
  for_row_entries(x, row, [&](std::int64_t, S value) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    terms.count += value != 0 ? 1 : 0;
  });
  if (metric == DistanceType::correlation) {  // dense rows
    terms.shift = sum / static_cast<double>(columns);
    squares = 0;
    bool constant = true;
    S first{};
    for_row_entries(x, row, [&](std::int64_t j, S value) {
      if (j == 0) first = value;
      constant = constant && value == first;
      const double apart = static_cast<double>(value) - terms.shift;
      squares += apart * apart;
    });
    if (constant) squares = 0;
  }
  terms.factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
  return terms;
}

template <class S>
void add_terms(const Context& context, DistanceType metric, Rows<S>& rows) {
  const bool wanted =
      metric == DistanceType::cosine || metric == DistanceType::correlation || metric == DistanceType::jaccard;
  if (!wanted) return;
  const auto count = sheaf::rows(rows.x);
  rows.terms.resize(static_cast<std::size_t>(count));
  parallel_ranges(context.threads(), count, 64, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      rows.terms[static_cast<std::size_t>(i)] = terms_of(rows.x, i, sheaf::columns(rows.x), metric);
  });
}

template <class S, class T>
Rows<S> make_rows(const Context& context, const Dataset<T>& dataset, std::int64_t columns, bool sparse,
                  DistanceType metric) {
  Rows<S> rows;
  if (sparse)
    rows.x = sparse_matrix<S>(context, dataset.x, columns);
  else
    rows.x = dense_matrix<S>(context, dataset.x, columns);
  add_terms(context, metric, rows);
  return rows;
}

/// Whether dense rows are much the faster ones, and have room. The distances are the same.
template <class T>
bool is_nearly_dense(const Context& context, const Dataset<T>& dataset, const Dataset<T>* queries,
                     std::int64_t columns) {
  constexpr double many = 1 << 20;  // values; with fewer nothing takes long
  constexpr double worth = 8;       // values for each stored one: dense rows are compared eight at a time and more
  constexpr double share = 4;       // of the memory
  const auto rows = static_cast<double>(dataset.rows() + (queries != nullptr ? queries->rows() : 0));
  const auto entries = static_cast<double>(stored(dataset.x) + (queries != nullptr ? stored(queries->x) : 0));
  const double values = rows * static_cast<double>(columns);
  return values >= many && values <= worth * entries &&
         values * static_cast<double>(sizeof(T)) <= static_cast<double>(cpu_budget(context)) / share;
}

DistanceOptions checked(const DistanceOptions& given, std::int64_t features, std::int64_t columns) {
  auto distance = given;
  const auto& function = distance_function(distance.metric);
  if (!distance.weights.empty()) {
    if (!function.has_weights)
      fail_usage("the {} distance has no weights of features; euclidean, sqeuclidean, manhattan and minkowski have",
                 function.name);
    if (std::ssize(distance.weights) != features)
      fail_usage("there are {} weights of features for {}", distance.weights.size(), counted(features, "feature"));
    for (std::size_t j = 0; j < distance.weights.size(); ++j)
      if (!(distance.weights[j] >= 0) || !std::isfinite(distance.weights[j]))
        fail_usage("the weight of feature {} is {}; a finite number of 0 or more is expected", j + 1,
                   distance.weights[j]);
    if (std::all_of(distance.weights.begin(), distance.weights.end(), [](double w) { return w == 0; }))
      fail_usage("the weights of all features are 0, so that all rows would be the same");
    distance.weights.resize(static_cast<std::size_t>(columns), 0.0);
  }
  if (distance.metric == DistanceType::minkowski) {
    if (!(distance.power >= 1) || !std::isfinite(distance.power))
      fail_usage("the power of Minkowski's distance is {}; 1 or more is expected", distance.power);
    if (distance.power == 1) distance.metric = DistanceType::manhattan;
    if (distance.power == 2) distance.metric = DistanceType::euclidean;
  }
  return distance;
}

/// Numbers of levels are no coordinates.
template <class T>
void check_numeric(const Dataset<T>& dataset) {
  for (std::int64_t j = 0; j < dataset.features() && !dataset.levels.empty(); ++j)
    if (is_nominal(dataset, j))
      fail("{}: feature '{}' is nominal and has no distances; encode its levels first (learn_pipeline)", dataset.source,
           dataset.feature_name(j));
}

}  // namespace

template <class T>
void check_values(const Context& context, const Dataset<T>& dataset, const DistanceOptions& distance, bool local) {
  const auto columns = std::max<std::int64_t>({dataset.features(), std::ssize(distance.weights), 1});
  if (!local)
    return check_values(dataset, largest_value(distance, columns),
                        fmt::format("{} distances", to_string(distance.metric)), context.threads());
  // Squares of squares are computed.
  const double terms = 4 * static_cast<double>(columns);
  check_values(dataset, std::pow(std::numeric_limits<double>::max() / terms, 0.25), "local models", context.threads());
}

template <class T>
AnyRowPair make_row_pair(const Context& context, const Dataset<T>& dataset, const Dataset<T>* queries,
                         const DistanceOptions& given) {
  const int threads = context.threads();
  check_numeric(dataset);
  if (queries != nullptr) check_numeric(*queries);
  const auto columns = std::max(dataset.features(), queries != nullptr ? queries->features() : 0);
  const auto distance = checked(given, dataset.features(), columns);
  check_values(context, dataset, distance, false);
  if (queries != nullptr) check_values(context, *queries, distance, false);
  const bool sparse = is_sparse(dataset.x) && distance.metric != DistanceType::correlation &&
                      !is_nearly_dense(context, dataset, queries, columns);
  const auto fill = [&]<class S>(RowPair<S> pair) -> AnyRowPair {
    pair.distance = distance;
    pair.self = queries == nullptr;
    pair.data = make_rows<S>(context, dataset, columns, sparse, distance.metric);
    if (queries != nullptr) pair.queries = make_rows<S>(context, *queries, columns, sparse, distance.metric);
    return pair;
  };
  if (fits_float(dataset.x, threads) && (queries == nullptr || fits_float(queries->x, threads)))
    return fill(RowPair<float>{});
  return fill(RowPair<double>{});
}

template <class S>
void write_row(const Rows<S>& rows, std::int64_t i, double* out) {
  const auto columns = sheaf::columns(rows.x);
  std::fill_n(out, columns, 0.0);
  for_row_entries(rows.x, i, [&](std::int64_t j, S value) { out[j] = static_cast<double>(value); });
  if (rows.terms.empty()) return;
  const auto& terms = rows.terms[static_cast<std::size_t>(i)];
  for (std::int64_t j = 0; j < columns; ++j) out[j] = (out[j] - terms.shift) * terms.factor;
}

template AnyRowPair make_row_pair(const Context&, const Dataset<float>&, const Dataset<float>*, const DistanceOptions&);
template AnyRowPair make_row_pair(const Context&, const Dataset<double>&, const Dataset<double>*,
                                  const DistanceOptions&);
template void check_values(const Context&, const Dataset<float>&, const DistanceOptions&, bool);
template void check_values(const Context&, const Dataset<double>&, const DistanceOptions&, bool);
template void write_row(const Rows<float>&, std::int64_t, double*);
template void write_row(const Rows<double>&, std::int64_t, double*);

}  // namespace sheaf::neighbors
