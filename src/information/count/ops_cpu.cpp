// The information verbs on CPU cores: pairs are dealt to threads, each with its own tables.
#include <algorithm>

#include "core/instruction_sets.hpp"
#include "information/count/bit_plane_sums_cpu.hpp"
#include "information/count/class_entropies.hpp"
#include "information/count/class_order.hpp"
#include "information/count/columns.hpp"
#include "information/count/compared_sums.hpp"
#include "information/count/ops.hpp"
#include "information/count/ordered_cpu.hpp"
#include "information/count/pieces_cpu.hpp"
#include "information/count/resampled_sums.hpp"
#include "information/count/sums_cpu.hpp"

namespace sheaf::information {
namespace {

/// One partner in the form that the way of counting needs.
struct Partner {
  std::int64_t states = 0;
  std::vector<std::uint16_t> by_class;
  cpu::Groups groups;
  cpu::SparseSide sparse;
  cpu::ResampledSide resampled;
  std::int32_t feature = -1;  ///< of the table; -1: merged states
  cpu::WeightedPlanes planes;
  cpu::ComparedSide compared;
};

struct Worker {
  cpu::Scratch scratch;
  std::vector<std::uint16_t> column;
  cpu::GatheredBlock gathered;
};

class CpuOps final : public Ops {
 public:
  CpuOps(const Context& context, const Problem& problem, Counting counting)
      : context_(context),
        problem_(problem),
        counting_(counting),
        ordered_(context, problem),
        workers_(static_cast<std::size_t>(context.threads())) {
    const bool by_order = counting_ == Counting::ordered;
    if (by_order ? cpu::ComparedTable::fits(problem_) : counting_ == Counting::compared)
      compared_ = cpu::ComparedTable(*problem_.table, threads());
    if (counting_ != Counting::nonzeros) class_order_ = order_by_class(problem_, 1);
    if (counting_ == Counting::tables) sort_table();
    if (counting_ == Counting::popcount) planes_ = PlaneTable(problem_, threads());
    choose_rows(problem.weights);
  }

  Counting counting() const override { return counting_; }
  std::int64_t batch() const override { return 256; }  // not by threads: so are the pairs counted

  void choose_rows(std::span<const std::uint32_t> weights) override {
    partners_.clear();
    ordered_.forget_partners();
    if (std::exchange(has_rows_, true) && std::ranges::equal(weights, kept_weights_)) return;
    kept_weights_.assign(weights.begin(), weights.end());
    problem_.weights = kept_weights_;
    ordered_.choose_rows(kept_weights_);
    log_ = FixedLog(problem_.total());
    sorted_weights_.clear();
    if (counting_ == Counting::popcount) {
      weight_planes_ = planes_of_weights(planes_, weights);
      plane_counts_ = PlaneCounts(planes_, weight_planes_, threads());
    }
    if (counting_ != Counting::tables || weights.empty()) return;
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
    require(counting_ != Counting::popcount, "merged states have no planes");
    return add(-1, {codes.begin(), codes.end()}, states);
  }

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    if (!compared_.empty()) return compared_sums(pairs, with_class, out);
    over_pairs(pairs, [&](std::size_t k, Worker& worker) { out[k] = sums_of(pairs[k], with_class, worker); });
  }

  /// A column of so few rows is counted in less time than bounds of all candidates take.
  bool counts_sum_columns() const override { return !compared_.empty() && problem_.rows() <= 256; }
  std::span<const JointSums> column_sums(std::int32_t number, bool with_class) override {
    const Partner& partner = partners_[static_cast<std::size_t>(number)];
    constexpr std::int64_t lanes = cpu::ComparedTable::lanes;
    const std::int64_t features = problem_.table->features;
    column_.resize(static_cast<std::size_t>((features + lanes - 1) / lanes * lanes));
    if (partner.compared.applies) {
      parallel_ranges(threads(), (features + lanes - 1) / lanes, 16, [&](Range range) {
        for (std::int64_t block = range.begin; block < range.end; ++block)
          cpu::compare_block(log_, partner.compared, compared_.block(block), with_class,
                             column_.data() + block * lanes);
      });
    } else {
      std::vector<Pair> pairs;
      pairs.reserve(column_.size());
      for (std::int32_t j = 0; j < features; ++j) pairs.push_back({number, j});
      joint_sums(pairs, with_class, column_);
    }
    return std::span(column_).first(static_cast<std::size_t>(features));
  }

  bool screens() const override { return counting_ == Counting::ordered && !compared_.empty(); }

  bool counts_resamples() const override { return counting_ == Counting::tables || counting_ == Counting::nonzeros; }
  void set_resamples(std::span<const std::vector<std::uint32_t>> resamples) override {
    resamples_ = resamples.size();
    resample_weights_ = interleave(resamples);
    if (counting_ != Counting::tables) return;
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
      const Partner& partner = partner_of(pairs[k]);
      if (counting_ == Counting::nonzeros)
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
    ordered_.count(pairs, terms, out);
  }

 private:
  int threads() const { return static_cast<int>(workers_.size()); }
  const Partner& partner_of(const Pair& pair) const { return partners_[static_cast<std::size_t>(pair.partner)]; }
  std::uint32_t states_of(const Pair& pair) const {
    return static_cast<std::uint32_t>(problem_.table->states[static_cast<std::size_t>(pair.candidate)]);
  }
  const std::uint32_t* weights() const { return problem_.weights.empty() ? nullptr : problem_.weights.data(); }

