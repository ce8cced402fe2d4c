// The verbs of confidence on one NVIDIA GPU. All work runs in order on a stream of its own; copies wait for it.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/check.cuh"
#include "rescore/confidence/lists_cuda.cuh"

namespace sheaf::rescore {
namespace {

class CudaConfidence final : public ConfidenceOps {
 public:
  CudaConfidence(const Context& context, const TrainingRows& rows)
      : context_(context),
        current_(context.device().index),
        labels_(Array<std::int8_t>::copy_of(rows.labels, context.device())),
        scans_(Array<std::int32_t>::copy_of(rows.keys.scans, context.device())),
        masses_(Array<double>::copy_of(rows.masses, context.device())),
        files_(Array<std::int32_t>::copy_of(rows.keys.files, context.device())),
        targets_first_(rows.targets_first) {}

  bool has_mixed_spectra(bool with_file) override {
    const auto current = here();
    const std::int64_t count = labels_.size();
    if (count == 0) return false;
    const gpu::SpectrumOf spectra{keys(), with_file};
    const auto [hashes, rows] = by_hash(spectra, nullptr, count);
    auto mixed = Array<unsigned>::zeros(1, device());
    gpu::find_mixed<<<blocks(count), gpu::list_threads, 0, stream_>>>(spectra, hashes.data(), rows.data(),
                                                                      labels_.data(), count, mixed.data());
    cuda::check_launch("find_mixed");
    return fetched(mixed)[0] != 0;
  }

  RankedList rank(const Array<double>& scores, const Array<std::uint16_t>& folds, std::uint16_t fold) override;

  RankedList best_of_spectra(const RankedList& list) override {
    const auto current = here();
    return first_of(list, gpu::SpectrumOf{keys(), true});
  }
  RankedList best_of_keys(const RankedList& list, std::span<const Fingerprint> keys) override {
    const auto current = here();
    const auto there = Array<Fingerprint>::copy_of(keys, device());
    return first_of(list, gpu::KeyOf{there.data()});
  }
  RankedList of_group(const RankedList& list, const Array<std::int32_t>& groups, std::int32_t group) override {
    const auto current = here();
    Array<std::uint8_t> flags(list.size(), device());
    if (list.size() > 0)
      gpu::flag_group<<<blocks(list.size()), gpu::list_threads, 0, stream_>>>(list.rows.data(), groups.data(), group,
                                                                              list.size(), flags.data());
    cuda::check_launch("flag_group");
    return kept(list, flags);
  }

  Array<double> q_values(const RankedList& list, const FdrRule& rule) override {
    const auto current = here();
    const std::int64_t n = list.size();
    Array<double> q(n, device());
    if (n == 0) return q;
    const TieArrays ties = ties_of(list);
    const Array<double> errors = expected_errors(ties, rule);
    Array<double> reversed(n, device());
    gpu::reversed_rates<<<blocks(n), gpu::list_threads, 0, stream_>>>(ties.view(), errors.data(), rule.decoy_factor,
                                                                      reversed.data());
    cuda::check_launch("reversed_rates");
    rise(reversed, q);
    return q;
  }

  Array<double> p_values(const RankedList& list) override {
    const auto current = here();
    Array<double> p(count_targets(list, list.size()), device());
    if (list.size() == 0) return p;
    const TieArrays ties = ties_of(list);
    gpu::target_p_values<<<blocks(list.size()), gpu::list_threads, 0, stream_>>>(ties.view(), list.targets.data(),
                                                                                 p.data());
    cuda::check_launch("target_p_values");
    stream_.synchronize();
    return p;
  }

  Array<double> peps(PepMethod method, const RankedList& list, const Array<double>& q, const FdrRule& rule,
                     bool mixed) override {
    const auto current = here();
    if (list.size() == 0) return Array<double>(0, device());
    switch (method) {
      case PepMethod::pooled:
        return pooled_peps(list, q);
      case PepMethod::spline:
        return spline_peps(list, rule.pi0, mixed);
      case PepMethod::corrected:
        return corrected_peps(list, rule);
      default:
        return isotonic_peps(list, method == PepMethod::score);
    }
  }

