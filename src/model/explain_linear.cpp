#include "model/explain_linear.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/keep_largest.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

template <class T, class Work>
void for_stored(const Matrix<T>& x, std::int64_t i, std::int64_t features, const Work& work) {
  std::visit(
      [&](const auto& m) {
        pipeline::for_row(m, i, [&](std::int64_t j, T value) {
          if (j < features) work(j, static_cast<double>(value));
        });
      },
      x);
}

/// Adds up the contributions of the model's features that come from one feature of the dataset.
void merge(std::vector<Contribution>& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.feature < b.feature; });
  std::size_t kept = 0;
  for (const auto& one : list) {
    if (kept > 0 && list[kept - 1].feature == one.feature)
      list[kept - 1].amount += one.amount;
    else
      list[kept++] = one;
  }
  list.resize(kept);
}

}  // namespace

LinearExplainer::LinearExplainer(Coefficients weights, bool softmax, std::size_t targets, std::vector<double> reference,
                                 std::vector<std::int64_t> origins, std::size_t most)
    : weights_(std::move(weights)),
      targets_(targets),
      reference_(std::move(reference)),
      origins_(std::move(origins)),
      most_(most) {
  if (softmax) centre();
  const auto features = origins_.empty() ? 0 : *std::max_element(origins_.begin(), origins_.end()) + 1;
  absent_.resize(weights_.columns.size());
  for (std::int32_t c = 0; c < columns(); ++c) {
    auto& absent = absent_[static_cast<std::size_t>(c)];
    absent.amounts.assign(static_cast<std::size_t>(features), 0.0);
    absent.intercept = weights_.intercepts[static_cast<std::size_t>(c)];
    for (std::size_t j = 0; j < reference_.size(); ++j) {
      const double amount = reference_[j] * weights_.weight(static_cast<std::int64_t>(j), c);
      absent.intercept += amount;
      absent.sum -= amount;
      absent.amounts[static_cast<std::size_t>(origins_[j])] -= amount;
    }
    for (std::int64_t f = 0; f < features; ++f)
      if (absent.amounts[static_cast<std::size_t>(f)] != 0) absent.by_amount.push_back(f);
    std::stable_sort(absent.by_amount.begin(), absent.by_amount.end(), [&](auto a, auto b) {
      return std::abs(absent.amounts[static_cast<std::size_t>(a)]) >
             std::abs(absent.amounts[static_cast<std::size_t>(b)]);
    });
  }
}

void LinearExplainer::centre() {
  const auto count = weights_.columns.size();
  const auto take_mean = [&](std::span<double> of_classes) {
    const double mean = std::accumulate(of_classes.begin(), of_classes.end(), 0.0) / static_cast<double>(count);
    for (double& weight : of_classes) weight -= mean;
  };
  for (std::size_t at = 0; at < weights_.values.size(); at += count)
    take_mean(std::span(weights_.values).subspan(at, count));
  take_mean(weights_.intercepts);
}

template <class T>
Explanation LinearExplainer::explain(const Matrix<T>& prepared, std::int64_t i, std::int64_t target) const {
  Explanation result;
  result.column = each() > 1 ? static_cast<std::int32_t>(target) : largest_column(prepared, i);
  const auto& absent = absent_[static_cast<std::size_t>(result.column)];
  result.intercept = absent.intercept;
  std::vector<Contribution> list;
  for_stored(prepared, i, features(), [&](std::int64_t j, double value) {
    list.push_back({origins_[static_cast<std::size_t>(j)], 0, value * weights_.weight(j, result.column)});
  });
  merge(list);
  auto left = absent.by_amount.size();  // absent features, and their contributions together
  double others = absent.sum;
  const auto take = [&](std::int64_t feature) {
    const double amount = absent.amounts[static_cast<std::size_t>(feature)];
    if (amount != 0) --left;
    others -= amount;
    return amount;
  };
  for (auto& one : list) one.amount += take(one.feature);
  const auto stored = list.size();
  for (std::size_t k = 0; k < absent.by_amount.size() && list.size() < stored + most_ && left > 0; ++k) {
    const auto feature = absent.by_amount[k];
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(stored);
    const auto found = std::lower_bound(list.begin(), end, feature,
                                        [](const auto& one, std::int64_t wanted) { return one.feature < wanted; });
    if (found == end || found->feature != feature) list.push_back({feature, 0, take(feature)});
  }
  if (left > 0) result.rest = others;
  result.largest = std::move(list);
  keep_largest(most_, result);
  return result;
}

template <class T>
std::int32_t LinearExplainer::largest_column(const Matrix<T>& x, std::int64_t i) const {
  if (columns() == 1) return 0;
  auto sums = weights_.intercepts;
  for_stored(x, i, features(), [&](std::int64_t j, double value) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += value * weights_.weight(j, static_cast<std::int32_t>(c));
  });
  return static_cast<std::int32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

template Explanation LinearExplainer::explain(const Matrix<float>&, std::int64_t, std::int64_t) const;
template Explanation LinearExplainer::explain(const Matrix<double>&, std::int64_t, std::int64_t) const;

}  // namespace sheaf
