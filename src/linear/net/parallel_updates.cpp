// How many features may be updated at once.
//
// Steps of P features drawn at random, each computed as if it were alone, still go downhill together while P is below
// about d / r: d features, r the largest eigenvalue of X'X with columns scaled to length 1 (Bradley et al., 2011).
// Features that have nothing to do with each other give r = 1 and P = d; copies of one feature r = d and P = 1.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "linear/net/paths.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int32_t most_columns = 4;  // of row weights: others are much alike
constexpr int turns = 20;
/// More at once take no less time: the 8 warps that share a model on a GPU are busy with these.
constexpr double most_at_once = 64;

template <class T>
Block<T> weight_block(const NetSheaf& sheaf, std::span<const double> totals, std::int32_t columns) {
  Block<T> weights(sheaf.examples, columns);
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      weights(i, c) = static_cast<T>(row_weight(sheaf, i, c) / totals[static_cast<std::size_t>(c)]);
  return weights;
}

}  // namespace

template <class T>
std::int32_t estimate_parallel(const Context& context, LinearOps<T>& linear, NetOps<T>& ops, const NetSheaf& sheaf,
                               std::span<const double> totals) {
  const std::int64_t features = linear.weights();
  const std::int32_t columns = std::min(sheaf.weight_columns, most_columns);
  const Device device = linear.device();
  const auto size = static_cast<std::size_t>(columns);
  Block<T> ones(sheaf.examples, columns), start(features, columns);
  Random random(1);
  for (std::int32_t c = 0; c < columns; ++c) {
    for (std::int64_t i = 0; i < sheaf.examples; ++i) ones(i, c) = 1;
    for (std::int64_t j = 0; j < features; ++j) start(j, c) = static_cast<T>(random.normal());
  }
  const Block<T> weights = weight_block<T>(sheaf, totals, columns).to(device);
  const Block<T> one = ones.to(device);
  Block<T> v = start.to(device);
  Block<T> means(features, columns, device), scales(features, columns, device), d(features, columns, device);
  Block<T> z(sheaf.examples, columns, device);
  ops.normalisers(means.view(), scales.view());
  const auto read = [](const Block<T>& block) { return block.view(); };
  std::vector<double> norms(size), shifts(size);
  const std::vector<double> unit(size, 1.0);
  for (int turn = 0; turn < turns; ++turn) {
    context.check_stop();
    const Dot<T> length{read(v), read(v)};
    linear.dots(std::span(&length, 1), norms);
    std::vector<double> factors(size);
    std::transform(norms.begin(), norms.end(), factors.begin(),
                   [](double norm) { return norm > 0 ? 1 / std::sqrt(norm) : 0.0; });
    linear.combine(factors, read(v), std::vector<double>(size, 0.0), d.view());
    linear.multiply_elements(read(d), read(scales), {}, d.view());
    linear.multiply(read(d), z.view());
    const Dot<T> center{read(means), read(d)};
    linear.dots(std::span(&center, 1), shifts);
    for (auto& shift : shifts) shift = -shift;
    linear.combine(shifts, read(one), unit, z.view());
    linear.multiply_elements(read(z), read(weights), {}, z.view());
    linear.multiply_transposed(read(z), v.view());
    linear.multiply_elements(read(v), read(scales), {}, v.view());
  }
  const Dot<T> length{read(v), read(v)};
  linear.dots(std::span(&length, 1), norms);
  const double radius = std::sqrt(*std::max_element(norms.begin(), norms.end()));
  return static_cast<std::int32_t>(
      std::clamp(static_cast<double>(features) / std::max(radius, 1.0), 1.0, most_at_once));
}

template std::int32_t estimate_parallel(const Context&, LinearOps<float>&, NetOps<float>&, const NetSheaf&,
                                        std::span<const double>);
template std::int32_t estimate_parallel(const Context&, LinearOps<double>&, NetOps<double>&, const NetSheaf&,
                                        std::span<const double>);

}  // namespace sheaf::linear
