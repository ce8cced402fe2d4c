// Terms in FEAST's order on CPU cores: the rows with a weight, the partners in the form of the counters, and the quick
// counter for states of one byte and two classes if it applies.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "information/count/ops.hpp"
#include "information/count/ordered.hpp"
#include "information/count/small_pairs.hpp"

namespace sheaf::information::cpu {

class OrderedTerms {
 public:
  OrderedTerms(const Context& context, const Problem& problem)
      : context_(context),
        problem_(problem),
        most_states_(static_cast<std::uint32_t>(problem.most_states())),
        workers_(static_cast<std::size_t>(context.threads())) {}

  /// Drops the partners. The weights must not move.
  void choose_rows(std::span<const std::uint32_t> weights);
  /// Partners are numbered 0, 1, 2 ... and prepared when they are first used.
  void add_partner(std::vector<std::uint32_t> codes, std::int64_t states);
  void forget_partners() { partners_.clear(); }

  void count(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out);

 private:
  struct Partner {
    std::vector<std::uint32_t> codes;  ///< of all rows; none once it is prepared
    std::int64_t states = 0;
    OrderedPartner ordered;
    std::vector<std::uint16_t> scaled;  ///< as SmallPair needs it; empty: too many states
    SmallGroups alone, with_class;
    bool prepared = false;
  };
  struct Worker {
    OrderedCounter counter;
    SmallCounter small;
    std::vector<std::uint32_t> all, chosen;
  };

  int threads() const { return static_cast<int>(workers_.size()); }
  const Partner& partner_of(const Pair& pair) const { return partners_[static_cast<std::size_t>(pair.partner)]; }
  void prepare_rows();
  void prepare(Partner& partner);
  void prepare_small(Partner& partner) const;
  void prepare_features(Terms terms);
  bool all_small(std::span<const Pair> pairs) const;
  PairTerms any_pair(const Pair& pair, Terms terms, Worker& worker) const;
  void small_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) const;
  void joint_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) const;
  void redundancy(const Pair& pair, Terms terms, Worker& worker, PairTerms& out) const;
  double beyond(const Pair& pair, Worker& worker) const;
  SmallPair small_pair(const Pair& pair) const;
  /// The table as SmallCounter reads it: the rows that count.
  const std::uint8_t* small_codes() const;
  std::int64_t small_size() const { return std::ssize(chosen_classes_); }

  Context context_;
  Problem problem_;
  std::uint32_t most_states_;  ///< of any feature; found once, since there may be many features
  bool has_rows_ = false;      ///< what follows, up to the partners: made when first needed
  OrderedRows rows_;
  SmallRows small_;
  std::vector<std::uint8_t> sorted_rows_;  ///< by each feature's states; made if needed
  FeatureGroups groups_, class_groups_;    ///< the same
  std::vector<std::uint32_t> chosen_rows_, chosen_weights_, chosen_classes_;
  std::vector<std::uint8_t> chosen_bytes_;
  std::vector<Partner> partners_;
  std::vector<Worker> workers_;
};

}  // namespace sheaf::information::cpu
