#include "information/shared_counts.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace sheaf::information {
namespace {

/// Hands everything on, and knows which features the partners are.
class Wrapped : public Ops {
 public:
  explicit Wrapped(std::unique_ptr<Ops> ops) : ops_(std::move(ops)) {}

  Kernel kernel() const override { return ops_->kernel(); }
  std::int64_t batch() const override { return ops_->batch(); }
  bool screens() const override { return ops_->screens(); }

  void choose_rows(std::span<const std::uint32_t> weights) override {
    partners_.clear();
    ops_->choose_rows(weights);
  }
  std::int32_t add_partner(std::int32_t feature) override {
    partners_.push_back(feature);
    return ops_->add_partner(feature);
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    partners_.push_back(-1);
    return ops_->add_partner(codes, states);
  }
  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    ops_->joint_sums(pairs, with_class, out);
  }
  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    ops_->ordered_terms(pairs, terms, out);
  }

 protected:
  /// -1: merged states.
  std::int32_t feature_of(std::int32_t partner) const { return partners_[static_cast<std::size_t>(partner)]; }

  std::unique_ptr<Ops> ops_;

 private:
  std::vector<std::int32_t> partners_;
};

/// What is remembered of one partner and every feature; `Column` says what.
template <class Column>
class Remembering : public Wrapped {
 public:
  Remembering(std::unique_ptr<Ops> ops, const Problem& problem, std::int64_t most_bytes)
      : Wrapped(std::move(ops)),
        features_(static_cast<std::size_t>(problem.table->features)),
        most_columns_(most_bytes / std::max<std::int64_t>(1, problem.table->features * Column::bytes_each)) {}

  /// The next selection's partners, or other rows altogether.
  void choose_rows(std::span<const std::uint32_t> weights) override {
    if (!std::equal(weights.begin(), weights.end(), weights_.begin(), weights_.end())) {
      columns_.clear();
      weights_.assign(weights.begin(), weights.end());
    }
    Wrapped::choose_rows(weights);
  }

 protected:
  /// nullptr: merged states, or no memory left for another partner.
  Column* find(const Pair& pair) {
    const std::int32_t feature = feature_of(pair.partner);
    if (feature < 0) return nullptr;
    const auto found = columns_.find(feature);
    if (found != columns_.end()) return &found->second;
    if (std::ssize(columns_) >= most_columns_) return nullptr;
    return &columns_.emplace(feature, Column(features_)).first->second;
  }

 private:
  std::size_t features_;
  std::int64_t most_columns_;
  std::vector<std::uint32_t> weights_;
  std::unordered_map<std::int32_t, Column> columns_;
};

enum class State : std::uint8_t { unknown, pair, whole };
struct KnownSums {
  JointSums sums;
  State state = State::unknown;
};
struct SumsColumn {
  static constexpr std::int64_t bytes_each = sizeof(KnownSums);
  explicit SumsColumn(std::size_t features) : entries(features) {}
  std::vector<KnownSums> entries;
};

class SharedSums final : public Remembering<SumsColumn> {
 public:
  using Remembering::Remembering;

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    std::vector<Pair> missing;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const KnownSums* known = entry_of(pairs[k]);
      if (known != nullptr && known->state >= (with_class ? State::whole : State::pair)) {
        out[k] = known->sums;
        continue;
      }
      missing.push_back(pairs[k]);
      places.push_back(k);
    }
    std::vector<JointSums> counted(missing.size());
    ops_->joint_sums(missing, with_class, counted);
    for (std::size_t k = 0; k < missing.size(); ++k) {
      out[places[k]] = counted[k];
      if (KnownSums* entry = entry_of(missing[k])) *entry = {counted[k], with_class ? State::whole : State::pair};
    }
  }

 private:
  KnownSums* entry_of(const Pair& pair) {
    SumsColumn* column = find(pair);
    return column != nullptr ? &column->entries[static_cast<std::size_t>(pair.candidate)] : nullptr;
  }
};

/// Each term on its own, for few criteria read the same ones. Not a number: not known.
class TermsColumn {
 public:
  static constexpr std::int64_t bytes_each = term_count * sizeof(double);
  explicit TermsColumn(std::size_t features) : features_(features) {}