  std::int64_t count_targets(const RankedList& list, std::int64_t count) override {
    const auto current = here();
    if (count == 0) return 0;
    auto total = Array<unsigned long long>::zeros(1, device());
    gpu::count_flags<<<blocks(count), gpu::list_threads, 0, stream_>>>(list.targets.data(), count, total.data());
    cuda::check_launch("count_flags");
    return static_cast<std::int64_t>(fetched(total)[0]);
  }

  std::vector<double> decoy_scores(const RankedList& list, std::span<const std::int64_t> decoys) override {
    const auto current = here();
    return values_at(gathered(list.scores, places_of(list, 0)), decoys);
  }

  std::vector<double> values_at(const Array<double>& values, std::span<const std::int64_t> places) override {
    const auto current = here();
    if (places.empty()) return {};
    const auto there = Array<std::int64_t>::copy_of(places, device());
    Array<double> found(there.size(), device());
    gpu::values_at<<<blocks(there.size()), gpu::list_threads, 0, stream_>>>(values.data(), there.data(), there.size(),
                                                                            found.data());
    cuda::check_launch("values_at");
    return fetched(found);
  }

  std::vector<std::int64_t> count_below(const Array<double>& ascending, std::span<const double> limits) override {
    const auto current = here();
    if (limits.empty()) return {};
    const auto there = Array<double>::copy_of(limits, device());
    Array<std::int64_t> below(there.size(), device());
    gpu::count_below<<<blocks(there.size()), gpu::list_threads, 0, stream_>>>(ascending.data(), ascending.size(),
                                                                              there.data(), there.size(), below.data());
    cuda::check_launch("count_below");
    return fetched(below);
  }

  void rescale(Array<double>& scores, const Array<std::uint16_t>& folds, std::span<const Scale> scales) override {
    const auto current = here();
    if (scores.size() == 0) return;
    const auto there = Array<Scale>::copy_of(scales, device());
    gpu::rescale<<<blocks(scores.size()), gpu::list_threads, 0, stream_>>>(
        scores.data(), folds.size() == 0 ? nullptr : folds.data(), there.data(), scores.size());
    cuda::check_launch("rescale");
    stream_.synchronize();
  }

 private:
  struct TieArrays {
    Array<std::int32_t> targets, begins, reversed_ends;
    gpu::Ties view() const { return {targets.data(), begins.data(), reversed_ends.data(), targets.size()}; }
  };
  struct HashOrder {
    Array<std::uint64_t> hashes;
    Array<std::int32_t> elements;
  };
  /// A curve of ramps on the GPU.
  struct Ramps {
    Array<double> knots, heights, passed;
    RampView view() const {
      return {knots.data(), heights.data(), passed.data(), static_cast<std::int32_t>(knots.size())};
    }
  };

  Device device() const { return context_.device(); }
  cuda::Current here() const { return cuda::Current(device().index); }
  gpu::RowKeys keys() const {
    return {labels_.data(), scans_.data(), masses_.data(), files_.size() == 0 ? nullptr : files_.data()};
  }
  static unsigned blocks(std::int64_t count) {
    return static_cast<unsigned>((count + gpu::list_threads - 1) / gpu::list_threads);
  }

  /// After the work that makes it.
  template <class V>
  std::vector<V> fetched(const Array<V>& there) const {
    stream_.synchronize();
    std::vector<V> result(static_cast<std::size_t>(there.size()));
    copy_bytes(result.data(), Device::cpu(), there.data(), there.device(), there.bytes());
    return result;
  }

  /// Asks CUB how much memory a call takes, and calls it with that.
  template <class Call>
  void with_storage(const char* what, Call&& call) const {
    std::size_t bytes = 0;
    cuda::check(call(nullptr, bytes), what);
    Array<std::uint8_t> storage(std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1), device());
    cuda::check(call(storage.data(), bytes), what);
    stream_.synchronize();
  }

  template <class V, class Operator>
  void scan(Array<V>& values, Operator combine, const char* what) const {
    with_storage(what, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(storage, bytes, values.data(), values.data(), combine, values.size(),
                                            stream_);
    });
  }

  Array<std::int32_t> numbers(std::int64_t count) const {
    Array<std::int32_t> result(count, device());
    if (count > 0) gpu::number_elements<<<blocks(count), gpu::list_threads, 0, stream_>>>(count, result.data());
    cuda::check_launch("number_elements");
    return result;
  }

