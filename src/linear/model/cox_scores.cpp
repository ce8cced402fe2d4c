// Score residuals of Cox models (Lin and Wei, The robust inference for the Cox proportional hazards model, 1989): the
// contribution of each row to the slope of the partial likelihood, as an event and as a row at risk.
//
// With the event terms k of core/partial_likelihood.hpp, D_k = R_k - fraction_k E_k and m_k the mean of x over that
// sum, the residual of row i at time t_i is
//
//   event_i (x_i - mean of m_k at t_i) - exp(z_i) sum over k up to t_i of share_k a_ik / D_k (x_i - m_k)
//
// over terms of its stratum after its entry, where a_ik is 1 - fraction_k for the events at the time of k and 1 for all
// other rows.
#include <cmath>
#include <map>

#include "data/row_subset.hpp"
#include "linear/model/glm_rows.hpp"
#include "linear/model/glm_statistics.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {
namespace {

/// Sums over event terms of share / D, and of that times m; `late`: the same times the fractions.
struct TermSums {
  explicit TermSums(std::size_t features) : x(features, 0.0), late_x(features, 0.0), mean(features, 0.0) {}

  double rate = 0, late_rate = 0;
  std::vector<double> x, late_x;
  std::vector<double> mean;  // of m
};

void add(double factor, std::span<const double> from, std::span<double> to) {
  for (std::size_t j = 0; j < to.size(); ++j) to[j] += factor * from[j];
}

template <class T>
class ScoreResiduals {
 public:
  ScoreResiduals(const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
                 std::span<const std::int32_t> groups)
      : dataset_(dataset),
        groups_(groups),
        sheaf_(problem.sheaf),
        tables_(
            make_risk_tables(sheaf_.risk, sheaf_.targets, sheaf_.row_weights, 1, problem.params.ties == Ties::efron)),
        features_(static_cast<std::size_t>(dataset.features())) {
    double highest = -HUGE_VAL;
    over_rows(sheaf_, [&](std::size_t i, double) { highest = std::max(highest, z[i]); });
    for (std::size_t i = 0; i < z.size(); ++i) hazards_.push_back(std::exp(std::min(0.0, z[i] - highest)));
  }

  /// The sum over rows, or groups, of products of their residuals, each times the row's weight.
  std::vector<double> products() {
    std::vector<TermSums> totals;  // of strata, the last one first
    walk_back([&](std::size_t, std::size_t last, const TermSums& terms) {
      if (ends_stratum(last)) totals.emplace_back(features_);
      totals.back().rate += terms.rate;
      add(1, terms.x, totals.back().x);
    });
    products_.assign(features_ * features_, 0.0);
    TermSums past(features_);                         // of the terms of a stratum up to a time
    std::map<std::size_t, std::vector<double>> open;  // residuals of rows that enter earlier, by place
    std::size_t stratum = 0, entering = 0;
    walk_back([&](std::size_t first, std::size_t last, const TermSums& terms) {
      if (ends_stratum(last)) {
        past = totals[stratum++];
        entering = last + 1;
      }
      for (; entering > 0 && enters_since(entering - 1, first); --entering)
        take_entered(static_cast<std::size_t>(tables_.entering[entering - 1]), past, open);
      for (std::size_t place = first; place <= last; ++place) {
        auto residual = residual_of(row_at(place), past, terms);
        if (enters_late(place))
          open.emplace(place, std::move(residual));
        else
          take(row_at(place), residual);
      }
      past.rate -= terms.rate;
      add(-1, terms.x, past.x);
    });
    for (const auto& [group, sum] : of_groups_) add_products(sum, products_);
    return products_;
  }

 private:
  std::size_t row_at(std::size_t place) const { return static_cast<std::size_t>(tables_.order[place]); }
  bool is_event(std::size_t row) const { return tables_.shares[row] > 0; }
  bool ends_stratum(std::size_t place) const {
    return tables_.stratum_last.empty() ? place + 1 == tables_.order.size()
                                        : static_cast<std::size_t>(tables_.stratum_last[place]) == place;
  }
  /// Whether events came before the row of a place entered.
  bool enters_late(std::size_t place) const { return !tables_.before.empty() && tables_.before[place] >= 0; }
  /// Whether the row at a position in the order of entries enters at the time of place `first` or later.
  bool enters_since(std::size_t position, std::size_t first) const {
    if (tables_.entering.empty()) return false;
    const auto place = static_cast<std::size_t>(tables_.entering[position]);
    return enters_late(place) && static_cast<std::size_t>(tables_.before[place]) >= first;
  }

  /// `past`: of the terms before it entered, for which it was not at risk.
  void take_entered(std::size_t place, const TermSums& past, std::map<std::size_t, std::vector<double>>& open) {
    const std::size_t row = row_at(place);
    auto residual = std::move(open.at(place));
    open.erase(place);
    const auto x = features_of(row);
    const double factor = weight_of(sheaf_, row) * hazards_[row];
    for (std::size_t j = 0; j < features_; ++j) residual[j] += factor * (x[j] * past.rate - past.x[j]);
    take(row, residual);
  }
  void take(std::size_t row, std::span<const double> residual) {
    if (groups_.empty())
      add_products(residual, products_);
    else
      add(1, residual, of_groups_.try_emplace(groups_[row], features_, 0.0).first->second);
  }

