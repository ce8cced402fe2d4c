#include "linear/glm/coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"
#include "core/team/alone.hpp"
#include "linear/hessian_factors.hpp"
#include "linear/products/blas_cpu.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int64_t most_decomposed = 2048;  // weights; above, a decomposition takes tens of seconds
// X'X is estimated from some of the rows if all would cost more than `products_spent` products of X with a column of
// each weight, which is about six steps of a solver; from so many rows at least.
constexpr std::int64_t products_spent = 100;
constexpr std::int64_t rows_per_weight = 8;
constexpr std::int64_t fewest_rows = 4096;
constexpr std::int64_t steps_saved = 25;            // coordinates for a later point cost so many steps
constexpr std::int64_t cheap_steps = 3;             // if they cost no more than these, they are made earlier
constexpr std::int64_t fewest_rows_of_gpu = 20000;  // with fewer a step takes as long as with these
constexpr std::int64_t passes_saved = 40;           // a decomposition may take as long as so many passes over X
/// to[e] = f(from[e]), of many numbers.
template <class From, class To, class F>
void transform_all(int threads, const From& from, To* to, const F& f) {
  constexpr std::int64_t worth = 1 << 15;
  parallel_ranges(threads, std::ssize(from), worth, [&](Range part) {
    std::transform(from.begin() + part.begin, from.begin() + part.end, to + part.begin, f);
  });
}

/// X'X / n of the rows of `ops`.
template <class T>
std::vector<double> mean_products(const Context& context, LinearOps<T>& ops) {
  auto matrix = ops.gram(context);
  const auto rows = static_cast<double>(ops.all_examples());
  transform_all(context.threads(), matrix, matrix.data(), [rows](double element) { return element / rows; });
  return matrix;
}

/// The mean over the tasks, whose folds differ a little.
template <class T>
double mean_curvature(const Objective<T>& objective, std::span<const std::int32_t> tasks) {
  double sum = 0;
  for (const std::int32_t task : tasks) sum += objective.null_model(task).curvature;
  return tasks.empty() ? 0.0 : sum / static_cast<double>(tasks.size());
}

}  // namespace

bool decorrelates(std::int64_t weights, std::int64_t examples, std::int64_t columns) {
  return weights <= most_decomposed && weights * weights <= passes_saved * examples * columns;
}

template <class T>
Coordinates<T>::Coordinates(const Context& context, const Dataset<T>& dataset, const Objective<T>& objective,
                            std::span<const std::int32_t> tasks, bool renews)
    : objective_(objective), ops_(objective.ops()) {
  const std::int64_t size = ops_.weights();
  const auto columns = static_cast<std::int64_t>(tasks.size()) * objective.columns();
  const auto alpha_of = [&](std::int32_t task) {
    return objective.sheaf().tasks[static_cast<std::size_t>(task)].alpha;
  };
  std::vector<double> spectrum;
  if (decorrelates(size, ops_.all_examples(), columns)) {
    const bool one =
        std::all_of(tasks.begin(), tasks.end(), [&](auto task) { return alpha_of(task) == alpha_of(tasks[0]); });
    const double curvature = one ? mean_curvature(objective, tasks) : 0.0;
    if (one && curvature > 0) {
      renewable_ = renews && tasks.size() == 1 && worth_renewing(context);
      Block<T> same(ops_.examples(), 1);
      const double each = curvature / static_cast<double>(std::max<std::int64_t>(1, ops_.all_examples()));
      for (std::int64_t i = 0; i < same.rows(); ++i) same(i, 0) = static_cast<T>(each);
      const auto rows = spread_rows(
          ops_.all_examples(),
          renewable_ ? few_rows()
                     : std::min(enough_rows(columns), std::max(few_rows(), affordable_hessian_rows<T>(size))));
      matrix_ = {size, size,
                 factorise_hessians(context, ops_, rows, same.to(ops_.device()), alpha_of(tasks[0])).by_rows};
      return;
    }
    spectrum = decompose(products_of_features(context, dataset, columns), context.threads());
  } else {
    spectrum = diagonal();
  }
  const double largest = spectrum.empty() ? 0.0 : *std::max_element(spectrum.begin(), spectrum.end());
  Block<T> scale(size, static_cast<std::int32_t>(columns));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const double curvature = objective.null_model(tasks[t]).curvature;
    for (std::int64_t j = 0; j < size; ++j) {
      const double value = std::max(spectrum[static_cast<std::size_t>(j)], smallest_share<T> * largest);
      const double steepness = curvature * value + alpha_of(tasks[t]);
      for (std::int32_t k = 0; k < objective.columns(); ++k)
        scale(j, static_cast<std::int32_t>(t) * objective.columns() + k) =
            static_cast<T>(steepness > 0 ? 1 / std::sqrt(steepness) : 1.0);
    }
  }
  scale_ = scale.to(ops_.device());
  if (matrix_.rows > 0) scaled_ = Block<T>(size, static_cast<std::int32_t>(columns), ops_.device());
}

