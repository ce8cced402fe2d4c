// Sums are taken about the value of each feature in the first row, so that a mean far from 0 costs no digits and one
// pass is enough.
#include "data/describe/split_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Features of one piece of work; their sums stay in the first-level cache.
constexpr std::int64_t tile = 64;
/// Pieces of work whose sums are at hand at once.
constexpr std::int64_t pieces_at_once = 256;
/// If there are fewer tiles, each is cut into pieces of at least so many rows.
constexpr std::int64_t least_rows = 4096;
constexpr std::int64_t rows_ahead = 4;
/// Sums of features of sparse rows that a piece of work has at hand.
constexpr std::int64_t sums_at_once = 1 << 15;

/// The different ways in which rows are drawn, in the order of their first rows.
class Patterns {
 public:
  explicit Patterns(std::size_t splits) : splits_(splits) {}

  std::size_t count() const { return drawn_.size() / splits_; }
  const float* operator[](std::size_t k) const { return drawn_.data() + k * splits_; }
  std::uint32_t find_or_add(const float* drawn) {
    for (std::size_t k = 0; k < count(); ++k)
      if (std::equal(drawn, drawn + splits_, (*this)[k])) return static_cast<std::uint32_t>(k);
    drawn_.insert(drawn_.end(), drawn, drawn + splits_);
    return static_cast<std::uint32_t>(count() - 1);
  }

 private:
  std::size_t splits_;
  std::vector<float> drawn_;
};

/// Rows that are drawn alike in every split are summed once for all splits: with folds there are as many such groups as
/// folds. If there are more groups than splits, each split is summed by itself.
class Groups {
 public:
  Groups(const Context& context, std::span<const float> draws, std::size_t splits)
      : splits_(splits), draws_(draws), totals_(splits, 0.0), patterns_(splits) {
    const auto rows = static_cast<std::int64_t>(draws.size() / splits);
    if (find_groups(context, rows)) return;
    totals_.assign(splits, 0.0);
    for (std::size_t k = 0; k < draws.size(); ++k) totals_[k % splits] += static_cast<double>(draws[k]);
    of_rows_.clear();
    patterns_ = Patterns(splits);
    for (std::size_t s = 0; s < splits; ++s) {
      std::vector<float> only(splits, 0.0F);
      only[s] = 1;
      patterns_.find_or_add(only.data());
    }
  }

  std::size_t count() const { return patterns_.count(); }
  /// Rows of each split.
  const std::vector<double>& totals() const { return totals_; }
  /// How often the rows of a group, as they were summed, are drawn in a split.
  double times(std::size_t group, std::size_t split) const { return static_cast<double>(patterns_[group][split]); }
  /// Calls use(group, times) for the groups that a row is summed in.
  template <class Use>
  void for_row(std::int64_t row, const Use& use) const {
    const auto i = static_cast<std::size_t>(row);
    if (!of_rows_.empty()) return use(std::size_t{of_rows_[i]}, 1.0);
    for (std::size_t s = 0; s < splits_; ++s)
      if (draws_[i * splits_ + s] != 0) use(s, static_cast<double>(draws_[i * splits_ + s]));
  }

 private:
  /// False: there are more groups than splits. Parts of the rows are looked through side by side.
  bool find_groups(const Context& context, std::int64_t rows) {
    const auto parts = rows / least_rows + 1;
    std::vector<Patterns> seen(static_cast<std::size_t>(parts), Patterns(splits_));
    std::vector<std::vector<double>> members(seen.size());
    of_rows_.resize(static_cast<std::size_t>(rows));
    parallel_for(context, parts, [&](std::int64_t part) {
      auto& own = seen[static_cast<std::size_t>(part)];
      auto& counts = members[static_cast<std::size_t>(part)];
      const auto range = part_of(rows, parts, part);
      for (auto i = range.begin; i < range.end && own.count() <= splits_; ++i) {
        const auto group = own.find_or_add(draws_.data() + static_cast<std::size_t>(i) * splits_);
        counts.resize(own.count(), 0.0);
        counts[group] += 1;
        of_rows_[static_cast<std::size_t>(i)] = group;
      }
    });
    std::vector<std::vector<std::uint32_t>> places(seen.size());
    for (std::size_t part = 0; part < seen.size(); ++part)
      for (std::size_t g = 0; g < seen[part].count(); ++g) {
        places[part].push_back(patterns_.find_or_add(seen[part][g]));
        if (count() > splits_) return false;
        for (std::size_t s = 0; s < splits_; ++s)
          totals_[s] += members[part][g] * static_cast<double>(seen[part][g][s]);
      }
    parallel_for(context, parts, [&](std::int64_t part) {
      const auto range = part_of(rows, parts, part);
      for (auto i = range.begin; i < range.end; ++i) {
        auto& group = of_rows_[static_cast<std::size_t>(i)];
        group = places[static_cast<std::size_t>(part)][group];
      }
    });
    return true;
  }

