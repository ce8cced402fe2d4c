#include "information/count/ordered.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace sheaf::information {
namespace {

/// Joint states up to which a table of counts is taken rather than sorted keys.
constexpr std::int64_t most_cells = 1 << 22;

double in_bits(double natural) { return natural / std::log(2.0); }

std::uint32_t weight_of(const OrderedRows& rows, std::size_t i) { return rows.weights.empty() ? 1 : rows.weights[i]; }

/// The key of each row's joint state, the outer variable in the high half.
void pack_keys(Coded outer, Coded inner, std::vector<std::uint64_t>& keys) {
  keys.resize(outer.codes.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::uint64_t>(outer.codes[i]) << 32 | inner.codes[i];
}

}  // namespace

TermTable::TermTable(std::int64_t total, std::span<const std::uint32_t> class_counts)
    : total_(static_cast<double>(total)),
      triples_(std::size_t{small} * small * small, 0.0),
      by_class_(class_counts.size() * small * small, 0.0),
      pairs_(std::size_t{small} * small, 0.0),
      singles_(small, 0.0) {
  for (std::uint32_t c = 1; c < small; ++c) {
    singles_[c] = alone_of(c);
    for (std::uint32_t a = c; a < small; ++a) {
      pairs_[c * small + a] = conditional_of(c, a);
      for (std::uint32_t b = c; b < small; ++b) triples_[(c * small + a) * small + b] = mutual_of(c, a, b);
      for (std::size_t y = 0; y < class_counts.size(); ++y)
        if (class_counts[y] >= c) by_class_[(y * small + c) * small + a] = mutual_of(c, a, class_counts[y]);
    }
  }
}

double TermTable::mutual_of(std::uint32_t joint, std::uint32_t a, std::uint32_t b) const {
  const double p = joint / total_;
  const double pa = a / total_;
  const double pb = b / total_;
  return p * std::log(p / pa / pb);
}

double TermTable::conditional_of(std::uint32_t joint, std::uint32_t b) const {
  const double p = joint / total_;
  return p * std::log(p / (b / total_));
}

double TermTable::alone_of(std::uint32_t count) const {
  const double p = count / total_;
  return p * std::log(p);
}

void OrderedRows::finish() {
  const auto count = static_cast<std::size_t>(classes.states);
  class_counts.assign(count, 0);
  class_begins.assign(count + 1, 0);
  for (std::size_t i = 0; i < classes.codes.size(); ++i) {
    class_counts[classes.codes[i]] += weight_of(*this, i);
    ++class_begins[classes.codes[i] + 1];
  }
  total = std::accumulate(class_counts.begin(), class_counts.end(), std::int64_t{0});
  std::partial_sum(class_begins.begin(), class_begins.end(), class_begins.begin());
  std::vector<std::size_t> next(class_begins.begin(), class_begins.end() - 1);
  by_class.resize(classes.codes.size());
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class[next[classes.codes[i]]++] = static_cast<std::uint32_t>(i);
  terms = TermTable(total, class_counts);
}

StateRows::StateRows(Coded variable)
    : rows(variable.codes.size()), begins(static_cast<std::size_t>(variable.states) + 1, 0) {
  for (const std::uint32_t code : variable.codes) ++begins[code + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> next = begins;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[next[variable.codes[i]]++] = static_cast<std::uint32_t>(i);
}

std::int64_t Merger::merge(Coded a, Coded b, std::vector<std::uint32_t>& ids) {
  ids.resize(a.codes.size());
  const std::int64_t cells = a.states * b.states;
  if (a.states > 0 && cells / a.states != b.states) return merge_sorted(a, b, ids);
  if (cells > most_cells) return merge_sorted(a, b, ids);
  if (numbers_.size() < static_cast<std::size_t>(cells)) numbers_.resize(static_cast<std::size_t>(cells), 0);
  const auto width = static_cast<std::size_t>(b.states);
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::uint32_t& number = numbers_[a.codes[i] * width + b.codes[i]];
    if (number == 0) number = ++last;
    ids[i] = number;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) numbers_[a.codes[i] * width + b.codes[i]] = 0;
  return static_cast<std::int64_t>(last) + 1;
}

std::int64_t Merger::merge(Coded a, Coded b, std::span<const std::uint32_t> weights, std::vector<std::uint32_t>& ids) {
  if (weights.empty()) return merge(a, b, ids);
  std::vector<std::uint32_t> of_a, of_b, own;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    of_a.push_back(a.codes[i]);
    of_b.push_back(b.codes[i]);
  }
  const std::int64_t states = merge({of_a, a.states}, {of_b, b.states}, own);
  ids.assign(weights.size(), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) ids[i] = own[next++];
  return states;
}

