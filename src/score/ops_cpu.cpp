// The verbs of scoring on CPU cores. Sums go over fixed parts of the rows, added in order: the same bits for any number
// of threads.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "score/ops.hpp"
#include "score/radix_sort.hpp"
#include "score/terms.hpp"

namespace sheaf::score {
namespace {

constexpr std::int64_t part_rows = 1 << 14;
constexpr std::int64_t tile_rows = 256;
constexpr std::int64_t workspace_share = 8;  // threads that rank may take this part of the memory together

using Tile = std::array<double, tile_rows>;

/// The sum of the logistic losses of the first `size` values. Always of a whole tile, so that the compiler makes
/// vectors of it.
double sum_logistic(const Tile& z, std::int64_t size) {
  Tile losses;
  for (std::size_t i = 0; i < z.size(); ++i) losses[i] = logistic_loss(z[i]);
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += losses[static_cast<std::size_t>(i)];
  return sum;
}

/// The sum of the relative shares of a row's columns, several at a time as vectors; those missing at the end have none.
template <class T>
double sum_shares(const T* z, std::int32_t columns, double least) {
  constexpr std::int32_t width = 8;
  std::array<double, width> sums{};
  for (std::int32_t first = 0; first < columns; first += width) {
    std::array<double, width> values;
    values.fill(-std::numeric_limits<double>::infinity());
    std::copy_n(z + first, std::min(width, columns - first), values.begin());
    for (std::size_t k = 0; k < width; ++k) sums[k] += relative_share(values[k], least);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// The sum over `others` of the positive keys before each, or with `equal` those that equal it too. Both are sorted.
/// Without a branch on the keys: no processor could foresee it.
template <bool equal, class Key>
std::int64_t count_before(std::span<const Key> positives, std::span<const Key> others) {
  std::size_t p = 0;
  std::size_t o = 0;
  std::int64_t sum = 0;
  while (p < positives.size() && o < others.size()) {
    const bool before = equal ? positives[p] <= others[o] : positives[p] < others[o];
    sum += before ? 0 : static_cast<std::int64_t>(p);
    p += before ? 1 : 0;
    o += before ? 0 : 1;
  }
  return sum + static_cast<std::int64_t>(p * (others.size() - o));
}

/// The piece of the ROC curve that belongs to one distinct key.
template <class Key>
RocPiece piece_of(std::span<const Key> positives, std::span<const Key> others, Key key) {
  const auto [p, p_end] = std::equal_range(positives.begin(), positives.end(), key);
  const auto [o, o_end] = std::equal_range(others.begin(), others.end(), key);
  return {{o - others.begin(), p - positives.begin()}, {o_end - others.begin(), p_end - positives.begin()}};
}

/// Both lists ascend; `points` 0: no curve.
template <class Key>
Ranking rank_sorted(std::span<const Key> positives, std::span<const Key> others, std::int32_t points) {
  Ranking result{std::ssize(others), std::ssize(positives), 0, {}};
  if (others.empty() || positives.empty()) return result;
  result.doubled = count_before<false>(positives, others) + count_before<true>(positives, others);
  for (std::int32_t k = 0; k < points; ++k) {
    const auto place = static_cast<std::size_t>(roc_place(result.others, k, points));
    const Key last = std::max(positives.back(), others.back());
    result.pieces.push_back(piece_of(positives, others, place < others.size() ? others[place] : last));
  }
  return result;
}

template <class T>
class CpuScores final : public ScoreOps<T> {
 public:
  CpuScores(const Context& context, const Truth& truth)
      : ScoreOps<T>(context.device(), truth), threads_(context.threads()), memory_(context.memory()) {}

  void load_tests(TestRows tests) override { tests_ = std::move(tests); }
  std::int64_t workspace() const override { return rankers() * ranker_bytes(); }

  void count_classes(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<std::int64_t> counts,
                     std::span<double> losses) override {
    const std::int64_t bins = count_bins(this->truth().classes);
    std::fill(counts.begin(), counts.end(), 0);
    std::mutex mutex;
    sum_parts(tests, losses, [&](std::int32_t model, Range range) {
      std::vector<std::int64_t> mine(static_cast<std::size_t>(bins), 0);
      const double loss = this->columns() == 1 ? count_two(z, model, range, mine, !losses.empty())
                                               : count_many(z, model, range, mine, !losses.empty());
      const std::lock_guard lock(mutex);
      for (std::size_t b = 0; b < mine.size(); ++b)
        counts[static_cast<std::size_t>(model) * mine.size() + b] += mine[b];
      return loss;
    });
  }

  void sum_squares(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<double> sums) override {
    sum_parts(tests, sums, [&](std::int32_t model, Range range) {
      double sum = 0;
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::size_t row = row_at(i);
        const double error = static_cast<double>(decisions(z, row, model)[0]) - this->truth().values[row];
        sum += error * error;
      }
      return sum;
    });
  }

  void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::int32_t points,
            std::span<Ranking> out) override {
    parallel_for(rankers(), z.tasks, [&](std::int64_t t) {
      const auto column = static_cast<std::int32_t>(t);
      const std::int32_t test = tests[static_cast<std::size_t>(column / this->columns())];
      out[static_cast<std::size_t>(t)] = rank_column(z, column, test, points);
    });
  }

 private:
  using Key = FallingKey<T>;

  std::size_t row_at(std::int64_t i) const {
    return static_cast<std::size_t>(tests_.rows[static_cast<std::size_t>(i)]);
  }
  const T* decisions(BlockView<const T> z, std::size_t row, std::int32_t model) const {
    return z.data + static_cast<std::int64_t>(row) * z.stride + model * this->columns();
  }

  /// The rows that are tested lie scattered: the one of a few steps on is asked for early.
  void prefetch(BlockView<const T> z, std::int64_t i, std::int32_t column) const {
    constexpr std::int64_t ahead = 24;
    const std::int64_t last = std::ssize(tests_.rows) - 1;
    __builtin_prefetch(z.data + static_cast<std::int64_t>(row_at(std::min(i + ahead, last))) * z.stride + column);
  }

  std::int64_t ranker_bytes() const { return 2 * tests_.largest() * static_cast<std::int64_t>(sizeof(Key)); }
  int rankers() const {
    const std::int64_t fitting = memory_ / workspace_share / std::max<std::int64_t>(ranker_bytes(), 1);
    return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, threads_));
  }

