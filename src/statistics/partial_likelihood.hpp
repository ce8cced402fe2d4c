// Cox's partial likelihood of rows in the order of their times: value, derivatives, dual value, products with the
// second derivative. Sums over risk sets are running sums over the sorted rows, so that each costs one pass. Written
// once over a team of threads, which is one thread of a CPU, or a warp or a block of a GPU. Rows of strata stand one
// stratum after another, and sums start anew at each.
//
// With row weights s, decision values z and e = s exp(z), the loss of all rows is
//
//   sum over events k of share_k log(R_k - fraction_k E_k) - s_k z_k
//
// with R the sum of e over the rows at risk (times of t_k and later) and E over the events at t_k. Breslow: share = s,
// fraction = 0. Efron (The efficiency of Cox's likelihood function for censored data, 1977): of m events at one time
// the l-th, from 0 on, has the fraction l / m, and each the mean of their weights as its share. Rows of weight 0 are
// no part of anything.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace sheaf {

/// Data of a model's rows besides their decision values. A place is a position in the order of strata, then times.
template <class T>
struct RiskSets {
  std::int64_t rows = 0;
  const std::int32_t* order = nullptr;  ///< of each place: the row
  const std::int32_t* first = nullptr;  ///< of each place: the first place of the same time
  const std::int32_t* last = nullptr;   ///< and the last
  const T* shares = nullptr;            ///< of rows; 0 for rows without an event or of weight 0
  const T* fractions = nullptr;         ///< of rows; nullptr: all 0
  std::int64_t stride = 1;              ///< from one row's share and fraction to the next
  // Without strata nullptr: one stratum of all places. A stratum has the same positions in every order.
  const std::int32_t* stratum_first = nullptr;  ///< of each place: the first of its stratum
  const std::int32_t* stratum_last = nullptr;   ///< and the last
  // If rows enter late, else nullptr:
  const std::int32_t* entering = nullptr;  ///< places in the order of strata, then entries
  const std::int32_t* absent = nullptr;    ///< of each place: the first in it that enters at its time or later
  const std::int32_t* before = nullptr;    ///< of each place: the last one of a time up to its entry; -1: none

  SHEAF_HOST_DEVICE double share(std::int64_t place) const {
    return static_cast<double>(shares[order[place] * stride]);
  }
  SHEAF_HOST_DEVICE double fraction(std::int64_t place) const {
    return fractions != nullptr ? static_cast<double>(fractions[order[place] * stride]) : 0.0;
  }
  SHEAF_HOST_DEVICE bool begins_stratum(std::int64_t at) const {
    return stratum_first != nullptr && stratum_first[at] == at;
  }
  SHEAF_HOST_DEVICE bool ends_stratum(std::int64_t at) const {
    return stratum_last != nullptr && stratum_last[at] == at;
  }
};

/// A team of one thread.
struct OneThread {
  SHEAF_HOST_DEVICE static constexpr std::int32_t rank() { return 0; }
  SHEAF_HOST_DEVICE static constexpr std::int32_t size() { return 1; }
  SHEAF_HOST_DEVICE static void sync() {}
  SHEAF_HOST_DEVICE static double sum(double value) { return value; }
  SHEAF_HOST_DEVICE static double largest(double value) { return value; }
  /// The sum over the threads before this one; those before the last one that starts anew are left out.
  SHEAF_HOST_DEVICE static double sum_before(double /*value*/, bool /*starts_anew*/) { return 0; }
};

/// store(k, value(j) + ... + value(k)) for all k < count, each by one thread, from the last j up to k at which sums
/// start anew. value(k) may not read what store() of another k writes.
template <class Team, class Anew, class Value, class Store>
SHEAF_HOST_DEVICE void running_sums(const Team& team, std::int64_t count, const Anew& starts_anew, const Value& value,
                                    const Store& store) {
  const std::int64_t begin = count * team.rank() / team.size();
  const std::int64_t end = count * (team.rank() + 1) / team.size();
  double sum = 0;
  if (team.size() > 1) {
    bool anew = false;
    for (std::int64_t k = begin; k < end; ++k) {
      if (starts_anew(k)) {
        sum = 0;
        anew = true;
      }
      sum += value(k);
    }
    sum = team.sum_before(sum, anew);
  }
  for (std::int64_t k = begin; k < end; ++k) {
    if (starts_anew(k)) sum = 0;
    sum += value(k);
    store(k, sum);
  }
  team.sync();
}

