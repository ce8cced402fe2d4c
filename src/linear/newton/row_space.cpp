#include "linear/newton/row_space.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/parallel.hpp"
#include "linear/products/blas_cpu.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{32} << 20;  // of the transformed features at a time
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;    // of the row spaces that are kept

/// One column transform of a sheaf; without any, features are as they are.
struct ColumnTransform {
  const Sheaf& sheaf;
  std::int32_t column;

  bool there() const { return sheaf.column_transforms > 0; }
  std::size_t at(std::int64_t feature) const {
    return static_cast<std::size_t>(feature) * static_cast<std::size_t>(sheaf.column_transforms) +
           static_cast<std::size_t>(column);
  }
  double shift(std::int64_t feature) const { return there() ? sheaf.shifts[at(feature)] : 0; }
  double factor(std::int64_t feature) const { return there() ? sheaf.factors[at(feature)] : 1; }

  /// FNV-1a, by whole numbers of 8 bytes.
  std::uint64_t hash(std::int64_t features) const {
    std::uint64_t sum = 14695981039346656037U;
    const auto add = [&](double value) { sum = (sum ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U; };
    for (std::int64_t j = 0; there() && j < features; ++j) {
      add(shift(j));
      add(factor(j));
      sum ^= sum >> 29;
    }
    return sum;
  }
};

/// Some features, transformed: features x rows.
template <class T>
Dataset<double> transposed_part(const DenseMatrix<T>& x, Range features, const ColumnTransform& transform,
                                int threads) {
  const std::int64_t count = features.end - features.begin;
  DenseMatrix<double> part{count, x.rows, Array<double>(count * x.rows)};
  parallel_ranges(threads, count, 64, [&](Range range) {
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const std::int64_t feature = features.begin + j;
      const double shift = transform.shift(feature);
      const double factor = transform.factor(feature);
      double* to = part.values.data() + j * x.rows;
      if (factor == 0)
        std::fill_n(to, x.rows, 0.0);
      else
        for (std::int64_t i = 0; i < x.rows; ++i)
          to[i] = (static_cast<double>(x.values[i * x.columns + feature]) - shift) * factor;
    }
  });
  Dataset<double> result;
  result.x = std::move(part);
  return result;
}

/// All features, of which none is shifted.
template <class T>
Dataset<double> transposed_all(const SparseMatrix<T>& by_columns, const ColumnTransform& transform) {
  SparseMatrix<double> all{by_columns.rows, by_columns.columns, by_columns.offsets.to(Device::cpu()),
                           by_columns.indices.to(Device::cpu()), Array<double>(by_columns.nonzeros())};
  for (std::int64_t j = 0; j < by_columns.rows; ++j) {
    const double factor = transform.factor(j);
    for (std::int64_t k = by_columns.offsets[j]; k < by_columns.offsets[j + 1]; ++k)
      all.values[k] = static_cast<double>(by_columns.values[k]) * factor;
  }
  Dataset<double> result;
  result.x = std::move(all);
  return result;
}

template <class T>
RowSpace<T> make_row_space(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, std::int32_t column) {
  const std::int64_t rows = dataset.rows();
  auto products = row_products(context, dataset, sheaf, column);
  const auto found = cpu::row_coordinates(products, rows);
  DenseMatrix<T> x{rows, found.rank, Array<T>(rows * found.rank)};
  RowSpace<T> space{{}, {rows, found.rank, Array<T>(rows * found.rank)}};
  const auto narrow = [](double value) { return static_cast<T>(value); };
  std::transform(found.z.begin(), found.z.end(), x.values.begin(), narrow);
  std::transform(found.c.begin(), found.c.end(), space.coefficients.values.begin(), narrow);
  space.rows.x = std::move(x);
  return space;
}

/// Weights of the features, from weights of the coordinates.
template <class T>
Block<T> weights_of_features(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                             const NewtonParams& params, const RowSpace<T>& space, const Block<T>& found) {
  const auto& coefficients = space.coefficients;
  const std::int32_t tasks = found.tasks();
  Block<T> sums(coefficients.rows, tasks);
  for (std::int64_t i = 0; i < coefficients.rows; ++i)
    for (std::int64_t k = 0; k < coefficients.columns; ++k)
      for (std::int32_t t = 0; t < tasks; ++t)
        sums(i, t) += coefficients.values[i * coefficients.columns + k] * found(k, t);
  const bool hidden_bias = sheaf.column_transforms > 0 && !(params.bias > 0);
  const auto ops = make_ops<T>(context, dataset, static_cast<T>(hidden_bias ? 1 : params.bias));
  if (hidden_bias) ops->hide_bias();
  ops->load_tables(sheaf);
  ops->choose_tasks(sheaf.tasks);
  Block<T> weights(ops->weights(), tasks, ops->device());
  const auto there = sums.to(ops->device());
  ops->multiply_transposed(there.view(), weights.view());
  ops->synchronize();
  auto result = weights.to(Device::cpu());
  if (params.bias > 0)
    for (std::int32_t t = 0; t < tasks; ++t) result(result.rows() - 1, t) = found(found.rows() - 1, t);
  return result;
}

}  // namespace

