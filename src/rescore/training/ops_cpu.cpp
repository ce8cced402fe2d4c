// The verbs of rescoring on CPU cores. Rows are cut into parts whose number depends on the data alone, and sums of
// parts are added in order: the same bits for any number of threads.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "rescore/training/ops.hpp"

namespace sheaf::rescore {
namespace {

constexpr int width = most_svms;
/// Sums of so many rows are kept in T before they are added to doubles.
constexpr std::int64_t short_sum = 64;
/// Every so many-th row is in the sample from which bounds of scores are taken: about 100,000 rows of large sets.
std::int64_t sample_step(std::int64_t rows) { return std::max<std::int64_t>(16, rows >> 17U); }

template <class T>
using Row = Lanes<T, width>;

/// Weights side by side: row j holds feature j's weight in every task; the last row is the biases.
template <class T>
struct WeightLanes {
  std::vector<T> values;

  WeightLanes(std::span<const std::vector<double>> w, std::int64_t weights)
      : values(static_cast<std::size_t>(weights * width), T(0)) {
    for (std::size_t t = 0; t < w.size(); ++t)
      for (std::size_t j = 0; j < w[t].size(); ++j) values[j * width + t] = static_cast<T>(w[t][j]);
  }
};

/// The scores of one row in all tasks. One function for all verbs, so that one row has one score.
template <class T>
[[gnu::noinline]] void row_scores(const T* x, std::int64_t features, const T* w, T* out) {
  Row<T> z = Row<T>::load(w + features * width);
  for (std::int64_t j = 0; j < features; ++j) z.add_scaled(x[j], w + j * width);
  z.store(out);
}

/// A block of SVMs: the costs of rows, and the support vectors.
template <class T>
struct SvmBlock {
  std::vector<SvmTask> tasks;
  std::vector<std::int32_t> parts;    // that its tasks use
  std::vector<std::vector<T>> costs;  // of each of these parts: codes x width
  Array<std::uint32_t> support;       // a bit for each task
};

template <class T>
class CpuRescore final : public RescoreOps<T> {
 public:
  CpuRescore(const Context& context, const DenseMatrix<T>& x, std::span<const std::int8_t> labels)
      : RescoreOps<T>(x.rows, x.columns), context_(context), x_(x), labels_(labels) {}

  void set_part(std::int32_t part, std::span<const std::uint16_t> bins) override {
    const auto place = static_cast<std::size_t>(part);
    if (codes_.size() <= place) codes_.resize(place + 1);
    if (codes_[place].size() == 0) codes_[place] = Array<std::uint16_t>(this->rows());
    for (std::int64_t i = 0; i < this->rows(); ++i)
      codes_[place][i] = code_of(bins[static_cast<std::size_t>(i)], is_target(i) ? other_target : decoy);
  }

  std::vector<std::int64_t> mark_positives(std::span<const std::vector<double>> w,
                                           std::span<const double> above) override {
    const WeightLanes<T> lanes(w, this->weights());
    return mark(0, w.size(), [&](std::int64_t i) {
      T z[width];
      row_scores(row(i), this->features(), lanes.values.data(), z);
      std::uint32_t chosen = 0;
      for (std::size_t p = 0; p < w.size(); ++p)
        chosen |= static_cast<std::uint32_t>(static_cast<double>(z[p]) > above[p]) << p;
      return chosen;
    });
  }

  std::int64_t mark_positives(std::int32_t part, std::span<const std::uint8_t> flags) override {
    return mark(static_cast<std::size_t>(part), 1,
                [&](std::int64_t i) { return flags[static_cast<std::size_t>(i)] != 0 ? 1U : 0U; })[0];
  }

  Array<double> score(std::span<const std::vector<double>> w, std::span<const std::uint16_t> which) override {
    const WeightLanes<T> lanes(w, this->weights());
    Array<double> scores(this->rows());
    parallel_ranges(context_, this->rows(), part_rows, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        T z[width];
        row_scores(row(i), this->features(), lanes.values.data(), z);
        scores[i] = z[which.empty() ? 0 : which[static_cast<std::size_t>(i)]];
      }
    });
    return scores;
  }

  std::vector<Accepted> accept(std::span<const AcceptQuery> queries, std::span<const std::vector<double>> w) override {
    std::vector<Accepted> result;
    for (std::size_t first = 0; first < queries.size(); first += width) {
      const std::size_t count = std::min<std::size_t>(width, queries.size() - first);
      const auto some = accept_some(queries.subspan(first, count), w.subspan(first, count));
      result.insert(result.end(), some.begin(), some.end());
    }
    return result;
  }

