#include "linear/products/ops.hpp"

#include <algorithm>
#include <utility>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"

namespace sheaf::linear {

template <class To, class From>
Array<To> converted(std::span<const From> from, int threads) {
  Array<To> to(static_cast<std::int64_t>(from.size()));
  parallel_ranges(threads, to.size(), 1 << 16, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) to[i] = static_cast<To>(from[static_cast<std::size_t>(i)]);
  });
  return to;
}

template Array<float> converted(std::span<const float>, int);
template Array<double> converted(std::span<const float>, int);
template Array<float> converted(std::span<const double>, int);
template Array<double> converted(std::span<const double>, int);

template <class T>
BlockView<T> LinearOps<T>::raw_like(BlockView<const T> like, Array<T>& scratch) {
  const std::int64_t size = (features_ + 1) * like.stride;
  if (scratch.size() < size) {
    synchronize();  // the old memory may be in use
    scratch = Array<T>(size, device_);
  }
  return {scratch.data(), features_ + 1, like.tasks, like.stride, device_};
}

template <class T>
void LinearOps<T>::multiply(BlockView<const T> w, BlockView<T> z) {
  if (!transformed_) return multiply_raw(w, z);
  const auto raw = raw_like(w, raw_);
  weights_to_raw(w, raw);
  multiply_raw(raw, z);
}

template <class T>
void LinearOps<T>::multiply_transposed(BlockView<const T> z, BlockView<T> g) {
  if (!transformed_) return multiply_transposed_raw(z, g);
  const auto raw = raw_like(g, raw_);
  multiply_transposed_raw(z, raw);
  gradient_from_raw(raw, g);
}

template <class T>
void LinearOps<T>::multiply_squared_transposed(BlockView<const T> d, BlockView<T> h) {
  if (!transformed_) return multiply_squared_transposed_raw(d, h);
  const auto squares = raw_like(h, raw_);
  if (!shifted_) {
    multiply_squared_transposed_raw(d, squares);
    return squares_from_raw(squares, {}, h);
  }
  const auto sums = raw_like(h, raw_sums_);
  transpose_both_raw(d, sums, d, squares);
  squares_from_raw(squares, sums, h);
}

template <class T>
void LinearOps<T>::sandwich(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                            BlockView<T> q, BlockView<T> hd) {
  if (!transformed_) return sandwich_raw(d, curvatures, u, wanted, q, hd);
  const auto raw = raw_like(d, raw_);
  const auto products = raw_like(d, raw_sums_);
  weights_to_raw(d, raw);
  sandwich_raw(raw, curvatures, u, wanted, q, products);
  gradient_from_raw(products, hd);
}

template <class T>
void LinearOps<T>::transpose_both(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h) {
  if (!transformed_) return transpose_both_raw(z, g, d, h);
  if (shifted_) {
    multiply_transposed(z, g);
    return multiply_squared_transposed(d, h);
  }
  const auto gradient = raw_like(g, raw_sums_);
  const auto squares = raw_like(h, raw_);
  transpose_both_raw(z, gradient, d, squares);
  gradient_from_raw(gradient, g);
  squares_from_raw(squares, {}, h);
}

template <class T>
Block<T> LinearOps<T>::own_examples(std::span<const double> numbers) const {
  const auto columns = static_cast<std::int32_t>(std::ssize(numbers) / std::max<std::int64_t>(1, all_));
  Block<T> block(examples(), columns);
  for (std::int64_t i = 0; i < block.rows(); ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      block(i, c) = static_cast<T>(numbers[static_cast<std::size_t>((own_.begin + i) * columns + c)]);
  return block.to(device_);
}

/// By products with unit vectors, some at once.
template <class T>
std::vector<double> LinearOps<T>::gram(const Context& context, BlockView<const T> d) {
  constexpr std::int64_t columns_at_once = 256;
  const std::int64_t size = weights();
  const auto count = static_cast<std::int32_t>(std::min(columns_at_once, size));
  std::vector<double> result(static_cast<std::size_t>(size * size));
  Block<T> columns(examples(), count, device_);
  Block<T> products(size, count, device_);
  Block<T> factors(d.data != nullptr ? examples() : 0, count, device_);  // d in each column
  if (d.data != nullptr) keep_tasks(d, std::vector<std::int32_t>(static_cast<std::size_t>(count), 0), factors.view());
  for (std::int64_t first = 0; first < size; first += count) {
    context.check_stop();
    const std::int64_t last = std::min<std::int64_t>(first + count, size);
    Block<T> unit(size, count);
    for (std::int64_t k = first; k < last; ++k) unit(k, static_cast<std::int32_t>(k - first)) = 1;
    const Block<T> there = unit.to(device_);
    multiply_raw(there.view(), columns.view());
    if (d.data != nullptr) multiply_elements(columns.view(), factors.view(), {}, columns.view());
    multiply_transposed_raw(std::as_const(columns).view(), products.view());
    synchronize();
    const Block<T> here = products.to(Device::cpu());
    for (std::int64_t j = 0; j < size; ++j)
      for (std::int64_t k = first; k < last; ++k)
        result[static_cast<std::size_t>(j * size + k)] =
            static_cast<double>(here(j, static_cast<std::int32_t>(k - first)));
  }
  return result;
}

template <class T>
void LinearOps<T>::load_tables(const Sheaf& sheaf) {
  transformed_ = sheaf.column_transforms > 0;
  const auto size = static_cast<std::size_t>(features_ * sheaf.column_transforms);
  require(sheaf.shifts.size() == size && sheaf.factors.size() == size, "the table of column transforms is not full");
  shifted_ = std::any_of(sheaf.shifts.begin(), sheaf.shifts.end(), [](double shift) { return shift != 0; });
  require(!transformed_ || has_bias(), "column transforms need a bias");
  load(sheaf);
}

template class LinearOps<float>;
template class LinearOps<double>;

template <class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops(const Context& context, const Dataset<T>& dataset, T bias) {
  return with_instruction_set([&](auto set) { return make_cpu_ops_for<decltype(set)>(context, dataset, bias); });
}

template std::unique_ptr<LinearOps<float>> make_cpu_ops(const Context&, const Dataset<float>&, float);
template std::unique_ptr<LinearOps<double>> make_cpu_ops(const Context&, const Dataset<double>&, double);

template <class T>
std::unique_ptr<LinearOps<T>> make_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                       [[maybe_unused]] std::int64_t blocks) {
  if (context.team() != nullptr) return make_sliced_ops<T>(context, dataset, bias, blocks);
  if (context.device().is_cpu()) return make_cpu_ops<T>(context, dataset, bias);
#if SHEAF_CUDA
  return make_cuda_ops<T>(context, dataset, bias, blocks);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<LinearOps<float>> make_ops(const Context&, const Dataset<float>&, float, std::int64_t);
template std::unique_ptr<LinearOps<double>> make_ops(const Context&, const Dataset<double>&, double, std::int64_t);

}  // namespace sheaf::linear