/// The partial likelihood at some decision values. Vectors are by place.
template <class Team, class T>
class PartialLikelihood {
 public:
  /// Vectors of doubles over the rows that it needs.
  static constexpr std::int32_t vectors = 11;

  SHEAF_HOST_DEVICE PartialLikelihood(const Team& team, const RiskSets<T>& sets, double* memory)
      : team_(team),
        sets_(sets),
        e_(memory),
        risk_(memory + sets.rows),
        tied_(memory + 2 * sets.rows),
        hazard_(memory + 3 * sets.rows),
        tied_hazard_(memory + 4 * sets.rows),
        a_(memory + 5 * sets.rows),
        b_(memory + 6 * sets.rows),
        c_(memory + 7 * sets.rows),
        d_(memory + 8 * sets.rows),
        absent_risk_(memory + 9 * sets.rows),
        absent_a_(memory + 10 * sets.rows) {}

  /// Sums over risk sets at the decision values z(row), under weights weight(row); returns the loss.
  template <class Z, class Weight>
  SHEAF_HOST_DEVICE double load(const Z& z, const Weight& weight) {
    double most = -HUGE_VAL;
    over_places([&](std::int64_t k) {
      const std::int64_t i = sets_.order[k];
      if (double(weight(i)) > 0 && double(z(i)) > most) most = z(i);
    });
    top_ = team_.largest(most);
    over_places([&](std::int64_t k) {
      const std::int64_t i = sets_.order[k];
      const double s = weight(i);
      e_[k] = s > 0 ? s * std::exp(double(z(i)) - top_) : 0.0;
    });
    team_.sync();
    add_risks();
    double loss = 0;
    over_places([&](std::int64_t k) {
      const double share = sets_.share(k);
      if (!(share > 0)) return;
      const std::int64_t i = sets_.order[k];
      loss += share * std::log(denominator(k)) - double(weight(i)) * (double(z(i)) - top_);
    });
    return team_.sum(loss);
  }

  /// s exp(z), times some number that is the same for all rows.
  SHEAF_HOST_DEVICE double exponential(std::int64_t place) const { return e_[place]; }
  /// The same sums from what exponential() was.
  template <class Exponential>
  SHEAF_HOST_DEVICE void load_exponentials(const Exponential& exponential) {
    over_places([&](std::int64_t k) { e_[k] = exponential(k); });
    team_.sync();
    add_risks();
  }

  /// How many events were to be expected of a row: the derivative of the loss in z is this less s if there is one.
  SHEAF_HOST_DEVICE double expected(std::int64_t place) const { return e_[place] * hazard(place); }
  /// R - fraction E of an event.
  SHEAF_HOST_DEVICE double denominator(std::int64_t place) const {
    double value = at_risk(risk_, absent_risk_, place);
    if (sets_.fractions != nullptr) value -= sets_.fraction(place) * of_time(tied_, place);
    const double own = (1 - sets_.fraction(place)) * e_[place];  // what rounding may not take away
    const double least = own > tiny ? own : tiny;
    return value > least ? value : least;
  }
  /// Sum over the event times at which a row is at risk of 1 / its denominator, times the share.
  SHEAF_HOST_DEVICE double hazard(std::int64_t place) const {
    double value = hazard_[sets_.last[place]];
    if (sets_.before != nullptr && sets_.before[place] >= 0) value -= hazard_[sets_.before[place]];
    if (sets_.fractions != nullptr && sets_.share(place) > 0) value -= at_time(tied_hazard_, place);
    return value;
  }
  /// direction' (second derivative) direction, for direction(row).
  template <class Direction>
  SHEAF_HOST_DEVICE double quadratic(const Direction& direction) {
    const bool tied = sets_.fractions != nullptr;
    const auto moved = [&](std::int64_t k) { return e_[k] * double(direction(sets_.order[k])); };
    sum_at_risk(moved, a_, absent_a_);
    if (tied) sum_later([&](std::int64_t k) { return sets_.share(k) > 0 ? moved(k) : 0.0; }, b_);
    double sum = 0;
    over_places([&](std::int64_t k) {
      sum += moved(k) * double(direction(sets_.order[k])) * hazard(k);
      const double share = sets_.share(k);
      if (!(share > 0)) return;
      const double mean = mean_direction(k);
      sum -= share * mean * mean;
    });
    team_.sync();
    return team_.sum(sum);
  }