  void set_svms(std::int32_t block, std::span<const SvmTask> tasks) override;
  void forget_svms(std::int32_t block) override { blocks_[static_cast<std::size_t>(block)] = {}; }
  SvmSums pass(std::int32_t block, std::span<const std::vector<double>> w, std::span<double> hessians) override;

 private:
  static constexpr std::int64_t part_rows = 1 << 14;

  /// Rows that some queries count: of one bin of a part, or of all of it.
  struct Selection {
    std::int32_t part;
    std::int32_t bin;
    std::uint32_t queries;  // a bit for each
  };
  /// Scores of the rows of each query that are good enough to matter, and how many rows each selection has.
  struct Gathered {
    std::vector<std::vector<T>> decoys, targets;
    std::vector<std::int64_t> all_decoys, all_targets;

    Gathered(std::size_t queries, std::size_t selections)
        : decoys(queries), targets(queries), all_decoys(selections, 0), all_targets(selections, 0) {}
  };
  /// Sums of one part of the rows.
  struct PartSums {
    std::vector<double> gradients;  // weights x width
    std::vector<double> losses;
    std::vector<double> hessians;  // tasks x lower triangle, packed
    std::vector<std::int64_t> switched;
  };

  const T* row(std::int64_t i) const { return x_.values.data() + i * x_.columns; }
  bool is_target(std::int64_t i) const { return labels_[static_cast<std::size_t>(i)] > 0; }

  /// choose(row): a bit for each of the parts first .. first + count-1 in which the row is positive if it is a target.
  template <class Choose>
  std::vector<std::int64_t> mark(std::size_t first, std::size_t count, const Choose& choose) {
    const std::int64_t parts = (this->rows() + part_rows - 1) / part_rows;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(parts) * count, 0);
    parallel_for(context_, parts, [&](std::int64_t k) {
      std::int64_t* const mine = counts.data() + static_cast<std::size_t>(k) * count;
      for (std::int64_t i = k * part_rows; i < std::min(this->rows(), (k + 1) * part_rows); ++i) {
        if (!is_target(i)) continue;
        const std::uint32_t chosen = choose(i);
        for (std::size_t p = 0; p < count; ++p) {
          std::uint16_t& code = codes_[first + p][i];
          if (bin_of(code) == 0) continue;
          const bool one = (chosen >> p & 1U) != 0;
          code = code_of(bin_of(code), one ? positive : other_target);
          mine[p] += one ? 1 : 0;
        }
      }
    });
    std::vector<std::int64_t> result(count, 0);
    for (std::size_t k = 0; k < counts.size(); ++k) result[k % count] += counts[k];
    return result;
  }

  std::vector<Accepted> accept_some(std::span<const AcceptQuery> queries, std::span<const std::vector<double>> w);
  static std::vector<Selection> selections_of(std::span<const AcceptQuery> queries);
  static std::size_t selection_of(std::span<const Selection> selections, std::size_t query);
  /// The least score that a query counts, and about how many of `part_rows` rows reach it.
  struct Bounds {
    std::vector<T> least;
    std::vector<std::size_t> targets, decoys;
  };
  Bounds lower_bounds(std::span<const AcceptQuery> queries, std::span<const Selection> selections,
                      const WeightLanes<T>& lanes) const;
  void gather(std::span<const Selection> selections, const WeightLanes<T>& lanes, std::span<const T> least, Range rows,
              std::int64_t step, Gathered& out) const;
  void pass_part(SvmBlock<T>& block, const T* w, Range rows, PartSums& sums) const;
  void update_hessians(std::uint32_t changed, std::uint32_t support, const double* costs, const T* x, double* products,
                       PartSums& sums) const;

  const Context& context_;
  const DenseMatrix<T>& x_;
  std::span<const std::int8_t> labels_;
  std::vector<Array<std::uint16_t>> codes_;  // of each training part
  std::vector<SvmBlock<T>> blocks_;
};

template <class T>
auto CpuRescore<T>::selections_of(std::span<const AcceptQuery> queries) -> std::vector<Selection> {
  std::vector<Selection> selections;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto same = std::find_if(selections.begin(), selections.end(), [&](const Selection& one) {
      return one.part == queries[q].part && one.bin == queries[q].bin;
    });
    if (same == selections.end())
      selections.push_back({queries[q].part, queries[q].bin, 1U << q});
    else
      same->queries |= 1U << q;
  }
  return selections;
}

template <class T>
std::size_t CpuRescore<T>::selection_of(std::span<const Selection> selections, std::size_t query) {
  const auto found = std::find_if(selections.begin(), selections.end(),
                                  [&](const Selection& one) { return (one.queries >> query & 1U) != 0; });
  return static_cast<std::size_t>(found - selections.begin());
}

