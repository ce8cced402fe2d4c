// LIBSVM's grid.py: which pairs it tries in which order, and how svm-train -v rates them.
#include <algorithm>
#include <cmath>
#include <map>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "kernel/family/trainer.hpp"
#include "kernel/model/folds.hpp"

namespace sheaf {
namespace {

/// The middle first, then the middles of both halves in turn, and so on: any beginning of it is spread out.
std::vector<double> spread_out(std::span<const double> values) {
  std::vector<double> result;
  result.reserve(values.size());
  if (values.empty()) return result;
  const auto middle = values.size() / 2;
  result.push_back(values[middle]);
  const auto left = spread_out(values.first(middle));
  const auto right = spread_out(values.subspan(middle + 1));
  for (std::size_t k = 0; k < std::max(left.size(), right.size()); ++k) {
    if (k < left.size()) result.push_back(left[k]);
    if (k < right.size()) result.push_back(right[k]);
  }
  return result;
}

std::vector<double> steps(double from, double to, double step) {
  std::vector<double> values;
  for (double value = from; step > 0 ? value <= to : value >= to; value += step) values.push_back(value);
  return values;
}

/// Lines of the grid, one more cost or one more gamma at a time, whichever lags behind.
std::vector<GridRate> pairs_in_order() {
  const auto costs = spread_out(steps(-5, 15, 2));
  const auto gammas = spread_out(steps(3, -15, -2));
  std::vector<GridRate> pairs;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < costs.size() || j < gammas.size()) {
    if (i * gammas.size() < j * costs.size()) {
      for (std::size_t k = 0; k < j; ++k) pairs.push_back({costs[i], gammas[k], 0});
      ++i;
    } else {
      for (std::size_t k = 0; k < i; ++k) pairs.push_back({costs[k], gammas[j], 0});
      ++j;
    }
  }
  return pairs;
}

/// svm-train prints six digits, which is what grid.py compares.
double printed(double rate) { return std::stod(fmt::format("{:g}", rate)); }

double rate_of(std::span<const ModelScores> folds, const score::TestRows& tests, bool regression) {
  double sum = 0;
  double count = 0;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const auto size = static_cast<double>(tests.size(static_cast<std::int32_t>(f)));
    const double rmse = folds[f].score(Metric::rmse);
    sum += regression ? rmse * rmse * size : std::round(folds[f].score(Metric::accuracy) * size);
    count += size;
  }
  return printed(regression ? sum / count : 100 * sum / count);
}

engine::SplitTable table_of(const kernel::LibsvmFolds& dealt) {
  engine::SplitTable table;
  const auto folds = dealt.begins.size() - 1;
  table.weights.assign(dealt.order.size() * folds, 1.0F);
  for (std::size_t f = 0; f < folds; ++f) {
    table.splits.push_back(static_cast<std::int32_t>(f));
    for (auto k = dealt.begins[f]; k < dealt.begins[f + 1]; ++k) {
      const auto row = dealt.order[k];
      table.tests.rows.push_back(row);
      table.weights[static_cast<std::size_t>(row) * folds + f] = 0;
    }
    table.tests.begins.push_back(std::ssize(table.tests.rows));
  }
  return table;
}

}  // namespace

template <class T>
std::vector<GridRate> libsvm_grid(const Context& context, const Dataset<T>& dataset, const SvmOptions& given,
                                  std::int32_t folds) {
  const auto options = with_defaults(given, dataset.target);
  if (options.kind == SvmKind::one_class) fail_usage("one class has no accuracy to search by");
  const auto labels = kernel::make_svm_labels(dataset.target, dataset.source, dataset.rows(), options);
  kernel::CRandom random(context.seed());
  const auto table = table_of(kernel::deal_folds(labels, folds, random));
  const auto quiet = context.with({.progress = &silent_progress()});
  engine::SvmTrainer<T> trainer(quiet, dataset, labels, options);
  trainer.load(table);
  KernelCounts counts;
  auto rates = pairs_in_order();
  std::map<double, std::vector<std::size_t>> by_gamma;
  for (std::size_t k = 0; k < rates.size(); ++k) by_gamma[rates[k].log2_gamma].push_back(k);
  const auto count = table.splits.size();
  const Stage stage(context.progress(), "searching", static_cast<std::int64_t>(by_gamma.size()));
  for (const auto& [gamma, places] : by_gamma) {
    std::vector<engine::SvmJob> models;
    for (const auto place : places)
      for (std::size_t f = 0; f < count; ++f)
        models.push_back({static_cast<std::int32_t>(f), std::exp2(rates[place].log2_cost)});
    const auto scores = trainer.train(std::exp2(gamma), options.degree, models, counts);
    for (std::size_t k = 0; k < places.size(); ++k)
      rates[places[k]].rate =
          rate_of(std::span(scores).subspan(k * count, count), table.tests, is_regression(*options.kind));
    context.progress().advance(1);
  }
  return rates;
}

GridRate best_of(std::span<const GridRate> rates) {
  GridRate best;
  best.rate = -1;
  for (const auto& one : rates)
    if (one.rate > best.rate ||
        (one.rate == best.rate && one.log2_gamma == best.log2_gamma && one.log2_cost < best.log2_cost))
      best = one;
  return best;
}

template std::vector<GridRate> libsvm_grid(const Context&, const Dataset<float>&, const SvmOptions&, std::int32_t);
template std::vector<GridRate> libsvm_grid(const Context&, const Dataset<double>&, const SvmOptions&, std::int32_t);

}  // namespace sheaf
