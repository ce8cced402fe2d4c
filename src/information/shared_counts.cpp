#include "information/shared_counts.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <unordered_map>
#include <utility>

#include "core/parallel.hpp"

namespace sheaf::information {
namespace {

/// Forwards all calls, and records the features of the partners.
class Wrapped : public Ops {
 public:
  explicit Wrapped(std::unique_ptr<Ops> ops) : ops_(std::move(ops)) {}

  Counting counting() const override { return ops_->counting(); }
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

/// The stored counts of one partner and every feature, in a `Column`.
template <class Column>
class Remembering : public Wrapped {
 public:
  Remembering(std::unique_ptr<Ops> ops, const Problem& problem, int threads, std::int64_t most_bytes)
      : Wrapped(std::move(ops)),
        threads_(threads),
        features_(static_cast<std::size_t>(problem.table->features)),
        most_columns_(most_bytes / std::max<std::int64_t>(1, problem.table->features * Column::bytes_each)) {}

  /// The next selection's partners, or other rows altogether.
  void choose_rows(std::span<const std::uint32_t> weights) override {
    if (!std::equal(weights.begin(), weights.end(), weights_.begin(), weights_.end())) {
      columns_.clear();
      weights_.assign(weights.begin(), weights.end());
    }
    of_partners_.clear();
    Wrapped::choose_rows(weights);
  }
  std::int32_t add_partner(std::int32_t feature) override {
    of_partners_.push_back(find(feature));
    return Wrapped::add_partner(feature);
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    of_partners_.push_back(nullptr);
    return Wrapped::add_partner(codes, states);
  }

 protected:
  /// nullptr: merged states, or no memory left for another partner.
  Column* column_of(const Pair& pair) const { return of_partners_[static_cast<std::size_t>(pair.partner)]; }

  /// Known pairs are read by read(column, pair, out); all others are counted by count(pairs, out) and stored by
  /// write(column, pair, out). The pairs of a call must differ.
  template <class Value, class Read, class Count, class Write>
  void look_up(std::span<const Pair> pairs, std::span<Value> out, const Read& read, const Count& count,
               const Write& write) {
    const std::int64_t size = std::ssize(pairs);
    const int team = team_for(threads_, 8 * size);
    std::vector<std::vector<std::size_t>> unknown(static_cast<std::size_t>(team));
    parallel_for(team, team, [&](std::int64_t part) {
      const Range range = part_of(size, team, part);
      for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k) {
        const Column* column = column_of(pairs[k]);
        if (column == nullptr || !read(*column, pairs[k], out[k])) unknown[static_cast<std::size_t>(part)].push_back(k);
      }
    });
    std::vector<std::size_t> places = std::move(unknown[0]);
    for (std::size_t part = 1; part < unknown.size(); ++part)
      places.insert(places.end(), unknown[part].begin(), unknown[part].end());
    std::vector<Pair> missing(places.size());
    std::transform(places.begin(), places.end(), missing.begin(), [&](std::size_t k) { return pairs[k]; });
    std::vector<Value> counted(missing.size());
    count(std::span<const Pair>(missing), std::span<Value>(counted));
    parallel_ranges(team, std::ssize(missing), 1 << 11, [&](Range range) {
      for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k) {
        out[places[k]] = counted[k];
        if (Column* column = column_of(missing[k])) write(*column, missing[k], counted[k]);
      }
    });
  }

 private:
  Column* find(std::int32_t feature) {
    const auto found = columns_.find(feature);
    if (found != columns_.end()) return &found->second;
    if (std::ssize(columns_) >= most_columns_) return nullptr;
    return &columns_.emplace(feature, Column(features_)).first->second;
  }

