#include "score/scorer.hpp"

#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "score/terms.hpp"

namespace sheaf::score {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

Scores nothing_known() {
  Scores result;
  result.values.fill(undefined);
  return result;
}

double& at(Scores& scores, Metric metric) { return scores.values[static_cast<std::size_t>(metric)]; }

double spread_of(std::span<const double> amounts, std::span<const std::int32_t> rows) {
  double mean = 0;
  for (const auto row : rows) mean += amounts[static_cast<std::size_t>(row)] / static_cast<double>(rows.size());
  double spread = 0;
  for (const auto row : rows) {
    const double distance = amounts[static_cast<std::size_t>(row)] - mean;
    spread += distance * distance;
  }
  return spread;
}

}  // namespace

template <class T>
Scorer<T>::Scorer(const Context& context, const Truth& truth, bool probabilities)
    : truth_(truth),
      threads_(context.threads()),
      probabilities_(probabilities),
      ops_(make_score_ops<T>(context, truth_)) {}

template <class T>
void Scorer<T>::load_tests(TestRows tests) {
  const auto count = static_cast<std::size_t>(tests.count());
  sizes_.assign(count, 0);
  spreads_.assign(count, 0);
  parallel_for(threads_, tests.count(), [&](std::int64_t k) {
    const auto test = static_cast<std::int32_t>(k);
    const auto rows =
        std::span(tests.rows)
            .subspan(static_cast<std::size_t>(tests.begin(test)), static_cast<std::size_t>(tests.size(test)));
    sizes_[static_cast<std::size_t>(k)] = static_cast<double>(rows.size());
    if (truth_.classes == 0) spreads_[static_cast<std::size_t>(k)] = spread_of(truth_.values, rows);
  });
  ops_->load_tests(std::move(tests));
}

template <class T>
std::vector<Scores> Scorer<T>::score(BlockView<const T> z, std::span<const std::int32_t> tests,
                                     BlockView<const std::int32_t> /*predicted*/) {
  std::vector<Scores> models(tests.size(), nothing_known());
  if (truth_.classes == 0) {
    score_amounts(z, tests, models);
  } else {
    score_classes(z, tests, models);
    score_ranks(z, tests, models);
  }
  return models;
}

template <class T>
void Scorer<T>::score_classes(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models) {
  const auto bins = static_cast<std::size_t>(count_bins(truth_.classes));
  std::vector<std::int64_t> counts(bins * models.size());
  std::vector<double> losses(probabilities_ ? models.size() : 0);
  ops_->count_classes(z, tests, counts, losses);
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto mine = std::span(counts).subspan(m * bins, bins);
    const auto tally = tally_of(mine, truth_.classes);
    at(models[m], Metric::accuracy) = accuracy(tally);
    at(models[m], Metric::balanced_accuracy) = balanced_accuracy(tally);
    at(models[m], Metric::f1) = f1(tally, truth_.positive);
    if (probabilities_) at(models[m], Metric::log_loss) = losses[m] / sizes_[static_cast<std::size_t>(tests[m])];
    if (truth_.classes <= most_confused) models[m].confusion.assign(mine.begin(), mine.end());
  }
}

template <class T>
void Scorer<T>::score_ranks(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models) {
  const auto columns = static_cast<std::size_t>(ops_->columns());
  std::vector<Ranking> rankings(models.size() * columns);
  ops_->rank(z, tests, truth_.positive >= 0 ? static_cast<std::int32_t>(roc_points) : 0, rankings);
  for (std::size_t m = 0; m < models.size(); ++m) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += auc(rankings[m * columns + c]);
    at(models[m], Metric::auc) = sum / static_cast<double>(columns);
    models[m].roc = roc_curve(rankings[m * columns]);
  }
}

template <class T>
void Scorer<T>::score_amounts(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Scores> models) {
  std::vector<double> errors(models.size());
  ops_->sum_squares(z, tests, errors);
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto test = static_cast<std::size_t>(tests[m]);
    at(models[m], Metric::r2) = spreads_[test] > 0 ? 1 - errors[m] / spreads_[test] : undefined;
    at(models[m], Metric::rmse) = std::sqrt(errors[m] / sizes_[test]);
  }
}

template class Scorer<float>;
template class Scorer<double>;

}  // namespace sheaf::score