  /// use(row, (second derivative * direction) of the row), for direction(row).
  template <class Direction, class Use>
  SHEAF_HOST_DEVICE void multiply(const Direction& direction, const Use& use) {
    const bool tied = sets_.fractions != nullptr;
    const auto moved = [&](std::int64_t k) { return e_[k] * double(direction(sets_.order[k])); };
    sum_at_risk(moved, a_, absent_a_);
    if (tied) sum_later([&](std::int64_t k) { return sets_.share(k) > 0 ? moved(k) : 0.0; }, b_);
    const auto mean = [&](std::int64_t k) {
      const double share = sets_.share(k);
      return share > 0 ? share / denominator(k) * mean_direction(k) : 0.0;
    };
    sum_earlier(mean, c_);
    if (tied) sum_earlier([&](std::int64_t k) { return sets_.fraction(k) * mean(k); }, d_);
    over_places([&](std::int64_t k) {
      const std::int64_t i = sets_.order[k];
      double means = c_[sets_.last[k]];
      if (sets_.before != nullptr && sets_.before[k] >= 0) means -= c_[sets_.before[k]];
      if (tied && sets_.share(k) > 0) means -= at_time(d_, k);
      use(i, e_[k] * (double(direction(i)) * hazard(k) - means));
    });
    team_.sync();
  }

  /// A lower bound of min over z of loss(z) + scale * sum of u z, for u = s - expected() of events and - expected() of
  /// others and 0 <= scale <= 1; exact for scale = 1, and within (1 - scale)^2 of the minimum below. For scale = 0 the
  /// least loss there is. z and weight as in load().
  ///
  /// The loss is a sum of log-sum-exp functions, of which the dual of each is minus the entropy relative to s of a
  /// distribution over the rows at risk, with the mass (1 - scale) s + scale expected() on each row in all. Rows that
  /// have no event then get `scale` of what they have at z, and events of one time share the rest of that time's terms
  /// in proportion to what each needs.
  template <class Z, class Weight>
  SHEAF_HOST_DEVICE double dual_value(double scale, const Z& z, const Weight& weight) {
    const auto shifted = [&](std::int64_t k) { return double(z(sets_.order[k])) - top_; };
    const auto event = [&](std::int64_t k) { return sets_.share(k) > 0; };
    sum_at_risk([&](std::int64_t k) { return e_[k] > 0 ? e_[k] * shifted(k) : 0.0; }, a_, absent_a_);
    sum_later([&](std::int64_t k) { return event(k) ? e_[k] * shifted(k) : 0.0; }, b_);
    if (sets_.fractions == nullptr) sum_later([&](std::int64_t k) { return event(k) ? e_[k] : 0.0; }, tied_);
    sum_earlier([&](std::int64_t k) { return sets_.share(k); }, c_);
    const double log_scale = scale > 0 ? std::log(scale) : 0.0;
    double sum = 0;
    over_places([&](std::int64_t k) {
      const double share = sets_.share(k);
      if (!(share > 0)) return;
      const bool alone = sets_.first[k] == sets_.last[k];
      const double below = denominator(k);
      const double tied = alone ? e_[k] : positive(of_time(tied_, k));
      const double tied_z = alone ? e_[k] * shifted(k) : of_time(b_, k);
      const double others = positive(at_risk(risk_, absent_risk_, k) - tied) / below;
      const double others_z = (at_risk(a_, absent_a_, k) - tied_z) / below;
      const double left = 1 - sets_.fraction(k);
      const double mass = 1 - scale + scale * left * tied / below;
      sum += share * (scale * (others * (log_scale - std::log(below)) + others_z) + entropy(mass, left));
      // The need of this row, and that of all events of its time.
      const double s = weight(sets_.order[k]);
      double own_hazard = at_time(hazard_, k);
      if (sets_.fractions != nullptr) own_hazard -= at_time(tied_hazard_, k);
      const double needed = (1 - scale) * s + scale * own_hazard * e_[k];
      const double all = (1 - scale) * at_time(c_, k) + scale * own_hazard * tied;
      if (needed > 0) sum += needed * (std::log(needed / s) - std::log(all > tiny ? all : tiny));
    });
    team_.sync();
    return -team_.sum(sum);
  }

 private:
  static constexpr double tiny = 1e-300;

