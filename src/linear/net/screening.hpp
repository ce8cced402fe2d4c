// Finds the features of a model that need their product x'u, without the full product X'u.
//
// A model keeps the residuals u0 of its last full product X'u0. Later residuals are u = k u0 + e, and for every feature
//
//   |x'u| <= |k| |x'u0| + |x| |e| + |m| |sum of e|
//
// with lengths under the row weights, that of x from its mean m; residuals of one decision value and an intercept sum
// to 0, so that the last term is not there. From one alpha to the next residuals move little, so that most features are
// shown to stay within their bounds by two stored numbers each; products are computed for the others alone. The sums
// are the same as with all products: a feature that is not looked at is no maximum and exceeds no bound.
//
// If penalties are grouped, u are the residuals of all classes one after another, |x'u| is the length of the products
// with them, and all of the above holds for lengths.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "linear/net/model/gram.hpp"
#include "linear/net/model/working_set.hpp"

namespace sheaf::linear {

/// All j < count with bound(j) > limit, ascending, to `found`, which has room for all; returns their number. Few are
/// above, so many are compared before one is looked at.
template <class Bound>
std::size_t list_above(std::size_t count, const Bound& bound, float limit, std::int32_t* found) {
  constexpr std::size_t together = 16;
  std::size_t size = 0;
  std::size_t first = 0;
  for (; first + together <= count; first += together) {
    std::uint8_t above[together];
    for (std::size_t k = 0; k < together; ++k) above[k] = bound(first + k) > limit ? 1 : 0;
    std::uint64_t halves[2];
    std::memcpy(halves, above, sizeof halves);
    if ((halves[0] | halves[1]) == 0) continue;
    for (std::size_t h = 0; h < 2; ++h)
      for (std::uint64_t bits = halves[h]; bits != 0; bits &= bits - 1) {
        const int byte = std::countr_zero(bits) / 8;
        const auto k = static_cast<std::size_t>(std::endian::native == std::endian::little ? byte : 7 - byte);
        found[size++] = static_cast<std::int32_t>(first + 8 * h + k);
      }
  }
  for (; first < count; ++first)
    if (bound(first) > limit) found[size++] = static_cast<std::int32_t>(first);
  return size;
}

/// A number, or the length of several neighbouring ones.
template <class T>
T length_of(const T* numbers, std::int32_t count) {
  if (count == 1) return numbers[0];
  double squares = 0;
  for (std::int32_t c = 0; c < count; ++c) squares += double(numbers[c]) * double(numbers[c]);
  return static_cast<T>(std::sqrt(squares));
}

/// A model's columns of the blocks w and g: one, or all of its classes if penalties are grouped.
template <class T>
struct ModelColumns {
  const T* w;
  const T* g;  ///< the last full product
  std::int64_t stride;
  std::int32_t group;
  const T* weights(std::int64_t j) const { return w + j * stride; }
  const T* products(std::int64_t j) const { return g + j * stride; }
  T weight(std::int64_t j) const { return length_of(weights(j), group); }
};

template <class T>
class FeatureScreen {
 public:
  FeatureScreen(std::int64_t id, std::int64_t features, std::int32_t group)
      : id_(id), features_(features), group_(group), products_(static_cast<std::size_t>(group)) {}

  std::int64_t id() const { return id_; }
  /// Features with a weight.
  std::vector<std::int32_t>& weighted() { return weighted_; }
  GramSystem& gram() { return gram_; }

  /// The residuals have changed.
  void forget() { met_ = false; }
  /// Takes note of the present residuals.
  void meet(const ModelTask<T>& task, const T* u, std::int64_t stride) {
    if (met_) return;
    met_ = true;
    now_.resize(static_cast<std::size_t>(task.examples * group_));
    for (std::int32_t c = 0; c < group_; ++c) {
      T* now = now_.data() + c * task.examples;
      for (std::int64_t i = 0; i < task.examples; ++i) now[i] = u[i * stride + c];
    }
    known_ = false;
    if (!before_.empty()) measure(task);
  }

  /// The present residuals have become u0: the caller computes their product and calls refer_feature() for all.
  void refer(const ModelTask<T>& task) {
    before_ = now_;
    if (near_.empty()) {
      near_.resize(static_cast<std::size_t>(features_));
      reach_.resize(near_.size());
      inverse_.resize(near_.size());
      others_.resize(near_.size());
      if (task.intercept && !task.balanced) lean_.resize(near_.size());
      for (std::int64_t j = 0; j < features_; ++j) take_units(task, j);
    }
    share_ = 1;
    distance_ = 0;
    tilt_ = 0;
    spent_ = 0;
    known_ = true;
    nearest_ = -1;
  }
  /// `products` are neighbouring numbers.
  void refer_feature(std::int64_t j, const T* products) {
    const auto at = static_cast<std::size_t>(j);
    near_[at] = std::abs(static_cast<float>(length_of(products, group_))) * inverse_[at];
  }

