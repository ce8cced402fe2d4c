// The information verbs on CPU cores: pairs are dealt to threads, each with its own tables.
#include <algorithm>
#include <numeric>

#include <omp.h>

#include "core/parallel.hpp"
#include "information/class_order.hpp"
#include "information/columns.hpp"
#include "information/facts.hpp"
#include "information/ops.hpp"
#include "information/ordered.hpp"
#include "information/plane_sums_cpu.hpp"
#include "information/resampled_sums.hpp"
#include "information/small_pairs.hpp"
#include "information/sums_cpu.hpp"

namespace sheaf::information {
namespace {

/// One partner in the forms the kernels want; the ordered one is made when it is first asked for.
struct Partner {
  std::vector<std::uint32_t> codes;  ///< of all examples
  std::int64_t states = 0;
  std::vector<std::uint16_t> by_class;
  cpu::Groups groups;
  cpu::SparseSide sparse;
  cpu::ResampledSide resampled;
  std::int32_t feature = -1;  ///< of the table; -1: merged states
  cpu::WeightedPlanes planes;
  OrderedPartner ordered;
  std::vector<std::uint16_t> scaled;  ///< as SmallPair wants it; empty: too many states
  SmallGroups alone, with_class;
  bool has_ordered = false;
};

struct Worker {
  OrderedCounter counter;
  SmallCounter small;
  cpu::Scratch scratch;
  std::vector<std::uint32_t> all, chosen;
  std::vector<std::uint16_t> column;
};

class CpuOps final : public Ops {
 public:
  CpuOps(const Context& context, const Problem& problem, Kernel kernel)
      : problem_(problem), threads_(context.threads()), kernel_(kernel), workers_(static_cast<std::size_t>(threads_)) {
    if (kernel_ == Kernel::tables || kernel_ == Kernel::grouped) class_order_ = order_by_class(problem_, 1);
    if (kernel_ == Kernel::tables) sort_table();
    if (kernel_ == Kernel::popcount) planes_ = PlaneTable(problem_, threads_);
    choose_rows(problem.weights);
  }

  Kernel kernel() const override { return kernel_; }
  std::int64_t batch() const override { return 256; }  // not by threads: so are the pairs counted

  void choose_rows(std::span<const std::uint32_t> weights) override {
    partners_.clear();
    problem_.weights = weights;
    if (std::exchange(has_rows_, true) && std::ranges::equal(weights, kept_weights_)) return;
    kept_weights_.assign(weights.begin(), weights.end());
    log_ = FixedLog(problem_.total());
    choose_ordered_rows();
    sorted_weights_.clear();
    if (kernel_ == Kernel::popcount) {
      weight_planes_ = planes_of_weights(planes_, weights);
      plane_counts_ = PlaneCounts(planes_, weight_planes_, threads_);
    }
    if (kernel_ != Kernel::tables || weights.empty()) return;
    sorted_weights_.resize(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      sorted_weights_[static_cast<std::size_t>(class_order_.places[i])] = weights[i];
  }

  std::int32_t add_partner(std::int32_t feature) override {
    std::vector<std::uint32_t> codes;
    read_column(*problem_.table, feature, codes);
    return add(feature, std::move(codes), problem_.table->states[static_cast<std::size_t>(feature)]);
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    require(kernel_ != Kernel::popcount, "merged states have no planes");
    return add(-1, {codes.begin(), codes.end()}, states);
  }

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    if (has_small_sums()) {
      for (const Pair& pair : pairs) make_ordered(partners_[static_cast<std::size_t>(pair.partner)]);
      if (all_small(pairs)) return small_sums(pairs, out);
    }
    over_pairs(pairs, [&](std::size_t k, Worker& worker) { out[k] = sums_of(pairs[k], with_class, worker); });
  }

  bool screens() const override { return kernel_ == Kernel::ordered && has_small_sums(); }

