// The tables that all models of a sheaf share on a CPU, and the moments of the features under its row weights.
#pragma once

#include <vector>

#include <sheaf/solvers/elastic_net.hpp>

#include "linear/net/columns_cpu.hpp"
#include "linear/net/ops.hpp"
#include "linear/net/row_sums.hpp"

namespace sheaf::linear {

template <class T>
class CpuTables {
 public:
  CpuTables(const CpuColumns<T>& x, const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
            std::span<const double> totals, int threads)
      : weight_columns_(sheaf.weight_columns),
        targets_(converted<T, double>(sheaf.targets, threads)),
        offsets_(converted<T, double>(sheaf.offsets, threads)),
        factors_(converted<T, double>(sheaf.penalty_factors, threads)),
        limits_(limits_of<T>(sheaf, x.features())),
        means_(x.features() * weight_columns_),
        variances_(x.features() * weight_columns_),
        units_(units_of<T>(sheaf, params, x.features())),
        risk_(risk, sheaf.weight_columns, Device::cpu()),
        standardise_(params.standardise) {
    const float* weights = sheaf.row_weights.empty() ? nullptr : sheaf.row_weights.data();
    first_ = linear::first_task(sheaf, params, weights, targets_, factors_, means_, variances_);
    if (limits_.size() > 0) first_.limits = limits_.data();
    if (units_.size() > 0) first_.units = units_.data();
    if (offsets_.size() > 0) first_.offsets = offsets_.data();
    if (!risk.order.empty()) first_.risk = risk_.sets();
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(factors_.size()); ++j)
      if (!(factors_[j] > 0)) unpenalised_.push_back(static_cast<std::int32_t>(j));
    x.with([&](const auto& columns) { take_moments(columns, x.features(), totals, threads); });
  }

  ModelTask<T> task_of(const ActiveModel& model) const { return first_.of(model); }
  /// Features without a penalty.
  std::span<const std::int32_t> unpenalised() const { return unpenalised_; }

 private:
  /// Columns of row weights whose moments are taken together.
  static constexpr std::int32_t moments_together = 8;

  /// Means and variances of all features under each column of row weights.
  template <class Columns>
  void take_moments(const Columns& x, std::int64_t features, std::span<const double> totals, int threads) {
    if constexpr (!requires { x.offsets; })
      if (weight_columns_ == 1) return take_dense_moments(x, features, totals[0], threads);
    for (std::int32_t first = 0; first < weight_columns_; first += moments_together) {
      const std::int32_t some = std::min(moments_together, weight_columns_ - first);
      // Columns that are not there have no weights.
      std::vector<double> weights(static_cast<std::size_t>(first_.examples * moments_together), 0.0);
      for (std::int32_t c = 0; c < some; ++c) {
        const auto task = first_.of({first + c});
        for (std::int64_t i = 0; i < first_.examples; ++i)
          weights[static_cast<std::size_t>(i * moments_together + c)] = double(task.weight(i));
      }
      parallel_ranges(threads, features, 64, [&](Range range) {
        for (std::int64_t j = range.begin; j < range.end; ++j)
          take_moments_of(x, static_cast<std::int32_t>(j), weights.data(),
                          totals.subspan(static_cast<std::size_t>(first)), first, some);
      });
    }
  }

  /// The same for dense columns and one column of row weights.
  template <class Columns>
  void take_dense_moments(const Columns& x, std::int64_t features, double total, int threads) {
    const auto rows = static_cast<std::size_t>(first_.examples);
    std::vector<double> weights(rows);
    for (std::size_t i = 0; i < rows; ++i) weights[i] = double(first_.weight(static_cast<std::int64_t>(i)));
    parallel_ranges(threads, features, 64, [&](Range range) {
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        const T* column = x.values + j * first_.examples;
        const double* s = weights.data();
        const double mean = covariance::sum_over(rows, [=](std::size_t i) { return s[i] * double(column[i]); }) / total;
        const double squares = covariance::sum_over(rows, [=](std::size_t i) {
          const double away = double(column[i]) - mean;
          return s[i] * away * away;
        });
        keep_moments(j, mean, variance_of(mean, squares, total, total));
      }
    });
  }
  void keep_moments(std::int64_t at, double mean, double variance) {
    means_[at] = static_cast<T>(mean);
    variances_[at] = static_cast<T>(variance);
    if (standardise_) units_[at] = std::sqrt(variances_[at]);
  }

  /// For `some` columns of row weights from `first` on, whose weights and totals are given. Means first, then the
  /// squares of the centred values, so that a large mean costs no digits.
  template <class Columns>
  void take_moments_of(const Columns& x, std::int32_t j, const double* weights, std::span<const double> totals,
                       std::int32_t first, std::int32_t some) {
    double sums[moments_together] = {};
    double seen[moments_together] = {};
    double squares[moments_together] = {};
    x.each(Single{}, j, [&](std::int32_t i, T value) {
      const double* s = weights + std::int64_t{i} * moments_together;
      for (int c = 0; c < moments_together; ++c) sums[c] += s[c] * double(value);
      for (int c = 0; c < moments_together; ++c) seen[c] += s[c];
    });
    for (std::int32_t c = 0; c < some; ++c) sums[c] /= totals[static_cast<std::size_t>(c)];
    x.each(Single{}, j, [&](std::int32_t i, T value) {
      const double* s = weights + std::int64_t{i} * moments_together;
      for (int c = 0; c < moments_together; ++c) {
        const double away = double(value) - sums[c];
        squares[c] += s[c] * away * away;
      }
    });
    for (std::int32_t c = 0; c < some; ++c) {
      const auto at = std::int64_t{j} * weight_columns_ + first + c;
      keep_moments(at, sums[c], variance_of(sums[c], squares[c], seen[c], totals[static_cast<std::size_t>(c)]));
    }
  }

  std::int32_t weight_columns_;
  Array<T> targets_, offsets_, factors_, limits_, means_, variances_, units_;
  RiskArrays<T> risk_;  // Cox
  bool standardise_;
  ModelTask<T> first_;  // of the first columns
  std::vector<std::int32_t> unpenalised_;
};

}  // namespace sheaf::linear
