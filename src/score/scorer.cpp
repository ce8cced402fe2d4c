#include "score/scorer.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "score/terms.hpp"

namespace sheaf::score {
namespace {

/// The metrics among `wanted`, or among all, that suit the truth.
std::vector<Metric> suiting(std::span<const Metric> wanted, const Truth& truth, bool probabilities) {
  std::vector<Metric> result;
  for (const auto& row : metrics()) {
    const bool asked = wanted.empty() || std::find(wanted.begin(), wanted.end(), row.metric) != wanted.end();
    if (asked && row.suits(truth.classes, probabilities, !truth.events.empty())) result.push_back(row.metric);
  }
  return result;
}

/// The block in CPU memory, borrowed if it is there.
template <class T>
Array<T> on_cpu(BlockView<const T> block) {
  const auto values = Array<T>::over(block.data, block.rows * block.stride, block.device);
  return block.device.is_cpu() ? Array<T>::over(block.data, block.rows * block.stride) : values.to(Device::cpu());
}

double spread_in(const Truth& truth, std::size_t target, std::span<const std::int32_t> rows) {
  return spread_of(rows.size(), [&](std::size_t i) {
    return truth.values[static_cast<std::size_t>(rows[i]) * static_cast<std::size_t>(truth.targets) + target];
  });
}

}  // namespace

template <class T>
Scorer<T>::Scorer(const Context& context, const Truth& truth, bool probabilities, std::span<const Metric> wanted)
    : context_(context),
      truth_(truth),
      wanted_(suiting(wanted, truth, probabilities)),
      ops_(make_score_ops<T>(context, truth)),
      by_probability_(probabilities && truth.classes > 2) {
  for (const auto metric : wanted_) needs_ |= static_cast<unsigned>(metric_row(metric).need);
}

template <class T>
void Scorer<T>::load_tests(TestRows tests) {
  const auto count = static_cast<std::size_t>(tests.count());
  sizes_.assign(count, 0);
  const auto targets = static_cast<std::size_t>(truth_.targets);
  spreads_.assign(count * targets, 0);
  parallel_for(context_.threads(), tests.count(), [&](std::int64_t k) {
    const auto test = static_cast<std::int32_t>(k);
    const auto rows =
        std::span(tests.rows)
            .subspan(static_cast<std::size_t>(tests.begin(test)), static_cast<std::size_t>(tests.size(test)));
    sizes_[static_cast<std::size_t>(k)] = static_cast<double>(rows.size());
    for (std::size_t target = 0; target < targets && truth_.classes == 0; ++target)
      spreads_[static_cast<std::size_t>(k) * targets + target] = spread_in(truth_, target, rows);
  });
  if (keep_decisions_) kept_tests_ = tests;
  ops_->load_tests(std::move(tests));
}

template <class T>
std::vector<Scores> Scorer<T>::score(BlockView<const T> z, std::span<const std::int32_t> tests,
                                     BlockView<const std::int32_t> predicted) {
  context_.check_stop();
  std::vector<Scores> scores(tests.size());
  std::vector<Statistics> models(tests.size());
  std::vector<Ranking> rankings(needs(Need::rankings) ? static_cast<std::size_t>(z.tasks) : 0);
  for (std::size_t m = 0; m < models.size(); ++m) {
    models[m].rows = sizes_[static_cast<std::size_t>(tests[m])];
    models[m].positive = truth_.positive;
    models[m].quantile = truth_.quantile;
  }
  if (truth_.classes > 0) count_classes(z, predicted, tests, models, scores);
  if (needs(Need::rankings)) rank(z, tests, rankings, models, scores);
  if (needs(Need::survival)) sum_survival(z, tests, models);
  for (std::size_t m = 0; m < models.size(); ++m)
    for (const auto metric : wanted_)
      if (metric_row(metric).need != Need::errors)
        scores[m].values[static_cast<std::size_t>(metric)] = metric_row(metric).value(models[m]);
  if (needs(Need::errors)) score_errors(z, tests, models, scores);
  if (keep_decisions_) copy_decisions(z, predicted, tests, scores);
  return scores;
}

template <class T>
void Scorer<T>::count_classes(BlockView<const T> z, BlockView<const std::int32_t> predicted,
                              std::span<const std::int32_t> tests, std::span<Statistics> models,
                              std::span<Scores> scores) {
  const auto bins = static_cast<std::size_t>(count_bins(truth_.classes));
  std::vector<std::int64_t> counts(bins * models.size());
  std::vector<std::int64_t> ranks(needs(Need::true_ranks) ? true_rank_bins * models.size() : 0);
  std::vector<ProbabilitySums> sums(needs(Need::probabilities) ? models.size() : 0);
  ops_->count_classes(z, predicted, tests, {counts, ranks, sums});
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto mine = std::span(counts).subspan(m * bins, bins);
    models[m].classes = class_counts(mine, truth_.classes);
    if (!ranks.empty()) std::copy_n(&ranks[m * true_rank_bins], true_rank_bins, models[m].true_ranks.begin());
    if (!sums.empty()) models[m].probabilities = sums[m];
    scores[m].recall = recall_of_classes(models[m].classes);
    if (truth_.classes <= most_confused) scores[m].confusion.assign(mine.begin(), mine.end());
  }
}

