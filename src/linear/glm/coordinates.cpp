#include "linear/glm/coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "linear/products/blas_cpu.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int64_t most_decomposed = 2048;  // weights; above, a decomposition takes tens of seconds
// X'X is estimated from some of the rows where all would cost more than `products_spent` products of X with a column of
// each weight, which is about six steps of a solver; from so many rows at least.
constexpr std::int64_t products_spent = 100;
constexpr std::int64_t rows_per_weight = 8;
constexpr std::int64_t fewest_rows = 4096;
constexpr std::int64_t passes_saved = 40;  // a decomposition may take as long as so many passes over X
/// Of the largest curvature, below which a direction counts as flat: what is smaller may be rounding.
template <class T>
constexpr double smallest_share = std::is_same_v<T, float> ? 1e-7 : 1e-10;

/// Evenly spread, at most `most` of them.
std::vector<std::int32_t> spread_rows(std::int64_t rows, std::int64_t most) {
  std::vector<std::int32_t> chosen;
  const std::int64_t count = std::min(rows, most);
  for (std::int64_t k = 0; k < count; ++k) chosen.push_back(static_cast<std::int32_t>(k * rows / count));
  return chosen;
}

/// X'X / n of the rows of `ops`.
template <class T>
std::vector<double> mean_products(const Context& context, LinearOps<T>& ops) {
  auto matrix = ops.gram(context);
  for (double& element : matrix) element /= static_cast<double>(ops.examples());
  return matrix;
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
    decompose(context, dataset, columns, spectrum);
  else
    spectrum = diagonal();
  const double largest = spectrum.empty() ? 0.0 : *std::max_element(spectrum.begin(), spectrum.end());
  Block<T> scale(size, static_cast<std::int32_t>(columns));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const double curvature = objective.null_model(tasks[t]).curvature;
    const double alpha = objective.sheaf().tasks[static_cast<std::size_t>(tasks[t])].alpha;
    for (std::int64_t j = 0; j < size; ++j) {
      const double value = std::max(spectrum[static_cast<std::size_t>(j)], smallest_share<T> * largest);
      const double steepness = curvature * value + alpha;
      for (std::int32_t k = 0; k < objective.columns(); ++k)
        scale(j, static_cast<std::int32_t>(t) * objective.columns() + k) =
            static_cast<T>(steepness > 0 ? 1 / std::sqrt(steepness) : 1.0);
    }
  }
  scale_ = scale.to(ops_.device());
}

template <class T>
void Coordinates<T>::decompose(const Context& context, const Dataset<T>& dataset, std::int64_t columns,
                               std::vector<double>& spectrum) {
  const std::int64_t size = ops_.weights();
  const auto silent = context.with({.progress = &silent_progress()});
  std::vector<double> matrix;
  const T bias = size > dataset.features() ? T(1) : T(0);
  const std::int64_t enough =
      std::max({products_spent * dataset.rows() * columns / size, rows_per_weight * size, fewest_rows});
  if (dataset.rows() > enough) {
    Dataset<T> some = take_rows(dataset, spread_rows(dataset.rows(), enough), context.threads());
    const auto ops = make_ops<T>(silent, some, bias);
    matrix = mean_products(context, *ops);
    // A feature that is 0 in nearly all rows may be 0 in all of these, and is not flat.
    const auto squares = diagonal();
    for (std::size_t j = 0; j < squares.size(); ++j) {
      double& own = matrix[j * (squares.size() + 1)];
      own = std::max(own, squares[j]);
    }
  } else {
    matrix = mean_products(context, ops_);
  }
  spectrum = cpu::eigen_decomposition(matrix, size);
  for (double& value : spectrum) value = std::max(value, 0.0);
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
