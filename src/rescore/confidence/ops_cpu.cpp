// The verbs of confidence on CPU cores. Verbs that look rows up in any order (ranking, the first of equals) cut them
// into buckets for all threads; sums over a list in its order are those of confidence.cpp and pep.cpp.
#include <algorithm>
#include <atomic>
#include <bit>

#include <sheaf/error.hpp>

#include "rescore/confidence/ops.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/input/buckets.hpp"
#include "rescore/training/ranking.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::int64_t at_once = 1 << 16;

/// Finds the first of equal elements: an open-addressed table of places.
class FirstOfEqual {
 public:
  explicit FirstOfEqual(std::size_t count) : slots_(std::bit_ceil(2 * count + 2), -1) {}

  /// Whether nothing equal to `place` was here before.
  template <class Equal>
  bool insert(std::uint64_t hash, std::int32_t place, const Equal& equal) {
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] < 0) {
        slots_[at] = place;
        return true;
      }
      if (equal(slots_[at], place)) return false;
    }
  }

 private:
  std::vector<std::int32_t> slots_;
};

std::int64_t bucket_of_hash(std::uint64_t hash, std::int64_t buckets) {
  return static_cast<std::int64_t>((hash >> 32U) * static_cast<std::uint64_t>(buckets) >> 32U);
}

Ranking view(const RankedList& list) { return {list.scores.span(), list.targets.span()}; }

/// Spectra as keys of rows.
struct SpectrumOf {
  const TrainingRows& rows;
  bool with_file;

  std::uint64_t hash(std::int32_t row) const {
    const double mass = rows.masses[static_cast<std::size_t>(row)] + 0.0;  // no negative zero
    return spectrum_hash(rows.keys.scan(row), std::bit_cast<std::uint64_t>(mass), with_file ? rows.keys.file(row) : 0);
  }
  bool same(std::int32_t a, std::int32_t b) const {
    return rows.keys.scan(a) == rows.keys.scan(b) &&
           rows.masses[static_cast<std::size_t>(a)] == rows.masses[static_cast<std::size_t>(b)] &&
           (!with_file || rows.keys.file(a) == rows.keys.file(b));
  }
};

struct KeyOf {
  std::span<const Fingerprint> keys;

  std::uint64_t hash(std::int32_t row) const { return keys[static_cast<std::size_t>(row)].low; }
  bool same(std::int32_t a, std::int32_t b) const {
    return keys[static_cast<std::size_t>(a)] == keys[static_cast<std::size_t>(b)];
  }
};

class CpuConfidence final : public ConfidenceOps {
 public:
  CpuConfidence(const Context& context, const TrainingRows& rows) : context_(context), rows_(rows) {}

  bool has_mixed_spectra(bool with_file) override {
    const SpectrumOf spectra{rows_, with_file};
    const auto hash = [&](std::int64_t i) { return spectra.hash(static_cast<std::int32_t>(i)); };
    const std::int64_t count = bucket_count(rows_.size());
    const auto buckets =
        put_in_buckets(context_, rows_.size(), count, [&](std::int64_t i) { return bucket_of_hash(hash(i), count); });
    std::atomic<bool> mixed = false;
    parallel_for(context_, count, [&](std::int64_t b) {
      const auto members = buckets[b];
      FirstOfEqual seen(members.size());
      for (const std::int32_t row : members) {
        if (mixed) return;
        seen.insert(hash(row), row, [&](std::int32_t first, std::int32_t other) {
          const bool same = spectra.same(first, other);
          if (same && is_target(first) != is_target(other)) mixed = true;
          return same;
        });
      }
    });
    return mixed;
  }

  RankedList rank(const Array<double>& scores, const Array<std::uint16_t>& folds, std::uint16_t fold) override;

  RankedList best_of_spectra(const RankedList& list) override { return first_of(list, SpectrumOf{rows_, true}); }
  RankedList best_of_keys(const RankedList& list, std::span<const Fingerprint> keys) override {
    return first_of(list, KeyOf{keys});
  }
  RankedList of_group(const RankedList& list, const Array<std::int32_t>& groups, std::int32_t group) override {
    return kept(list, [&](std::int64_t k) { return groups[list.rows[k]] == group; });
  }

  Array<double> q_values(const RankedList& list, const FdrRule& rule) override {
    return Array<double>::copy_of(rescore::q_values(view(list), rule));
  }
  Array<double> p_values(const RankedList& list) override {
    return Array<double>::copy_of(rescore::p_values(view(list)));
  }
  Array<double> peps(PepMethod method, const RankedList& list, const Array<double>& q, const FdrRule& rule,
                     bool mixed) override {
    switch (method) {
      case PepMethod::pooled:
        return Array<double>::copy_of(pooled_peps(view(list), q.span()));
      case PepMethod::spline:
        return Array<double>::copy_of(spline_peps(view(list), mixed, rule.pi0));
      case PepMethod::corrected:
        return Array<double>::copy_of(corrected_peps(view(list), rule));
      default:
        return Array<double>::copy_of(isotonic_peps(view(list), method == PepMethod::score));
    }
  }