/// For blocks of `columns` columns.
template <class T>
std::int64_t Coordinates<T>::enough_rows(std::int64_t columns) const {
  const std::int64_t size = ops_.weights();
  return std::max({products_spent * ops_.all_examples() * columns / size, rows_per_weight * size, fewest_rows});
}

template <class T>
std::vector<double> Coordinates<T>::products_of_features(const Context& context, const Dataset<T>& dataset,
                                                         std::int64_t columns) const {
  const std::int64_t size = ops_.weights();
  const std::int64_t enough = enough_rows(columns);
  if (dataset.rows() <= enough) return mean_products(context, ops_);
  const Dataset<T> some = take_rows(dataset, spread_rows(dataset.rows(), enough), context.threads());
  const auto silent = without_team(context).with({.progress = &silent_progress()});
  const auto ops = make_ops<T>(silent, some, size > dataset.features() ? T(1) : T(0));
  auto matrix = mean_products(context, *ops);
  // A feature that is 0 in nearly all rows may be 0 in all of these, and is not flat.
  const auto squares = diagonal();
  for (std::size_t j = 0; j < squares.size(); ++j) {
    double& own = matrix[j * (squares.size() + 1)];
    own = std::max(own, squares[j]);
  }
  return matrix;
}

/// A Hessian costs weights^2 * rows, a step four products of X with each column. A GPU takes its time for a step
/// however small.
template <class T>
bool Coordinates<T>::worth_renewing(const Context& context) const {
  const std::int64_t size = ops_.weights();
  const std::int64_t matrices = objective_.columns() * size * size;
  constexpr std::int64_t bytes_each = 4 * sizeof(double) + 2 * sizeof(T);
  const std::int64_t rows = std::max(ops_.all_examples(), ops_.device().is_cuda() ? fewest_rows_of_gpu : 0);
  return !objective_.cox() && !ops_.transformed() && matrices * bytes_each <= context.memory() / 8 &&
         size * few_rows() <= 4 * steps_saved * rows;
}

template <class T>
std::int64_t Coordinates<T>::few_rows() const {
  return few_hessian_rows<T>(ops_.all_examples(), ops_.weights());
}

template <class T>
int Coordinates<T>::renew_after() const {
  return ops_.weights() * few_rows() <= 4 * cheap_steps * ops_.all_examples() ? 3 : 8;
}

template <class T>
void Coordinates<T>::renew(const Context& context, Block<T>& second) {
  objective_.own_curvatures(second);
  renewed_ =
      factorise_hessians(context, ops_, spread_rows(ops_.all_examples(), few_rows()), second, objective_.alphas()[0]);
  renewable_ = false;
}

/// Returns the eigenvalues.
template <class T>
std::vector<double> Coordinates<T>::decompose(std::vector<double> matrix, int threads) {
  auto spectrum = cpu::eigen_decomposition(matrix, ops_.weights());
  for (double& value : spectrum) value = std::max(value, 0.0);
  set_matrix(matrix, threads);
  return spectrum;
}

template <class T>
void Coordinates<T>::set_matrix(const std::vector<double>& matrix, int threads) {
  const std::int64_t size = ops_.weights();
  Array<T> values(size * size);
  transform_all(threads, matrix, values.data(), [](double value) { return static_cast<T>(value); });
  matrix_ = DenseMatrix<T>{size, size, values.to(ops_.device())};
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
    result.push_back(static_cast<double>(here(j, 0)) / std::max<double>(1, static_cast<double>(ops_.all_examples())));
  return result;
}

template <class T>
void Coordinates<T>::to_weights(const Block<T>& v, Block<T>& w) {
  if (renewed_.size > 0) {
    ops_.multiply_by_each(renewed_, true, v.view(), w.view());
    if (objective_.multinomial()) ops_.center_classes(objective_.columns(), w.view());  // as matrices of one kind do
    return;
  }
  if (matrix_.rows == 0) return ops_.multiply_elements(v.view(), scale_.view(), {}, w.view());
  if (scale_.rows() == 0) return ops_.multiply_by(matrix_, true, v.view(), w.view());
  ops_.multiply_elements(v.view(), scale_.view(), {}, scaled_.view());
  ops_.multiply_by(matrix_, true, scaled_.view(), w.view());
}

template <class T>
void Coordinates<T>::from_gradient(const Block<T>& g, Block<T>& v) {
  if (renewed_.size > 0) return ops_.multiply_by_each(renewed_, false, g.view(), v.view());
  if (matrix_.rows == 0) return ops_.multiply_elements(g.view(), scale_.view(), {}, v.view());
  ops_.multiply_by(matrix_, false, g.view(), v.view());
  if (scale_.rows() > 0) ops_.multiply_elements(v.view(), scale_.view(), {}, v.view());
}

template <class T>
void Coordinates<T>::keep(std::span<const std::int32_t> columns) {
  for (Block<T>* block : {&scale_, &scaled_})
    if (block->rows() > 0) *block = kept_columns(ops_, *block, columns);
}

template class Coordinates<float>;
template class Coordinates<double>;

}  // namespace sheaf::linear