  bool counts_resamples() const override { return kernel_ == Kernel::tables || kernel_ == Kernel::nonzeros; }
  void set_resamples(std::span<const std::vector<std::uint32_t>> resamples) override {
    resamples_ = resamples.size();
    resample_weights_ = interleave(resamples);
    if (kernel_ != Kernel::tables) return;
    const std::vector<std::uint32_t> in_order = resample_weights_;
    for (std::size_t i = 0; i < class_order_.places.size(); ++i)
      std::copy_n(in_order.data() + i * resamples_, resamples_,
                  resample_weights_.data() + static_cast<std::size_t>(class_order_.places[i]) * resamples_);
  }
  void resampled_sums(std::span<const Pair> pairs, bool with_class, std::size_t first,
                      std::span<JointSums> out) override {
    const cpu::ResampleWeights weights{resample_weights_.data(), resamples_, first};
    const cpu::TableRows rows{class_order_.begins, class_order_.ends, nullptr};
    for (const Pair& pair : pairs) resample_side(partners_[static_cast<std::size_t>(pair.partner)], weights);
    over_pairs(pairs, [&](std::size_t k, Worker& worker) {
      const Partner& partner = partners_[static_cast<std::size_t>(pairs[k].partner)];
      if (kernel_ == Kernel::nonzeros)
        return cpu::ResampledNonzeros(log_, weights, worker.scratch)(
            partner.sparse, partner.resampled, sparse_column(pairs[k].candidate), states_of(pairs[k]), with_class,
            out.data() + k * weights.wanted());
      with_sorted_column(pairs[k].candidate, [&](const auto* x) {
        cpu::resampled_table_sums(log_, rows, weights, x, states_of(pairs[k]), partner.by_class.data(),
                                  static_cast<std::uint32_t>(partner.states), with_class, worker.scratch,
                                  out.data() + k * weights.wanted());
      });
    });
  }

  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    for (const Pair& pair : pairs) make_ordered(partners_[static_cast<std::size_t>(pair.partner)]);
    if (!all_small(pairs)) {
      over_pairs(pairs, [&](std::size_t k, Worker& worker) { out[k] = ordered_pair(pairs[k], terms, worker); });
      return;
    }
    prepare_small(terms);
    over_pieces(pairs, [&](std::size_t begin, std::size_t end, Worker& worker) {
      small_pairs(pairs.subspan(begin, end - begin), terms, worker, out.data() + begin);
    });
  }

 private:
  std::uint32_t states_of(const Pair& pair) const {
    return static_cast<std::uint32_t>(problem_.table->states[static_cast<std::size_t>(pair.candidate)]);
  }
  const std::uint32_t* weights() const { return problem_.weights.empty() ? nullptr : problem_.weights.data(); }

  /// work(first pair, end, worker).
  template <class Work>
  void over_pieces(std::span<const Pair> pairs, Work&& work) {
    const auto count = static_cast<std::int64_t>(pairs.size());
    const int team = team_for(threads_, count * problem_.rows());
    const std::int64_t piece = std::clamp<std::int64_t>((1 << 14) / std::max<std::int64_t>(problem_.rows(), 1), 1, 64);
    parallel_for(team, (count + piece - 1) / piece, [&](std::int64_t p) {
      Worker& worker = workers_[static_cast<std::size_t>(omp_get_thread_num())];
      work(static_cast<std::size_t>(p * piece), static_cast<std::size_t>(std::min(count, (p + 1) * piece)), worker);
    });
  }
  template <class Work>
  void over_pairs(std::span<const Pair> pairs, Work&& work) {
    over_pieces(pairs, [&](std::size_t begin, std::size_t end, Worker& worker) {
      for (std::size_t k = begin; k < end; ++k) work(k, worker);
    });
  }

  PairTerms ordered_pair(const Pair& pair, Terms terms, Worker& worker) {
    const Partner& partner = partners_[static_cast<std::size_t>(pair.partner)];
    read_column(*problem_.table, pair.candidate, chosen_rows_, worker.all, worker.chosen);
    return worker.counter.terms(ordered_, partner.ordered, {worker.chosen, states_of(pair)}, terms);
  }

