// Neighbours on CPU cores. If features are few, a tree finds the rows (tree_cpu.hpp). Otherwise a filter in float
// (panels_cpu.hpp, tiles_cpu.hpp) leaves few candidates, whose distances are computed exactly. Rows among themselves:
// each pair of blocks is filtered once, for both. Results do not depend on the number of threads: whichever candidates
// are left, the k nearest are among them.
#include "neighbors/verbs/ops.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "core/instruction_sets.hpp"
#include "neighbors/verbs/candidates_cpu.hpp"
#include "neighbors/verbs/exact_cpu.hpp"
#include "neighbors/verbs/lists_cpu.hpp"
#include "neighbors/verbs/pieces.hpp"
#include "neighbors/verbs/tiles_cpu.hpp"
#include "neighbors/verbs/tree_cpu.hpp"

namespace sheaf::neighbors {
namespace {

using cpu::Candidates;
using cpu::padding;
using cpu::Panels;

/// Rows of a block: enough that a pair of blocks is worth a thread's while, few enough that all threads have some.
constexpr std::int64_t most_block_rows = 1008 / padding * padding;
/// Panels and lists of candidates may each take this part of the memory.
constexpr std::int64_t memory_share = 4;

std::int64_t block_rows(std::int64_t padded, int threads) {
  const auto tiles = padded / padding;
  return std::clamp<std::int64_t>(tiles / (4 * threads), 1, most_block_rows / padding) * padding;
}

Range block_range(std::int64_t block, std::int64_t rows, std::int64_t padded) {
  return {block * rows, std::min((block + 1) * rows, padded)};
}

/// Round `round` of a tournament of `teams` (even): match m is between these two, and no team plays twice.
std::pair<std::int64_t, std::int64_t> match_of(std::int64_t teams, std::int64_t round, std::int64_t match) {
  const auto circle = teams - 1;
  const auto at = [&](std::int64_t seat) { return (round + seat) % circle; };
  if (match == 0) return {circle, at(0)};
  return {at(match), at(circle - match)};
}

/// One thread's way to the lists of candidates of a block of queries or, among the same rows, of both blocks.
struct NearestSink {
  Candidates& left;
  Candidates* right;  // the rows of the right side as queries; nullptr: they are none
  Candidates::Scratch scratch = {};

  const float* limits() const { return left.limits(); }
  const float* right_limits() const { return right->limits(); }
  void offer(std::int64_t i, std::int64_t j, float lower) {
    left.offer(i, j, lower, scratch);
    if (right != nullptr) right->offer(j, i, lower, scratch);
  }
};

/// All rows within a fixed limit.
class RadiusSink {
 public:
  RadiusSink(Range queries, const Allowed& allowed, float limit)
      : first_(queries.begin),
        allowed_(allowed),
        limits_(static_cast<std::size_t>(queries.end - queries.begin), limit),
        rows_(limits_.size()) {}

  const float* limits() const { return limits_.data() - first_; }
  const float* right_limits() const { return nullptr; }
  void offer(std::int64_t i, std::int64_t j, float /*lower*/) {
    if (allowed_(i, j)) rows_[static_cast<std::size_t>(i - first_)].push_back(static_cast<std::int32_t>(j));
  }
  std::span<const std::int32_t> rows(std::int64_t i) const { return rows_[static_cast<std::size_t>(i - first_)]; }

 private:
  std::int64_t first_;
  const Allowed& allowed_;
  std::vector<float> limits_;                    // the same for each query
  std::vector<std::vector<std::int32_t>> rows_;  // by query
};

template <class S>
class CpuOps final : public NeighborOps {
 public:
  /// `is_piece`: a part of larger data, which is cut no further.
  CpuOps(const Context& context, const RowPair<S>& pair, bool is_piece = false)
      : context_(context), pair_(pair), exact_(make_exact_for<sets::Compiled>(pair)), is_piece_(is_piece) {}