  template <class Work>
  void over_pairs(std::span<const Pair> pairs, Work&& work) {
    cpu::over_pairs(context_, std::span(workers_), pairs.size(), problem_.rows(), work);
  }

  /// A copy of the whole table, once: each class then has a table that stays in the nearest cache.
  void sort_table() {
    const BinnedTable& table = *problem_.table;
    if (problem_.most_states() > 256)
      sorted_ = Array<std::uint16_t>(table.rows * table.features);
    else
      sorted_ = Array<std::uint8_t>(table.rows * table.features);
    std::visit(
        [&](auto& sorted) {
          place_columns(table, class_order_, {0, table.features}, threads(), sorted.data());
        },
        sorted_);
  }

  std::int32_t add(std::int32_t feature, std::vector<std::uint32_t> codes, std::int64_t states) {
    Partner partner;
    partner.feature = feature;
    partner.states = states;
    if (counting_ == Counting::tables) {
      partner.by_class.resize(codes.size());
      for (std::size_t i = 0; i < codes.size(); ++i)
        partner.by_class[static_cast<std::size_t>(class_order_.places[i])] = static_cast<std::uint16_t>(codes[i]);
    }
    if (!compared_.empty()) partner.compared = cpu::ComparedSide(problem_, log_, codes, states);
    if (counting_ == Counting::grouped || (is_by_groups() && !partner.compared.applies))
      partner.groups = cpu::make_groups(problem_, log_, class_order_, codes, states);
    if (counting_ == Counting::nonzeros) partner.sparse = cpu::make_sparse_side(problem_, log_, codes, states);
    if (counting_ == Counting::popcount) partner.planes = cpu::weigh_planes(planes_, feature, weight_planes_);
    partners_.push_back(std::move(partner));
    ordered_.add_partner(std::move(codes), states);
    return static_cast<std::int32_t>(partners_.size()) - 1;
  }
  /// For data that no faster method suits.
  bool is_by_groups() const {
    return counting_ == Counting::grouped || counting_ == Counting::compared || counting_ == Counting::ordered;
  }

  void compared_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) {
    const auto order = cpu::sort_by_partner(pairs, partners_.size());
    constexpr std::int64_t piece = 512;
    cpu::over_pieces(context_, std::span(workers_), pairs.size(), piece, problem_.rows() / 8,
                     [&](std::size_t begin, std::size_t end, Worker& worker) {
                       compare_piece(pairs, std::span(order).subspan(begin, end - begin), with_class, worker, out);
                     });
  }
  /// One partner after another.
  void compare_piece(std::span<const Pair> pairs, std::span<const std::uint32_t> order, bool with_class, Worker& worker,
                     std::span<JointSums> out) {
    cpu::ComparedSums sums(log_, compared_, with_class, worker.gathered);
    for (std::size_t begin = 0; begin < order.size();) {
      const std::int32_t partner = pairs[order[begin]].partner;
      const cpu::ComparedSide& side = partners_[static_cast<std::size_t>(partner)].compared;
      std::size_t end = begin;
      while (end < order.size() && pairs[order[end]].partner == partner) ++end;
      const auto of_partner = order.subspan(begin, end - begin);
      if (side.applies)
        sums(side, pairs, of_partner, out);
      else
        for (const std::uint32_t k : of_partner) out[k] = sums_of(pairs[k], with_class, worker);
      begin = end;
    }
  }

  JointSums sums_of(const Pair& pair, bool with_class, Worker& worker) {
    const Partner& partner = partner_of(pair);
    if (counting_ == Counting::tables) return by_tables(pair, partner, with_class, worker);
    if (counting_ == Counting::nonzeros)
      return cpu::NonzeroSums(log_, weights(), worker.scratch)(partner.sparse, sparse_column(pair.candidate),
                                                               states_of(pair), with_class);
    if (counting_ == Counting::popcount)
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

  cpu::SparseColumn sparse_column(std::int32_t j) const {
    const SparseCodes& codes = *sparse_codes(*problem_.table);
    const auto begin = static_cast<std::size_t>(codes.offsets[j]);
    const auto size = static_cast<std::size_t>(codes.offsets[j + 1]) - begin;
    return {codes.examples.span().subspan(begin, size), codes.codes.span().subspan(begin, size)};
  }
  /// Once, when the partner is first counted for several resamples.
  void resample_side(Partner& partner, const cpu::ResampleWeights& weights) const {
    if (counting_ == Counting::nonzeros && partner.resampled.sums.empty())
      partner.resampled = cpu::resample_side(log_, partner.sparse, weights);
  }

  Context context_;
  Problem problem_;
  Counting counting_;
  FixedLog log_;
  ClassOrder class_order_;
  DenseCodes sorted_;
  std::vector<std::uint32_t> kept_weights_, sorted_weights_, resample_weights_;
  std::size_t resamples_ = 0;
  PlaneTable planes_;
  std::vector<std::uint64_t> weight_planes_;
  PlaneCounts plane_counts_;
  cpu::ComparedTable compared_;
  std::vector<JointSums> column_;
  cpu::OrderedTerms ordered_;
  bool has_rows_ = false;
  std::vector<Partner> partners_;
  std::vector<Worker> workers_;
};

}  // namespace

template <class Set>
std::unique_ptr<Ops> make_cpu_ops_for(const Context& context, const Problem& problem, Counting counting) {
  return std::make_unique<CpuOps>(context, problem, counting);
}

template std::unique_ptr<Ops> make_cpu_ops_for<sets::Compiled>(const Context&, const Problem&, Counting);

}  // namespace sheaf::information