  template <class F>
  SHEAF_HOST_DEVICE void over_places(const F& f) const {
    for (std::int64_t k = team_.rank(); k < sets_.rows; k += team_.size()) f(k);
  }
  static SHEAF_HOST_DEVICE double positive(double value) { return value > 0 ? value : 0; }
  /// mass log(mass / left).
  static SHEAF_HOST_DEVICE double entropy(double mass, double left) {
    return mass > 0 ? mass * std::log(mass / left) : 0.0;
  }

  /// out[k] = the sum of value over k and all earlier places of its stratum.
  template <class Value>
  SHEAF_HOST_DEVICE void sum_earlier(const Value& value, double* out) {
    running_sums(
        team_, sets_.rows, [&](std::int64_t k) { return sets_.begins_stratum(k); }, value,
        [&](std::int64_t k, double sum) { out[k] = sum; });
  }
  /// out[k] = the sum of value over k and all later places of its stratum.
  template <class Value>
  SHEAF_HOST_DEVICE void sum_later(const Value& value, double* out) {
    const std::int64_t last = sets_.rows - 1;
    running_sums(
        team_, sets_.rows, [&](std::int64_t k) { return sets_.ends_stratum(last - k); },
        [&](std::int64_t k) { return value(last - k); }, [&](std::int64_t k, double sum) { out[last - k] = sum; });
  }
  /// Sums over later places, and those over places that enter later, for at_risk().
  template <class Value>
  SHEAF_HOST_DEVICE void sum_at_risk(const Value& value, double* out, double* absent) {
    sum_later(value, out);
    if (sets_.entering != nullptr) sum_later([&](std::int64_t k) { return value(sets_.entering[k]); }, absent);
  }
  /// The sum over the rows at risk at the time of a place.
  SHEAF_HOST_DEVICE double at_risk(const double* sums, const double* absent, std::int64_t place) const {
    const double followed = sums[sets_.first[place]];
    return sets_.absent != nullptr && sets_.absent[place] >= 0 ? followed - absent[sets_.absent[place]] : followed;
  }
  /// From sums over later places, the sum over the places of the same time.
  SHEAF_HOST_DEVICE double of_time(const double* sums, std::int64_t place) const {
    const std::int64_t last = sets_.last[place];
    const bool more = last + 1 < sets_.rows && !sets_.ends_stratum(last);
    return sums[sets_.first[place]] - (more ? sums[last + 1] : 0.0);
  }
  /// Same for sums over earlier places.
  SHEAF_HOST_DEVICE double at_time(const double* sums, std::int64_t place) const {
    const std::int64_t first = sets_.first[place];
    return sums[sets_.last[place]] - (first > 0 && !sets_.begins_stratum(first) ? sums[first - 1] : 0.0);
  }
  /// The mean over the rows at risk; a_ and b_ are sums over later places, of all rows and of events.
  SHEAF_HOST_DEVICE double mean_direction(std::int64_t place) const {
    double sum = at_risk(a_, absent_a_, place);
    if (sets_.fractions != nullptr) sum -= sets_.fraction(place) * of_time(b_, place);
    return sum / denominator(place);
  }

  /// Everything that follows from e.
  SHEAF_HOST_DEVICE void add_risks() {
    const bool tied = sets_.fractions != nullptr;
    sum_at_risk([&](std::int64_t k) { return e_[k]; }, risk_, absent_risk_);
    if (tied) sum_later([&](std::int64_t k) { return sets_.share(k) > 0 ? e_[k] : 0.0; }, tied_);
    const auto rate = [&](std::int64_t k) {
      const double share = sets_.share(k);
      return share > 0 ? share / denominator(k) : 0.0;
    };
    sum_earlier(rate, hazard_);
    if (tied) sum_earlier([&](std::int64_t k) { return sets_.fraction(k) * rate(k); }, tied_hazard_);
  }

  const Team& team_;
  const RiskSets<T>& sets_;
  double top_ = 0;
  double* e_;            // s exp(z - top)
  double* risk_;         // R, as sums over later places
  double* tied_;         // E, likewise
  double* hazard_;       // sums over earlier places of share / denominator
  double* tied_hazard_;  // the same times the fraction
  double *a_, *b_, *c_, *d_;
  double *absent_risk_, *absent_a_;  // risk_ and a_ over places that enter later
};

}  // namespace sheaf