  std::int64_t count_targets(const RankedList& list, std::int64_t count) override {
    return std::count(list.targets.begin(), list.targets.begin() + count, 1);
  }
  std::vector<double> decoy_scores(const RankedList& list, std::span<const std::int64_t> decoys) override {
    std::vector<double> found(decoys.size(), 0.0);
    std::int64_t passed = 0;
    for (std::int64_t k = 0; k < list.size(); ++k) {
      if (list.targets[k] != 0) continue;
      for (std::size_t d = 0; d < decoys.size(); ++d)
        if (decoys[d] == passed) found[d] = list.scores[k];
      ++passed;
    }
    return found;
  }
  std::vector<double> values_at(const Array<double>& values, std::span<const std::int64_t> places) override {
    std::vector<double> found;
    found.reserve(places.size());
    for (const std::int64_t place : places) found.push_back(values[place]);
    return found;
  }
  std::vector<std::int64_t> count_below(const Array<double>& ascending, std::span<const double> limits) override {
    std::vector<std::int64_t> counts;
    for (const double limit : limits)
      counts.push_back(std::lower_bound(ascending.begin(), ascending.end(), limit) - ascending.begin());
    return counts;
  }
  void rescale(Array<double>& scores, const Array<std::uint16_t>& folds, std::span<const Scale> scales) override {
    parallel_ranges(context_, scores.size(), at_once, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const Scale& scale = scales[folds.size() == 0 ? 0 : folds[i]];
        scores[i] = (scores[i] - scale.zero) / scale.unit;
      }
    });
  }

 private:
  bool is_target(std::int32_t row) const { return rows_.labels[static_cast<std::size_t>(row)] > 0; }

  /// The elements of a list for which keep(place) is true.
  template <class Keep>
  RankedList kept(const RankedList& list, const Keep& keep) const {
    const auto chosen = put_in_buckets(context_, list.size(), 2, [&](std::int64_t k) { return keep(k) ? 0 : 1; });
    const auto places = chosen[0];
    const auto count = static_cast<std::int64_t>(places.size());
    RankedList result{Array<std::int32_t>(count), Array<double>(count), Array<std::uint8_t>(count)};
    parallel_ranges(context_, count, at_once, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int32_t k = places[static_cast<std::size_t>(i)];
        result.rows[i] = list.rows[k];
        result.scores[i] = list.scores[k];
        result.targets[i] = list.targets[k];
      }
    });
    return result;
  }

  /// Equal rows are in one bucket, the best first.
  template <class Keys>
  RankedList first_of(const RankedList& list, const Keys& keys) const {
    const std::int64_t count = bucket_count(list.size());
    const auto buckets = put_in_buckets(context_, list.size(), count,
                                        [&](std::int64_t k) { return bucket_of_hash(keys.hash(list.rows[k]), count); });
    auto first = Array<std::uint8_t>(list.size());
    parallel_for(context_, count, [&](std::int64_t b) {
      const auto places = buckets[b];
      FirstOfEqual seen(places.size());
      const auto same = [&](std::int32_t a, std::int32_t c) { return keys.same(list.rows[a], list.rows[c]); };
      for (const std::int32_t k : places) first[k] = seen.insert(keys.hash(list.rows[k]), k, same) ? 1 : 0;
    });
    return kept(list, [&](std::int64_t k) { return first[k] != 0; });
  }

  const Context& context_;
  const TrainingRows& rows_;
};

/// Buckets are between scores of a sample; rows that are not in the fold go into one more. The order is total, so the
/// result does not depend on the buckets.
RankedList CpuConfidence::rank(const Array<double>& scores, const Array<std::uint16_t>& folds, std::uint16_t fold) {
  const std::int64_t count = scores.size();
  const std::int64_t buckets = bucket_count(count);
  std::vector<double> sample;
  for (std::int64_t i = 0; i < count; i += std::max<std::int64_t>(1, count / (16 * buckets)))
    sample.push_back(scores[i]);
  std::sort(sample.begin(), sample.end(), std::greater<>());
  std::vector<double> splitters;  // the least score of each bucket but the last
  for (std::int64_t b = 1; b < buckets; ++b)
    splitters.push_back(sample[static_cast<std::size_t>(b) * sample.size() / static_cast<std::size_t>(buckets)]);
  auto in_buckets = put_in_buckets(context_, count, buckets + 1, [&](std::int64_t i) -> std::int64_t {
    if (folds.size() > 0 && folds[i] != fold) return buckets;
    return std::lower_bound(splitters.begin(), splitters.end(), scores[i], std::greater<>()) - splitters.begin();
  });
  const std::int64_t members = in_buckets.begins[static_cast<std::size_t>(buckets)];
  RankedList list{Array<std::int32_t>(members), Array<double>(members), Array<std::uint8_t>(members)};
  const RankOrder better{rows_, scores.span()};
  parallel_for(context_, buckets, [&](std::int64_t b) {
    const auto rows = in_buckets[b];
    std::sort(rows.begin(), rows.end(), better);
    std::int64_t k = in_buckets.begins[static_cast<std::size_t>(b)];
    for (const std::int32_t row : rows) {
      list.rows[k] = row;
      list.scores[k] = scores[row];
      list.targets[k] = is_target(row) ? 1 : 0;
      ++k;
    }
  });
  return list;
}

}  // namespace

std::unique_ptr<ConfidenceOps> make_cpu_confidence_ops(const Context& context, const TrainingRows& rows) {
  return std::make_unique<CpuConfidence>(context, rows);
}

}  // namespace sheaf::rescore
