#include "information/count/compared_sums.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "information/count/columns.hpp"

namespace sheaf::information::cpu {
namespace {

constexpr std::int64_t lanes = ComparedTable::lanes;
constexpr std::uint32_t most_in_state = 255;  // the largest count of a lane
constexpr std::uint32_t most_in_part = 255;   // the same
/// Candidates of a block from which on all of it is compared: a few are gathered in less time.
constexpr std::size_t worth_in_place = 2;

// NOLINTNEXTLINE(modernize-use-using): the attribute of an alias is not honoured by every compiler
typedef std::uint8_t Register __attribute__((vector_size(native_vector_bytes)));

/// One byte for each feature of a block, in two registers by name: an array of them would stay in memory. Comparisons
/// give 255 if they hold, else 0.
struct Bytes {
  Register low{}, high{};

  static Bytes load(const std::uint8_t* from) {
    Bytes result;
    std::memcpy(&result.low, from, sizeof(Register));
    std::memcpy(&result.high, from + sizeof(Register), sizeof(Register));
    return result;
  }
  void store(std::uint8_t* to) const {
    std::memcpy(to, &low, sizeof(Register));
    std::memcpy(to + sizeof(Register), &high, sizeof(Register));
  }
  void add(const Bytes& other) {
    low += other.low;
    high += other.high;
  }
  /// Adds `weight` if both are the same.
  template <bool Weighted>
  void add_matches(const Bytes& a, const Bytes& b, std::uint8_t weight) {
    if constexpr (Weighted) {
      low += reinterpret_cast<Register>(a.low == b.low) & weight;
      high += reinterpret_cast<Register>(a.high == b.high) & weight;
    } else {
      low -= reinterpret_cast<Register>(a.low == b.low);
      high -= reinterpret_cast<Register>(a.high == b.high);
    }
  }
  void add_equal(const Bytes& values, std::uint8_t to) {
    low -= reinterpret_cast<Register>(values.low == to);
    high -= reinterpret_cast<Register>(values.high == to);
  }
  bool any_above(std::uint8_t most) const {
    const auto found = reinterpret_cast<Register>(low > most) | reinterpret_cast<Register>(high > most);
    std::uint64_t words[sizeof(Register) / sizeof(std::uint64_t)];
    std::memcpy(words, &found, sizeof(words));
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    return any != 0;
  }
};

/// The change of the sum when a row of weight w joins a joint state of weight W.
std::int64_t joined(const FixedLog& log, std::uint32_t weight, std::uint32_t found) {
  return log(found + weight) - log(found) - log(weight);
}

using Sums = std::int64_t[lanes];

void add_times(const std::uint8_t (&counts)[lanes], std::int64_t each, Sums& sums) {
  for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += counts[lane] * each;
}

/// Counts matches of each weight above 1: rare, and in memory. Adds their difference from so many times a weight of 1.
class LargeTally {
 public:
  void note(const Bytes& found) {
    std::uint32_t level = 1;
    do {
      ++level;
      if (level > largest_) {
        Bytes().store(counts_[level]);
        largest_ = level;
      }
      Bytes counts = Bytes::load(counts_[level]);
      counts.add_equal(found, static_cast<std::uint8_t>(level));
      counts.store(counts_[level]);
    } while (level < most_in_state && found.any_above(static_cast<std::uint8_t>(level)));
  }
  void add_to(const FixedLog& log, std::uint32_t weight, Sums& sums) const {
    for (std::uint32_t level = 2; level <= largest_; ++level)
      add_times(counts_[level], joined(log, weight, level) - level * joined(log, weight, 1), sums);
  }