  /// What the quick way for bytes and two classes needs of every feature.
  void prepare_small(Terms terms) {
    const std::int64_t features = problem_.table->features;
    if ((terms & relevance_beyond) != 0 && sorted_rows_.empty())
      sorted_rows_ = sort_rows(small_codes(), small_size(), features, threads_);
    if ((terms & between) != 0 && groups_.empty())
      groups_ = FeatureGroups(small_, small_codes(), features, false, threads_);
    if ((terms & between_in_class) != 0 && class_groups_.empty())
      class_groups_ = FeatureGroups(small_, small_codes(), features, true, threads_);
  }
  bool all_small(std::span<const Pair> pairs) const {
    return small_.apply() && std::all_of(pairs.begin(), pairs.end(), [this](const Pair& pair) {
             return !partners_[static_cast<std::size_t>(pair.partner)].scaled.empty();
           });
  }

  void small_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      out[k] = PairTerms();
      if ((terms & (between | between_in_class)) != 0) small_redundancy(pairs[k], terms, worker, out[k]);
      if ((terms & relevance_beyond) != 0) out[k].relevance_beyond = small_beyond(pairs[k], worker);
    }
    if ((terms & (joint_with_class | joint_entropy)) == 0) return;
    for (std::size_t k = 0; k < pairs.size(); k += SmallCounter::together)
      joint_pairs(pairs.subspan(k, std::min(pairs.size() - k, SmallCounter::together)), terms, worker, out + k);
  }

  bool has_small_sums() const {
    if (!small_.apply() || (kernel_ != Kernel::tables && kernel_ != Kernel::ordered)) return false;
    // A table of fewer cells than examples is added up in less time than each example's cell is looked for.
    const std::int64_t states = problem_.most_states();
    return kernel_ == Kernel::ordered || states * states * problem_.class_count > problem_.rows();
  }
  /// Tables of few examples, four pairs at a time; the last fills what is left.
  void small_sums(std::span<const Pair> pairs, std::span<JointSums> out) {
    over_pieces(pairs, [&](std::size_t begin, std::size_t end, Worker& worker) {
      for (std::size_t k = begin; k < end; k += SmallCounter::together) {
        const std::size_t count = std::min(end - k, SmallCounter::together);
        SmallPair small[SmallCounter::together];
        for (std::size_t e = 0; e < SmallCounter::together; ++e)
          small[e] = small_pair(pairs[k + std::min(e, count - 1)]);
        JointSums sums[SmallCounter::together];
        worker.small.sums(small_, small_terms_, small, sums);
        std::copy_n(sums, count, out.begin() + static_cast<std::ptrdiff_t>(k));
      }
    });
  }

  SmallPair small_pair(const Pair& pair) const {
    return {partners_[static_cast<std::size_t>(pair.partner)].scaled.data(),
            small_codes() + pair.candidate * small_size()};
  }
  void small_redundancy(const Pair& pair, Terms terms, Worker& worker, PairTerms& out) {
    const Partner& partner = partners_[static_cast<std::size_t>(pair.partner)];
    const SmallPair codes = small_pair(pair);
    if ((terms & between) != 0)
      out.between = worker.small.between(small_, ordered_.terms, codes, partner.alone, groups_.of(pair.candidate));
    if ((terms & between_in_class) != 0)
      out.between_in_class = partner.ordered.entropy_in_class -
                             worker.small.partner_given(small_, codes, partner.alone, class_groups_.of(pair.candidate));
  }
  double small_beyond(const Pair& pair, Worker& worker) {
    const Partner& partner = partners_[static_cast<std::size_t>(pair.partner)];
    return worker.small.beyond(small_, small_pair(pair), sorted_rows_.data() + pair.candidate * small_size(),
                               partner.alone, partner.with_class);
  }

  /// Up to SmallCounter::together of them; the last fills what is left.
  void joint_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) {
    SmallPair small[SmallCounter::together];
    for (std::size_t k = 0; k < SmallCounter::together; ++k)
      small[k] = small_pair(pairs[std::min(k, pairs.size() - 1)]);
    PairTerms joint[SmallCounter::together];
    worker.small.joint(small_, small, (terms & joint_entropy) != 0, joint);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      out[k].joint_with_class = joint[k].joint_with_class;
      out[k].joint_entropy = joint[k].joint_entropy;
    }
  }
  /// The table as SmallCounter reads it: the rows that count.
  const std::uint8_t* small_codes() const {
    return chosen_rows_.empty() ? dense_bytes(*problem_.table)->data() : chosen_bytes_.data();
  }
  std::int64_t small_size() const { return std::ssize(chosen_classes_); }

  /// A copy of the whole table, once: each class then has a table that stays in the nearest cache.
  void sort_table() {
    const BinnedTable& table = *problem_.table;
    if (problem_.most_states() > 256)
      sorted_ = Array<std::uint16_t>(table.rows * table.features);
    else
      sorted_ = Array<std::uint8_t>(table.rows * table.features);
    std::visit(
        [&](auto& sorted) {
          place_columns(table, class_order_, {0, table.features}, threads_, sorted.data());
        },
        sorted_);
  }

  void choose_ordered_rows() {
    chosen_rows_.clear();
    chosen_weights_.clear();
    chosen_classes_.clear();
    for (std::size_t i = 0; i < problem_.classes.size(); ++i) {
      if (!problem_.weights.empty() && problem_.weights[i] == 0) continue;
      chosen_classes_.push_back(static_cast<std::uint32_t>(problem_.classes[i]));
      if (problem_.weights.empty()) continue;
      chosen_rows_.push_back(static_cast<std::uint32_t>(i));
      chosen_weights_.push_back(problem_.weights[i]);
    }
    ordered_ = {};
    ordered_.weights = chosen_weights_;
    ordered_.classes = {chosen_classes_, problem_.class_count};
    ordered_.finish();
    small_ = dense_bytes(*problem_.table) != nullptr ? SmallRows(ordered_) : SmallRows();
    small_terms_ = has_small_sums() ? SmallSums(small_, log_) : SmallSums();
    sorted_rows_.clear();
    groups_ = class_groups_ = {};
    // Rows that are not drawn must not be met: the order of first appearance is that of the others. So few rows are
    // copied in less time than one partner takes.
    if (small_.apply() && !chosen_rows_.empty())
      chosen_bytes_ = choose_rows_of(*dense_bytes(*problem_.table), problem_.rows(), chosen_rows_, threads_);
  }

  std::int32_t add(std::int32_t feature, std::vector<std::uint32_t> codes, std::int64_t states) {
    Partner partner;
    partner.feature = feature;
    partner.codes = std::move(codes);
    partner.states = states;
    if (kernel_ == Kernel::tables) {
      partner.by_class.resize(partner.codes.size());
      for (std::size_t i = 0; i < partner.codes.size(); ++i)
        partner.by_class[static_cast<std::size_t>(class_order_.places[i])] =
            static_cast<std::uint16_t>(partner.codes[i]);
    }
    if (kernel_ == Kernel::grouped) group(partner);
    if (kernel_ == Kernel::nonzeros) make_sparse_side(partner);
    if (kernel_ == Kernel::popcount) partner.planes = cpu::weigh_planes(planes_, feature, weight_planes_);
    partners_.push_back(std::move(partner));
    return static_cast<std::int32_t>(partners_.size()) - 1;
  }

  /// Sorts the examples by (state, class): by class first, then, keeping that order, by state.
  void group(Partner& partner) {
    std::vector<std::uint32_t> by_class(partner.codes.size());
    for (std::size_t i = 0; i < by_class.size(); ++i)
      by_class[static_cast<std::size_t>(class_order_.places[i])] = static_cast<std::uint32_t>(i);
    std::vector<std::int64_t> next(static_cast<std::size_t>(partner.states) + 1, 0);
    for (const std::uint32_t code : partner.codes) ++next[code + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    auto& groups = partner.groups;
    groups.rows.resize(partner.codes.size());
    for (const std::uint32_t i : by_class) groups.rows[static_cast<std::size_t>(next[partner.codes[i]]++)] = i;
    leave_out_single(partner);
    for (std::size_t k = 0; k < groups.rows.size(); ++k) {
      const std::uint32_t i = groups.rows[k];
      const std::uint32_t before = groups.rows[k > 0 ? k - 1 : 0];
      const bool new_state = k == 0 || partner.codes[i] != partner.codes[before];
      if (!new_state && problem_.classes[i] == problem_.classes[before]) continue;
      groups.begins.push_back(static_cast<std::int64_t>(k));
      groups.begins_state.push_back(new_state ? 1 : 0);
    }
    groups.begins.push_back(static_cast<std::int64_t>(groups.rows.size()));
  }

  /// Rows that do not count, and those that have their state for themselves.
  void leave_out_single(Partner& partner) const {
    const auto weight = [this](std::uint32_t i) { return problem_.weights.empty() ? 1 : problem_.weights[i]; };
    auto& groups = partner.groups;
    std::vector<std::uint32_t> rows_of(static_cast<std::size_t>(partner.states), 0);
    for (const std::uint32_t i : groups.rows) rows_of[partner.codes[i]] += weight(i) > 0 ? 1 : 0;
    std::erase_if(groups.rows, [&](std::uint32_t i) {
      const bool single = weight(i) > 0 && rows_of[partner.codes[i]] == 1;
      if (single) groups.left_out += log_(weight(i));
      return single || weight(i) == 0;
    });
  }

  void make_sparse_side(Partner& partner) {
    auto& side = partner.sparse;
    std::vector<std::uint32_t> with_class;
    const std::vector<std::uint32_t> classes(problem_.classes.begin(), problem_.classes.end());
    const std::int64_t joint =
        Merger().merge({partner.codes, partner.states}, {classes, problem_.class_count}, with_class);
    side.counts.assign(static_cast<std::size_t>(partner.states), 0);
    side.class_counts.assign(static_cast<std::size_t>(joint), 0);
    side.states.resize(with_class.size());
    for (std::size_t i = 0; i < with_class.size(); ++i) {
      side.states[i] = {partner.codes[i], with_class[i]};
      const std::uint32_t weight = problem_.weights.empty() ? 1 : problem_.weights[i];
      side.sum += cpu::grow(log_, side.counts[partner.codes[i]], weight);
      side.class_sum += cpu::grow(log_, side.class_counts[with_class[i]], weight);
    }
  }

  void make_ordered(Partner& partner) {
    if (std::exchange(partner.has_ordered, true)) return;
    std::vector<std::uint32_t> codes = partner.codes;
    if (!chosen_rows_.empty()) {
      codes.resize(chosen_rows_.size());
      for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = partner.codes[chosen_rows_[k]];
    }
    partner.ordered = workers_.front().counter.prepare(ordered_, std::move(codes), partner.states);
    if (small_.apply()) make_small(partner);
  }

  void make_small(Partner& partner) {
    const auto most = static_cast<std::uint32_t>(problem_.most_states());
    if (partner.states > 256 || partner.states * most > std::int64_t{SmallCounter::most_cells}) return;
    for (const std::uint32_t code : partner.ordered.codes)
      partner.scaled.push_back(static_cast<std::uint16_t>(code * most));
    partner.alone = SmallGroups(partner.ordered.codes, partner.states, chosen_weights_);
    partner.with_class = SmallGroups(partner.ordered.with_class, partner.ordered.with_class_states, chosen_weights_);
  }

  JointSums sums_of(const Pair& pair, bool with_class, Worker& worker) {
    const Partner& partner = partners_[static_cast<std::size_t>(pair.partner)];
    if (kernel_ == Kernel::tables) return by_tables(pair, partner, with_class, worker);
    if (kernel_ == Kernel::nonzeros) return by_nonzeros(pair, partner, with_class, worker);
    if (kernel_ == Kernel::popcount)
      return cpu::PlaneSums(log_, planes_, plane_counts_, worker.scratch)(partner.feature, partner.planes,
                                                                          pair.candidate, with_class);
    if (sparse_codes(*problem_.table) != nullptr) {
      read_column(*problem_.table, pair.candidate, worker.column);
      return by_groups(worker.column.data(), pair, partner, worker);
    }
    return with_dense_column(*problem_.table, pair.candidate,
                             [&](const auto* x) { return by_groups(x, pair, partner, worker); });
  }

  JointSums by_tables(const Pair& pair, const Partner& partner, bool with_class, Worker& worker) {
    const cpu::TableRows rows{class_order_.begins, class_order_.ends,
                              sorted_weights_.empty() ? nullptr : sorted_weights_.data()};
    JointSums sums;
    with_sorted_column(pair.candidate, [&](const auto* x) {
      sums = cpu::table_sums(log_, rows, x, states_of(pair), partner.by_class.data(),
                             static_cast<std::uint32_t>(partner.states), with_class, worker.scratch);
    });
    return sums;
  }
  template <class Read>
  void with_sorted_column(std::int64_t j, Read&& read) const {
    std::visit([&](const auto& sorted) { read(sorted.data() + j * problem_.rows()); }, sorted_);
  }

  template <class Code>
  JointSums by_groups(const Code* x, const Pair& pair, const Partner& partner, Worker& worker) {
    return cpu::GroupedSums<Code>(log_, x, weights(), states_of(pair), worker.scratch)(partner.groups);
  }

  JointSums by_nonzeros(const Pair& pair, const Partner& partner, bool with_class, Worker& worker) {
    return cpu::NonzeroSums(log_, weights(), worker.scratch)(partner.sparse, sparse_column(pair.candidate),
                                                             states_of(pair), with_class);
  }
  cpu::SparseColumn sparse_column(std::int32_t j) const {
    const SparseCodes& codes = *sparse_codes(*problem_.table);
    const auto begin = static_cast<std::size_t>(codes.offsets[j]);
    const auto size = static_cast<std::size_t>(codes.offsets[j + 1]) - begin;
    return {codes.examples.span().subspan(begin, size), codes.codes.span().subspan(begin, size)};
  }
  /// Once, when the partner is first counted for several resamples.
  void resample_side(Partner& partner, const cpu::ResampleWeights& weights) const {
    if (kernel_ == Kernel::nonzeros && partner.resampled.sums.empty())
      partner.resampled = cpu::resample_side(log_, partner.sparse, weights);
  }

  Problem problem_;
  int threads_;
  Kernel kernel_;
  FixedLog log_;
  ClassOrder class_order_;
  DenseCodes sorted_;
  std::vector<std::uint32_t> sorted_weights_, resample_weights_;
  std::size_t resamples_ = 0;
  PlaneTable planes_;
  std::vector<std::uint64_t> weight_planes_;
  PlaneCounts plane_counts_;
  OrderedRows ordered_;
  SmallRows small_;
  SmallSums small_terms_;
  std::vector<std::uint8_t> sorted_rows_;  ///< by each feature's states; made when first needed
  FeatureGroups groups_, class_groups_;    ///< the same
  std::vector<std::uint32_t> chosen_rows_, chosen_weights_, chosen_classes_, kept_weights_;
  std::vector<std::uint8_t> chosen_bytes_;
  bool has_rows_ = false;
  std::vector<Partner> partners_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Ops> make_cpu_ops(const Context& context, const Problem& problem, Kernel kernel) {
  return std::make_unique<CpuOps>(context, problem, kernel);
}

}  // namespace sheaf::information