  /// Sums over the features for the gap. Returns false if a full product is cheaper than the features to be examined.
  template <class Columns>
  bool feature_sums(const Columns& x, const ModelTask<T>& task, const ModelColumns<T>& columns,
                    std::span<const std::int32_t> free, FeatureSums& sums) {
    if (before_.empty()) {  // a new model
      weighted_.clear();
      for (std::int64_t j = 0; j < features_; ++j)
        if (columns.weight(j) != 0) weighted_.push_back(static_cast<std::int32_t>(j));
      return false;
    }
    if (task.alpha1 <= 0 && !known_) return false;
    sums = {};
    looked_.clear();
    if (task.alpha1 <= 0) {
      for (std::int64_t j = 0; j < features_; ++j) look(x, task, columns, static_cast<std::int32_t>(j), sums);
      return true;
    }
    if (nearest_ < 0)
      nearest_ = static_cast<std::int32_t>(std::max_element(near_.begin(), near_.end()) - near_.begin());
    for (const auto j : weighted_) look(x, task, columns, j, sums);
    for (const auto j : free)
      if (columns.weight(j) == 0) look(x, task, columns, j, sums);
    if (features_ > 0 && columns.weight(nearest_) == 0) look(x, task, columns, nearest_, sums);
    // Beyond the largest ratio so far nothing may be missed; if bounds may be exceeded at a price, neither may that.
    // With limits, dual points are never scaled up: ratios below 1 do not matter.
    const double ratio = task.limits != nullptr ? 1.0 : task.alpha2 > 0 ? std::min(sums.ratio, 1.0) : sums.ratio;
    limit_ = static_cast<float>(ratio * task.alpha1 * task.total * (1 - rounding));
    const auto others = std::span(others_).first(
        with_bound([&](const auto& bound) { return list_above(near_.size(), bound, limit_, others_.data()); }));
    if (!known_ && too_many(others.size())) return false;
    for (const auto j : others)
      if (columns.weight(j) == 0 && j != nearest_) look(x, task, columns, j, sums);
    return true;
  }

  /// The working set of at most `count` features; see FeatureChoice. `ratio` is that of feature_sums().
  void choose(const ModelTask<T>& task, const ModelColumns<T>& columns, std::int32_t count, double ratio, double scale,
              double radius, std::vector<std::int32_t>& set) {
    std::int32_t counts[ratio_buckets] = {};
    candidates_.clear();
    const auto add = [&](std::int32_t j, double pull) {
      const int bucket = feature_bucket(task, j, pull, columns.weight(j), scale, radius);
      if (bucket < 0) return;
      ++counts[bucket];
      candidates_.push_back({j, bucket});
    };
    for (const auto& [j, pull] : looked_) add(j, pull);
    if (task.alpha1 > 0) {
      // Features that may reach their bounds at the end if they approach them as fast as alpha falls.
      const double nearly = std::clamp(2 - ratio, 0.3, 0.9);
      const auto low = static_cast<float>(nearly * task.alpha1 * task.total);
      const auto about = [share = share(), near = near_.data()](std::size_t j) { return share * near[j]; };
      const std::size_t others = list_above(near_.size(), about, low, others_.data());
      with_bound([&](const auto& bound) {
        for (const auto j : std::span(others_).first(others)) {
          const bool looked = bound(static_cast<std::size_t>(j)) > limit_;
          if (!looked && columns.weight(j) == 0 && j != nearest_)
            add(j, std::abs(share_) * pull_length(task, j, columns.products(j), group_));
        }
        return others;
      });
    }
    const int lowest = lowest_bucket(counts, count);
    set.clear();
    for (const auto& candidate : candidates_)
      if (candidate.bucket >= lowest) set.push_back(candidate.feature);
  }

 private:
  struct Looked {
    std::int32_t feature;
    double pull;
  };
  struct Candidate {
    std::int32_t feature;
    int bucket;
  };
  /// More than what single precision rounds away.
  static constexpr double rounding = 1e-5;