/// `least`: of each of `width` queries, those that do not exist included.
template <class T>
void CpuRescore<T>::gather(std::span<const Selection> selections, const WeightLanes<T>& lanes, std::span<const T> least,
                           Range rows, std::int64_t step, Gathered& out) const {
  T z[width];
  for (std::int64_t i = rows.begin; i < rows.end; i += step) {
    const bool target = is_target(i);
    std::uint32_t counted = 0;
    for (std::size_t s = 0; s < selections.size(); ++s) {
      const Selection& one = selections[s];
      if (!is_counted(one.bin, bin_of(codes_[static_cast<std::size_t>(one.part)][i]))) continue;
      counted |= one.queries;
      ++(target ? out.all_targets : out.all_decoys)[s];
    }
    if (counted == 0) continue;
    row_scores(row(i), this->features(), lanes.values.data(), z);
    std::uint32_t good = 0;
    for (std::uint32_t q = 0; q < width; ++q) good |= static_cast<std::uint32_t>(z[q] >= least[q]) << q;
    auto& scores = target ? out.targets : out.decoys;
    for (std::uint32_t bits = counted & good; bits != 0; bits &= bits - 1) {
      const auto q = static_cast<std::size_t>(std::countr_zero(bits));
      scores[q].push_back(z[q]);
    }
  }
}

/// A score for each query that surely (but for bad luck, which is noticed) has enough decoys above it: from a
/// sample of the rows. Small sets are taken whole.
template <class T>
auto CpuRescore<T>::lower_bounds(std::span<const AcceptQuery> queries, std::span<const Selection> selections,
                                 const WeightLanes<T>& lanes) const -> Bounds {
  Bounds bounds{std::vector<T>(width, -std::numeric_limits<T>::infinity()), std::vector<std::size_t>(queries.size(), 0),
                std::vector<std::size_t>(queries.size(), 0)};
  constexpr std::int64_t few = 1 << 16;
  if (this->rows() < few) return bounds;
  Gathered sample(queries.size(), selections.size());
  const std::int64_t step = sample_step(this->rows());
  gather(selections, lanes, bounds.least, {0, this->rows()}, step, sample);
  const double share = 1.1 * static_cast<double>(part_rows * step) / static_cast<double>(this->rows());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::int64_t targets = sample.all_targets[selection_of(selections, q)] * step;
    const auto needed = enough_decoys(queries[q], targets) / step;
    const auto spread = static_cast<std::int64_t>(5 * std::sqrt(static_cast<double>(needed)));
    const auto rank = static_cast<std::size_t>(needed + spread + 10);
    auto& decoys = sample.decoys[q];
    if (rank >= decoys.size()) continue;
    const auto place = decoys.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(decoys.begin(), place, decoys.end(), std::greater<>());
    bounds.least[q] = *place;
    const auto good = std::count_if(sample.targets[q].begin(), sample.targets[q].end(),
                                    [least = *place](T score) { return score >= least; });
    bounds.targets[q] = static_cast<std::size_t>(share * static_cast<double>(good)) + 16;
    bounds.decoys[q] = static_cast<std::size_t>(share * static_cast<double>(rank)) + 16;
  }
  return bounds;
}

template <class T>
std::vector<Accepted> CpuRescore<T>::accept_some(std::span<const AcceptQuery> queries,
                                                 std::span<const std::vector<double>> w) {
  const WeightLanes<T> lanes(w, this->weights());
  const auto selections = selections_of(queries);
  Bounds bounds = lower_bounds(queries, selections, lanes);
  const std::int64_t parts = (this->rows() + part_rows - 1) / part_rows;
  std::vector<Accepted> result(queries.size());
  std::vector<std::uint8_t> known(queries.size(), 0);
  while (std::find(known.begin(), known.end(), 0) != known.end()) {
    std::vector<Gathered> gathered(static_cast<std::size_t>(parts), Gathered(queries.size(), selections.size()));
    parallel_for(context_, parts, [&](std::int64_t k) {
      Gathered& mine = gathered[static_cast<std::size_t>(k)];
      for (std::size_t q = 0; q < queries.size(); ++q) {
        mine.targets[q].reserve(bounds.targets[q]);
        mine.decoys[q].reserve(bounds.decoys[q]);
      }
      gather(selections, lanes, bounds.least, {k * part_rows, std::min(this->rows(), (k + 1) * part_rows)}, 1, mine);
    });
    parallel_for(context_, static_cast<std::int64_t>(queries.size()), [&](std::int64_t k) {
      const auto q = static_cast<std::size_t>(k);
      if (known[q] != 0) return;
      const std::size_t s = selection_of(selections, q);
      std::vector<T> decoys;
      std::vector<T> targets;
      std::int64_t all_decoys = 0;
      std::int64_t all_targets = 0;
      for (auto& one : gathered) {
        decoys.insert(decoys.end(), one.decoys[q].begin(), one.decoys[q].end());
        targets.insert(targets.end(), one.targets[q].begin(), one.targets[q].end());
        all_decoys += one.all_decoys[s];
        all_targets += one.all_targets[s];
        one.decoys[q] = {};
        one.targets[q] = {};
      }
      const auto here = static_cast<std::int64_t>(decoys.size());
      if (here < all_decoys && here < enough_decoys(queries[q], all_targets)) {
        bounds.least[q] = -std::numeric_limits<T>::infinity();  // once more, with all
        return;
      }
      std::sort(decoys.begin(), decoys.end(), std::greater<>());
      result[q] = count_accepted<T>(queries[q], decoys, targets);
      known[q] = 1;
    });
  }
  return result;
}