/// Rows sorted by joint state, the rows of one state in order: the first of each run shows it first.
std::int64_t Merger::merge_sorted(Coded a, Coded b, std::vector<std::uint32_t>& ids) {
  pack_keys(a, b, keys_);
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [this](auto i, auto j) { return keys_[i] < keys_[j]; });
  std::vector<std::uint32_t> first(ids.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    first[order[k]] = k > 0 && keys_[order[k]] == keys_[order[k - 1]] ? first[order[k - 1]] : order[k];
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = first[i] == i ? ++last : ids[first[i]];
  return static_cast<std::int64_t>(last) + 1;
}

void OrderedCounter::count(const OrderedRows& rows, Coded a, std::vector<std::uint32_t>& counts) {
  counts.assign(static_cast<std::size_t>(a.states), 0);
  if (rows.weights.empty())
    for (const std::uint32_t code : a.codes) ++counts[code];
  else
    for (std::size_t i = 0; i < a.codes.size(); ++i) counts[a.codes[i]] += rows.weights[i];
}

/// visit(count, inner state, outer state), the outer ascending, then the inner, those that occur.
template <class Visit>
void OrderedCounter::visit_cells(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit) {
  const bool fits = outer.states <= most_cells && inner.states <= most_cells / std::max<std::int64_t>(outer.states, 1);
  if (fits)
    visit_table(rows, inner, outer, visit);
  else
    visit_sorted(rows, inner, outer, visit);
}

/// A bit for each cell that occurs leads to it: most of a table is empty when rows are few. Leaves both clear.
template <class Visit>
void OrderedCounter::visit_table(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit) {
  const auto words = static_cast<std::size_t>(inner.states + 63) / 64;
  const std::size_t width = words * 64;
  const auto outer_states = static_cast<std::size_t>(outer.states);
  if (table_.size() < outer_states * width) table_.resize(outer_states * width, 0);
  if (present_.size() < outer_states * words) present_.resize(outer_states * words, 0);
  for (std::size_t i = 0; i < inner.codes.size(); ++i) {
    const std::size_t cell = outer.codes[i] * width + inner.codes[i];
    table_[cell] += weight_of(rows, i);
    present_[cell / 64] |= std::uint64_t{1} << (cell % 64);
  }
  for (std::size_t o = 0; o < outer_states; ++o)
    for (std::size_t w = o * words; w < (o + 1) * words; ++w)
      for (std::uint64_t bits = std::exchange(present_[w], 0); bits != 0; bits &= bits - 1) {
        const std::size_t cell = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        visit(std::exchange(table_[cell], 0), cell - o * width, o);
      }
}

template <class Visit>
void OrderedCounter::visit_sorted(const OrderedRows& rows, Coded inner, Coded outer, Visit&& visit) {
  pack_keys(outer, inner, keys_);
  std::vector<std::uint32_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](auto i, auto j) { return keys_[i] < keys_[j]; });
  for (std::size_t k = 0; k < order.size();) {
    const std::uint64_t key = keys_[order[k]];
    std::uint32_t counted = 0;
    for (; k < order.size() && keys_[order[k]] == key; ++k) counted += weight_of(rows, order[k]);
    visit(counted, static_cast<std::size_t>(key & 0xffffffffU), static_cast<std::size_t>(key >> 32));
  }
}

double OrderedCounter::mutual_information(const OrderedRows& rows, Coded a, Coded b) {
  count(rows, a, inner_counts_);
  count(rows, b, outer_counts_);
  double sum = 0;
  visit_cells(rows, a, b, [&](std::uint32_t c, std::size_t i, std::size_t o) {
    sum += rows.terms.mutual(c, inner_counts_[i], outer_counts_[o]);
  });
  return in_bits(sum);
}

double OrderedCounter::relevance(const OrderedRows& rows, Coded a) {
  PairTerms out;
  merged_with_class(rows, a, joint_with_class, out);
  return out.joint_with_class;
}

double OrderedCounter::conditional_entropy(const OrderedRows& rows, Coded a, Coded b) {
  count(rows, b, outer_counts_);
  double sum = 0;
  visit_cells(rows, a, b,
              [&](std::uint32_t c, std::size_t, std::size_t o) { sum -= rows.terms.conditional(c, outer_counts_[o]); });
  return in_bits(sum);
}

