// The truth that models are scored on, and the rows that each split tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/survival.hpp>

namespace sheaf::score {

/// The rows that some splits test, ascending, one list after another.
struct TestRows {
  std::vector<std::int64_t> begins{0};
  std::vector<std::int32_t> rows;
  /// Survival: rows x tests, 1 if a row is trained on; empty: none is.
  std::vector<std::uint8_t> trained;

  std::int32_t count() const { return static_cast<std::int32_t>(begins.size()) - 1; }
  std::int64_t begin(std::int32_t test) const { return begins[static_cast<std::size_t>(test)]; }
  std::int64_t size(std::int32_t test) const { return begin(test + 1) - begin(test); }
  std::span<const std::int32_t> list(std::int32_t test) const {
    return std::span(rows).subspan(static_cast<std::size_t>(begin(test)), static_cast<std::size_t>(size(test)));
  }
  std::int64_t largest() const {
    std::int64_t most = 0;
    for (std::int32_t test = 0; test < count(); ++test) most = std::max(most, size(test));
    return most;
  }
};

/// The labels that decision values are compared with. Their owner must outlive the scorer.
struct Truth {
  std::int32_t classes = 0;              // 0: regression
  std::int32_t positive = -1;            // two classes: the one of precision, recall, F1 and the curves
  std::span<const std::int32_t> labels;  // the class of each row
  std::span<const double> values;        // regression: rows x targets
  std::span<const std::uint8_t> events;  // survival: whether the event came at the time in `values`
  double quantile = 0.5;                 // regression: that predictions are of
  std::int32_t targets = 1;              // regression
  std::span<const double> entries = {};  // survival: as in RiskTimes, likewise strata
  std::span<const std::int32_t> strata = {};

  RiskTimes risk_times() const {
    return {{values.begin(), values.end()}, {entries.begin(), entries.end()}, {strata.begin(), strata.end()}};
  }
};

}  // namespace sheaf::score
