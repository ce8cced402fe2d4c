// Risk sets: the rows at risk at each time, as partial_likelihood.hpp needs them for all models over the same rows, in
// CPU memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/survival.hpp>

#include "statistics/partial_likelihood.hpp"

namespace sheaf {

struct RiskTables {
  std::vector<std::int32_t> order, first, last;  ///< as in RiskSets, likewise the next two lines
  std::vector<std::int32_t> stratum_first, stratum_last;
  std::vector<std::int32_t> entering, absent, before;
  std::vector<double> shares;     ///< rows x columns of weights
  std::vector<double> fractions;  ///< likewise; empty: all 0
};

/// `events`: 0 for rows without one. `weights`: rows x columns, those of a row side by side; empty: one column of ones.
/// `efron`: ties are treated as Efron does, else as Breslow.
RiskTables make_risk_tables(const RiskTimes& rows, std::span<const double> events, std::span<const float> weights,
                            std::int64_t columns, bool efron);
/// Risk sets over tables in memory of the CPU, under column `column` of `columns` of weights.
RiskSets<double> risk_sets_of(const RiskTables& tables, std::int64_t columns, std::int64_t column);

/// The tables on a device, in the precision of its models.
template <class T>
struct RiskArrays {
  Array<std::int32_t> order, first, last, stratum_first, stratum_last, entering, absent, before;
  Array<T> shares, fractions;
  std::int64_t columns = 1;

  RiskArrays() = default;
  RiskArrays(const RiskTables& tables, std::int64_t columns_of_weights, Device device)
      : order(Array<std::int32_t>::copy_of(tables.order, device)),
        first(Array<std::int32_t>::copy_of(tables.first, device)),
        last(Array<std::int32_t>::copy_of(tables.last, device)),
        stratum_first(Array<std::int32_t>::copy_of(tables.stratum_first, device)),
        stratum_last(Array<std::int32_t>::copy_of(tables.stratum_last, device)),
        entering(Array<std::int32_t>::copy_of(tables.entering, device)),
        absent(Array<std::int32_t>::copy_of(tables.absent, device)),
        before(Array<std::int32_t>::copy_of(tables.before, device)),
        shares(numbers(tables.shares, device)),
        fractions(numbers(tables.fractions, device)),
        columns(columns_of_weights) {}

  /// Risk sets of models under the first column of weights.
  RiskSets<T> sets() const {
    return {order.size(), order.data(),        first.data(),       last.data(),    shares.data(), some(fractions),
            columns,      some(stratum_first), some(stratum_last), some(entering), some(absent),  some(before)};
  }

 private:
  template <class Value>
  static const Value* some(const Array<Value>& values) {
    return values.size() > 0 ? values.data() : nullptr;
  }
  static Array<T> numbers(const std::vector<double>& values, Device device) {
    return Array<T>::copy_of(std::vector<T>(values.begin(), values.end()), device);
  }
};

}  // namespace sheaf
