// Newton's method for generalised linear models of few weights: d = -H^-1 g with the whole Hessian H on the CPU, and
// the line search of descent.cpp. Columns of H are products of H with unit vectors, a block of them at once, so that
// the verbs of other solvers serve. The root of -g'd is the measure: half its square is what the objective can still
// fall.
//
// A multinomial model without a penalty is the same when a number is added to a feature's weights for all classes: H is
// singular there, g is 0, and any curvature in that direction gives the step that leaves their sum alone.
#include "linear/glm/newton_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace sheaf::linear {
namespace {

constexpr std::int32_t columns_at_once = 64;

/// The products of H with `count` unit vectors from `first` on; unit vector e is of weight e / columns and column
/// e % columns.
template <class T>
Block<T> products_with_units(Objective<T>& objective, const Block<T>& second, std::int64_t first, std::int32_t count) {
  LinearOps<T>& ops = objective.ops();
  const std::int32_t columns = objective.columns();
  Block<T> units(ops.weights(), count * columns);
  for (std::int32_t b = 0; b < count; ++b) {
    const std::int64_t e = first + b;
    units(e / columns, b * columns + static_cast<std::int32_t>(e % columns)) = 1;
  }
  const Block<T> there = units.to(ops.device());
  Block<T> q(ops.examples(), count * columns, ops.device());
  Block<T> result(ops.weights(), count * columns, ops.device());
  ops.multiply(there.view(), q.view());
  objective.curvature(second, q);
  ops.multiply_transposed(q.view(), result.view());
  ops.synchronize();
  return result.to(Device::cpu());
}

}  // namespace

template <class T>
std::vector<double> hessian(const Context& context, Objective<T>& objective, std::int32_t task, const Block<T>& second,
                            std::int32_t place) {
  const std::int32_t columns = objective.columns();
  const std::int64_t size = objective.ops().weights() * columns;
  std::vector<double> matrix(static_cast<std::size_t>(size * size));
  const auto together = std::max(1, columns_at_once / columns);
  for (std::int64_t first = 0; first < size; first += together) {
    context.check_stop();
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(together, size - first));
    const std::vector<std::int32_t> places(static_cast<std::size_t>(count), place);
    const Block<T> copies = kept_columns(objective.ops(), second, objective.columns_of(places));
    objective.choose(std::vector<std::int32_t>(static_cast<std::size_t>(count), task));
    const Block<T> products = products_with_units(objective, copies, first, count);
    for (std::int32_t b = 0; b < count; ++b)
      for (std::int64_t e = 0; e < size; ++e)
        matrix[static_cast<std::size_t>((first + b) * size + e)] =
            static_cast<double>(products(e / columns, b * columns + static_cast<std::int32_t>(e % columns)));
  }
  return matrix;
}

std::vector<std::size_t> intercepts_first(std::int64_t weights, std::int32_t columns, bool intercept) {
  std::vector<std::size_t> order(static_cast<std::size_t>(weights * columns));
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (intercept) std::rotate(order.begin(), order.end() - columns, order.end());
  return order;
}

template <class T>
double dependence_tolerance() {
  return std::is_same_v<T, float> ? 1e-6 : 1e-12;
}

/// The penalty, and curvature where the model does not change.
template <class T>
void NewtonCholesky<T>::add_penalty(std::size_t place, std::vector<double>& matrix) const {
  const auto& objective = this->objective();
  const auto columns = static_cast<std::size_t>(objective.columns());
  const auto weights = static_cast<std::size_t>(this->ops().weights());
  const std::size_t size = weights * columns;
  const double alpha = objective.alphas()[place];
  for (std::size_t j = 0; j < weights; ++j) {
    const bool free = alpha == 0 || (objective.params().intercept && j + 1 == weights);
    double mean = 0;
    for (std::size_t k = 0; k < columns; ++k)
      mean += matrix[(j * columns + k) * (size + 1)] / static_cast<double>(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      if (!free) matrix[(j * columns + k) * (size + 1)] += alpha;
      for (std::size_t other = 0; other < columns && free && columns > 1; ++other)
        matrix[(j * columns + k) * size + j * columns + other] += mean / static_cast<double>(columns);
    }
  }
}

template <class T>
std::vector<double> NewtonCholesky<T>::find_directions() {
  auto& objective = this->objective();
  const std::int32_t columns = objective.columns();
  const std::int64_t weights = this->ops().weights();
  std::vector<std::int32_t> all;
  for (const auto& state : this->states()) all.push_back(state.task);
  this->ops().synchronize();
  const Block<T> gradient = this->g_.to(Device::cpu());
  Block<T> directions(weights, this->d_.tasks());
  std::vector<double> measures;
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    const auto place = static_cast<std::int32_t>(t);
    auto matrix = hessian(context_, objective, all[t], this->second_, place);
    objective.choose(all);
    add_penalty(t, matrix);
    std::vector<double> g;
    for (std::int64_t j = 0; j < weights; ++j)
      for (std::int32_t k = 0; k < columns; ++k) g.push_back(static_cast<double>(gradient(j, place * columns + k)));
    const Cholesky cholesky(matrix, intercepts_first(weights, columns, objective.params().intercept),
                            dependence_tolerance<T>());
    const auto x = cholesky.solve(g);
    double fall = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      directions(static_cast<std::int64_t>(e) / columns, place * columns + static_cast<std::int32_t>(e) % columns) =
          static_cast<T>(-x[e]);
      fall += g[e] * x[e];
    }
    measures.push_back(std::sqrt(std::max(0.0, fall)));
  }
  this->d_ = directions.to(this->ops().device());
  return measures;
}

template std::vector<double> hessian(const Context&, Objective<float>&, std::int32_t, const Block<float>&,
                                     std::int32_t);
template std::vector<double> hessian(const Context&, Objective<double>&, std::int32_t, const Block<double>&,
                                     std::int32_t);
template double dependence_tolerance<float>();
template double dependence_tolerance<double>();
template class NewtonCholesky<float>;
template class NewtonCholesky<double>;

}  // namespace sheaf::linear