  /// sums[m] = the sum over the parts of model m's test rows of work(m, part); places in tests_.rows. All parts are
  /// worked at where `sums` is empty too.
  template <class Work>
  void sum_parts(std::span<const std::int32_t> tests, std::span<double> sums, Work&& work) const {
    const std::int64_t parts = std::max<std::int64_t>(1, (tests_.largest() + part_rows - 1) / part_rows);
    const auto models = static_cast<std::int64_t>(tests.size());
    std::vector<double> partial(static_cast<std::size_t>(models * parts), 0.0);
    parallel_for(team_for(threads_, models * tests_.largest()), models * parts, [&](std::int64_t k) {
      const std::int32_t test = tests[static_cast<std::size_t>(k / parts)];
      const std::int64_t begin = tests_.begin(test) + k % parts * part_rows;
      const std::int64_t end = std::min(begin + part_rows, tests_.begin(test + 1));
      if (begin < end) partial[static_cast<std::size_t>(k)] = work(static_cast<std::int32_t>(k / parts), {begin, end});
    });
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < partial.size() && !sums.empty(); ++k)
      sums[k / static_cast<std::size_t>(parts)] += partial[k];
  }

  static void count(std::vector<std::int64_t>& counts, const Bins& bins) {
    for (const auto bin : bins.at)
      if (bin >= 0) ++counts[static_cast<std::size_t>(bin)];
  }

  double count_two(BlockView<const T> z, std::int32_t model, Range range, std::vector<std::int64_t>& counts,
                   bool losses) const {
    Tile signed_z{};
    double loss = 0;
    for (std::int64_t first = range.begin; first < range.end; first += tile_rows) {
      const std::int64_t size = std::min(tile_rows, range.end - first);
      for (std::int64_t i = 0; i < size; ++i) {
        const std::size_t row = row_at(first + i);
        prefetch(z, first + i, model);
        const auto value = static_cast<double>(*decisions(z, row, model));
        const std::int32_t label = this->truth().labels[row];
        ++counts[2 * static_cast<std::size_t>(label) + (value > 0 ? 0U : 1U)];
        signed_z[static_cast<std::size_t>(i)] = label == 0 ? value : -value;
      }
      if (losses) loss += sum_logistic(signed_z, size);
    }
    return loss;
  }

  double count_many(BlockView<const T> z, std::int32_t model, Range range, std::vector<std::int64_t>& counts,
                    bool losses) const {
    double loss = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::size_t row = row_at(i);
      const T* values = decisions(z, row, model);
      const std::int32_t label = this->truth().labels[row];
      const std::int32_t best = largest_column(values, this->columns());
      count(counts, bins_of(this->truth().classes, label, best));
      if (!losses) continue;
      const double least = logistic_loss(static_cast<double>(values[best]));
      loss += share_loss(static_cast<double>(values[label]), least, sum_shares(values, this->columns(), least));
    }
    return loss;
  }

  /// Positive rows fill the keys from the front and others from the back, each list sorted by itself.
  Ranking rank_column(BlockView<const T> z, std::int32_t column, std::int32_t test, std::int32_t points) const {
    const std::int64_t size = tests_.size(test);
    const std::int32_t positive = this->class_of(column % this->columns());
    const auto keys = std::make_unique_for_overwrite<Key[]>(static_cast<std::size_t>(size));
    const auto scratch = std::make_unique_for_overwrite<Key[]>(static_cast<std::size_t>(size));
    std::int64_t front = 0;
    std::int64_t back = size;
    for (std::int64_t i = tests_.begin(test); i < tests_.begin(test + 1); ++i) {
      const std::size_t row = row_at(i);
      prefetch(z, i, column);
      const T value = z.data[static_cast<std::int64_t>(row) * z.stride + column];
      const Key key = falling_key(this->reversed() ? -value : value);
      const bool mine = this->truth().labels[row] == positive;
      keys[static_cast<std::size_t>(mine ? front : back - 1)] = key;
      front += mine ? 1 : 0;
      back -= mine ? 0 : 1;
    }
    const Key* positives = radix_sort(keys.get(), scratch.get(), front);
    const Key* others = radix_sort(keys.get() + back, scratch.get() + back, size - back);
    return rank_sorted<Key>({positives, static_cast<std::size_t>(front)},
                            {others, static_cast<std::size_t>(size - back)}, points);
  }

  int threads_;
  std::int64_t memory_;
  TestRows tests_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<ScoreOps<T>> make_cpu_score_ops_for(const Context& context, const Truth& truth) {
  return std::make_unique<CpuScores<T>>(context, truth);
}

template std::unique_ptr<ScoreOps<float>> make_cpu_score_ops_for<sets::Compiled, float>(const Context&, const Truth&);
template std::unique_ptr<ScoreOps<double>> make_cpu_score_ops_for<sets::Compiled, double>(const Context&, const Truth&);

}  // namespace sheaf::score
