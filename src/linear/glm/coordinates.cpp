#include "linear/glm/coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "linear/products/blas_cpu.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int64_t most_decomposed = 2048;  // weights; above, a decomposition takes tens of seconds
constexpr std::int64_t rows_per_weight = 8;     // that X'X is estimated from
constexpr std::int64_t passes_saved = 40;       // a decomposition may take as long as so many passes over X
constexpr std::int32_t columns_at_once = 64;
constexpr double smallest_share = 1e-10;  // of the largest curvature, below which a direction counts as flat

/// Evenly spread, at most `most` of them.
std::vector<std::int32_t> spread_rows(std::int64_t rows, std::int64_t most) {
  std::vector<std::int32_t> chosen;
  const std::int64_t count = std::min(rows, most);
  for (std::int64_t k = 0; k < count; ++k) chosen.push_back(static_cast<std::int32_t>(k * rows / count));
  return chosen;
}

/// X'X / n of the rows of `ops`, in CPU memory.
template <class T>
std::vector<double> gram(const Context& context, LinearOps<T>& ops) {
  const std::int64_t size = ops.weights();
  std::vector<double> result(static_cast<std::size_t>(size * size));
  for (std::int64_t first = 0; first < size; first += columns_at_once) {
    context.check_stop();
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(columns_at_once, size - first));
    Block<T> unit(size, count);
    for (std::int32_t c = 0; c < count; ++c) unit(first + c, c) = 1;
    const Block<T> there = unit.to(ops.device());
    Block<T> columns(ops.examples(), count, ops.device());
    Block<T> products(size, count, ops.device());
    ops.multiply(there.view(), columns.view());
    ops.multiply_transposed(columns.view(), products.view());
    ops.synchronize();
    const Block<T> here = products.to(Device::cpu());
    for (std::int64_t j = 0; j < size; ++j)
      for (std::int32_t c = 0; c < count; ++c)
        result[static_cast<std::size_t>((first + c) * size + j)] =
            static_cast<double>(here(j, c)) / static_cast<double>(ops.examples());
  }
  return result;
}

}  // namespace

template <class T>
Coordinates<T>::Coordinates(const Context& context, const Dataset<T>& dataset, const Objective<T>& objective,
                            std::span<const std::int32_t> tasks)
    : ops_(objective.ops()) {
  const std::int64_t size = ops_.weights();
  const auto columns = static_cast<std::int64_t>(tasks.size()) * objective.columns();
  std::vector<double> spectrum;
  const bool few = size <= most_decomposed && size * size <= passes_saved * ops_.examples() * columns;
  if (few)
    decompose(context, dataset, spectrum);
  else
    spectrum = diagonal();
  const double largest = spectrum.empty() ? 0.0 : *std::max_element(spectrum.begin(), spectrum.end());
  Block<T> scale(size, static_cast<std::int32_t>(columns));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const double curvature = objective.null_model(tasks[t]).curvature;
    const double alpha = objective.sheaf().tasks[static_cast<std::size_t>(tasks[t])].alpha;
    for (std::int64_t j = 0; j < size; ++j) {
      const double value = std::max(spectrum[static_cast<std::size_t>(j)], smallest_share * largest);
      const double steepness = curvature * value + alpha;
      for (std::int32_t k = 0; k < objective.columns(); ++k)
        scale(j, static_cast<std::int32_t>(t) * objective.columns() + k) =
            static_cast<T>(steepness > 0 ? 1 / std::sqrt(steepness) : 1.0);
    }
  }
  scale_ = scale.to(ops_.device());
}

template <class T>
void Coordinates<T>::decompose(const Context& context, const Dataset<T>& dataset, std::vector<double>& spectrum) {
  const std::int64_t size = ops_.weights();
  const auto silent = context.with({.progress = &silent_progress()});
  std::vector<double> matrix;
  double unseen = 0;  // the share of a row that was not looked at
  const T bias = size > dataset.features() ? T(1) : T(0);
  if (dataset.rows() > rows_per_weight * size) {
    Dataset<T> some = take_rows(dataset, spread_rows(dataset.rows(), rows_per_weight * size), context.threads());
    const auto ops = make_ops<T>(silent, some, bias);
    matrix = gram(context, *ops);
    unseen = 1 / static_cast<double>(some.rows());
  } else {
    matrix = gram(context, ops_);
  }
  spectrum = cpu::eigen_decomposition(matrix, size);
  double mean = 0;
  for (const double value : spectrum) mean += std::max(value, 0.0) / static_cast<double>(size);
  for (double& value : spectrum) value = std::max(value, unseen * mean);
  DenseMatrix<T> vectors{size, size, Array<T>(size * size)};  // row j: what weight j takes from each coordinate
  for (std::int64_t j = 0; j < size; ++j)
    for (std::int64_t k = 0; k < size; ++k)
      vectors.values[j * size + k] = static_cast<T>(matrix[static_cast<std::size_t>(k * size + j)]);
  vectors_.x = std::move(vectors);
  rotation_ = make_ops<T>(silent, vectors_, T(0));
}

template <class T>
std::vector<double> Coordinates<T>::diagonal() const {
  Block<T> ones(ops_.examples(), 1);
  for (std::int64_t i = 0; i < ones.rows(); ++i) ones(i, 0) = 1;
  const Block<T> there = ones.to(ops_.device());
  Block<T> squares(ops_.weights(), 1, ops_.device());
  ops_.multiply_squared_transposed(there.view(), squares.view());
  ops_.synchronize();
  const Block<T> here = squares.to(Device::cpu());
  std::vector<double> result;
  for (std::int64_t j = 0; j < here.rows(); ++j)
    result.push_back(static_cast<double>(here(j, 0)) / std::max<double>(1, static_cast<double>(ops_.examples())));
  return result;
}

template <class T>
void Coordinates<T>::to_weights(Block<T>& v, Block<T>& w) {
  if (rotation_ == nullptr) return ops_.multiply_elements(v.view(), scale_.view(), {}, w.view());
  ops_.multiply_elements(v.view(), scale_.view(), {}, v.view());
  ops_.synchronize();  // the rotation has a stream of its own
  rotation_->multiply(v.view(), w.view());
  rotation_->synchronize();
}

template <class T>
void Coordinates<T>::from_gradient(const Block<T>& g, Block<T>& v) {
  if (rotation_ == nullptr) return ops_.multiply_elements(g.view(), scale_.view(), {}, v.view());
  ops_.synchronize();
  rotation_->multiply_transposed(g.view(), v.view());
  rotation_->synchronize();
  ops_.multiply_elements(v.view(), scale_.view(), {}, v.view());
}

template <class T>
void Coordinates<T>::keep(std::span<const std::int32_t> columns) {
  scale_ = kept_columns(ops_, scale_, columns);
}

template class Coordinates<float>;
template class Coordinates<double>;

}  // namespace sheaf::linear