/// A state of one row adds log 1, which is 0. Few rows are sorted rather than looked for among all states.
double OrderedCounter::conditional_entropy(const OrderedRows& rows, Coded a, const StateRows& b) {
  const auto words = static_cast<std::size_t>(a.states + 63) / 64;
  if (table_.size() < words * 64) table_.resize(words * 64, 0);
  if (present_.size() < words) present_.resize(words, 0);
  std::vector<std::uint32_t>& shown = inner_counts_;
  double sum = 0;
  for (std::size_t g = 0; g + 1 < b.begins.size(); ++g) {
    const std::span group(b.rows.data() + b.begins[g], b.begins[g + 1] - b.begins[g]);
    if (group.size() < 2) continue;
    const bool few = group.size() < words;
    std::uint32_t all = 0;
    shown.clear();
    for (const std::uint32_t i : group) {
      const std::uint32_t x = a.codes[i];
      if (few && table_[x] == 0) shown.push_back(x);
      table_[x] += weight_of(rows, i);
      all += weight_of(rows, i);
      if (!few) present_[x / 64] |= std::uint64_t{1} << (x % 64);
    }
    if (few) {
      std::sort(shown.begin(), shown.end());
      for (const std::uint32_t x : shown) sum -= rows.terms.conditional(std::exchange(table_[x], 0), all);
      continue;
    }
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t bits = std::exchange(present_[w], 0); bits != 0; bits &= bits - 1) {
        const std::size_t x = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        sum -= rows.terms.conditional(std::exchange(table_[x], 0), all);
      }
  }
  return in_bits(sum);
}

double OrderedCounter::entropy(const OrderedRows& rows, Coded a) {
  count(rows, a, inner_counts_);
  double sum = 0;
  for (const std::uint32_t c : inner_counts_)
    if (c > 0) sum -= rows.terms.alone(c);
  return in_bits(sum);
}

void OrderedCounter::merged_with_class(const OrderedRows& rows, Coded merged, Terms wanted, PairTerms& out) {
  count(rows, merged, inner_counts_);
  double information = 0;
  double entropy = 0;
  const bool with_entropy = (wanted & joint_entropy) != 0;
  visit_cells(rows, merged, rows.classes, [&](std::uint32_t c, std::size_t i, std::size_t y) {
    information += rows.terms.with_class(c, inner_counts_[i], rows.class_counts[y], y);
    if (with_entropy) entropy -= rows.terms.alone(c);
  });
  out.joint_with_class = in_bits(information);
  out.joint_entropy = in_bits(entropy);
}

/// merge() and all counts in one pass, without a branch: whether a state is new is as good as random. Numbers of
/// earlier pairs lie at or below `base_`, so nothing has to be cleared. False: too large for it.
bool OrderedCounter::merge_small(const OrderedRows& rows, Coded a, Coded b) {
  const std::int64_t cells = a.states * b.states;
  if (a.states > most_cells || cells > most_cells || rows.total > 65535) return false;
  const std::size_t count = a.codes.size();
  const std::size_t width = count + 1;
  if (numbers_.size() < static_cast<std::size_t>(cells) || base_ > 0xffff0000U) {
    numbers_.assign(std::max(numbers_.size(), static_cast<std::size_t>(cells)), 0);
    base_ = 0;
  }
  if (in_class_.size() < width * rows.class_counts.size()) in_class_.assign(width * rows.class_counts.size(), 0);
  merged_.resize(count);
  small_counts_.assign(width, 0);
  if (rows.weights.empty())
    number_and_count<false>(rows, a, b);
  else
    number_and_count<true>(rows, a, b);
  largest_ = *std::max_element(small_counts_.begin(), small_counts_.end());
  return true;
}

template <bool Weighted>
void OrderedCounter::number_and_count(const OrderedRows& rows, Coded a, Coded b) {
  const std::size_t count = a.codes.size();
  const std::size_t width = count + 1;
  const auto states = static_cast<std::uint32_t>(b.states);
  const std::uint32_t* of_a = a.codes.data();
  const std::uint32_t* of_b = b.codes.data();
  const std::uint32_t* classes = rows.classes.codes.data();
  std::uint32_t* numbers = numbers_.data();
  std::uint32_t* merged = merged_.data();
  std::uint16_t* counts = small_counts_.data();
  std::uint16_t* in_class = in_class_.data();
  const std::uint32_t base = base_;
  std::uint32_t last = base;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t cell = of_a[i] * states + of_b[i];
    const std::uint32_t before = numbers[cell];
    const bool known = before > base;
    last += known ? 0 : 1;
    const std::uint32_t entry = known ? before : last;
    numbers[cell] = entry;
    const std::uint32_t number = entry - base;
    const auto weight = static_cast<std::uint16_t>(Weighted ? rows.weights[i] : 1);
    merged[i] = number;
    counts[number] = static_cast<std::uint16_t>(counts[number] + weight);
    std::uint16_t& counted = in_class[classes[i] * width + number];
    counted = static_cast<std::uint16_t>(counted + weight);
  }
  base_ = last;
  last_ = last - base;
}