  std::vector<double> features_of(std::size_t row) const {
    std::vector<double> x(features_, 0.0);
    for_row_entries(dataset_.x, static_cast<std::int64_t>(row),
                    [&](std::int64_t j, T value) { x[static_cast<std::size_t>(j)] = static_cast<double>(value); });
    return x;
  }

  /// Calls visit(first place, last place, event terms) for each time, the latest first.
  template <class Visit>
  void walk_back(Visit&& visit) const {
    double at_risk = 0;
    std::vector<double> at_risk_x(features_, 0.0);
    std::size_t absent = 0;  // places from here on in the order of entries are not at risk
    for (std::size_t end = tables_.order.size(); end > 0;) {
      if (ends_stratum(end - 1)) {
        at_risk = 0;
        at_risk_x.assign(features_, 0.0);
        absent = end;
      }
      const auto first = static_cast<std::size_t>(tables_.first[end - 1]);
      double events = 0;
      std::vector<double> events_x(features_, 0.0);
      for (std::size_t place = first; place < end; ++place) {
        const std::size_t row = row_at(place);
        const double e = weight_of(sheaf_, row) * hazards_[row];
        const auto x = features_of(row);
        at_risk += e;
        add(e, x, at_risk_x);
        if (!is_event(row)) continue;
        events += e;
        add(e, x, events_x);
      }
      while (!tables_.absent.empty() && tables_.absent[first] >= 0 &&
             absent > static_cast<std::size_t>(tables_.absent[first])) {
        const std::size_t row = row_at(static_cast<std::size_t>(tables_.entering[--absent]));
        const double e = weight_of(sheaf_, row) * hazards_[row];
        at_risk -= e;
        add(-e, features_of(row), at_risk_x);
      }
      visit(first, end - 1, terms_of(first, end, at_risk, at_risk_x, events, events_x));
      end = first;
    }
  }

  TermSums terms_of(std::size_t first, std::size_t end, double at_risk, std::span<const double> at_risk_x,
                    double events, std::span<const double> events_x) const {
    TermSums sums(features_);
    double count = 0;
    for (std::size_t place = first; place < end; ++place) {
      const std::size_t row = row_at(place);
      if (!is_event(row)) continue;
      const double fraction = tables_.fractions.empty() ? 0.0 : tables_.fractions[row];
      const double whole = at_risk - fraction * events;
      const double rate = tables_.shares[row] / whole;
      sums.rate += rate;
      sums.late_rate += fraction * rate;
      count += 1;
      for (std::size_t j = 0; j < features_; ++j) {
        const double mean = (at_risk_x[j] - fraction * events_x[j]) / whole;
        sums.x[j] += rate * mean;
        sums.late_x[j] += fraction * rate * mean;
        sums.mean[j] += mean;
      }
    }
    for (double& mean : sums.mean) mean /= std::max(1.0, count);
    return sums;
  }

  void add_products(std::span<const double> residual, std::span<double> products) const {
    for (std::size_t j = 0; j < features_; ++j) add(residual[j], residual, products.subspan(j * features_, features_));
  }

  std::vector<double> residual_of(std::size_t row, const TermSums& past, const TermSums& now) const {
    const double weight = weight_of(sheaf_, row);
    if (!(weight > 0)) return std::vector<double>(features_, 0.0);
    const double event = is_event(row) ? 1 : 0;
    auto residual = features_of(row);
    for (std::size_t j = 0; j < features_; ++j) {
      const double x = residual[j];
      const double expected = x * (past.rate - event * now.late_rate) - (past.x[j] - event * now.late_x[j]);
      residual[j] = weight * (event * (x - now.mean[j]) - hazards_[row] * expected);
    }
    return residual;
  }

  const Dataset<T>& dataset_;
  std::span<const std::int32_t> groups_;
  const GlmSheaf& sheaf_;
  RiskTables tables_;
  std::size_t features_;
  std::vector<double> hazards_;  // exp(z), up to a factor
  std::vector<double> products_;
  std::map<std::int32_t, std::vector<double>> of_groups_;  // sums of residuals
};

}  // namespace

template <class T>
std::vector<double> cox_score_products(const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
                                       std::span<const std::int32_t> groups) {
  return ScoreResiduals<T>(dataset, problem, z, groups).products();
}

template std::vector<double> cox_score_products(const Dataset<float>&, const GlmProblem&, std::span<const double>,
                                                std::span<const std::int32_t>);
template std::vector<double> cox_score_products(const Dataset<double>&, const GlmProblem&, std::span<const double>,
                                                std::span<const std::int32_t>);

}  // namespace sheaf::linear
