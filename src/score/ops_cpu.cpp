// The verbs of scoring on CPU cores. Sums go over fixed parts of the rows, added in order: the same bits for any number
// of threads.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "score/ops.hpp"
#include "score/radix_sort.hpp"
#include "score/rank_sorted.hpp"
#include "score/terms.hpp"
#include "statistics/concordance.hpp"

namespace sheaf::score {
namespace {

constexpr std::int64_t part_rows = 1 << 14;
constexpr std::int64_t tile_rows = 256;
constexpr std::int64_t most_together = 16;   // models that take a tile of rows one after the other
constexpr std::int64_t workspace_share = 8;  // threads that rank may take this part of the memory together

using Tile = std::array<double, tile_rows>;

/// Sums over the first `size` decision values; a positive value favours the true class. Terms are always computed for a
/// whole tile, so that the compiler makes vectors of it.
ProbabilitySums sum_probabilities(const Tile& z, std::int64_t size) {
  Tile losses;
  Tile briers;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const auto terms = probability_terms(z[i]);
    losses[i] = terms.log_loss;
    briers[i] = terms.brier;
  }
  ProbabilitySums sums;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) sums += {losses[i], briers[i]};
  return sums;
}

/// Terms of a row of three classes or more; weights are computed several at a time as vectors, those missing at the end
/// are 0.
template <class T>
ProbabilitySums row_probabilities(const T* z, std::int32_t columns, std::int32_t label, std::int32_t best) {
  constexpr std::int32_t width = 8;
  const auto most = static_cast<double>(z[best]);
  std::array<double, width> sums{};
  std::array<double, width> squares{};
  double mine = 0;
  for (std::int32_t first = 0; first < columns; first += width) {
    std::array<double, width> weights;
    weights.fill(-std::numeric_limits<double>::infinity());
    std::copy_n(z + first, std::min(width, columns - first), weights.begin());
    for (std::size_t k = 0; k < width; ++k) {
      weights[k] = class_weight(weights[k], most);
      sums[k] += weights[k];
      squares[k] += weights[k] * weights[k];
    }
    if (label >= first && label < first + width) mine = weights[static_cast<std::size_t>(label - first)];
  }
  const WeightSums all{std::accumulate(sums.begin(), sums.end(), 0.0),
                       std::accumulate(squares.begin(), squares.end(), 0.0)};
  return probability_terms(static_cast<double>(z[label]), mine, most, all);
}

template <class T>
class CpuScores final : public ScoreOps<T> {
 public:
  using ScoreOps<T>::ScoreOps;

  void load_tests(TestRows tests) override {
    tests_ = std::move(tests);
    if (this->truth().events.empty()) return;
    weights_ = this->survival_weights(tests_);
    risk_ = RiskArrays<float>(this->survival_risks(weights_, tests_), 2 * tests_.count(), Device::cpu());
  }
  std::int64_t workspace() const override { return rankers() * ranker_bytes(); }

  void count_classes(BlockView<const T> z, BlockView<const std::int32_t> predicted, std::span<const std::int32_t> tests,
                     const ClassStatistics& out) override {
    std::fill(out.counts.begin(), out.counts.end(), 0);
    std::fill(out.true_ranks.begin(), out.true_ranks.end(), 0);
    const auto bins = static_cast<std::size_t>(count_bins(this->truth().classes));
    const Part empty{!out.true_ranks.empty(), !out.probabilities.empty(), std::vector<std::int64_t>(bins)};
    std::mutex mutex;
    const auto count = [&](std::int32_t model, Range tile, Part& part) {
      if (this->columns() == 1)
        count_two(z, predicted, model, tile, part);
      else
        count_many(z, predicted, model, tile, part);
    };
    sum_parts(tests, out.probabilities, empty, count, [&](std::int32_t model, const Part& part) {
      const std::lock_guard lock(mutex);
      add(part.counts, out.counts, model);
      if (part.ranked) add(part.true_ranks, out.true_ranks, model);
      return part.sums;
    });
  }