  static float upward(double value) { return static_cast<float>(value * (1 + 1e-6)); }
  float share() const { return upward(std::abs(share_)); }
  float distance() const { return upward(distance_); }
  /// use(bound): bound(j) is at least |x'u| over the penalty of feature j at alpha1 = 1.
  template <class Use>
  std::size_t with_bound(const Use& use) const {
    const auto balanced = [share = share(), distance = distance(), near = near_.data(),
                           reach = reach_.data()](std::size_t j) { return share * near[j] + distance * reach[j]; };
    if (lean_.empty()) return use(balanced);
    return use(
        [balanced, tilt = upward(tilt_), lean = lean_.data()](std::size_t j) { return balanced(j) + tilt * lean[j]; });
  }
  /// Inverse unit and reach of a feature; 0 if it has no penalty or is constant, so that it is never found.
  void take_units(const ModelTask<T>& task, std::int64_t j) {
    const auto at = static_cast<std::size_t>(j);
    const double unit = task.factor(j) * task.unit(j);
    const double reach = task.curvature(j);
    const bool counts = unit > 0 && reach > 0;
    inverse_[at] = counts ? upward(1 / unit) : 0;
    reach_[at] = counts ? upward(std::sqrt(task.total * reach) / unit) : 0;
    if (!lean_.empty()) lean_[at] = counts ? upward(std::abs(double(task.mean(j))) / unit) : 0;
  }

  /// u = share u0 + rest, the length of the rest and its sum.
  void measure(const ModelTask<T>& task) {
    const auto rows = static_cast<std::size_t>(task.examples);
    double both = 0;
    double squares = 0;
    double now = 0;
    for (std::size_t at = 0; at < now_.size(); ++at) {
      const double s = task.weight(static_cast<std::int64_t>(at % rows));
      if (!(s > 0)) continue;
      both += double(now_[at]) * double(before_[at]) / s;
      squares += double(before_[at]) * double(before_[at]) / s;
      now += double(now_[at]) * double(now_[at]) / s;
    }
    share_ = squares > 0 ? both / squares : 0;
    double rest = 0;
    double sums = 0;  // of the rest of each class, squared
    for (std::size_t first = 0; first < now_.size(); first += rows) {
      double sum = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const double s = task.weight(static_cast<std::int64_t>(i));
        const double e = double(now_[first + i]) - share_ * double(before_[first + i]);
        rest += s > 0 ? e * e / s : 0;
        sum += e;
      }
      sums += sum * sum;
    }
    // Numbers this small are rounding.
    distance_ = std::sqrt(rest) + 1e-14 * std::sqrt(now);
    tilt_ = std::sqrt(sums) + 1e-14 * std::sqrt(task.total * now);
  }

  /// In a product for all features, with the other models, a feature costs a fraction of what it costs here.
  bool too_many(std::size_t others) {
    const auto wanted = static_cast<std::int64_t>(others + weighted_.size());
    spent_ += wanted;
    return wanted > features_ / 16 || spent_ > features_ / 4;
  }

  template <class Columns>
  void look(const Columns& x, const ModelTask<T>& task, const ModelColumns<T>& columns, std::int32_t j,
            FeatureSums& sums) {
    const T* products = columns.products(j);
    if (!known_) {
      for (std::int32_t c = 0; c < group_; ++c)
        products_[static_cast<std::size_t>(c)] = x.whole_dot(j, now_.data() + c * task.examples);
      products = products_.data();
    }
    looked_.push_back({j, pull_length(task, j, products, group_)});
    const auto penalty = task.penalty(j);
    const double curvature = task.curvature(j) * task.loss_curvature;
    const auto g = [&](std::int32_t c) { return double(products[c]) / task.total; };
    const auto w = [&](std::int32_t c) { return double(columns.weights(j)[c]); };
    if (group_ == 1 && task.limits != nullptr) return sums.add(g(0), w(0), penalty, curvature, task.limits_of(j));
    if (group_ == 1) return sums.add(g(0), w(0), penalty, curvature);
    if (task.limits != nullptr) return sums.add_row(group_, g, w, penalty, curvature, task.limits_of(j));
    GroupSquares squares;
    for (std::int32_t c = 0; c < group_; ++c) squares.add(g(c), w(c), penalty.p2);
    sums.add(squares, penalty, curvature);
  }

  std::int64_t id_, features_;
  std::int32_t group_;           // how many columns a penalty is for
  std::vector<T> products_;      // x'u of one feature
  std::vector<T> now_, before_;  // u and u0
  std::vector<float> near_;      // |x'u0| over the feature's penalty at alpha1 = 1, not less
  std::vector<float> inverse_;   // 1 over the feature's penalty at alpha1 = 1
  std::vector<float> reach_;     // the length of the feature over the same, not less
  std::int32_t nearest_ = -1;    // the feature with the largest of near_
  std::vector<float> lean_;      // the mean of the feature over the same, not less; empty: residuals sum to 0
  double share_ = 0, distance_ = 0, tilt_ = 0;
  std::int64_t spent_ = 0;  // products since u0
  bool met_ = false;        // now_ is the model's u
  bool known_ = false;      // u is u0: all products are there
  float limit_ = 0;         // above it feature_sums() has looked
  std::vector<Looked> looked_;
  std::vector<std::int32_t> others_, weighted_;
  std::vector<Candidate> candidates_;
  GramSystem gram_;
};

}  // namespace sheaf::linear
