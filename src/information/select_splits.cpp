// Bins are learnt on the training rows of each split, all splits in one pass over the dataset. Splits whose bins are
// the same, as those of levels, counts and other features of few values, are row weights over one table of states and
// share their counts. A split with bins of its own has states of its own: a byte for each value of its training rows.
#include "information/select_splits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/describe/split_summary.hpp"
#include "data/name_source.hpp"
#include "data/prepare/binning.hpp"
#include "information/class_separation.hpp"
#include "information/select.hpp"

namespace sheaf::information {
namespace {

/// The data that determine the bins of a split.
struct SplitBins {
  std::vector<std::int64_t> features;  // that it may select
  std::vector<double> low, high;       // of each of them
  std::int32_t bins = 0;
  std::vector<std::vector<double>> cuts;  // of each that is skewed; others have none
  bool operator==(const SplitBins&) const = default;

  std::vector<BinRule> rules() const {
    std::vector<BinRule> result;
    for (std::size_t k = 0; k < features.size(); ++k)
      result.push_back(cuts[k].empty() ? bins::width_rule(low[k], high[k], bins) : bins::cuts_rule(cuts[k]));
    return result;
  }
};

template <class T>
std::vector<SplitBins> learn_bins(const Context& context, const Dataset<T>& dataset, std::span<const float> draws,
                                  std::size_t splits, const MaySelect& may_select) {
  constexpr double left_out = std::numeric_limits<double>::quiet_NaN();
  const auto features = static_cast<std::size_t>(dataset.features());
  std::vector<double> low(features * splits), high(features * splits), rows;
  const auto learn = [&](std::int64_t j, std::span<const FeatureSummary> of_splits) {
    for (std::size_t s = 0; s < splits; ++s) {
      const auto at = s * features + static_cast<std::size_t>(j);
      low[at] = may_select(of_splits[s], rows[s]) ? of_splits[s].minimum : left_out;
      high[at] = of_splits[s].maximum;
    }
  };
  for_split_summaries(context, dataset, draws, static_cast<std::int32_t>(splits), learn, &rows);
  std::vector<SplitBins> result(splits);
  for (std::size_t s = 0; s < splits; ++s)
    for (std::size_t j = 0; j < features; ++j) {
      if (std::isnan(low[s * features + j])) continue;
      result[s].features.push_back(static_cast<std::int64_t>(j));
      result[s].low.push_back(low[s * features + j]);
      result[s].high.push_back(high[s * features + j]);
    }
  return result;
}

template <class T>
class SplitSelector {
 public:
  SplitSelector(const Context& context, const Dataset<T>& dataset, std::span<const float> draws, std::size_t splits,
                const SelectionOptions& options, const BinningOptions& binning)
      : context_(context),
        dataset_(dataset),
        draws_(draws),
        splits_(splits),
        options_(options),
        binning_(binning),
        target_(name_source(dataset.source, [&] { return bin_target(dataset.target, {}); })) {}

  /// The number of bins of each split, by its training rows, and the cuts of features that are skewed in them.
  void learn(std::vector<SplitBins>& bins) const {
    bool cuts = false;
    std::vector<std::int64_t> rows;
    for (std::size_t s = 0; s < splits_; ++s) {
      const auto target = target_of(training_rows(s));
      rows.push_back(std::ssize(target.classes));
      const auto options = with_bins(binning_, rows.back(), &target);
      bins[s].bins = options.bins;
      bins[s].cuts.resize(bins[s].features.size());
      cuts = options.method == BinMethod::automatic;
    }
    if (!cuts) return;
    bins::for_each_column(context_, dataset_, [&](std::int64_t j, const bins::Column<T>& column) {
      for (std::size_t s = 0; s < splits_; ++s) cut_if_skewed(j, column, s, rows[s], bins[s]);
    });
  }