  void sum_errors(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<ErrorSums> sums) override {
    const auto targets = static_cast<std::size_t>(this->truth().targets);
    const auto sum = [&](std::int32_t column, Range tile, ErrorSums& part) {
      const auto target = static_cast<std::size_t>(column) % targets;
      for (std::int64_t i = tile.begin; i < tile.end; ++i) {
        const std::size_t row = row_at(i);
        const T predicted = z.data[static_cast<std::int64_t>(row) * z.stride + column];
        part += error_terms(static_cast<double>(predicted), this->truth().values[row * targets + target]);
      }
    };
    sum_parts(tests, sums, ErrorSums{}, sum, [](std::int32_t /*column*/, const ErrorSums& part) { return part; });
  }

  void sum_survival(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<SurvivalSums> sums) override {
    parallel_for(threads(), static_cast<std::int64_t>(tests.size()), [&](std::int64_t m) {
      this->context().check_stop();
      const auto model = static_cast<std::int32_t>(m);
      sums[static_cast<std::size_t>(m)] = survival_of(z, model, tests[static_cast<std::size_t>(m)]);
    });
  }

  void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::int32_t points, bool by_probability,
            std::span<Ranking> out) override {
    const auto weights = by_probability ? row_weights(z, tests) : std::vector<std::vector<RowWeight>>(tests.size());
    parallel_ranges(rankers(), z.tasks, 1, [&](Range columns) {
      const auto most = static_cast<std::size_t>(tests_.largest());
      const auto keys = std::make_unique_for_overwrite<Key[]>(most);
      const auto scratch = std::make_unique_for_overwrite<Key[]>(most);
      for (std::int64_t t = columns.begin; t < columns.end; ++t) {
        this->context().check_stop();
        const auto column = static_cast<std::int32_t>(t);
        const auto model = static_cast<std::size_t>(column / this->columns());
        out[static_cast<std::size_t>(t)] =
            rank_column(z, column, tests[model], weights[model], points, {keys.get(), scratch.get()});
      }
    });
  }

 private:
  using Key = FallingKey<T>;

  /// Counts over some test rows of one model.
  struct Part {
    bool ranked, probabilities;  // requested
    std::vector<std::int64_t> counts;
    std::array<std::int64_t, true_rank_bins> true_ranks{};
    ProbabilitySums sums = {};
  };
  static void add(std::span<const std::int64_t> part, std::span<std::int64_t> all, std::int32_t model) {
    const auto mine = all.subspan(static_cast<std::size_t>(model) * part.size(), part.size());
    for (std::size_t b = 0; b < part.size(); ++b) mine[b] += part[b];
  }

  std::size_t row_at(std::int64_t i) const {
    return static_cast<std::size_t>(tests_.rows[static_cast<std::size_t>(i)]);
  }
  const T* decisions(BlockView<const T> z, std::size_t row, std::int32_t model) const {
    return z.data + static_cast<std::int64_t>(row) * z.stride + model * this->columns();
  }
  static std::int32_t predicted_at(BlockView<const std::int32_t> predicted, std::size_t row, std::int32_t model) {
    return predicted.data[static_cast<std::int64_t>(row) * predicted.stride + model];
  }

  SurvivalSums survival_of(BlockView<const T> z, std::int32_t model, std::int32_t test) const {
    const auto& truth = this->truth();
    const OneThread team;
    Array<double> memory(risk_.order.size() * PartialLikelihood<OneThread, float>::vectors);
    const auto value = [&](std::int64_t i) {
      return static_cast<double>(*decisions(z, static_cast<std::size_t>(i), model));
    };
    const auto deviance = [&](std::int32_t column) {
      auto sets = risk_.sets();
      sets.shares += column;
      return survival_deviance(team, sets, memory.data(), value, [&](std::int64_t i) {
        return weights_[static_cast<std::size_t>(i * risk_.columns + column)];
      });
    };
    std::vector<double> values;
    RiskTimes times;
    std::vector<std::uint8_t> events;
    SurvivalSums sums;
    for (const auto row : tests_.list(test)) {
      const auto i = static_cast<std::size_t>(row);
      values.push_back(value(row));
      times.times.push_back(truth.values[i]);
      if (!truth.entries.empty()) times.entries.push_back(truth.entries[i]);
      if (!truth.strata.empty()) times.strata.push_back(truth.strata[i]);
      events.push_back(truth.events[i]);
      sums.events += truth.events[i];
    }
    const auto pairs = concordant_pairs(values, times, events);
    sums.pairs = pairs.pairs;
    sums.ordered = pairs.concordant + pairs.tied / 2;
    sums.deviance = deviance(2 * test) - (tests_.trained.empty() ? 0.0 : deviance(2 * test + 1));
    return sums;
  }

  /// The rows that are tested lie scattered: the one a few steps ahead is fetched early.
  void prefetch(BlockView<const T> z, std::int64_t i, std::int32_t column) const {
    constexpr std::int64_t ahead = 24;
    const std::int64_t last = std::ssize(tests_.rows) - 1;
    __builtin_prefetch(z.data + static_cast<std::int64_t>(row_at(std::min(i + ahead, last))) * z.stride + column);
  }

  int threads() const { return this->context().threads(); }
  std::int64_t ranker_bytes() const { return 2 * tests_.largest() * static_cast<std::int64_t>(sizeof(Key)); }
  int rankers() const {
    const std::int64_t fitting = this->context().memory() / workspace_share / std::max<std::int64_t>(ranker_bytes(), 1);
    return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, threads()));
  }

  /// Models of the same test, at most `most_models` together.
  struct Group {
    std::int32_t test = 0;
    std::vector<std::int32_t> models;
  };
  static std::vector<Group> groups_of(std::span<const std::int32_t> tests, std::size_t most_models) {
    std::vector<Group> groups;
    std::map<std::int32_t, std::size_t> open;  // the group of a test that has room
    for (std::size_t m = 0; m < tests.size(); ++m) {
      const auto at = open.find(tests[m]);
      const bool room = at != open.end() && groups[at->second].models.size() < most_models;
      if (!room) {
        open[tests[m]] = groups.size();
        groups.push_back({tests[m], {}});
      }
      groups[open[tests[m]]].models.push_back(static_cast<std::int32_t>(m));
    }
    return groups;
  }

  /// Goes through the test rows of all models in parts, tile by tile: models of the same test take a tile one after the
  /// other, since their decision values lie side by side. work(model, tile, state) with places in tests_.rows, where
  /// the state of each model and part begins as `empty`; sums[m] = the sum over its parts of end(m, state). All parts
  /// are worked at if `sums` is empty too.
  template <class Sums, class State, class Work, class End>
  void sum_parts(std::span<const std::int32_t> tests, std::span<Sums> sums, const State& empty, const Work& work,
                 const End& end) const {
    const std::int64_t parts = std::max<std::int64_t>(1, (tests_.largest() + part_rows - 1) / part_rows);
    const auto models = static_cast<std::int64_t>(tests.size());
    // Fewer together if threads would have nothing to do.
    const auto together = std::clamp<std::int64_t>(models * parts / (4 * std::int64_t{threads()}), 1, most_together);
    const auto groups = groups_of(tests, static_cast<std::size_t>(together));
    std::vector<Sums> partial(static_cast<std::size_t>(models * parts));
    parallel_for(team_for(threads(), models * tests_.largest()), std::ssize(groups) * parts, [&](std::int64_t k) {
      const Group& group = groups[static_cast<std::size_t>(k / parts)];
      const std::int64_t first = tests_.begin(group.test) + k % parts * part_rows;
      const std::int64_t last = std::min(first + part_rows, tests_.begin(group.test + 1));
      std::vector<State> states(first < last ? group.models.size() : 0, empty);
      for (std::int64_t begin = first; begin < last; begin += tile_rows) {
        this->context().check_stop();
        for (std::size_t m = 0; m < states.size(); ++m)
          work(group.models[m], Range{begin, std::min(begin + tile_rows, last)}, states[m]);
      }
      for (std::size_t m = 0; m < states.size(); ++m)
        partial[static_cast<std::size_t>(group.models[m] * parts + k % parts)] = end(group.models[m], states[m]);
    });
    std::fill(sums.begin(), sums.end(), Sums{});
    for (std::size_t k = 0; k < partial.size() && !sums.empty(); ++k)
      sums[k / static_cast<std::size_t>(parts)] += partial[k];
  }

  void count_two(BlockView<const T> z, BlockView<const std::int32_t> predicted, std::int32_t model, Range tile,
                 Part& part) const {
    Tile signed_z{};
    for (std::int64_t i = tile.begin; i < tile.end; ++i) {
      const std::size_t row = row_at(i);
      prefetch(z, i, model);
      const auto value = static_cast<double>(*decisions(z, row, model));
      const std::int32_t label = this->truth().labels[row];
      const std::int32_t best = predicted.data != nullptr ? predicted_at(predicted, row, model) : (value > 0 ? 0 : 1);
      ++part.counts[2 * static_cast<std::size_t>(label) + static_cast<std::size_t>(best)];
      signed_z[static_cast<std::size_t>(i - tile.begin)] = label == 0 ? value : -value;
    }
    if (part.probabilities) part.sums += sum_probabilities(signed_z, tile.end - tile.begin);
  }

  void count_many(BlockView<const T> z, BlockView<const std::int32_t> predicted, std::int32_t model, Range tile,
                  Part& part) const {
    for (std::int64_t i = tile.begin; i < tile.end; ++i) {
      const std::size_t row = row_at(i);
      const T* values = decisions(z, row, model);
      const std::int32_t label = this->truth().labels[row];
      const std::int32_t best = largest_column(values, this->columns());
      const std::int32_t found = predicted.data != nullptr ? predicted_at(predicted, row, model) : best;
      for (const auto bin : bins_of(this->truth().classes, label, found).at)
        if (bin >= 0) ++part.counts[static_cast<std::size_t>(bin)];
      if (part.ranked) ++part.true_ranks[static_cast<std::size_t>(rank_bin(rank_of(values, this->columns(), label)))];
      if (part.probabilities) part.sums += row_probabilities(values, this->columns(), label, best);
    }
  }

  /// The weights of each model's test rows.
  std::vector<std::vector<RowWeight>> row_weights(BlockView<const T> z, std::span<const std::int32_t> tests) const {
    std::vector<std::vector<RowWeight>> weights(tests.size());
    parallel_for(threads(), std::ssize(tests), [&](std::int64_t m) {
      this->context().check_stop();
      const auto rows = tests_.list(tests[static_cast<std::size_t>(m)]);
      for (const auto row : rows)
        weights[static_cast<std::size_t>(m)].push_back(
            row_weight(decisions(z, static_cast<std::size_t>(row), static_cast<std::int32_t>(m)), this->columns()));
    });
    return weights;
  }

  struct RankMemory {
    Key *keys, *scratch;
  };
  /// Positive rows fill the keys from the front and others from the back, each list sorted by itself. `weights`: of the
  /// test rows, if they are ranked by probability.
  Ranking rank_column(BlockView<const T> z, std::int32_t column, std::int32_t test, std::span<const RowWeight> weights,
                      std::int32_t points, const RankMemory& memory) const {
    const auto [keys, scratch] = memory;
    const std::int64_t size = tests_.size(test);
    const std::int32_t positive = this->class_of(column % this->columns());
    std::int64_t front = 0;
    std::int64_t back = size;
    for (std::int64_t i = tests_.begin(test); i < tests_.begin(test + 1); ++i) {
      const std::size_t row = row_at(i);
      prefetch(z, i, column);
      T value = z.data[static_cast<std::int64_t>(row) * z.stride + column];
      if (!weights.empty())
        value = static_cast<T>(
            probability_odds(static_cast<double>(value), weights[static_cast<std::size_t>(i - tests_.begin(test))]));
      const Key key = falling_key(this->reversed() ? -value : value);
      const bool mine = this->truth().labels[row] == positive;
      keys[mine ? front : back - 1] = key;
      front += mine ? 1 : 0;
      back -= mine ? 0 : 1;
    }
    Key* const positives = radix_sort(keys, scratch, front);
    const Key* const others = radix_sort(keys + back, scratch + back, size - back);
    return rank_sorted<Key>({positives, static_cast<std::size_t>(front)},
                            {others, static_cast<std::size_t>(size - back)}, points,
                            positives == keys ? scratch : keys);
  }

  TestRows tests_;
  std::vector<float> weights_;  // survival: see survival_weights()
  RiskArrays<float> risk_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<ScoreOps<T>> make_cpu_score_ops_for(const Context& context, const Truth& truth) {
  return std::make_unique<CpuScores<T>>(context, truth);
}

template std::unique_ptr<ScoreOps<float>> make_cpu_score_ops_for<sets::Compiled, float>(const Context&, const Truth&);
template std::unique_ptr<ScoreOps<double>> make_cpu_score_ops_for<sets::Compiled, double>(const Context&, const Truth&);

}  // namespace sheaf::score