 private:
  std::uint32_t largest_ = 1;
  std::uint8_t counts_[most_in_state + 1][lanes];  // NOLINT: cleared up to largest_, when that grows
};

template <bool Weighted, bool WithClass>
void add_steps(const FixedLog& log, const ComparedSide& side, const std::uint8_t* block,
               std::span<const ComparedSide::Step> steps, std::uint32_t weight, Sums& pair, Sums& with_class) {
  const std::uint32_t* rows = side.rows.data();
  const std::uint8_t* weights = side.weights.data();
  Bytes of_pair, of_class;
  LargeTally large_of_pair, large_of_class;
  for (const ComparedSide::Step& step : steps) {
    const Bytes own = Bytes::load(block + rows[step.own]);
    Bytes found;
    std::size_t i = step.own;
    for (; i > step.of_class; --i)
      found.add_matches<Weighted>(own, Bytes::load(block + rows[i - 1]), Weighted ? weights[i - 1] : std::uint8_t{1});
    const Bytes in_class = found;
    if constexpr (WithClass) of_class.add(in_class);
    for (; i > step.of_state; --i)
      found.add_matches<Weighted>(own, Bytes::load(block + rows[i - 1]), Weighted ? weights[i - 1] : std::uint8_t{1});
    of_pair.add(found);
    if ((Weighted || step.own - step.of_state > 1) && found.any_above(1)) {
      large_of_pair.note(found);
      if constexpr (WithClass) large_of_class.note(in_class);
    }
  }
  std::uint8_t counts[lanes];
  of_pair.store(counts);
  add_times(counts, joined(log, weight, 1), pair);
  large_of_pair.add_to(log, weight, pair);
  if constexpr (!WithClass) return;
  of_class.store(counts);
  add_times(counts, joined(log, weight, 1), with_class);
  large_of_class.add_to(log, weight, with_class);
}

template <bool Weighted, bool WithClass>
void add_all(const FixedLog& log, const ComparedSide& side, const std::uint8_t* block, JointSums* out) {
  Sums pair, with_class;
  std::fill_n(pair, lanes, side.alone);
  std::fill_n(with_class, lanes, WithClass ? side.alone : 0);
  std::size_t begin = 0;
  for (const ComparedSide::Part& part : side.parts) {
    const auto steps = std::span(side.steps).subspan(begin, part.end - begin);
    add_steps<Weighted, WithClass>(log, side, block, steps, part.weight, pair, with_class);
    begin = part.end;
  }
  for (std::int64_t lane = 0; lane < lanes; ++lane) out[lane] = {pair[lane], with_class[lane]};
}

}  // namespace

bool ComparedTable::fits(const Problem& problem) {
  return problem.rows() <= most_examples && problem.most_states() <= most_states;
}

ComparedTable::ComparedTable(const BinnedTable& table, int threads)
    : rows_(table.rows), codes_(static_cast<std::size_t>((table.features + lanes - 1) / lanes * lanes * table.rows)) {
  parallel_ranges(threads, (table.features + lanes - 1) / lanes, 8, [&](Range range) {
    std::vector<std::uint8_t> column;
    for (std::int64_t j = range.begin * lanes; j < std::min(range.end * lanes, table.features); ++j) {
      read_column(table, j, column);
      std::uint8_t* to = codes_.data() + j / lanes * lanes * rows_ + j % lanes;
      for (std::int64_t i = 0; i < rows_; ++i) to[i * lanes] = column[static_cast<std::size_t>(i)];
    }
  });
}

void ComparedTable::gather(std::span<const std::int32_t> features, std::vector<std::uint8_t>& to) const {
  to.resize(static_cast<std::size_t>(rows_ * lanes), 0);
  for (std::size_t lane = 0; lane < features.size(); ++lane) {
    const std::uint8_t* from = block(features[lane] / lanes) + features[lane] % lanes;
    for (std::int64_t i = 0; i < rows_; ++i) to[static_cast<std::size_t>(i * lanes) + lane] = from[i * lanes];
  }
}

ComparedSide::ComparedSide(const Problem& problem, const FixedLog& log, std::span<const std::uint32_t> codes,
                           std::int64_t states) {
  const auto weight_of = [&](std::size_t i) { return problem.weights.empty() ? 1U : problem.weights[i]; };
  std::vector<std::uint32_t> in_state(static_cast<std::size_t>(states), 0);
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    in_state[codes[i]] += weight_of(i);
    alone += log(weight_of(i));
    if (weight_of(i) > 0) order.push_back(static_cast<std::uint32_t>(i));
  }
  applies = *std::max_element(in_state.begin(), in_state.end()) <= most_in_state;
  if (!applies) return;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(codes[a], problem.classes[a], a) < std::tuple(codes[b], problem.classes[b], b);
  });
  // Rows that count once or not at all, as those of a fold, need no weights.
  const bool weighted = std::ranges::any_of(problem.weights, [](std::uint32_t weight) { return weight > 1; });
  Step step{0, 0, 0};
  for (std::size_t k = 0; k < order.size(); ++k) {
    step.own = static_cast<std::uint16_t>(k);
    const bool new_state = k == 0 || codes[order[k]] != codes[order[k - 1]];
    if (new_state) step.of_state = step.own;
    if (new_state || problem.classes[order[k]] != problem.classes[order[k - 1]]) step.of_class = step.own;
    rows.push_back(order[k] * static_cast<std::uint32_t>(lanes));
    if (weighted) weights.push_back(static_cast<std::uint8_t>(weight_of(order[k])));
    if (!new_state) steps.push_back(step);
  }
  const auto weight_at = [&](std::size_t place) { return weights.empty() ? 1U : std::uint32_t{weights[place]}; };
  // Steps of as many comparisons follow each other: the processor then foresees where their loops end.
  const auto rank = [&](const Step& s) { return std::tuple(weight_at(s.own), s.own - s.of_state, s.own - s.of_class); };
  std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) { return rank(a) < rank(b); });
  std::uint32_t in_part = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    std::uint32_t most_found = 0;
    for (std::size_t i = steps[k].of_state; i < steps[k].own; ++i) most_found += weight_at(i);
    const std::uint32_t weight = weight_at(steps[k].own);
    if (parts.empty() || parts.back().weight != weight || in_part + most_found > most_in_part) {
      parts.push_back({weight, 0});
      in_part = 0;
    }
    in_part += most_found;
    parts.back().end = k + 1;
  }
}