  int threads_;
  std::size_t features_;
  std::int64_t most_columns_;
  std::vector<std::uint32_t> weights_;
  std::unordered_map<std::int32_t, Column> columns_;
  std::vector<Column*> of_partners_;
};

/// Sums of all features, 0 if not known (sums of 0 are counted again). Only written pages take memory: fresh zeros have
/// none.
class SumsColumn {
 public:
  static constexpr std::int64_t bytes_each = sizeof(JointSums);
  explicit SumsColumn(std::size_t features)
      : sums_(static_cast<JointSums*>(std::calloc(std::max<std::size_t>(features, 1), sizeof(JointSums)))) {
    if (sums_ == nullptr) throw std::bad_alloc();
  }

  bool read(std::size_t j, bool with_class, JointSums& out) const {
    out = sums_.get()[j];
    return (with_class ? out.with_class : out.pair) != 0;
  }
  void write(std::size_t j, const JointSums& sums) { sums_.get()[j] = sums; }

 private:
  struct Free {
    void operator()(JointSums* sums) const { std::free(sums); }
  };
  std::unique_ptr<JointSums, Free> sums_;
};

class SharedSums final : public Remembering<SumsColumn> {
 public:
  using Remembering::Remembering;

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    look_up(
        pairs, out,
        [&](const SumsColumn& column, const Pair& pair, JointSums& known) {
          return column.read(static_cast<std::size_t>(pair.candidate), with_class, known);
        },
        [&](std::span<const Pair> missing, std::span<JointSums> to) { ops_->joint_sums(missing, with_class, to); },
        [&](SumsColumn& column, const Pair& pair, const JointSums& sums) {
          column.write(static_cast<std::size_t>(pair.candidate), sums);
        });
  }
};

/// Each term on its own, since few criteria read the same ones. NaN: not known.
class TermsColumn {
 public:
  static constexpr std::int64_t bytes_each = term_count * sizeof(double);
  explicit TermsColumn(std::size_t features) : features_(features) {}

  /// Before any of the wanted is read or written.
  void make_room(Terms wanted) {
    for (int term = 0; term < term_count; ++term)
      if (((wanted >> term) & 1) != 0 && values_[term].empty()) values_[term].assign(features_, unknown);
  }
  /// False if one of the wanted sums is not known.
  bool read(std::size_t j, Terms wanted, PairTerms& out) const {
    bool known = true;
    for (int term = 0; term < term_count; ++term) {
      if (((wanted >> term) & 1) == 0) continue;
      const double value = values_[term][j];
      out.*fields[term] = value;
      known = known && value == value;
    }
    return known;
  }
  void write(std::size_t j, Terms wanted, const PairTerms& terms) {
    for (int term = 0; term < term_count; ++term) {
      if (((wanted >> term) & 1) != 0) values_[term][j] = terms.*fields[term];
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
    for (const Pair& pair : pairs)
      if (TermsColumn* column = column_of(pair)) column->make_room(terms);
    look_up(
        pairs, out,
        [&](const TermsColumn& column, const Pair& pair, PairTerms& known) {
          return column.read(static_cast<std::size_t>(pair.candidate), terms, known);
        },
        [&](std::span<const Pair> missing, std::span<PairTerms> to) { ops_->ordered_terms(missing, terms, to); },
        [&](TermsColumn& column, const Pair& pair, const PairTerms& counted) {
          column.write(static_cast<std::size_t>(pair.candidate), terms, counted);
        });
  }
};

/// Remembers columns only: if columns are counted, single pairs are few.
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

std::unique_ptr<Ops> share_counts(std::unique_ptr<Ops> ops, const Problem& problem, int threads,
                                  std::int64_t most_bytes, std::shared_ptr<ColumnMemory> columns) {
  if (ops->counts_columns()) return ops;
  if (ops->counts_sum_columns()) return std::make_unique<SharedColumns>(std::move(ops), std::move(columns));
  if (ops->counting() == Counting::ordered)
    return std::make_unique<SharedTerms>(std::move(ops), problem, threads, most_bytes);
  return std::make_unique<SharedSums>(std::move(ops), problem, threads, most_bytes);
}

}  // namespace sheaf::information
