// Columns of a matrix are its products with unit vectors, a block of them at once, so that the verbs of the solvers
// serve: X e, a change of each row, X'.
#include "linear/glm/information.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace sheaf::linear {
namespace {

constexpr std::int32_t columns_at_once = 64;

/// A matrix by its columns: products(first, count) has in its b-th group of `columns` columns the product with unit
/// vector e = first + b, that of weight e / columns and column e % columns.
template <class T, class Products>
std::vector<double> by_columns(const Context& context, const LinearOps<T>& ops, std::int32_t columns,
                               Products&& products) {
  const std::int64_t size = ops.weights() * columns;
  std::vector<double> matrix(static_cast<std::size_t>(size * size));
  const auto together = std::max(1, columns_at_once / columns);
  for (std::int64_t first = 0; first < size; first += together) {
    context.check_stop();
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(together, size - first));
    const Block<T> block = products(first, count);
    for (std::int32_t b = 0; b < count; ++b)
      for (std::int64_t e = 0; e < size; ++e)
        matrix[static_cast<std::size_t>((first + b) * size + e)] =
            static_cast<double>(block(e / columns, b * columns + static_cast<std::int32_t>(e % columns)));
  }
  return matrix;
}

/// X' of what curve(q) makes of q = X units, in CPU memory.
template <class T, class Curve>
Block<T> sandwiched(LinearOps<T>& ops, const Block<T>& units, Curve&& curve) {
  const Block<T> there = units.to(ops.device());
  Block<T> q(ops.examples(), units.tasks(), ops.device());
  Block<T> result(ops.weights(), units.tasks(), ops.device());
  ops.multiply(there.view(), q.view());
  curve(q);
  ops.multiply_transposed(std::as_const(q).view(), result.view());
  ops.synchronize();
  return result.to(Device::cpu());
}

}  // namespace

template <class T>
std::vector<double> hessian(const Context& context, Objective<T>& objective, std::int32_t task, const Block<T>& second,
                            std::int32_t place) {
  LinearOps<T>& ops = objective.ops();
  const std::int32_t columns = objective.columns();
  if (columns == 1 && !objective.cox() && !ops.transformed()) {
    const Block<T> own = kept_columns(ops, second, {&place, 1});
    return ops.gram(context, own.view());
  }
  return by_columns<T>(context, ops, columns, [&](std::int64_t first, std::int32_t count) {
    const std::vector<std::int32_t> places(static_cast<std::size_t>(count), place);
    const Block<T> copies = kept_columns(ops, second, objective.columns_of(places));
    objective.choose(std::vector<std::int32_t>(static_cast<std::size_t>(count), task));
    Block<T> units(ops.weights(), count * columns);
    for (std::int32_t b = 0; b < count; ++b) {
      const std::int64_t e = first + b;
      units(e / columns, b * columns + static_cast<std::int32_t>(e % columns)) = 1;
    }
    return sandwiched(ops, units, [&](Block<T>& q) { objective.curvature(copies, q); });
  });
}

/// A row's s s' e is u_a x_j times u_b x_l for all l and b, where u are its slopes and e the unit vector of weight j
/// and column a: x_j stands in all columns of q, which are multiplied by u_a and then by u_b.
template <class T>
std::vector<double> score_products(const Context& context, LinearOps<T>& ops, const Block<T>& slopes) {
  const std::int32_t columns = slopes.tasks();
  return by_columns<T>(context, ops, columns, [&](std::int64_t first, std::int32_t count) {
    std::vector<std::int32_t> own, each;  // a and b of each column
    Block<T> units(ops.weights(), count * columns);
    for (std::int32_t k = 0; k < count * columns; ++k) {
      const std::int64_t e = first + k / columns;
      own.push_back(static_cast<std::int32_t>(e % columns));
      each.push_back(k % columns);
      units(e / columns, k) = 1;
    }
    return sandwiched(ops, units, [&](Block<T>& q) {
      for (const auto& chosen : {own, each}) {
        const Block<T> factors = kept_columns(ops, slopes, chosen);
        ops.multiply_elements(factors.view(), q.view(), {}, q.view());
        ops.synchronize();  // the factors are used until then
      }
    });
  });
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

template std::vector<double> hessian(const Context&, Objective<float>&, std::int32_t, const Block<float>&,
                                     std::int32_t);
template std::vector<double> hessian(const Context&, Objective<double>&, std::int32_t, const Block<double>&,
                                     std::int32_t);
template std::vector<double> score_products(const Context&, LinearOps<float>&, const Block<float>&);
template std::vector<double> score_products(const Context&, LinearOps<double>&, const Block<double>&);
template double dependence_tolerance<float>();
template double dependence_tolerance<double>();

}  // namespace sheaf::linear