template <class T>
void CpuRescore<T>::set_svms(std::int32_t block, std::span<const SvmTask> tasks) {
  const auto place = static_cast<std::size_t>(block);
  if (blocks_.size() <= place) blocks_.resize(place + 1);
  SvmBlock<T>& one = blocks_[place] = {};
  one.tasks.assign(tasks.begin(), tasks.end());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto found = std::find(one.parts.begin(), one.parts.end(), tasks[t].part);
    const auto p = static_cast<std::size_t>(found - one.parts.begin());
    if (found == one.parts.end()) {
      one.parts.push_back(tasks[t].part);
      one.costs.emplace_back(tasks[t].costs.size() * width, T(0));
    }
    for (std::size_t c = 0; c < tasks[t].costs.size(); ++c)
      one.costs[p][c * width + t] = static_cast<T>(tasks[t].costs[c]);
  }
  one.support = Array<std::uint32_t>::zeros(this->rows());
}

/// Adds |cost| x x' to the Hessians of tasks in which the row became a support vector, and takes it from those in which
/// it ceased to be one. `products`: room for the lower triangle of x x', which all these tasks share.
template <class T>
void CpuRescore<T>::update_hessians(std::uint32_t changed, std::uint32_t support, const double* costs, const T* x,
                                    double* products, PartSums& sums) const {
  const auto features = static_cast<std::size_t>(this->features());
  double* end = products;
  for (std::size_t a = 0; a < features; ++a)
    for (std::size_t b = 0; b <= a; ++b) *end++ = static_cast<double>(x[a]) * static_cast<double>(x[b]);
  for (std::size_t b = 0; b < features; ++b) *end++ = static_cast<double>(x[b]);
  *end++ = 1;
  const auto size = static_cast<std::size_t>(end - products);
  for (; changed != 0; changed &= changed - 1) {
    const auto t = static_cast<std::size_t>(std::countr_zero(changed));
    const double cost = (support >> t & 1U) != 0 ? costs[t] : -costs[t];
    double* const h = sums.hessians.data() + t * size;
    for (std::size_t k = 0; k < size; ++k) h[k] += cost * products[k];
    ++sums.switched[t];
  }
}

