#include "linear/hessian_factors.hpp"

#include <algorithm>
#include <utility>

#include <sheaf/error.hpp>

namespace sheaf::linear {
namespace {

constexpr std::int64_t rows_per_weight = 8;
constexpr std::int64_t fewest_rows = 4096;
constexpr std::int64_t most_copied = std::int64_t{256} << 20;  // bytes of the rows that factors are made from

}  // namespace

std::vector<std::int32_t> spread_rows(std::int64_t rows, std::int64_t most) {
  std::vector<std::int32_t> chosen;
  const std::int64_t count = std::min(rows, most);
  for (std::int64_t k = 0; k < count; ++k) chosen.push_back(static_cast<std::int32_t>(k * rows / count));
  return chosen;
}

template <class T>
std::int64_t affordable_hessian_rows(std::int64_t weights) {
  return most_copied / (std::max<std::int64_t>(1, weights) * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
std::int64_t few_hessian_rows(std::int64_t rows, std::int64_t weights) {
  const std::int64_t cheap =
      std::min(2 * rows / std::max<std::int64_t>(1, weights), affordable_hessian_rows<T>(weights));
  return std::min(rows, std::max({rows_per_weight * weights, fewest_rows, cheap}));
}

template <class T>
InverseFactors<T> factorise_hessians(const Context& context, LinearOps<T>& ops, std::span<const std::int32_t> rows,
                                     const Block<T>& d, double ridge) {
  Block<T> diagonal(ops.weights(), d.tasks(), ops.device());
  ops.multiply_squared_transposed(d.view(), diagonal.view());
  for (double share = smallest_share<T>; share < 1; share *= 10) {  // NOLINT(clang-analyzer-security.FloatLoopCounter)
    auto factors = ops.inverse_factors(context, rows, d.view(), std::as_const(diagonal).view(), ridge, share);
    if (factors.size > 0) return factors;
  }
  throw Error("the features' products have no Cholesky factor; are all features finite?");
}

template <class T>
HessianFactors<T>::HessianFactors(LinearOps<T>& ops, std::int32_t columns)
    : ops_(ops),
      rows_(spread_rows(ops.all_examples(), few_hessian_rows<T>(ops.all_examples(), ops.weights()))),
      factors_{ops.weights(), columns, {}},
      half_(ops.weights(), columns, ops.device()) {}

template <class T>
void HessianFactors<T>::set(const Context& context, std::span<const std::int32_t> columns, const Block<T>& curvatures,
                            double ridge) {
  auto made = factorise_hessians(context, ops_, rows_, curvatures, ridge);
  if (std::ssize(columns) == factors_.count) {
    factors_ = std::move(made);
    return;
  }
  ops_.synchronize();
  for (auto [all, own] : {std::pair{&factors_.by_rows, &made.by_rows}, {&factors_.by_columns, &made.by_columns}})
    if (all->size() == 0 && own->size() > 0)
      *all = Array<T>::zeros(factors_.count * factors_.size * factors_.size, ops_.device());
  for (std::size_t k = 0; k < columns.size(); ++k) copy(made, static_cast<std::int64_t>(k), factors_, columns[k]);
}

template <class T>
void HessianFactors<T>::copy(const InverseFactors<T>& from, std::int64_t column, InverseFactors<T>& to,
                             std::int64_t place) const {
  const std::int64_t size = factors_.size * factors_.size;
  const auto bytes = size * static_cast<std::int64_t>(sizeof(T));
  const auto device = ops_.device();
  if (from.by_rows.size() > 0)
    copy_bytes(to.by_rows.data() + place * size, device, from.by_rows.data() + column * size, device, bytes);
  if (from.by_columns.size() > 0)
    copy_bytes(to.by_columns.data() + place * size, device, from.by_columns.data() + column * size, device, bytes);
}

template <class T>
void HessianFactors<T>::solve(const Block<T>& v, Block<T>& out) {
  ops_.multiply_by_each(factors_, false, v.view(), half_.view());
  ops_.multiply_by_each(factors_, true, std::as_const(half_).view(), out.view());
}

template <class T>
void HessianFactors<T>::keep(std::span<const std::int32_t> columns) {
  const auto count = static_cast<std::int32_t>(columns.size());
  const std::int64_t size = factors_.size * factors_.size;
  InverseFactors<T> kept{factors_.size, count, {}};
  ops_.synchronize();
  if (factors_.by_rows.size() > 0) kept.by_rows = Array<T>(count * size, ops_.device());
  if (factors_.by_columns.size() > 0) kept.by_columns = Array<T>(count * size, ops_.device());
  for (std::size_t k = 0; k < columns.size(); ++k) copy(factors_, columns[k], kept, static_cast<std::int64_t>(k));
  factors_ = std::move(kept);
  half_ = Block<T>(factors_.size, count, ops_.device());
}

template std::int64_t affordable_hessian_rows<float>(std::int64_t);
template std::int64_t affordable_hessian_rows<double>(std::int64_t);
template std::int64_t few_hessian_rows<float>(std::int64_t, std::int64_t);
template std::int64_t few_hessian_rows<double>(std::int64_t, std::int64_t);
template InverseFactors<float> factorise_hessians(const Context&, LinearOps<float>&, std::span<const std::int32_t>,
                                                  const Block<float>&, double);
template InverseFactors<double> factorise_hessians(const Context&, LinearOps<double>&, std::span<const std::int32_t>,
                                                   const Block<double>&, double);
template class HessianFactors<float>;
template class HessianFactors<double>;

}  // namespace sheaf::linear