  std::size_t splits_;
  std::span<const float> draws_;
  std::vector<double> totals_;
  Patterns patterns_;                   // how often the rows of a group are drawn in each split
  std::vector<std::uint32_t> of_rows_;  // none: each split is a group
};

/// Sums over rows of one feature, which one value changes all of.
struct alignas(64) FeatureSums {
  double values = 0, squares = 0, nonzeros = 0, seen = 0, minimum = infinity, maximum = -infinity;

  void add(const FeatureSums& other, double times) {
    if (times == 0) return;
    values += times * other.values;
    squares += times * other.squares;
    nonzeros += times * other.nonzeros;
    seen += times * other.seen;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
  /// The summary over `total` rows; the others are 0.
  FeatureSummary summary(double origin, double total) const {
    const bool zeros = seen < total;
    const double mean = values / total;
    const double variance = squares / total - mean * mean;
    return {std::llround(nonzeros), zeros ? std::min(minimum, 0.0) : minimum, zeros ? std::max(maximum, 0.0) : maximum,
            origin + mean, std::sqrt(std::max(variance, 0.0))};
  }
};

/// Sums over rows of the features of a piece of work: a row changes the same sum of all of them at once.
struct TileSums {
  std::array<double, tile> values{}, squares{}, nonzeros{}, seen{}, minimum, maximum;

  TileSums() {
    minimum.fill(infinity);
    maximum.fill(-infinity);
  }
  void add(std::size_t k, double value, double origin, double times) {
    const double away = value - origin;
    values[k] += times * away;
    squares[k] += times * away * away;
    nonzeros[k] += value != 0 ? times : 0.0;
    seen[k] += times;
    minimum[k] = value < minimum[k] ? value : minimum[k];
    maximum[k] = value > maximum[k] ? value : maximum[k];
  }
  FeatureSums of(std::size_t k) const { return {values[k], squares[k], nonzeros[k], seen[k], minimum[k], maximum[k]}; }
};

/// The origin that the values of a feature are counted from.
template <class T>
double origin_of(const DenseMatrix<T>& x, std::int64_t feature) {
  return static_cast<double>(x.values[feature]);
}

template <class T>
void add_features(const DenseMatrix<T>& x, Range features, Range rows, const Groups& groups, std::span<TileSums> sums) {
  const auto count = static_cast<std::size_t>(features.end - features.begin);
  std::array<double, tile> origins{};
  for (std::size_t k = 0; k < count; ++k) origins[k] = origin_of(x, features.begin + static_cast<std::int64_t>(k));
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = x.values.data() + i * x.columns + features.begin;
    // Rows of wide data lie pages apart, and the processor does not fetch them ahead by itself.
    const T* later = x.values.data() + std::min(i + rows_ahead, x.rows - 1) * x.columns + features.begin;
    for (std::size_t k = 0; k < count; k += 64 / sizeof(T)) __builtin_prefetch(later + k);
    groups.for_row(i, [&](std::size_t group, double times) {
      for (std::size_t k = 0; k < count; ++k) sums[group].add(k, static_cast<double>(row[k]), origins[k], times);
    });
  }
}

/// Each row is searched for the first of the features, so there should be many.
template <class T>
void add_features(const SparseMatrix<T>& x, Range features, const Groups& groups, std::span<FeatureSums> sums) {
  const auto count = static_cast<std::size_t>(features.end - features.begin);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const auto* end = x.indices.data() + x.offsets[i + 1];
    const auto* index = std::lower_bound(x.indices.data() + x.offsets[i], end, features.begin);
    groups.for_row(i, [&](std::size_t group, double times) {
      auto* of_group = sums.data() + group * count;
      for (const auto* own = index; own != end && *own < features.end; ++own) {
        const auto value = static_cast<double>(x.values[own - x.indices.data()]);
        auto& feature = of_group[*own - features.begin];
        feature.values += times * value;
        feature.squares += times * value * value;
        feature.nonzeros += value != 0 ? times : 0.0;
        feature.seen += times;
        feature.minimum = std::min(feature.minimum, value);
        feature.maximum = std::max(feature.maximum, value);
      }
    });
  }
}

/// The splits of a feature, from the sums of each group of rows: sums_of(g) holds one or several parts of them.
template <class SumsOf>
void join_groups(const Groups& groups, double origin, const SumsOf& sums_of, std::span<FeatureSummary> of_splits) {
  for (std::size_t s = 0; s < of_splits.size(); ++s) {
    FeatureSums split;
    for (std::size_t g = 0; g < groups.count(); ++g)
      if (const double times = groups.times(g, s); times != 0) split.add(sums_of(g), times);
    of_splits[s] = split.summary(origin, groups.totals()[s]);
  }
}