  /// Elements that are flagged, in order.
  Array<std::int32_t> flagged(const Array<std::uint8_t>& flags) const {
    const std::int64_t count = flags.size();
    if (count == 0) return Array<std::int32_t>(0, device());
    const auto all = numbers(count);
    Array<std::int32_t> chosen(count, device());
    Array<std::int64_t> total(1, device());
    with_storage("choosing PSMs", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(storage, bytes, all.data(), flags.data(), chosen.data(), total.data(), count,
                                        stream_);
    });
    Array<std::int32_t> result(fetched(total)[0], device());
    copy_bytes(result.data(), device(), chosen.data(), device(), result.bytes());
    return result;
  }

  template <class V>
  Array<V> gathered(const Array<V>& from, const Array<std::int32_t>& places) const {
    Array<V> to(places.size(), device());
    if (places.size() > 0)
      gpu::gather<<<blocks(places.size()), gpu::list_threads, 0, stream_>>>(from.data(), places.data(), places.size(),
                                                                            to.data());
    cuda::check_launch("gather");
    stream_.synchronize();
    return to;
  }

  RankedList kept(const RankedList& list, const Array<std::uint8_t>& flags) const {
    const auto places = flagged(flags);
    return {gathered(list.rows, places), gathered(list.scores, places), gathered(list.targets, places)};
  }

  /// The places of targets (1) or decoys (0) in a list.
  Array<std::int32_t> places_of(const RankedList& list, std::uint8_t wanted) const {
    Array<std::uint8_t> flags(list.size(), device());
    if (list.size() > 0)
      gpu::flag_label<<<blocks(list.size()), gpu::list_threads, 0, stream_>>>(list.targets.data(), wanted, list.size(),
                                                                              flags.data());
    cuda::check_launch("flag_label");
    return flagged(flags);
  }

  /// Hashes of the keys of rows (nullptr: of all, one after the other) in ascending order, and where they were before.
  template <class Keys>
  HashOrder by_hash(const Keys& keys, const std::int32_t* rows, std::int64_t count) const {
    HashOrder result{Array<std::uint64_t>(count, device()), Array<std::int32_t>(count, device())};
    Array<std::uint64_t> hashes(count, device());
    const auto elements = numbers(count);
    gpu::hash_keys<<<blocks(count), gpu::list_threads, 0, stream_>>>(keys, rows, count, hashes.data());
    cuda::check_launch("hash_keys");
    with_storage("sorting keys", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(storage, bytes, hashes.data(), result.hashes.data(), elements.data(),
                                             result.elements.data(), count, 0, 64, stream_);
    });
    return result;
  }

  template <class Keys>
  RankedList first_of(const RankedList& list, const Keys& keys) const {
    Array<std::uint8_t> flags(list.size(), device());
    if (list.size() > 0) {
      const auto [hashes, elements] = by_hash(keys, list.rows.data(), list.size());
      gpu::flag_first<<<blocks(list.size()), gpu::list_threads, 0, stream_>>>(
          keys, hashes.data(), elements.data(), list.rows.data(), list.size(), flags.data());
      cuda::check_launch("flag_first");
      stream_.synchronize();
    }
    return kept(list, flags);
  }

  TieArrays ties_of(const RankedList& list) const {
    const std::int64_t n = list.size();
    TieArrays ties{Array<std::int32_t>(n, device()), Array<std::int32_t>(n, device()),
                   Array<std::int32_t>(n, device())};
    gpu::mark_ties<<<blocks(n), gpu::list_threads, 0, stream_>>>(
        list.scores.data(), list.targets.data(), n, ties.targets.data(), ties.begins.data(), ties.reversed_ends.data());
    cuda::check_launch("mark_ties");
    with_storage("counting targets", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(storage, bytes, ties.targets.data(), ties.targets.data(), n, stream_);
    });
    scan(ties.begins, gpu::Larger{}, "finding equal scores");
    scan(ties.reversed_ends, gpu::Smaller{}, "finding equal scores");
    return ties;
  }

  /// Sums up to each element, in an order that is always the same.
  void add_up(Array<double>& values) const {
    const std::int64_t n = values.size();
    Array<double> totals(blocks(n), device());
    gpu::sum_blocks<<<blocks(n), gpu::list_threads, 0, stream_>>>(values.data(), n, totals.data());
    cuda::check_launch("sum_blocks");
    auto before = fetched(totals);
    double sum = 0;
    for (double& one : before) sum += std::exchange(one, sum);
    const auto there = Array<double>::copy_of(before, device());
    gpu::scan_blocks<<<blocks(n), gpu::list_threads, 0, stream_>>>(values.data(), n, there.data());
    cuda::check_launch("scan_blocks");
    stream_.synchronize();
  }

  /// Mix-max: beaten incorrect targets up to each element; empty if pi0 is 1.
  Array<double> beaten(const TieArrays& ties, double pi0) const {
    if (!(pi0 < 1)) return Array<double>(0, device());
    const std::int64_t n = ties.targets.size();
    Array<double> terms(n, device());
    gpu::beaten_terms<<<blocks(n), gpu::list_threads, 0, stream_>>>(ties.view(), pi0, terms.data());
    cuda::check_launch("beaten_terms");
    add_up(terms);
    return terms;
  }

  Array<double> expected_errors(const TieArrays& ties, const FdrRule& rule) const {
    const std::int64_t n = ties.targets.size();
    const Array<double> lost = beaten(ties, rule.pi0);
    Array<double> errors(n, device());
    gpu::expected_errors<<<blocks(n), gpu::list_threads, 0, stream_>>>(
        ties.view(), rule.pi0, rule.plus_one, lost.size() == 0 ? nullptr : lost.data(), errors.data());
    cuda::check_launch("expected_errors");
    stream_.synchronize();
    return errors;
  }

  /// The largest sequence that never falls and is nowhere above the values, which come from the worst to the best.
  void rise(Array<double>& reversed, Array<double>& rising) const {
    scan(reversed, gpu::Smaller{}, "making q-values rise");
    gpu::reverse<<<blocks(rising.size()), gpu::list_threads, 0, stream_>>>(reversed.data(), rising.size(),
                                                                           rising.data());
    cuda::check_launch("reverse");
    stream_.synchronize();
  }

  template <class Points>
  Ramps fitted(const Points& points, std::int64_t count) const {
    const auto ends = rank_bin_ends(count);
    const auto there = Array<std::int32_t>::copy_of(ends, device());
    Array<double> sums(2 * there.size(), device());
    gpu::sum_bins<<<blocks(there.size()), gpu::list_threads, 0, stream_>>>(points, there.data(), there.size(),
                                                                           sums.data());
    cuda::check_launch("sum_bins");
    const auto here = fetched(sums);
    RankBins bins;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      const auto size = static_cast<double>(ends[b] - (b == 0 ? 0 : ends[b - 1]));
      bins.x.push_back(here[2 * b] / size);
      bins.y.push_back(here[2 * b + 1] / size);
      bins.weights.push_back(size);
    }
    const RampCurve curve = fit_ramps(bins);
    return {Array<double>::copy_of(curve.knots, device()), Array<double>::copy_of(curve.heights, device()),
            Array<double>::copy_of(curve.passed, device())};
  }

  /// The non-decreasing sequence nearest to the values.
  Array<double> pooled(Array<double> values) const {
    const std::int64_t n = values.size();
    Array<std::int32_t> counts(n, device());
    Array<std::int32_t> begins(n, device());
    const gpu::Pools pools{values.data(), counts.data(), begins.data()};
    const auto stretches = [](std::int64_t count, std::int64_t size) { return (count + size - 1) / size; };
    gpu::pool_stretches<<<blocks(stretches(n, gpu::pooled_at_once)), gpu::list_threads, 0, stream_>>>(pools, n);
    cuda::check_launch("pool_stretches");
    for (std::int64_t size = gpu::pooled_at_once; size < n; size *= 2) {
      gpu::join_stretches<<<blocks(stretches(n, 2 * size)), gpu::list_threads, 0, stream_>>>(pools, n, size);
      cuda::check_launch("join_stretches");
    }
    gpu::mark_pools<<<blocks(n), gpu::list_threads, 0, stream_>>>(pools, n, begins.data());
    cuda::check_launch("mark_pools");
    scan(begins, gpu::Larger{}, "finding pools");
    Array<double> means(n, device());
    gpu::means_of_pools<<<blocks(n), gpu::list_threads, 0, stream_>>>(pools, begins.data(), n, means.data());
    cuda::check_launch("means_of_pools");
    stream_.synchronize();
    return means;
  }

  Array<double> isotonic_peps(const RankedList& list, bool on_scores) const {
    const std::int64_t points = list.size() + 1;
    const double* const scores = list.scores.data();
    const std::uint8_t* const targets = list.targets.data();
    const Ramps curve =
        on_scores ? fitted(gpu::ScorePoints{scores, targets}, points) : fitted(gpu::RankPoints{targets}, points);
    Array<double> rates(points, device());
    gpu::decoy_rates<<<blocks(points), gpu::list_threads, 0, stream_>>>(curve.view(), on_scores ? scores : nullptr,
                                                                        points, rates.data());
    cuda::check_launch("decoy_rates");
    const Array<double> rising = pooled(std::move(rates));
    Array<double> result(list.size(), device());
    gpu::odds_of_rates<<<blocks(list.size()), gpu::list_threads, 0, stream_>>>(rising.data(), list.size(),
                                                                               result.data());
    cuda::check_launch("odds_of_rates");
    stream_.synchronize();
    return result;
  }

  Array<double> corrected_peps(const RankedList& list, FdrRule rule) const {
    const std::int64_t n = list.size();
    rule.plus_one = false;
    const Array<double> errors = expected_errors(ties_of(list), rule);
    const Ramps of_errors = fitted(gpu::ErrorPoints{errors.data()}, n);
    const Ramps of_targets = fitted(gpu::TargetPoints{list.targets.data()}, n);
    Array<double> ratios(n, device());
    gpu::ratios_of_curves<<<blocks(n), gpu::list_threads, 0, stream_>>>(of_errors.view(), of_targets.view(), n,
                                                                        ratios.data());
    cuda::check_launch("ratios_of_curves");
    return pooled(std::move(ratios));
  }

  Array<double> pooled_peps(const RankedList& list, const Array<double>& q) const {
    const std::int64_t n = list.size();
    const Array<double> target_q = gathered(q, places_of(list, 1));
    const std::int64_t targets = target_q.size();
    Array<double> rising(0, device());
    if (targets > 0) {
      Array<double> differences(targets, device());
      gpu::error_differences<<<blocks(targets), gpu::list_threads, 0, stream_>>>(target_q.data(), targets,
                                                                                 differences.data());
      cuda::check_launch("error_differences");
      rising = pooled(std::move(differences));
    }
    const TieArrays ties = ties_of(list);
    Array<double> result(n, device());
    gpu::interpolate_decoys<<<blocks(n), gpu::list_threads, 0, stream_>>>(
        q.data(), list.targets.data(), ties.view(), target_q.data(), rising.data(), result.data());
    cuda::check_launch("interpolate_decoys");
    stream_.synchronize();
    return result;
  }

  LogisticBins score_bins(const RankedList& list, double pi0, bool mixed) const {
    const TieArrays ties = ties_of(list);
    const Array<double> lost = beaten(ties, pi0);
    const double bin_size = std::max(static_cast<double>(list.size()) / logistic_intervals, 1.0);
    Array<gpu::ScoreBin> there(logistic_intervals, device());
    Array<std::int32_t> made(1, device());
    gpu::bin_scores<<<1, 1, 0, stream_>>>(list.scores.data(), ties.view(), lost.size() == 0 ? nullptr : lost.data(),
                                          mixed, bin_size, there.data(), made.data());
    cuda::check_launch("bin_scores");
    const auto here = fetched(there);
    const auto count = static_cast<std::size_t>(fetched(made)[0]);
    LogisticBins bins;
    for (const auto& bin : std::span(here).first(count)) {
      const double incorrect = static_cast<double>(bin.decoys) * pi0 + bin.beaten;
      add_bin(bins, bin.median, incorrect, static_cast<double>(bin.count - bin.decoys) + incorrect);
    }
    return bins;
  }

  Array<double> spline_peps(const RankedList& list, double pi0, bool mixed) const {
    const std::int64_t n = list.size();
    const LogisticCurve curve = fit_logistic(score_bins(list, pi0, mixed));
    const auto x = Array<double>::copy_of(curve.x, device());
    const auto h = Array<double>::copy_of(curve.h, device());
    const auto g = Array<double>::copy_of(curve.g, device());
    const auto gamma = Array<double>::copy_of(curve.gamma, device());
    const LogisticView view{x.data(),       h.data(), g.data(), gamma.data(), static_cast<std::int32_t>(x.size()),
                            curve.transform};
    Array<double> odds(n, device());
    gpu::odds_of_scores<<<blocks(n), gpu::list_threads, 0, stream_>>>(view, list.scores.data(), n, odds.data());
    cuda::check_launch("odds_of_scores");
    Array<double> highest(1, device());
    with_storage("finding the highest PEP", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::Max(storage, bytes, odds.data(), highest.data(), n, stream_);
    });
    const double top = std::min(1.0, fetched(highest)[0]);
    const std::int32_t none = std::numeric_limits<std::int32_t>::max();
    auto first = Array<std::int32_t>::copy_of(std::span(&none, 1), device());
    gpu::mark_top<<<blocks(n), gpu::list_threads, 0, stream_>>>(odds.data(), top, n, first.data());
    cuda::check_launch("mark_top");
    Array<double> reversed(n, device());
    gpu::reversed_to_top<<<blocks(n), gpu::list_threads, 0, stream_>>>(odds.data(), top, first.data(), n,
                                                                       reversed.data());
    cuda::check_launch("reversed_to_top");
    rise(reversed, odds);
    return odds;
  }

  const Context& context_;
  cuda::Current current_;
  cuda::Stream stream_;
  Array<std::int8_t> labels_;
  Array<std::int32_t> scans_;
  Array<double> masses_;
  Array<std::int32_t> files_;
  bool targets_first_;
};

