#include "rescore/training/ops.hpp"

#include <algorithm>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::rescore {

/// Between two decoys the rate falls with every target, so the lowest decoy is sought above which the rate is low
/// enough.
template <class T>
Accepted count_accepted(const AcceptQuery& query, std::span<const T> decoys, std::span<const T> targets) {
  // gained[k]: targets above decoy k, but not above decoy k - 1; the last: above none of the decoys here.
  std::vector<std::int64_t> gained(decoys.size() + 1, 0);
  for (const T score : targets) {
    const auto above = std::partition_point(decoys.begin(), decoys.end(), [&](T decoy) { return decoy >= score; });
    ++gained[static_cast<std::size_t>(above - decoys.begin())];
  }
  Accepted result;
  std::int64_t count = 0;
  for (std::size_t k = 0; k <= decoys.size(); ++k) {
    count += gained[k];
    if (k > 0 && k < decoys.size() && decoys[k] == decoys[k - 1]) continue;
    const auto errors = static_cast<double>(static_cast<std::int64_t>(k) + (query.plus_one ? 1 : 0));
    const double rate = std::min(errors / static_cast<double>(std::max<std::int64_t>(1, count)), 1.0);
    if (rate < query.limit || (query.inclusive && rate == query.limit))
      result = {count, k < decoys.size() ? static_cast<double>(decoys[k]) : -std::numeric_limits<double>::infinity()};
  }
  return result;
}

template Accepted count_accepted(const AcceptQuery&, std::span<const float>, std::span<const float>);
template Accepted count_accepted(const AcceptQuery&, std::span<const double>, std::span<const double>);

template <class T>
std::unique_ptr<RescoreOps<T>> make_rescore_ops(const Context& context, const DenseMatrix<T>& x,
                                                std::span<const std::int8_t> labels) {
  if (context.device().is_cpu())
    return with_instruction_set(
        [&](auto set) { return make_cpu_rescore_ops_for<decltype(set), T>(context, x, labels); });
#if SHEAF_CUDA
  return make_cuda_rescore_ops<T>(context, x, labels);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<RescoreOps<float>> make_rescore_ops(const Context&, const DenseMatrix<float>&,
                                                             std::span<const std::int8_t>);
template std::unique_ptr<RescoreOps<double>> make_rescore_ops(const Context&, const DenseMatrix<double>&,
                                                              std::span<const std::int8_t>);

}  // namespace sheaf::rescore