template <class T>
std::vector<double> row_products(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                 std::int32_t column) {
  const ColumnTransform transform{sheaf, column};
  if (is_sparse(dataset.x)) {
    const auto features = transposed_all(dataset.by_columns(Device::cpu(), context.threads()), transform);
    return make_ops<double>(context, features)->gram(context);
  }
  const auto& x = std::get<DenseMatrix<T>>(dataset.x);
  const std::int64_t width =
      std::max(x.rows, chunk_bytes / static_cast<std::int64_t>(sizeof(double)) / std::max<std::int64_t>(x.rows, 1));
  std::vector<double> sums;
  for (std::int64_t first = 0; first < x.columns; first += width) {
    context.check_stop();
    const auto part = transposed_part(x, {first, std::min(first + width, x.columns)}, transform, context.threads());
    const auto products = make_ops<double>(context, part)->gram(context);
    if (sums.empty())
      sums = products;
    else
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += products[k];
  }
  return sums;
}

template <class T>
NewtonParams in_row_space(NewtonParams params) {
  constexpr double share = 0.01;
  constexpr double least = 1e-8;
  const bool precise = std::is_same_v<T, double>;  // float may not get there
  if (precise) params.tolerance = std::min(params.tolerance, std::max(share * params.tolerance, least));
  return params;
}

template <class T>
bool row_space_pays(const Dataset<T>& dataset, StopRule stop, double tasks) {
  // Operations of a step, over those that cores do in a nanosecond; rounded from measurements.
  constexpr double newton_passes = 120;  // of wide data, which are often badly scaled
  constexpr double newton_rate = 8;
  constexpr double product_rate = 16;
  constexpr double factor_rate = 20;
  constexpr double clearly = 1.5;
  const auto rows = static_cast<double>(dataset.rows());
  if (stop != StopRule::suboptimality || rows < 2 || 4 * dataset.rows() > dataset.features()) return false;
  const auto entries = static_cast<double>(stored(dataset.x));
  double pairs = rows * entries;
  if (is_sparse(dataset.x)) pairs *= 4;  // at most, and not in order
  const double space = pairs / product_rate + rows * rows * rows / factor_rate;
  return clearly * space < 4 * newton_passes * entries * tasks / newton_rate;
}

template <class T>
bool RowSpaces<T>::take(const Sheaf& sheaf) const {
  return !is_sparse(dataset_.x) ||
         std::all_of(sheaf.shifts.begin(), sheaf.shifts.end(), [](double shift) { return shift == 0; });
}

template <class T>
const RowSpace<T>& RowSpaces<T>::of(const Context& context, const Sheaf& sheaf, std::int32_t column) {
  const ColumnTransform transform{sheaf, column};
  const auto key = transform.hash(dataset_.features());
  const auto found = spaces_.find(key);
  if (found != spaces_.end()) return *found->second;
  const auto bytes = 2 * dataset_.rows() * dataset_.rows() * static_cast<std::int64_t>(sizeof(T));
  if (std::ssize(spaces_) * bytes > std::min(most_bytes, context.memory() / 16)) spaces_.clear();
  auto made = std::make_unique<const RowSpace<T>>(make_row_space(context, dataset_, sheaf, column));
  return *spaces_.emplace(key, std::move(made)).first->second;
}

Sheaf without_transforms(const Sheaf& sheaf, std::vector<Task> tasks) {
  Sheaf result = sheaf;
  result.tasks = std::move(tasks);
  result.column_transforms = 0;
  result.shifts.clear();
  result.factors.clear();
  return result;
}

template <class T>
Fits<T> newton_by_row_space(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                            const NewtonParams& params) {
  RowSpaces<T> spaces(dataset);
  if (context.team() != nullptr || sheaf.column_transforms > 1 || !spaces.take(sheaf) ||
      !row_space_pays(dataset, params.stop, static_cast<double>(sheaf.tasks.size())))
    return newton(context, dataset, sheaf, params);
  const auto& space = spaces.of(context, sheaf, 0);
  const auto found = newton(context, space.rows, without_transforms(sheaf, sheaf.tasks), in_row_space<T>(params));
  const auto start = weights_of_features(context, dataset, sheaf, params, space, found.weights);
  auto fits = newton(context, dataset, sheaf, params, &start);
  for (std::size_t t = 0; t < fits.tasks.size(); ++t) fits.tasks[t].iterations += found.tasks[t].iterations;
  return fits;
}

template std::vector<double> row_products(const Context&, const Dataset<float>&, const Sheaf&, std::int32_t);
template std::vector<double> row_products(const Context&, const Dataset<double>&, const Sheaf&, std::int32_t);
template NewtonParams in_row_space<float>(NewtonParams);
template NewtonParams in_row_space<double>(NewtonParams);
template bool row_space_pays(const Dataset<float>&, StopRule, double);
template bool row_space_pays(const Dataset<double>&, StopRule, double);
template class RowSpaces<float>;
template class RowSpaces<double>;
template Fits<float> newton_by_row_space(const Context&, const Dataset<float>&, const Sheaf&, const NewtonParams&);
template Fits<double> newton_by_row_space(const Context&, const Dataset<double>&, const Sheaf&, const NewtonParams&);

}  // namespace sheaf::linear