/// Stable sorts by one key after the other, the least important one first; rows begin in ascending order.
RankedList CudaConfidence::rank(const Array<double>& scores, const Array<std::uint16_t>& folds, std::uint16_t fold) {
  const auto current = here();
  Array<std::int32_t> rows;
  if (folds.size() > 0) {
    Array<std::uint8_t> flags(folds.size(), device());
    gpu::flag_fold<<<blocks(folds.size()), gpu::list_threads, 0, stream_>>>(folds.data(), fold, folds.size(),
                                                                            flags.data());
    cuda::check_launch("flag_fold");
    rows = flagged(flags);
  } else {
    rows = numbers(scores.size());
  }
  const std::int64_t n = rows.size();
  RankedList list{Array<std::int32_t>(n, device()), Array<double>(n, device()), Array<std::uint8_t>(n, device())};
  if (n == 0) return list;
  {
    Array<double> keys[2] = {Array<double>(n, device()), Array<double>(n, device())};
    cub::DoubleBuffer<std::int32_t> order(rows.data(), list.rows.data());
    const auto sort = [&](auto* key, auto* other, int bits) {
      cub::DoubleBuffer buffer(key, other);
      with_storage("ranking PSMs", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, buffer, order, n, 0, bits, stream_);
      });
    };
    auto* const words = reinterpret_cast<std::uint32_t*>(keys[0].data());
    auto* const other_words = reinterpret_cast<std::uint32_t*>(keys[1].data());
    const auto launch = [&](auto kernel, const auto* values, auto* to) {
      kernel<<<blocks(n), gpu::list_threads, 0, stream_>>>(order.Current(), values, n, to);
      cuda::check_launch("keys of ranks");
    };
    if (targets_first_) {
      launch(gpu::key_labels, labels_.data(), words);
      sort(words, other_words, 1);
    }
    launch(gpu::key_doubles, masses_.data(), keys[0].data());
    sort(keys[0].data(), keys[1].data(), 64);
    launch(gpu::key_scans, scans_.data(), words);
    sort(words, other_words, 32);
    launch(gpu::key_doubles, scores.data(), keys[0].data());
    sort(keys[0].data(), keys[1].data(), 64);
    if (order.Current() != list.rows.data()) list.rows.swap(rows);
  }
  gpu::look_up<<<blocks(n), gpu::list_threads, 0, stream_>>>(list.rows.data(), scores.data(), labels_.data(), n,
                                                             list.scores.data(), list.targets.data());
  cuda::check_launch("look_up");
  stream_.synchronize();
  return list;
}

}  // namespace

std::unique_ptr<ConfidenceOps> make_cuda_confidence_ops(const Context& context, const TrainingRows& rows) {
  return std::make_unique<CudaConfidence>(context, rows);
}

}  // namespace sheaf::rescore
