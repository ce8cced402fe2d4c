#include "information/count/ordered_cpu.hpp"

#include <algorithm>

#include "information/count/columns.hpp"
#include "information/count/pieces_cpu.hpp"

namespace sheaf::information::cpu {

void OrderedTerms::choose_rows(std::span<const std::uint32_t> weights) {
  partners_.clear();
  problem_.weights = weights;
  has_rows_ = false;
}

void OrderedTerms::prepare_rows() {
  if (std::exchange(has_rows_, true)) return;
  const auto weights = problem_.weights;
  chosen_rows_.clear();
  chosen_weights_.clear();
  chosen_classes_.clear();
  for (std::size_t i = 0; i < problem_.classes.size(); ++i) {
    if (!weights.empty() && weights[i] == 0) continue;
    chosen_classes_.push_back(static_cast<std::uint32_t>(problem_.classes[i]));
    if (weights.empty()) continue;
    chosen_rows_.push_back(static_cast<std::uint32_t>(i));
    chosen_weights_.push_back(weights[i]);
  }
  rows_ = {};
  rows_.weights = chosen_weights_;
  rows_.classes = {chosen_classes_, problem_.class_count};
  rows_.finish();
  small_ = dense_bytes(*problem_.table) != nullptr ? SmallRows(rows_) : SmallRows();
  sorted_rows_.clear();
  chosen_bytes_.clear();
  groups_ = class_groups_ = {};
}

void OrderedTerms::add_partner(std::vector<std::uint32_t> codes, std::int64_t states) {
  partners_.emplace_back();
  partners_.back().codes = std::move(codes);
  partners_.back().states = states;
}

void OrderedTerms::count(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) {
  if (pairs.empty()) return;
  prepare_rows();
  for (const Pair& pair : pairs) prepare(partners_[static_cast<std::size_t>(pair.partner)]);
  if (!all_small(pairs)) {
    over_pairs(context_, std::span(workers_), pairs.size(), problem_.rows(),
               [&](std::size_t k, Worker& worker) { out[k] = any_pair(pairs[k], terms, worker); });
    return;
  }
  prepare_features(terms);
  over_pieces(context_, std::span(workers_), pairs.size(), piece_for(problem_.rows()), problem_.rows(),
              [&](std::size_t begin, std::size_t end, Worker& worker) {
                small_pairs(pairs.subspan(begin, end - begin), terms, worker, out.data() + begin);
              });
}

void OrderedTerms::prepare(Partner& partner) {
  if (std::exchange(partner.prepared, true)) return;
  std::vector<std::uint32_t> codes = std::move(partner.codes);
  if (!chosen_rows_.empty()) {
    for (std::size_t k = 0; k < chosen_rows_.size(); ++k) codes[k] = codes[chosen_rows_[k]];
    codes.resize(chosen_rows_.size());
  }
  partner.ordered = workers_.front().counter.prepare(rows_, std::move(codes), partner.states);
  if (small_.apply()) prepare_small(partner);
}

void OrderedTerms::prepare_small(Partner& partner) const {
  const std::uint32_t most = most_states_;
  if (partner.states > 256 || partner.states * most > std::int64_t{SmallCounter::most_cells}) return;
  for (const std::uint32_t code : partner.ordered.codes)
    partner.scaled.push_back(static_cast<std::uint16_t>(code * most));
  partner.alone = SmallGroups(partner.ordered.codes, partner.states, chosen_weights_);
  partner.with_class = SmallGroups(partner.ordered.with_class, partner.ordered.with_class_states, chosen_weights_);
}

/// Prepares every feature for SmallCounter.
void OrderedTerms::prepare_features(Terms terms) {
  const std::int64_t features = problem_.table->features;
  // Rows that are not drawn must not be visited: the order of first appearance is that of the others. So few rows are
  // copied in less time than one partner takes.
  if (!chosen_rows_.empty() && chosen_bytes_.empty())
    chosen_bytes_ = choose_rows_of(*dense_bytes(*problem_.table), problem_.rows(), chosen_rows_, threads());
  if ((terms & relevance_beyond) != 0 && sorted_rows_.empty())
    sorted_rows_ = sort_rows(small_codes(), small_size(), features, threads());
  if ((terms & between) != 0 && groups_.empty())
    groups_ = FeatureGroups(small_, small_codes(), features, false, threads());
  if ((terms & between_in_class) != 0 && class_groups_.empty())
    class_groups_ = FeatureGroups(small_, small_codes(), features, true, threads());
}

bool OrderedTerms::all_small(std::span<const Pair> pairs) const {
  return small_.apply() &&
         std::all_of(pairs.begin(), pairs.end(), [this](const Pair& pair) { return !partner_of(pair).scaled.empty(); });
}

PairTerms OrderedTerms::any_pair(const Pair& pair, Terms terms, Worker& worker) const {
  read_column(*problem_.table, pair.candidate, chosen_rows_, worker.all, worker.chosen);
  const std::int64_t states = problem_.table->states[static_cast<std::size_t>(pair.candidate)];
  return worker.counter.terms(rows_, partner_of(pair).ordered, {worker.chosen, states}, terms);
}

void OrderedTerms::small_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) const {
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    out[k] = PairTerms();
    if ((terms & (between | between_in_class)) != 0) redundancy(pairs[k], terms, worker, out[k]);
    if ((terms & relevance_beyond) != 0) out[k].relevance_beyond = beyond(pairs[k], worker);
  }
  if ((terms & (joint_with_class | joint_entropy)) == 0) return;
  for (std::size_t k = 0; k < pairs.size(); k += SmallCounter::together)
    joint_pairs(pairs.subspan(k, std::min(pairs.size() - k, SmallCounter::together)), terms, worker, out + k);
}

/// Up to SmallCounter::together of them; the last fills the rest.
void OrderedTerms::joint_pairs(std::span<const Pair> pairs, Terms terms, Worker& worker, PairTerms* out) const {
  SmallPair small[SmallCounter::together];
  for (std::size_t k = 0; k < SmallCounter::together; ++k) small[k] = small_pair(pairs[std::min(k, pairs.size() - 1)]);
  PairTerms joint[SmallCounter::together];
  worker.small.joint(small_, small, (terms & joint_entropy) != 0, joint);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    out[k].joint_with_class = joint[k].joint_with_class;
    out[k].joint_entropy = joint[k].joint_entropy;
  }
}

void OrderedTerms::redundancy(const Pair& pair, Terms terms, Worker& worker, PairTerms& out) const {
  const Partner& partner = partner_of(pair);
  const SmallPair codes = small_pair(pair);
  if ((terms & between) != 0)
    out.between = worker.small.between(small_, rows_.terms, codes, partner.alone, groups_.of(pair.candidate));
  if ((terms & between_in_class) != 0)
    out.between_in_class = partner.ordered.entropy_in_class -
                           worker.small.partner_given(small_, codes, partner.alone, class_groups_.of(pair.candidate));
}

double OrderedTerms::beyond(const Pair& pair, Worker& worker) const {
  const Partner& partner = partner_of(pair);
  return worker.small.beyond(small_, small_pair(pair), sorted_rows_.data() + pair.candidate * small_size(),
                             partner.alone, partner.with_class);
}

SmallPair OrderedTerms::small_pair(const Pair& pair) const {
  return {partner_of(pair).scaled.data(), small_codes() + pair.candidate * small_size()};
}

const std::uint8_t* OrderedTerms::small_codes() const {
  return chosen_rows_.empty() ? dense_bytes(*problem_.table)->data() : chosen_bytes_.data();
}

}  // namespace sheaf::information::cpu
