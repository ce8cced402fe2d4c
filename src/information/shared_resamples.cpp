#include "information/shared_resamples.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <sheaf/error.hpp>

namespace sheaf::information {
namespace {

/// Resamples that must be expected to need the same partner: one pass for all costs about as much as four single ones.
constexpr double worth_sharing = 4;

/// The sums of one partner with all features counted so far, for all resamples.
class Column {
 public:
  explicit Column(std::size_t features) : states_(features, unknown), places_(features, 0) {}

  enum State : std::uint8_t { unknown, pair, whole };
  State state(std::int32_t j) const { return states_[static_cast<std::size_t>(j)]; }
  /// The sums of every resample.
  const JointSums* sums(std::int32_t j) const { return sums_.data() + places_[static_cast<std::size_t>(j)]; }
  JointSums* make_room(std::int32_t j, State known, std::size_t resamples) {
    State& state = states_[static_cast<std::size_t>(j)];
    std::size_t& place = places_[static_cast<std::size_t>(j)];
    if (state == unknown) {
      place = sums_.size();
      sums_.resize(place + resamples);
    }
    state = known;
    return sums_.data() + place;
  }

  std::size_t met_by = 0;  ///< the latest resample that had the partner

 private:
  std::vector<State> states_;
  std::vector<std::size_t> places_;
  std::vector<JointSums> sums_;
};

class SharedResamples final : public Ops {
 public:
  SharedResamples(std::unique_ptr<Ops> ops, const Problem& problem,
                  std::span<const std::vector<std::uint32_t>> resamples, std::int64_t most_bytes)
      : ops_(std::move(ops)),
        features_(static_cast<std::size_t>(problem.table->features)),
        resamples_(resamples),
        bytes_left_(most_bytes) {
    ops_->set_resamples(resamples);
  }

  Counting counting() const override { return ops_->counting(); }
  std::int64_t batch() const override { return ops_->batch(); }

  void choose_rows(std::span<const std::uint32_t> weights) override {
    const auto found = std::find_if(resamples_.begin(), resamples_.end(),
                                    [&](const auto& resample) { return resample.data() == weights.data(); });
    require(found != resamples_.end(), "rows that are none of the resamples");
    current_ = static_cast<std::size_t>(found - resamples_.begin());
    partners_.clear();
    ops_->choose_rows(weights);
  }
  std::int32_t add_partner(std::int32_t feature) override {
    partners_.push_back(column_of(feature));
    return ops_->add_partner(feature);
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    partners_.push_back(nullptr);
    return ops_->add_partner(codes, states);
  }

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    std::vector<Pair> alone, together;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const Column* column = partners_[static_cast<std::size_t>(pairs[k].partner)];
      if (column == nullptr) {
        alone.push_back(pairs[k]);
        places.push_back(k);
      } else if (column->state(pairs[k].candidate) < wanted_state(with_class)) {
        together.push_back(pairs[k]);
      }
    }
    std::vector<JointSums> counted(alone.size());
    ops_->joint_sums(alone, with_class, counted);
    for (std::size_t k = 0; k < alone.size(); ++k) out[places[k]] = counted[k];
    count_together(together, with_class);
    for (std::size_t k = 0; k < pairs.size(); ++k)
      if (const Column* column = partners_[static_cast<std::size_t>(pairs[k].partner)])
        out[k] = column->sums(pairs[k].candidate)[current_];
  }

  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    ops_->ordered_terms(pairs, terms, out);
  }

 private:
  static Column::State wanted_state(bool with_class) { return with_class ? Column::whole : Column::pair; }

  /// nullptr: to be counted for this resample alone.
  Column* column_of(std::int32_t feature) {
    const auto found = columns_.find(feature);
    if (found != columns_.end()) {
      if (std::exchange(found->second.met_by, current_) != current_) ++met_again_;
      return &found->second;
    }
    if (current_ > 0) ++met_first_;
    const auto later = static_cast<double>(resamples_.size() - current_);
    const bool worth = later * met_again_ / (met_again_ + met_first_) >= worth_sharing;
    if (!worth || bytes_left_ <= 0) return nullptr;
    bytes_left_ -= static_cast<std::int64_t>(features_ * (sizeof(Column::State) + sizeof(std::size_t)));
    Column& column = columns_.emplace(feature, Column(features_)).first->second;
    column.met_by = current_;
    return &column;
  }

  void count_together(std::span<const Pair> pairs, bool with_class) {
    const std::size_t wanted = resamples_.size() - current_;
    std::vector<JointSums> counted(pairs.size() * wanted);
    ops_->resampled_sums(pairs, with_class, current_, counted);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      Column& column = *partners_[static_cast<std::size_t>(pairs[k].partner)];
      if (column.state(pairs[k].candidate) == Column::unknown)
        bytes_left_ -= static_cast<std::int64_t>(resamples_.size() * sizeof(JointSums));
      std::copy_n(counted.data() + k * wanted, wanted,
                  column.make_room(pairs[k].candidate, wanted_state(with_class), resamples_.size()) + current_);
    }
  }

  std::unique_ptr<Ops> ops_;
  std::size_t features_;
  std::span<const std::vector<std::uint32_t>> resamples_;
  std::int64_t bytes_left_;  ///< none left: no further partner is stored
  std::size_t current_ = 0;
  double met_again_ = 1;  ///< partners of later resamples that an earlier one had, and one to begin with
  double met_first_ = 0;
  std::vector<Column*> partners_;
  std::unordered_map<std::int32_t, Column> columns_;
};

}  // namespace

std::unique_ptr<Ops> share_resamples(std::unique_ptr<Ops> ops, const Problem& problem,
                                     std::span<const std::vector<std::uint32_t>> resamples, std::int64_t most_bytes) {
  if (resamples.size() < 2 || !ops->counts_resamples()) return ops;
  return std::make_unique<SharedResamples>(std::move(ops), problem, resamples, most_bytes);
}

}  // namespace sheaf::information