/// Adds up all merged states of each class, empty ones too: their terms are 0 and change no sum, and a branch would
/// cost more than they do. A class of few rows has its states sorted instead. Leaves the counts clear.
template <bool WithEntropy>
void OrderedCounter::sum_small(const OrderedRows& rows, PairTerms& out) {
  constexpr std::size_t few = 12;
  constexpr std::uint32_t small = TermTable::small;
  const std::size_t width = merged_.size() + 1;
  double information = 0;
  double entropy = 0;
  const double* alone = rows.terms.of_counts();
  const std::uint16_t* counts = small_counts_.data();
  places_.resize(width);
  std::uint16_t* places = places_.data();
  for (std::size_t y = 0; y + 1 < rows.class_begins.size(); ++y) {
    const std::span members(rows.by_class.data() + rows.class_begins[y],
                            rows.class_begins[y + 1] - rows.class_begins[y]);
    const double* terms = rows.terms.of_class(y);
    std::uint16_t* in_class = in_class_.data() + y * width;
    if (members.size() > few) {
      for (std::uint32_t number = 1; number <= last_; ++number) {
        places[number] = static_cast<std::uint16_t>(in_class[number] * small + counts[number]);
        in_class[number] = 0;
      }
      for (std::uint32_t number = 1; number <= last_; ++number) {
        information += terms[places[number]];
        if constexpr (WithEntropy) entropy -= alone[places[number] / small];
      }
      continue;
    }
    std::uint32_t sorted[few];
    for (std::size_t k = 0; k < members.size(); ++k) {
      std::size_t at = k;
      for (; at > 0 && sorted[at - 1] > merged_[members[k]]; --at) sorted[at] = sorted[at - 1];
      sorted[at] = merged_[members[k]];
    }
    for (std::size_t k = 0; k < members.size(); ++k) {  // a repeated state finds its count gone
      const std::uint32_t c = std::exchange(in_class[sorted[k]], std::uint16_t{0});
      information += terms[c * small + counts[sorted[k]]];
      if constexpr (WithEntropy) entropy -= alone[c];
    }
  }
  out.joint_with_class = in_bits(information);
  out.joint_entropy = in_bits(entropy);
}

OrderedPartner OrderedCounter::prepare(const OrderedRows& rows, std::vector<std::uint32_t> codes, std::int64_t states) {
  OrderedPartner partner;
  partner.codes = std::move(codes);
  partner.states = states;
  count(rows, partner.coded(), partner.counts);
  partner.with_class_states = merger_.merge(partner.coded(), rows.classes, partner.with_class);
  partner.entropy_in_class = conditional_entropy(rows, partner.coded(), rows.classes);
  partner.by_state = StateRows(partner.coded());
  partner.by_state_and_class = StateRows({partner.with_class, partner.with_class_states});
  return partner;
}

PairTerms OrderedCounter::terms(const OrderedRows& rows, const OrderedPartner& partner, Coded candidate, Terms wanted) {
  PairTerms out;
  if ((wanted & between) != 0) out.between = mutual_information(rows, partner.coded(), candidate);
  if ((wanted & (joint_with_class | joint_entropy)) != 0) {
    const bool small = merge_small(rows, partner.coded(), candidate);
    if (small && largest_ < TermTable::small) {
      if ((wanted & joint_entropy) != 0)
        sum_small<true>(rows, out);
      else
        sum_small<false>(rows, out);
    } else {
      if (small) std::fill(in_class_.begin(), in_class_.end(), std::uint16_t{0});
      const std::int64_t states = merger_.merge(partner.coded(), candidate, merged_);
      merged_with_class(rows, {merged_, states}, wanted, out);
    }
  }
  if ((wanted & between_in_class) != 0) {
    const std::int64_t states = merger_.merge(candidate, rows.classes, merged_);
    out.between_in_class = partner.entropy_in_class - conditional_entropy(rows, partner.coded(), {merged_, states});
  }
  if ((wanted & relevance_beyond) != 0) {
    const double without = conditional_entropy(rows, candidate, partner.by_state);
    out.relevance_beyond = without - conditional_entropy(rows, candidate, partner.by_state_and_class);
  }
  return out;
}

}  // namespace sheaf::information