template <class T>
void for_splits(const Context& context, const DenseMatrix<T>& x, const Groups& groups, const UseSummaries& use) {
  const auto tiles = (x.columns + tile - 1) / tile;
  const auto pieces =
      std::clamp<std::int64_t>(pieces_at_once / std::max<std::int64_t>(tiles, 1), 1, x.rows / least_rows + 1);
  std::vector<TileSums> sums;
  for (std::int64_t first = 0; first < tiles; first += pieces_at_once) {
    const auto count = std::min(tiles - first, pieces_at_once);
    sums.assign(static_cast<std::size_t>(count * pieces) * groups.count(), TileSums());
    const auto sums_of = [&](std::int64_t k) {
      return std::span(sums).subspan(static_cast<std::size_t>(k) * groups.count(), groups.count());
    };
    const auto features_of = [&](std::int64_t k) {
      return Range{(first + k) * tile, std::min(x.columns, (first + k + 1) * tile)};
    };
    parallel_for(context, count * pieces, [&](std::int64_t k) {
      add_features(x, features_of(k / pieces), part_of(x.rows, pieces, k % pieces), groups, sums_of(k));
    });
    parallel_for(context, count, [&](std::int64_t k) {
      std::vector<FeatureSummary> of_splits(groups.totals().size());
      const auto features = features_of(k);
      for (std::int64_t j = features.begin; j < features.end; ++j) {
        const auto in_tile = static_cast<std::size_t>(j - features.begin);
        const auto of_group = [&](std::size_t g) {
          FeatureSums all;
          for (std::int64_t piece = 0; piece < pieces; ++piece) all.add(sums_of(k * pieces + piece)[g].of(in_tile), 1);
          return all;
        };
        join_groups(groups, origin_of(x, j), of_group, of_splits);
        use(j, of_splits);
      }
    });
  }
}

template <class T>
void for_splits(const Context& context, const SparseMatrix<T>& x, const Groups& groups, const UseSummaries& use) {
  const auto fitting = std::max<std::int64_t>(1, sums_at_once / static_cast<std::int64_t>(groups.count()));
  const auto wanted = std::max<std::int64_t>(8, 2 * context.threads());
  const auto ranges = std::min(x.columns, std::max(wanted, (x.columns + fitting - 1) / fitting));
  parallel_for(context, ranges, [&](std::int64_t k) {
    const auto features = part_of(x.columns, ranges, k);
    const auto count = static_cast<std::size_t>(features.end - features.begin);
    std::vector<FeatureSums> sums(count * groups.count());
    add_features(x, features, groups, sums);
    std::vector<FeatureSummary> of_splits(groups.totals().size());
    for (std::size_t j = 0; j < count; ++j) {
      join_groups(
          groups, 0, [&](std::size_t g) { return sums[g * count + j]; }, of_splits);
      use(features.begin + static_cast<std::int64_t>(j), of_splits);
    }
  });
}

}  // namespace

template <class T>
std::vector<FeatureSummary> summarize_features(const Context& context, const Dataset<T>& dataset) {
  if (is_sparse(dataset.x)) return summarize(context, dataset).per_feature;
  return summarize_splits(context, dataset, std::vector<float>(static_cast<std::size_t>(dataset.rows()), 1.0F), 1);
}

template <class T>
void for_split_summaries(const Context& context, const Dataset<T>& dataset, std::span<const float> draws,
                         std::int32_t splits, const UseSummaries& use, std::vector<double>* rows) {
  const Groups groups(context, draws, static_cast<std::size_t>(splits));
  if (rows) *rows = groups.totals();
  std::visit([&](const auto& x) { for_splits(context, x, groups, use); }, dataset.x);
}

template <class T>
std::vector<FeatureSummary> summarize_splits(const Context& context, const Dataset<T>& dataset,
                                             std::span<const float> draws, std::int32_t splits) {
  std::vector<FeatureSummary> result(static_cast<std::size_t>(dataset.features()) * static_cast<std::size_t>(splits));
  for_split_summaries(context, dataset, draws, splits, [&](std::int64_t feature, std::span<const FeatureSummary> of) {
    std::copy(of.begin(), of.end(), result.begin() + feature * splits);
  });
  return result;
}

template std::vector<FeatureSummary> summarize_features(const Context&, const Dataset<float>&);
template std::vector<FeatureSummary> summarize_features(const Context&, const Dataset<double>&);
template void for_split_summaries(const Context&, const Dataset<float>&, std::span<const float>, std::int32_t,
                                  const UseSummaries&, std::vector<double>*);
template void for_split_summaries(const Context&, const Dataset<double>&, std::span<const float>, std::int32_t,
                                  const UseSummaries&, std::vector<double>*);
template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<float>&, std::span<const float>,
                                                      std::int32_t);
template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<double>&, std::span<const float>,
                                                      std::int32_t);

}  // namespace sheaf