  void nearest(const Eligible& eligible, std::int64_t k, std::span<std::int32_t> indices,
               std::span<double> distances) override {
    const auto queries = query_count(eligible);
    if (queries == 0 || k == 0) return;
    const Allowed allowed(eligible, pair_.self);
    if (4 * k >= pair_.rows()) return nearest_exactly(allowed, queries, k, indices, distances);
    if (takes_tree(allowed, queries, k)) return tree_->nearest(allowed, queries, k, indices, distances);
    if (lacks_room()) return in_pieces()->nearest(eligible, k, indices, distances);
    if (!prepare()) return nearest_exactly(allowed, queries, k, indices, distances);
    if (!blocks_.empty()) return nearest_by_lists(eligible, allowed, k, indices, distances);
    const bool all = eligible.queries.empty();
    const auto room = context_.memory() / memory_share;
    if (all && pair_.self && data_.padded() * Candidates::bytes_per_row(k) <= room)
      return nearest_among_all(allowed, k, indices, distances);
    Panels own;
    if (!(all && pair_.self)) own = cpu::make_panels(context_, plan_, pair_.from(), eligible.queries);
    nearest_of_queries(allowed, all && pair_.self ? data_ : own, k, indices, distances);
  }

  RadiusLists within(const Eligible& eligible, double radius) override {
    const auto queries = query_count(eligible);
    const Allowed allowed(eligible, pair_.self);
    std::vector<std::vector<Found>> found(static_cast<std::size_t>(queries));
    const bool by_tree = takes_tree(allowed, queries, {}, radius);
    if (!by_tree && lacks_room()) return in_pieces()->within(eligible, radius);
    if (by_tree)
      within_by_tree(allowed, radius, found);
    else if (!prepare())
      within_exactly(allowed, radius, found);
    else if (!blocks_.empty())
      within_by_lists(eligible, allowed, radius, found);
    else
      within_filtered(eligible, allowed, radius, found);
    return lists_of(found);
  }

  void distances(Range queries, Range rows, std::span<double> out) override {
    // Rows that stay in a core's cache while many queries are compared with them.
    constexpr std::int64_t cache_bytes = 1 << 18;
    constexpr std::int64_t queries_together = 16;
    const auto columns = rows.end - rows.begin;
    const auto row_bytes = matrix_bytes(pair_.data.x) / std::max<std::int64_t>(pair_.rows(), 1) + 1;
    const auto rows_together = std::max<std::int64_t>(cache_bytes / row_bytes, 64);
    const auto groups = (queries.end - queries.begin + queries_together - 1) / queries_together;
    const auto tiles = (columns + rows_together - 1) / rows_together;
    parallel_for(context_, groups * tiles, [&](std::int64_t place) {
      ExactDistances::Scratch scratch;
      const auto first = rows.begin + place % tiles * rows_together;
      const Range some{first, std::min(first + rows_together, rows.end)};
      const auto begin = queries.begin + place / tiles * queries_together;
      for (auto q = begin; q < std::min(begin + queries_together, queries.end); ++q)
        exact_->to_range(q, some, out.data() + (q - queries.begin) * columns + (some.begin - rows.begin), scratch);
    });
  }

 private:
  std::int64_t query_count(const Eligible& eligible) const {
    return eligible.queries.empty() ? sheaf::rows(pair_.from().x) : std::ssize(eligible.queries);
  }

  /// Lays the rows out for the filter, once. False: there is no filter for them.
  bool prepare() {
    if (data_.rows > 0 || !blocks_.empty()) return true;
    const auto kind = filter_kind<S>(pair_.distance.metric);
    if (!kind || pair_.rows() == 0) return false;
    if (*kind == FilterKind::products && suits_lists()) {
      prepare_lists();
      return true;
    }
    if (!panels_fit()) return false;
    plan_ = make_filter_plan(context_, pair_, *kind);
    data_ = cpu::make_panels(context_, plan_, pair_.data, {});
    return true;
  }

  bool panels_fit() const {
    const double share = static_cast<double>(context_.memory()) / memory_share;
    return cpu::panel_bytes(pair_.rows(), pair_.columns() + 1) <= share;
  }

  /// Whether the rows can be laid out for the filter only piece by piece.
  bool lacks_room() const {
    const auto kind = filter_kind<S>(pair_.distance.metric);
    if (is_piece_ || !kind || panels_fit()) return false;
    return *kind != FilterKind::products || !suits_lists();
  }