  /// False where one of the wanted is not known.
  bool read(std::size_t j, Terms wanted, PairTerms& out) const {
    bool known = true;
    for (int term = 0; term < term_count; ++term) {
      if (((wanted >> term) & 1) == 0) continue;
      const double value = values_[term].empty() ? unknown : values_[term][j];
      out.*fields[term] = value;
      known = known && value == value;
    }
    return known;
  }
  void write(std::size_t j, Terms wanted, const PairTerms& terms) {
    for (int term = 0; term < term_count; ++term) {
      if (((wanted >> term) & 1) == 0) continue;
      if (values_[term].empty()) values_[term].assign(features_, unknown);
      values_[term][j] = terms.*fields[term];
    }
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  /// In the order of their bits.
  static constexpr double PairTerms::*fields[term_count] = {&PairTerms::between, &PairTerms::joint_with_class,
                                                            &PairTerms::joint_entropy, &PairTerms::between_in_class,
                                                            &PairTerms::relevance_beyond};
  std::size_t features_;
  std::vector<double> values_[term_count];
};

class SharedTerms final : public Remembering<TermsColumn> {
 public:
  using Remembering::Remembering;

  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    std::vector<Pair> missing;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const TermsColumn* column = find(pairs[k]);
      if (column != nullptr && column->read(static_cast<std::size_t>(pairs[k].candidate), terms, out[k])) continue;
      missing.push_back(pairs[k]);
      places.push_back(k);
    }
    std::vector<PairTerms> counted(missing.size());
    ops_->ordered_terms(missing, terms, counted);
    for (std::size_t k = 0; k < missing.size(); ++k) {
      out[places[k]] = counted[k];
      if (TermsColumn* column = find(missing[k]))
        column->write(static_cast<std::size_t>(missing[k].candidate), terms, counted[k]);
    }
  }
};

/// Where whole columns are counted, single pairs are few and not worth remembering.
class SharedColumns final : public Wrapped {
 public:
  SharedColumns(std::unique_ptr<Ops> ops, std::shared_ptr<ColumnMemory> memory)
      : Wrapped(std::move(ops)), memory_(std::move(memory)) {}

  bool counts_sum_columns() const override { return true; }

  void choose_rows(std::span<const std::uint32_t> weights) override {
    memory_->choose_rows(weights);
    Wrapped::choose_rows(weights);
  }
  std::span<const JointSums> column_sums(std::int32_t partner, bool with_class) override {
    const std::int32_t feature = feature_of(partner);
    if (const auto known = memory_->find(feature, with_class); !known.empty()) return known;
    const auto counted = ops_->column_sums(partner, with_class);
    if (feature >= 0) memory_->keep(feature, with_class, counted);
    return counted;
  }

 private:
  std::shared_ptr<ColumnMemory> memory_;
};

}  // namespace

void ColumnMemory::choose_rows(std::span<const std::uint32_t> weights) {
  if (std::equal(weights.begin(), weights.end(), weights_.begin(), weights_.end())) return;
  weights_.assign(weights.begin(), weights.end());
  columns_.clear();
  bytes_ = 0;
}

std::span<const JointSums> ColumnMemory::find(std::int32_t feature, bool with_class) const {
  const auto found = columns_.find(feature);
  if (found == columns_.end() || (with_class && !found->second.with_class)) return {};
  return found->second.sums;
}

void ColumnMemory::keep(std::int32_t feature, bool with_class, std::span<const JointSums> sums) {
  const auto size = static_cast<std::int64_t>(sums.size_bytes());
  const auto found = columns_.find(feature);
  if (found == columns_.end() && bytes_ + size > most_bytes) return;
  if (found == columns_.end()) bytes_ += size;
  columns_[feature] = {{sums.begin(), sums.end()}, with_class};
}

std::unique_ptr<Ops> share_counts(std::unique_ptr<Ops> ops, const Problem& problem, std::int64_t most_bytes,
                                  std::shared_ptr<ColumnMemory> columns) {
  if (ops->counts_columns()) return ops;
  if (ops->counts_sum_columns()) return std::make_unique<SharedColumns>(std::move(ops), std::move(columns));
  if (ops->kernel() == Kernel::ordered) return std::make_unique<SharedTerms>(std::move(ops), problem, most_bytes);
  return std::make_unique<SharedSums>(std::move(ops), problem, most_bytes);
}

}  // namespace sheaf::information
