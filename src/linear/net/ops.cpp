#include "linear/net/ops.hpp"

#include <algorithm>
#include <limits>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::linear {

template <class T>
std::unique_ptr<NetOps<T>> make_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear) {
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return make_cpu_net_ops_for<decltype(set)>(context, dataset, linear); });
#if SHEAF_CUDA
  return make_cuda_net_ops<T>(context, dataset, linear);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template <class T>
Array<T> units_of(const NetSheaf& sheaf, const NetParams& params, std::int64_t features) {
  if (params.standardise) return Array<T>(features * sheaf.weight_columns);
  Array<T> units(static_cast<std::int64_t>(sheaf.column_factors.size()));
  std::transform(sheaf.column_factors.begin(), sheaf.column_factors.end(), units.begin(),
                 [](double factor) { return factor > 0 ? static_cast<T>(1 / factor) : T(0); });
  return units;
}

template <class T>
Array<T> limits_of(const NetSheaf& sheaf, std::int64_t features) {
  Array<T> limits(has_limits(sheaf) ? 2 * features : 0);
  constexpr double none = std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; 2 * j < limits.size(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    limits[2 * j] = static_cast<T>(sheaf.lower_limits.empty() ? -none : sheaf.lower_limits[at]);
    limits[2 * j + 1] = static_cast<T>(sheaf.upper_limits.empty() ? none : sheaf.upper_limits[at]);
  }
  return limits;
}

template Array<float> limits_of(const NetSheaf&, std::int64_t);
template Array<double> limits_of(const NetSheaf&, std::int64_t);
template Array<float> units_of(const NetSheaf&, const NetParams&, std::int64_t);
template Array<double> units_of(const NetSheaf&, const NetParams&, std::int64_t);
template std::unique_ptr<NetOps<float>> make_net_ops(const Context&, const Dataset<float>&, LinearOps<float>&);
template std::unique_ptr<NetOps<double>> make_net_ops(const Context&, const Dataset<double>&, LinearOps<double>&);

}  // namespace sheaf::linear