  /// Pieces share the memory that the rows leave.
  std::unique_ptr<NeighborOps> in_pieces() const {
    const auto left = context_.memory() - matrix_bytes(pair_.data.x) - matrix_bytes(pair_.queries.x);
    return make_piece_ops<S>(
        context_, pair_, std::max(left, context_.memory() / memory_share),
        [context = context_](const RowPair<S>& piece) { return std::make_unique<CpuOps>(context, piece, true); });
  }

  /// Sparse rows with so few entries that lists are faster than dense products.
  bool suits_lists() const {
    constexpr double dense_share = 0.1;
    if (!is_sparse(pair_.data.x)) return false;
    return static_cast<double>(stored(pair_.data.x)) <
           dense_share * static_cast<double>(pair_.rows()) * static_cast<double>(pair_.columns());
  }

  void prepare_lists() {
    plan_ = make_filter_plan(context_, pair_, FilterKind::products, false);
    steps_ = std::max(cpu::longest_row(pair_.data), cpu::longest_row(pair_.from()));
    sparse_ = cpu::make_sparse_rows(plan_, pair_.data, {}, steps_);
    const auto size = cpu::list_block_rows(pair_.rows());
    const auto count = (pair_.rows() + size - 1) / size;
    blocks_.resize(static_cast<std::size_t>(count));
    parallel_for(context_, count, [&](std::int64_t b) {
      const Range rows{b * size, std::min((b + 1) * size, pair_.rows())};
      blocks_[static_cast<std::size_t>(b)] = std::make_unique<cpu::BlockLists>(sparse_, rows, plan_.columns());
    });
  }

  /// Calls work(queries, rows) for blocks of queries in the form of the lists.
  template <class Work>
  void for_list_queries(const Eligible& eligible, const Work& work) {
    const bool same = pair_.self && eligible.queries.empty();
    cpu::SparseRows own;
    if (!same) own = cpu::make_sparse_rows(plan_, pair_.from(), eligible.queries, steps_);
    const auto& queries = same ? sparse_ : own;
    constexpr std::int64_t together = 64;
    const auto count = (queries.rows() + together - 1) / together;
    Stage stage(context_.progress(), "finding neighbours", count, context_.stop());
    parallel_for(context_, count, [&](std::int64_t b) {
      work(queries, Range{b * together, std::min((b + 1) * together, queries.rows())});
      stage.advance(1);
    });
  }

  template <class Sink>
  void offer_lists(const cpu::SparseRows& queries, Range rows, Sink& sink) const {
    std::vector<float> sums;
    for (const auto& block : blocks_)
      for (auto i = rows.begin; i < rows.end; ++i) cpu::filter_lists(queries, i, sparse_, *block, sums, sink);
  }

  void nearest_by_lists(const Eligible& eligible, const Allowed& allowed, std::int64_t k,
                        std::span<std::int32_t> indices, std::span<double> distances) {
    for_list_queries(eligible, [&](const cpu::SparseRows& queries, Range rows) {
      Candidates candidates(rows, k, plan_, queries.slack, sparse_.slack, *exact_, allowed);
      NearestSink sink{candidates, nullptr};
      offer_lists(queries, rows, sink);
      for (auto i = rows.begin; i < rows.end; ++i)
        candidates.decide(i, sink.scratch, indices.data() + i * k, distances.data() + i * k);
    });
  }

  void within_by_lists(const Eligible& eligible, const Allowed& allowed, double radius,
                       std::vector<std::vector<Found>>& lists) {
    for_list_queries(eligible, [&](const cpu::SparseRows& queries, Range rows) {
      RadiusSink sink(rows, allowed, plan_.upper(radius));
      offer_lists(queries, rows, sink);
      take_within(allowed, rows, sink, radius, lists);
    });
  }

