#include "rescore/training/ops.hpp"

#include <algorithm>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::rescore {

namespace {

/// Finds the places of scores among decoys, which are in descending order. Buckets of equal width narrow the place down
/// to a few decoys: a binary search over all of them would wait for every branch, since scores come in any order.
template <class T>
class DecoyPlaces {
 public:
  explicit DecoyPlaces(std::span<const T> decoys) : decoys_(decoys) {
    if (decoys.empty()) return;
    const std::size_t buckets = std::clamp<std::size_t>(2 * decoys.size(), 1, std::size_t{1} << 14U);
    low_ = decoys.back();
    const T width = decoys.front() - low_;
    scale_ = width > 0 ? static_cast<T>(buckets) / width : T(0);
    above_.assign(buckets + 1, 0);
    for (const T decoy : decoys) ++above_[bucket(decoy)];
    for (std::size_t b = buckets; b-- > 0;) above_[b] += above_[b + 1];
  }

  /// How many decoys score at least as well.
  std::size_t count_at_least(T score) const {
    if (decoys_.empty() || score > decoys_.front()) return 0;
    if (score <= low_) return decoys_.size();
    const std::size_t b = bucket(score);
    const auto begin = decoys_.begin() + above_[b + 1];
    const auto end = decoys_.begin() + above_[b];
    return static_cast<std::size_t>(std::partition_point(begin, end, [&](T decoy) { return decoy >= score; }) -
                                    decoys_.begin());
  }

 private:
  std::size_t bucket(T score) const {
    return std::min(static_cast<std::size_t>((score - low_) * scale_), above_.size() - 2);
  }

  std::span<const T> decoys_;
  T low_ = 0, scale_ = 0;
  std::vector<std::int32_t> above_;  // decoys of this bucket and of higher ones
};

}  // namespace

/// Between two decoys the rate falls with every target, so the lowest decoy is sought above which the rate is low
/// enough.
template <class T>
Accepted count_accepted(const AcceptQuery& query, std::span<const T> decoys, std::span<const T> targets) {
  // gained[k]: targets above decoy k, but not above decoy k - 1; the last: above none of the decoys here.
  std::vector<std::int64_t> gained(decoys.size() + 1, 0);
  const DecoyPlaces<T> places(decoys);
  for (const T score : targets) ++gained[places.count_at_least(score)];
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