template <class T>
void Scorer<T>::rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Ranking> rankings,
                     std::span<Statistics> models, std::span<Scores> scores) {
  const auto columns = static_cast<std::size_t>(ops_->columns());
  ops_->rank(z, tests, truth_.classes == 2 ? static_cast<std::int32_t>(roc_points) : 0, by_probability_, rankings);
  for (std::size_t m = 0; m < models.size(); ++m) {
    models[m].rankings = rankings.subspan(m * columns, columns);
    scores[m].roc = roc_curve(rankings[m * columns]);
    scores[m].precision_recall = precision_recall_curve(rankings[m * columns]);
  }
}

template <class T>
void Scorer<T>::score_errors(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Statistics> models,
                             std::span<Scores> scores) {
  const auto targets = static_cast<std::size_t>(truth_.targets);
  std::vector<std::int32_t> of_columns;
  for (const auto test : tests) of_columns.insert(of_columns.end(), targets, test);
  std::vector<ErrorSums> sums(of_columns.size());
  ops_->sum_errors(z, of_columns, sums);
  for (std::size_t m = 0; m < models.size(); ++m)
    for (const auto metric : wanted_) {
      if (metric_row(metric).need != Need::errors) continue;
      double sum = 0;
      for (std::size_t target = 0; target < targets; ++target) {
        models[m].errors = sums[m * targets + target];
        models[m].spread = spreads_[static_cast<std::size_t>(tests[m]) * targets + target];
        sum += metric_row(metric).value(models[m]);
      }
      scores[m].values[static_cast<std::size_t>(metric)] = sum / static_cast<double>(targets);
    }
}

template <class T>
void Scorer<T>::sum_survival(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<Statistics> models) {
  std::vector<SurvivalSums> sums(models.size());
  ops_->sum_survival(z, tests, sums);
  for (std::size_t m = 0; m < models.size(); ++m) models[m].survival = sums[m];
}

template <class T>
void Scorer<T>::copy_decisions(BlockView<const T> z, BlockView<const std::int32_t> predicted,
                               std::span<const std::int32_t> tests, std::span<Scores> scores) const {
  const auto values = on_cpu(z);
  const auto classes = on_cpu(predicted);
  const auto columns = ops_->columns();
  for (std::size_t m = 0; m < tests.size(); ++m) {
    const auto model = static_cast<std::int32_t>(m);
    for (const auto row : kept_tests_.list(tests[m])) {
      const T* mine = values.data() + std::int64_t{row} * z.stride + std::int64_t{model} * columns;
      scores[m].decisions.insert(scores[m].decisions.end(), mine, mine + columns);
      if (truth_.classes == 0) continue;
      const auto largest = columns == 1 ? (mine[0] > 0 ? 0 : 1) : largest_column(mine, columns);
      scores[m].predicted.push_back(classes.size() == 0 ? largest
                                                        : classes[std::int64_t{row} * predicted.stride + model]);
    }
  }
}

template class Scorer<float>;
template class Scorer<double>;

}  // namespace sheaf::score