  void nearest_among_all(const Allowed& allowed, std::int64_t k, std::span<std::int32_t> indices,
                         std::span<double> distances) {
    const auto padded = data_.padded();
    const auto size = block_rows(padded, context_.threads());
    const auto blocks = (padded + size - 1) / size;
    Candidates candidates({0, padded}, k, plan_, data_.slack, data_.slack, *exact_, allowed);
    Stage stage(context_.progress(), "finding neighbours", blocks * (blocks + 1) / 2 + blocks, context_.stop());
    cpu::with_join(plan_.kind, [&]<class Join>(Join) {
      parallel_for(context_, blocks, [&](std::int64_t b) {
        const auto rows = block_range(b, size, padded);
        NearestSink sink{candidates, nullptr};
        cpu::filter_block<Join>(data_, rows, data_, rows, false, sink);
        stage.advance(1);
      });
      const auto teams = blocks + blocks % 2;
      for (std::int64_t round = 0; round + 1 < teams; ++round)
        parallel_for(context_, teams / 2, [&](std::int64_t match) {
          const auto [a, b] = match_of(teams, round, match);
          if (std::max(a, b) >= blocks) return;  // it has no opponent in this round
          NearestSink sink{candidates, &candidates};
          cpu::filter_block<Join>(data_, block_range(a, size, padded), data_, block_range(b, size, padded), true, sink);
          stage.advance(1);
        });
    });
    decide(candidates, {0, data_.rows}, k, indices, distances);
  }

  void nearest_of_queries(const Allowed& allowed, const Panels& queries, std::int64_t k,
                          std::span<std::int32_t> indices, std::span<double> distances) {
    const auto padded = queries.padded();
    const auto size = block_rows(padded, context_.threads());
    const auto blocks = (padded + size - 1) / size;
    Stage stage(context_.progress(), "finding neighbours", blocks, context_.stop());
    parallel_for(context_, blocks, [&](std::int64_t block) {
      const auto rows = block_range(block, size, padded);
      Candidates candidates(rows, k, plan_, queries.slack, data_.slack, *exact_, allowed);
      NearestSink sink{candidates, nullptr};
      cpu::with_join(plan_.kind, [&]<class Join>(Join) {
        for (std::int64_t first = 0; first < data_.padded(); first += most_block_rows) {
          context_.check_stop();
          cpu::filter_block<Join>(queries, rows, data_, {first, std::min(first + most_block_rows, data_.padded())},
                                  false, sink);
        }
      });
      for (auto i = rows.begin; i < std::min(rows.end, queries.rows); ++i)
        candidates.decide(i, sink.scratch, indices.data() + i * k, distances.data() + i * k);
      stage.advance(1);
    });
  }

  void decide(Candidates& candidates, Range rows, std::int64_t k, std::span<std::int32_t> indices,
              std::span<double> distances) {
    parallel_ranges(context_, rows.end - rows.begin, 16, [&](Range range) {
      Candidates::Scratch scratch;
      for (auto i = range.begin; i < range.end; ++i)
        candidates.decide(rows.begin + i, scratch, indices.data() + i * k, distances.data() + i * k);
    });
  }

  /// Whether a tree leaves so few rows to compare that it is faster, for the k nearest rows or those within a radius.
  bool takes_tree(const Allowed& allowed, std::int64_t queries, std::optional<std::int64_t> k, double radius = 0) {
    if (!suits_tree(pair_)) return false;
    if (!tree_) tree_ = make_tree_for<sets::Compiled>(context_, pair_);
    return tree_->pays(allowed, queries, k, radius);
  }

  void within_by_tree(const Allowed& allowed, double radius, std::vector<std::vector<Found>>& lists) {
    tree_->within(allowed, radius, lists);
    parallel_ranges(context_, std::ssize(lists), 64, [&](Range range) {
      for (auto i = range.begin; i < range.end; ++i) keep_within(radius, lists[static_cast<std::size_t>(i)]);
    });
  }

  /// Calls take(query, found) with the exact distances of all eligible rows of each query.
  template <class Take>
  void for_all_distances(const Allowed& allowed, std::int64_t queries, const Take& take) {
    Stage stage(context_.progress(), "finding neighbours", queries, context_.stop());
    parallel_ranges(context_, queries, 1, [&](Range range) {
      ExactDistances::Scratch scratch;
      std::vector<double> all(static_cast<std::size_t>(pair_.rows()));
      std::vector<Found> found;
      for (auto i = range.begin; i < range.end; ++i) {
        exact_->to_range(allowed.query(i), {0, pair_.rows()}, all.data(), scratch);
        found.clear();
        for (std::int64_t j = 0; j < pair_.rows(); ++j)
          if (allowed(i, j)) found.push_back({all[static_cast<std::size_t>(j)], static_cast<std::int32_t>(j)});
        take(i, found);
        stage.advance(1);
      }
    });
  }

