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
/// Where there are fewer tiles, each is cut into pieces of so many rows or more.
constexpr std::int64_t least_rows = 4096;
constexpr std::int64_t rows_ahead = 4;

/// Rows that are drawn alike in every split are summed once for all splits: with folds there are as many such groups as
/// folds. Where there are more groups than splits, each split is summed by itself.
class Groups {
 public:
  Groups(std::span<const float> draws, std::size_t splits) : splits_(splits), draws_(draws), totals_(splits, 0.0) {
    const auto rows = draws.size() / splits;
    std::vector<double> members;
    of_rows_.reserve(rows);
    for (std::size_t i = 0; i < rows && count_ <= splits; ++i) {
      const auto group = find(draws.data() + i * splits);
      members.resize(count_, 0.0);
      members[group] += 1;
      of_rows_.push_back(group);
    }
    if (count_ <= splits) {
      for (std::size_t g = 0; g < count_; ++g)
        for (std::size_t s = 0; s < splits; ++s) totals_[s] += members[g] * times(g, s);
      return;
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t s = 0; s < splits; ++s) totals_[s] += static_cast<double>(draws[i * splits + s]);
    of_rows_.clear();
    count_ = splits;
    times_.assign(splits * splits, 0.0F);
    for (std::size_t s = 0; s < splits; ++s) times_[s * splits + s] = 1;
  }

  std::size_t count() const { return count_; }
  /// Rows of each split.
  const std::vector<double>& totals() const { return totals_; }
  /// How often the rows of a group, as they were summed, are drawn in a split.
  double times(std::size_t group, std::size_t split) const {
    return static_cast<double>(times_[group * splits_ + split]);
  }
  /// Calls use(group, times) for the groups that a row is summed in.
  template <class Use>
  void for_row(std::int64_t row, const Use& use) const {
    const auto i = static_cast<std::size_t>(row);
    if (!of_rows_.empty()) return use(of_rows_[i], 1.0);
    for (std::size_t s = 0; s < splits_; ++s)
      if (draws_[i * splits_ + s] != 0) use(s, static_cast<double>(draws_[i * splits_ + s]));
  }

 private:
  std::size_t find(const float* drawn) {
    for (std::size_t g = 0; g < count_; ++g)
      if (std::equal(drawn, drawn + splits_, times_.data() + g * splits_)) return g;
    times_.insert(times_.end(), drawn, drawn + splits_);
    return count_++;
  }

  std::size_t splits_;
  std::span<const float> draws_;
  std::vector<double> totals_;
  std::size_t count_ = 0;
  std::vector<float> times_;          // groups x splits
  std::vector<std::size_t> of_rows_;  // none: each split is a group
};

/// Sums over rows, for the features of a piece of work.
struct Sums {
  std::array<double, tile> values{}, squares{}, nonzeros{}, seen{}, minimum, maximum;

  Sums() {
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
  void add(const Sums& other, double times) {
    if (times == 0) return;
    for (std::size_t k = 0; k < tile; ++k) {
      values[k] += times * other.values[k];
      squares[k] += times * other.squares[k];
      nonzeros[k] += times * other.nonzeros[k];
      seen[k] += times * other.seen[k];
      minimum[k] = std::min(minimum[k], other.minimum[k]);
      maximum[k] = std::max(maximum[k], other.maximum[k]);
    }
  }
  /// Of the `total` rows those that were not seen are 0.
  FeatureSummary summary(std::size_t k, double origin, double total) const {
    const bool zeros = seen[k] < total;
    const double mean = values[k] / total;
    const double variance = squares[k] / total - mean * mean;
    return {std::llround(nonzeros[k]), zeros ? std::min(minimum[k], 0.0) : minimum[k],
            zeros ? std::max(maximum[k], 0.0) : maximum[k], origin + mean, std::sqrt(std::max(variance, 0.0))};
  }
};

/// What the values of a feature are counted from.
template <class T>
double origin_of(const DenseMatrix<T>& x, std::int64_t feature) {
  return static_cast<double>(x.values[feature]);
}
/// Most values are 0.
template <class T>
double origin_of(const SparseMatrix<T>& /*x*/, std::int64_t /*feature*/) {
  return 0;
}

template <class T>
void add_features(const DenseMatrix<T>& x, Range features, Range rows, const Groups& groups, std::span<Sums> sums) {
  const auto count = static_cast<std::size_t>(features.end - features.begin);
  std::array<double, tile> origins{};
  for (std::size_t k = 0; k < count; ++k) origins[k] = origin_of(x, features.begin + static_cast<std::int64_t>(k));
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = x.values.data() + i * x.columns + features.begin;
    // Rows of wide data lie pages apart, where the processor does not look ahead by itself.
    const T* later = x.values.data() + std::min(i + rows_ahead, x.rows - 1) * x.columns + features.begin;
    for (std::size_t k = 0; k < count; k += 64 / sizeof(T)) __builtin_prefetch(later + k);
    groups.for_row(i, [&](std::size_t group, double times) {
      for (std::size_t k = 0; k < count; ++k) sums[group].add(k, static_cast<double>(row[k]), origins[k], times);
    });
  }
}

