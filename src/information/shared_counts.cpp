#include "information/shared_counts.hpp"

#include <algorithm>
#include <unordered_map>

namespace sheaf::information {
namespace {

class SharedCounts final : public Ops {
 public:
  SharedCounts(std::unique_ptr<Ops> ops, const Problem& problem, std::int64_t most_bytes)
      : ops_(std::move(ops)),
        features_(static_cast<std::size_t>(problem.table->features)),
        most_columns_(most_bytes /
                      std::max<std::int64_t>(1, problem.table->features * static_cast<std::int64_t>(sizeof(Entry)))) {}

  Kernel kernel() const override { return ops_->kernel(); }
  std::int64_t batch() const override { return ops_->batch(); }

  /// The next selection's partners, or other rows altogether.
  void choose_rows(std::span<const std::uint32_t> weights) override {
    if (!std::equal(weights.begin(), weights.end(), weights_.begin(), weights_.end())) {
      columns_.clear();
      weights_.assign(weights.begin(), weights.end());
    }
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
    std::vector<Pair> missing;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const Entry* known = find(pairs[k]);
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
      if (Entry* entry = find(missing[k])) *entry = {counted[k], with_class ? State::whole : State::pair};
    }
  }

  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    ops_->ordered_terms(pairs, terms, out);
  }

 private:
  enum class State : std::uint8_t { unknown, pair, whole };
  struct Entry {
    JointSums sums;
    State state = State::unknown;
  };

  /// nullptr: merged states, or no memory left for another partner.
  Entry* find(const Pair& pair) {
    const std::int32_t feature = partners_[static_cast<std::size_t>(pair.partner)];
    if (feature < 0) return nullptr;
    const auto found = columns_.find(feature);
    if (found != columns_.end()) return &found->second[static_cast<std::size_t>(pair.candidate)];
    if (std::ssize(columns_) >= most_columns_) return nullptr;
    return &columns_.emplace(feature, std::vector<Entry>(features_))
                .first->second[static_cast<std::size_t>(pair.candidate)];
  }

  std::unique_ptr<Ops> ops_;
  std::size_t features_;
  std::int64_t most_columns_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::int32_t> partners_;
  std::unordered_map<std::int32_t, std::vector<Entry>> columns_;
};

}  // namespace

std::unique_ptr<Ops> share_counts(std::unique_ptr<Ops> ops, const Problem& problem, std::int64_t most_bytes) {
  if (ops->kernel() == Kernel::ordered) return ops;
  return std::make_unique<SharedCounts>(std::move(ops), problem, most_bytes);
}

}  // namespace sheaf::information