  void nearest_exactly(const Allowed& allowed, std::int64_t queries, std::int64_t k, std::span<std::int32_t> indices,
                       std::span<double> distances) {
    for_all_distances(allowed, queries, [&](std::int64_t i, std::vector<Found>& found) {
      std::partial_sort(found.begin(), found.begin() + k, found.end());
      for (std::int64_t n = 0; n < k; ++n) {
        indices[static_cast<std::size_t>(i * k + n)] = found[static_cast<std::size_t>(n)].row;
        distances[static_cast<std::size_t>(i * k + n)] = found[static_cast<std::size_t>(n)].distance;
      }
    });
  }

  static void keep_within(double radius, std::vector<Found>& found) {
    std::erase_if(found, [&](const Found& one) { return !(one.distance <= radius); });
    std::sort(found.begin(), found.end());
  }

  void within_exactly(const Allowed& allowed, double radius, std::vector<std::vector<Found>>& lists) {
    for_all_distances(allowed, std::ssize(lists), [&](std::int64_t i, std::vector<Found>& found) {
      keep_within(radius, found);
      lists[static_cast<std::size_t>(i)] = found;
    });
  }

  void within_filtered(const Eligible& eligible, const Allowed& allowed, double radius,
                       std::vector<std::vector<Found>>& lists) {
    const bool same = eligible.queries.empty() && pair_.self;
    const Panels own = same ? Panels{} : cpu::make_panels(context_, plan_, pair_.from(), eligible.queries);
    const Panels& queries = same ? data_ : own;
    const auto padded = queries.padded();
    const auto size = std::min(block_rows(padded, context_.threads()), 2 * padding);
    Stage stage(context_.progress(), "finding neighbours", (padded + size - 1) / size, context_.stop());
    parallel_for(context_, (padded + size - 1) / size, [&](std::int64_t block) {
      const auto rows = block_range(block, size, padded);
      RadiusSink sink(rows, allowed, plan_.upper(radius));
      cpu::with_join(plan_.kind, [&]<class Join>(Join) {
        cpu::filter_block<Join>(queries, rows, data_, {0, data_.padded()}, false, sink);
      });
      take_within(allowed, {rows.begin, std::min(rows.end, queries.rows)}, sink, radius, lists);
      stage.advance(1);
    });
  }

  /// The rows of a sink that are within the radius exactly.
  void take_within(const Allowed& allowed, Range queries, const RadiusSink& sink, double radius,
                   std::vector<std::vector<Found>>& lists) const {
    ExactDistances::Scratch scratch;
    std::vector<double> distances;
    for (auto i = queries.begin; i < queries.end; ++i) {
      const auto near = sink.rows(i);
      distances.resize(near.size());
      exact_->to_rows(allowed.query(i), near, distances.data(), scratch);
      auto& found = lists[static_cast<std::size_t>(i)];
      for (std::size_t c = 0; c < near.size(); ++c) found.push_back({distances[c], near[c]});
      keep_within(radius, found);
    }
  }

  Context context_;
  const RowPair<S>& pair_;
  std::unique_ptr<ExactDistances> exact_;
  bool is_piece_;
  std::unique_ptr<NeighborTree> tree_;
  FilterPlan plan_;
  Panels data_;             // the rows of the filter, dense
  cpu::SparseRows sparse_;  // or sparse, and by feature
  std::vector<std::unique_ptr<cpu::BlockLists>> blocks_;
  std::int64_t steps_ = 0;
};

}  // namespace

template <class Set, class S>
std::unique_ptr<NeighborOps> make_cpu_ops_for(const Context& context, const RowPair<S>& pair) {
  return std::make_unique<CpuOps<S>>(context, pair);
}

template std::unique_ptr<NeighborOps> make_cpu_ops_for<sets::Compiled>(const Context&, const RowPair<float>&);
template std::unique_ptr<NeighborOps> make_cpu_ops_for<sets::Compiled>(const Context&, const RowPair<double>&);

}  // namespace sheaf::neighbors