template <class T>
void CpuRescore<T>::pass_part(SvmBlock<T>& block, const T* w, Range rows, PartSums& sums) const {
  const auto d = static_cast<std::size_t>(this->weights());
  const std::size_t features = d - 1;
  std::vector<T> short_gradients(d * width, T(0));
  std::vector<double> products(d * (d + 1) / 2);
  // The contribution of a support vector to the Hessian depends on its label alone: the cost of any code with that
  // label.
  double label_costs[2][width] = {};
  for (std::size_t t = 0; t < block.tasks.size(); ++t)
    for (const double cost : block.tasks[t].costs)
      if (cost != 0) label_costs[cost > 0 ? 1 : 0][t] = std::abs(cost);
  T short_losses[width] = {};
  std::int64_t in_sum = 0;
  const auto flush = [&] {
    for (std::size_t k = 0; k < d * width; ++k) sums.gradients[k] += static_cast<double>(short_gradients[k]);
    for (std::size_t t = 0; t < width; ++t) sums.losses[t] += static_cast<double>(short_losses[t]);
    std::fill(short_gradients.begin(), short_gradients.end(), T(0));
    std::fill(short_losses, short_losses + width, T(0));
    in_sum = 0;
  };
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    bool used = false;
    T costs[width] = {};
    for (std::size_t p = 0; p < block.parts.size(); ++p) {
      const std::uint16_t code = codes_[static_cast<std::size_t>(block.parts[p])][i];
      if (bin_of(code) == 0 || role_of(code) == other_target) continue;
      used = true;
      const T* const from = block.costs[p].data() + static_cast<std::size_t>(code) * width;
      for (std::size_t t = 0; t < width; ++t) costs[t] += from[t];
    }
    const std::uint32_t before = block.support[i];
    if (!used && before == 0) continue;
    const T* const x = row(i);
    T slopes[width] = {};
    std::uint32_t support = 0;
    if (used) {
      T z[width];
      row_scores(x, this->features(), w, z);
      T slack[width];
      for (std::size_t t = 0; t < width; ++t) {
        const T margin = costs[t] > 0 ? z[t] : -z[t];
        slack[t] = costs[t] != 0 && margin < 1 ? 1 - margin : T(0);
        slopes[t] = -costs[t] * slack[t];
        short_losses[t] += std::abs(costs[t]) * slack[t] * slack[t] / 2;
      }
      for (std::uint32_t t = 0; t < width; ++t) support |= static_cast<std::uint32_t>(slack[t] > 0) << t;
    }
    if (support != 0) {
      const auto u = Row<T>::load(slopes);
      for (std::size_t j = 0; j <= features; ++j) {
        auto g = Row<T>::load(short_gradients.data() + j * width);
        g.add_scaled(j < features ? x[j] : T(1), u);
        g.store(short_gradients.data() + j * width);
      }
      if (++in_sum == short_sum) flush();
    }
    if (support != before) {
      block.support[i] = support;
      update_hessians(support ^ before, support, label_costs[is_target(i) ? 1 : 0], x, products.data(), sums);
    }
  }
  flush();
}

template <class T>
SvmSums CpuRescore<T>::pass(std::int32_t block, std::span<const std::vector<double>> w, std::span<double> hessians) {
  SvmBlock<T>& one = blocks_[static_cast<std::size_t>(block)];
  const WeightLanes<T> lanes(w, this->weights());
  const auto d = static_cast<std::size_t>(this->weights());
  const std::size_t tasks = one.tasks.size();
  // The number of parts is limited so that their Hessians take at most 64 MB.
  constexpr std::int64_t most_bytes = 64 << 20;
  const std::size_t triangle = d * (d + 1) / 2;
  const auto bytes = static_cast<std::int64_t>(tasks * triangle * sizeof(double));
  const std::int64_t parts =
      std::clamp<std::int64_t>(std::min<std::int64_t>(64, most_bytes / bytes), 1, this->rows() / 1024 + 1);
  std::vector<PartSums> sums(static_cast<std::size_t>(parts));
  parallel_for(context_, parts, [&](std::int64_t k) {
    PartSums& mine = sums[static_cast<std::size_t>(k)];
    mine.gradients.assign(d * width, 0.0);
    mine.losses.assign(width, 0.0);
    mine.hessians.assign(tasks * triangle, 0.0);
    mine.switched.assign(width, 0);
    pass_part(one, lanes.values.data(), part_of(this->rows(), parts, k), mine);
  });
  SvmSums result{std::vector<double>(tasks, 0.0), std::vector<double>(tasks * d, 0.0),
                 std::vector<std::int64_t>(tasks, 0)};
  for (const PartSums& mine : sums)
    for (std::size_t t = 0; t < tasks; ++t) {
      result.losses[t] += mine.losses[t];
      result.switched[t] += mine.switched[t];
      for (std::size_t j = 0; j < d; ++j) result.gradients[t * d + j] += mine.gradients[j * width + t];
      const double* from = mine.hessians.data() + t * triangle;
      for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b <= a; ++b) hessians[(t * d + a) * d + b] += *from++;
    }
  return result;
}

}  // namespace

template <class Set, class T>
std::unique_ptr<RescoreOps<T>> make_cpu_rescore_ops_for(const Context& context, const DenseMatrix<T>& x,
                                                        std::span<const std::int8_t> labels) {
  return std::make_unique<CpuRescore<T>>(context, x, labels);
}

template std::unique_ptr<RescoreOps<float>> make_cpu_rescore_ops_for<sets::Compiled, float>(
    const Context&, const DenseMatrix<float>&, std::span<const std::int8_t>);
template std::unique_ptr<RescoreOps<double>> make_cpu_rescore_ops_for<sets::Compiled, double>(
    const Context&, const DenseMatrix<double>&, std::span<const std::int8_t>);

}  // namespace sheaf::rescore