/// `sums` is of all tiles of the features. Each row is searched for the first of them, so there should be many.
template <class T>
void add_features(const SparseMatrix<T>& x, Range features, const Groups& groups, std::span<Sums> sums) {
  // One value changes all sums of a feature, which lie side by side for it.
  struct alignas(64) OfFeature {
    double values = 0, squares = 0, nonzeros = 0, seen = 0, minimum = infinity, maximum = -infinity;
  };
  const auto count = static_cast<std::size_t>(features.end - features.begin);
  std::vector<OfFeature> gathered(count * groups.count());
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const auto* end = x.indices.data() + x.offsets[i + 1];
    const auto* index = std::lower_bound(x.indices.data() + x.offsets[i], end, features.begin);
    groups.for_row(i, [&](std::size_t group, double times) {
      auto* of_group = gathered.data() + group * count;
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
  for (std::size_t g = 0; g < groups.count(); ++g)
    for (std::size_t j = 0; j < count; ++j) {
      const auto& feature = gathered[g * count + j];
      auto& of_tile = sums[j / tile * groups.count() + g];
      const auto k = j % tile;
      of_tile.values[k] = feature.values;
      of_tile.squares[k] = feature.squares;
      of_tile.nonzeros[k] = feature.nonzeros;
      of_tile.seen[k] = feature.seen;
      of_tile.minimum[k] = feature.minimum;
      of_tile.maximum[k] = feature.maximum;
    }
}

}  // namespace

template <class T>
std::vector<FeatureSummary> summarize_features(const Context& context, const Dataset<T>& dataset) {
  if (is_sparse(dataset.x)) return summarize(context, dataset).per_feature;
  return summarize_splits(context, dataset, std::vector<float>(static_cast<std::size_t>(dataset.rows()), 1.0F), 1);
}

template <class T>
std::vector<FeatureSummary> summarize_splits(const Context& context, const Dataset<T>& dataset,
                                             std::span<const float> draws, std::int32_t splits,
                                             std::vector<double>* rows_of_splits) {
  const auto columns = static_cast<std::size_t>(splits);
  const Groups groups(draws, columns);
  const auto& totals = groups.totals();
  if (rows_of_splits) *rows_of_splits = totals;
  std::vector<FeatureSummary> result(static_cast<std::size_t>(dataset.features()) * columns);
  const auto tiles = (dataset.features() + tile - 1) / tile;
  const auto pieces = is_sparse(dataset.x) ? 1
                                           : std::clamp<std::int64_t>(pieces_at_once / std::max<std::int64_t>(tiles, 1),
                                                                      1, dataset.rows() / least_rows + 1);
  const auto summarize_all = [&](const auto& x) {
    std::vector<Sums> sums;
    for (std::int64_t first = 0; first < tiles; first += pieces_at_once) {
      const auto count = std::min(tiles - first, pieces_at_once);
      sums.assign(static_cast<std::size_t>(count * pieces) * groups.count(), Sums());
      const auto sums_of = [&](std::int64_t k) {
        return std::span(sums).subspan(static_cast<std::size_t>(k) * groups.count(), groups.count());
      };
      const auto features_of = [&](std::int64_t k) {
        return Range{(first + k) * tile, std::min(dataset.features(), (first + k + 1) * tile)};
      };
      if constexpr (requires { x.offsets; }) {
        const auto ranges = std::min<std::int64_t>(count, std::max<std::int64_t>(8, 2 * context.threads()));
        parallel_for(context, ranges, [&](std::int64_t k) {
          const auto begin = count * k / ranges, end = count * (k + 1) / ranges;
          add_features(x, Range{features_of(begin).begin, features_of(end - 1).end}, groups,
                       std::span(sums).subspan(static_cast<std::size_t>(begin) * groups.count()));
        });
      } else {
        parallel_for(context, count * pieces, [&](std::int64_t k) {
          const Range rows{dataset.rows() * (k % pieces) / pieces, dataset.rows() * (k % pieces + 1) / pieces};
          add_features(x, features_of(k / pieces), rows, groups, sums_of(k));
        });
      }
      parallel_for(context, count, [&](std::int64_t k) {
        const auto features = features_of(k);
        for (std::size_t s = 0; s < columns; ++s) {
          Sums split;
          for (std::int64_t piece = 0; piece < pieces; ++piece)
            for (std::size_t g = 0; g < groups.count(); ++g)
              split.add(sums_of(k * pieces + piece)[g], groups.times(g, s));
          for (std::int64_t j = features.begin; j < features.end; ++j)
            result[static_cast<std::size_t>(j) * columns + s] =
                split.summary(static_cast<std::size_t>(j - features.begin), origin_of(x, j), totals[s]);
        }
      });
    }
  };
  std::visit(summarize_all, dataset.x);
  return result;
}

template std::vector<FeatureSummary> summarize_features(const Context&, const Dataset<float>&);
template std::vector<FeatureSummary> summarize_features(const Context&, const Dataset<double>&);
template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<float>&, std::span<const float>,
                                                      std::int32_t, std::vector<double>*);
template std::vector<FeatureSummary> summarize_splits(const Context&, const Dataset<double>&, std::span<const float>,
                                                      std::int32_t, std::vector<double>*);

}  // namespace sheaf