  /// Splits of the same bins.
  std::vector<Selection> select(const SplitBins& bins, std::span<const std::size_t> members) const {
    std::vector<SelectionOptions> options;
    for (const auto split : members) options.push_back(options_of(bins, split));
    const auto rules = bins.rules();
    if (members.size() == 1) {
      const auto rows = training_rows(members.front());
      const auto table = bins::apply_to_part(context_, rules, dataset_, bins.features, rows);
      return {select_features(context_, table, target_of(rows), options.front())};
    }
    std::vector<std::int32_t> rows(static_cast<std::size_t>(dataset_.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<std::vector<std::uint32_t>> resamples;
    for (const auto split : members) resamples.push_back(drawn_of(split));
    const auto table = bins::apply_to_part(context_, rules, dataset_, bins.features, rows);
    return select_resamples(context_, table, target_, options, std::move(resamples));
  }

 private:
  /// `rows`: of the split, with repetitions.
  void cut_if_skewed(std::int64_t j, const bins::Column<T>& column, std::size_t split, std::int64_t rows,
                     SplitBins& bins) const {
    const auto found = std::lower_bound(bins.features.begin(), bins.features.end(), j);
    if (found == bins.features.end() || *found != j) return;
    const auto k = static_cast<std::size_t>(found - bins.features.begin());
    std::vector<T> values;
    for (std::size_t i = 0; i < column.values.size(); ++i)
      values.insert(values.end(),
                    drawn(column.examples.empty() ? i : static_cast<std::size_t>(column.examples[i]), split),
                    column.values[i]);
    bins.cuts[k] =
        bins::cuts_if_skewed(bins::Column<T>{values, {}, rows}, bins::width_rule(bins.low[k], bins.high[k], bins.bins));
  }
  SelectionOptions options_of(const SplitBins& bins, std::size_t split) const {
    auto options = options_;
    options.count = std::min(options.count, std::ssize(bins.features));
    if (!has_automatic_bins(binning_)) return options;
    const auto separation = class_separation(context_, dataset_, target_.classes, drawn_of(split));
    options.tie_scores = [separation, &bins](std::span<const std::int64_t> places) {
      std::vector<std::int64_t> features;
      for (const auto place : places) features.push_back(bins.features[static_cast<std::size_t>(place)]);
      return separation(features);
    };
    return options;
  }

  BinnedTarget target_of(std::span<const std::int32_t> rows) const {
    BinnedTarget target{{}, target_.names};
    for (const auto row : rows) target.classes.push_back(target_.classes[static_cast<std::size_t>(row)]);
    return target;
  }
  std::vector<std::uint32_t> drawn_of(std::size_t split) const {
    std::vector<std::uint32_t> weights;
    for (std::size_t i = 0; i < static_cast<std::size_t>(dataset_.rows()); ++i) weights.push_back(drawn(i, split));
    return weights;
  }
  std::uint32_t drawn(std::size_t row, std::size_t split) const {
    return static_cast<std::uint32_t>(draws_[row * splits_ + split]);
  }
  std::vector<std::int32_t> training_rows(std::size_t split) const {
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(dataset_.rows()); ++i)
      rows.insert(rows.end(), drawn(i, split), static_cast<std::int32_t>(i));
    return rows;
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  std::span<const float> draws_;
  std::size_t splits_;
  const SelectionOptions& options_;
  const BinningOptions& binning_;
  BinnedTarget target_;
};

}  // namespace

template <class T>
std::vector<std::vector<std::int64_t>> select_splits(const Context& given, const Dataset<T>& dataset,
                                                     std::span<const float> draws, std::int32_t splits,
                                                     const SelectionOptions& options, const BinningOptions& binning,
                                                     const MaySelect& may_select) {
  require(bins::need_no_copy(binning), "bins that need a copy of the rows");
  SelectRequest work;
  work.options = options;
  work.ensemble.resamples = splits;
  const auto context = given.for_work(selection_work(dataset, work));
  const auto count = static_cast<std::size_t>(splits);
  auto bins = learn_bins(context, dataset, draws, count, may_select);
  const SplitSelector<T> selector(context, dataset, draws, count, options, binning);
  selector.learn(bins);
  std::vector<std::vector<std::int64_t>> result(count);
  std::vector<bool> done(count, false);
  for (std::size_t first = 0; first < count; ++first) {
    if (done[first] || bins[first].features.empty()) continue;
    std::vector<std::size_t> members;
    for (std::size_t s = first; s < count; ++s)
      if (!done[s] && bins[s] == bins[first]) members.push_back(s);
    const auto selections = selector.select(bins[first], members);
    for (std::size_t m = 0; m < members.size(); ++m) {
      done[members[m]] = true;
      for (const auto& feature : selections[m].selected)
        result[members[m]].push_back(bins[first].features[static_cast<std::size_t>(feature.index)]);
    }
  }
  return result;
}

template std::vector<std::vector<std::int64_t>> select_splits(const Context&, const Dataset<float>&,
                                                              std::span<const float>, std::int32_t,
                                                              const SelectionOptions&, const BinningOptions&,
                                                              const MaySelect&);
template std::vector<std::vector<std::int64_t>> select_splits(const Context&, const Dataset<double>&,
                                                              std::span<const float>, std::int32_t,
                                                              const SelectionOptions&, const BinningOptions&,
                                                              const MaySelect&);

}  // namespace sheaf::information