void compare_block(const FixedLog& log, const ComparedSide& side, const std::uint8_t* block, bool with_class,
                   JointSums* out) {
  if (side.weights.empty())
    with_class ? add_all<false, true>(log, side, block, out) : add_all<false, false>(log, side, block, out);
  else
    with_class ? add_all<true, true>(log, side, block, out) : add_all<true, false>(log, side, block, out);
}

void ComparedSums::operator()(const ComparedSide& side, std::span<const Pair> pairs,
                              std::span<const std::uint32_t> order, std::span<JointSums> out) {
  JointSums sums[lanes];
  for (std::size_t begin = 0; begin < order.size();) {
    const std::int64_t number = pairs[order[begin]].candidate / lanes;
    std::size_t end = begin;
    while (end < order.size() && pairs[order[end]].candidate / lanes == number) ++end;
    if (end - begin < worth_in_place) {
      for (; begin < end; ++begin) {
        gathered_.features.push_back(pairs[order[begin]].candidate);
        gathered_.places.push_back(order[begin]);
        if (gathered_.features.size() == lanes) count_gathered(side, out);
      }
      continue;
    }
    compare_block(log_, side, table_.block(number), with_class_, sums);
    for (; begin < end; ++begin) out[order[begin]] = sums[pairs[order[begin]].candidate % lanes];
  }
  count_gathered(side, out);
}

void ComparedSums::count_gathered(const ComparedSide& side, std::span<JointSums> out) {
  if (gathered_.features.empty()) return;
  table_.gather(gathered_.features, gathered_.codes);
  JointSums sums[lanes];
  compare_block(log_, side, gathered_.codes.data(), with_class_, sums);
  for (std::size_t lane = 0; lane < gathered_.places.size(); ++lane) out[gathered_.places[lane]] = sums[lane];
  gathered_.features.clear();
  gathered_.places.clear();
}

std::vector<std::uint32_t> sort_by_partner(std::span<const Pair> pairs, std::size_t partners) {
  std::vector<std::uint32_t> next(partners + 1, 0);
  for (const Pair& pair : pairs) ++next[static_cast<std::size_t>(pair.partner) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> order(pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k)
    order[next[static_cast<std::size_t>(pairs[k].partner)]++] = static_cast<std::uint32_t>(k);
  return order;
}

}  // namespace sheaf::information::cpu
