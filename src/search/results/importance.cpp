#include "search/results/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <sheaf/solvers/losses.hpp>
#include <sheaf/solvers/stack.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/prepare/dense.hpp"
#include "family/values.hpp"
#include "pipeline/origins.hpp"
#include "score/scorer.hpp"

namespace sheaf::engine {
namespace {

constexpr std::uint64_t first_stream = 1U << 20U;  // of random numbers; those before are of the splits

/// Scores of decision values of the same rows by one metric.
class TestScore {
 public:
  TestScore(const Context& context, const Labels& labels, Metric metric, bool probabilities)
      : context_(context.with({.device = Device::cpu(), .threads = 1})),
        labels_(labels),
        metric_(metric),
        probabilities_(probabilities) {}

  std::int32_t columns() const { return labels_.columns(); }

  /// `values`: rows x (models * columns). `predicted`: rows x models; empty: the class of the largest column.
  std::vector<double> operator()(const Block<double>& values, const Block<std::int32_t>& predicted = {}) const {
    const std::vector<Metric> wanted{metric_};
    score::Scorer<double> scorer(context_, truth_of(labels_), probabilities_, wanted);
    score::TestRows all;
    for (std::int32_t i = 0; i < labels_.rows; ++i) all.rows.push_back(i);
    all.begins.push_back(labels_.rows);
    scorer.load_tests(std::move(all));
    const std::vector<std::int32_t> tests(static_cast<std::size_t>(values.tasks() / columns()), 0);
    std::vector<double> result;
    for (const auto& scores : scorer.score(values.view(), tests, predicted.view()))
      result.push_back(scores.score(metric_));
    return result;
  }

 private:
  Context context_;
  const Labels& labels_;
  Metric metric_;
  bool probabilities_;
};

using Shuffles = std::vector<std::vector<std::int32_t>>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Calls work(row, value) for the values of one column that are not 0, and perhaps for others.
template <class T, class Work>
void for_column(const Dataset<T>& dataset, std::int64_t column, const Work& work) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    for (std::int64_t i = 0; i < dense->rows; ++i)
      work(i, static_cast<double>(dense->values[i * dense->columns + column]));
    return;
  }
  const auto& x = dataset.by_columns(Device::cpu(), 1);
  for (auto k = x.offsets[column]; k < x.offsets[column + 1]; ++k)
    work(std::int64_t{x.indices[k]}, static_cast<double>(x.values[k]));
}

/// The score of a linear model after each shuffle of each feature: what the feature adds moves to other rows.
template <class T>
std::vector<double> scores_of_linear(const Context& context, const Model& model, const Dataset<T>& test,
                                     const Predictions& predictions, const Shuffles& shuffles, const TestScore& score,
                                     double before) {
  const auto weights = *model.trained().coefficients();
  const auto features = std::ssize(weights.feature_names);
  const auto columns = static_cast<std::int32_t>(weights.columns.size());
  const auto prepared = apply_pipeline(context, model.pipeline(), test);
  if (is_sparse(prepared.x)) prepared.by_columns(Device::cpu(), context.threads());
  std::vector<std::vector<std::int64_t>> made(static_cast<std::size_t>(test.features()));  // from each feature
  const auto origins = pipeline::origins(model.pipeline(), features);
  for (std::int64_t j = 0; j < features; ++j)
    for (std::int32_t c = 0; c < columns; ++c)
      if (weights.weight(j, c) != 0) {
        made[static_cast<std::size_t>(origins[static_cast<std::size_t>(j)])].push_back(j);
        break;
      }
  std::vector<double> result(made.size(), before);
  const auto rows = test.rows();
  parallel_for(context, test.features(), [&](std::int64_t feature) {
    const auto& own = made[static_cast<std::size_t>(feature)];
    if (own.empty()) return;
    Block<double> adds(rows, columns);
    for (const auto j : own)
      for_column(prepared, j, [&](std::int64_t i, double value) {
        for (std::int32_t c = 0; c < columns; ++c) adds(i, c) += value * weights.weight(j, c);
      });
    Block<double> values(rows, static_cast<std::int32_t>(shuffles.size()) * columns);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::size_t r = 0; r < shuffles.size(); ++r)
        for (std::int32_t c = 0; c < columns; ++c)
          values(i, static_cast<std::int32_t>(r) * columns + c) =
              predictions.decisions[static_cast<std::size_t>(i * columns + c)] - adds(i, c) +
              adds(shuffles[r][static_cast<std::size_t>(i)], c);
    result[static_cast<std::size_t>(feature)] = mean_of(score(values));
  });
  return result;
}

/// Decision values and classes of stacked copies of the rows, one copy a model.
struct Stacked {
  Block<double> values;
  Block<std::int32_t> classes;
};

Stacked unstack(const Model& model, const Predictions& predictions, std::int64_t rows, std::int32_t columns) {
  const auto copies = static_cast<std::int32_t>(predictions.rows / rows);
  const auto decisions = model.class_decisions(predictions);
  Stacked result{Block<double>(rows, copies * columns),
                 Block<std::int32_t>(rows, predictions.classes.empty() ? 0 : copies)};
  for (std::int32_t copy = 0; copy < copies; ++copy)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(copy * rows + i);
      const auto* z = &decisions[row * static_cast<std::size_t>(columns)];
      for (std::int32_t c = 0; c < columns; ++c) result.values(i, copy * columns + c) = z[c];
      if (!predictions.classes.empty()) result.classes(i, copy) = predictions.classes[row];
    }
  return result;
}

/// The same of any model: all shuffles of a feature are predicted at once.
template <class T>
std::vector<double> scores_of_any(const Context& context, const Model& model, const Dataset<T>& test,
                                  const Shuffles& shuffles, const TestScore& score) {
  std::vector<std::int32_t> copies;
  for (std::size_t r = 0; r < shuffles.size(); ++r)
    for (std::int32_t i = 0; i < test.rows(); ++i) copies.push_back(i);
  auto stacked = take_rows(test, copies, context.threads());
  make_dense(context, stacked, "permutation importance", "select features, or take a linear model");
  const auto rows = test.rows();
  std::vector<double> result;
  for (std::int64_t j = 0; j < test.features(); ++j) {
    context.check_stop();
    auto& x = std::get<DenseMatrix<T>>(stacked.change_x());
    std::vector<T> before;
    for (std::int64_t i = 0; i < rows; ++i) before.push_back(x.values[i * x.columns + j]);
    for (std::size_t r = 0; r < shuffles.size(); ++r)
      for (std::int64_t i = 0; i < rows; ++i)
        x.values[(static_cast<std::int64_t>(r) * rows + i) * x.columns + j] =
            before[static_cast<std::size_t>(shuffles[r][static_cast<std::size_t>(i)])];
    const auto found = unstack(model, model.predict(context, stacked), rows, score.columns());
    result.push_back(mean_of(score(found.values, found.classes)));
    auto& again = std::get<DenseMatrix<T>>(stacked.change_x());
    for (std::int64_t i = 0; i < again.rows; ++i)
      again.values[i * again.columns + j] = before[static_cast<std::size_t>(i % rows)];
  }
  return result;
}

}  // namespace

template <class T>
Importance<T>::Importance(const Dataset<T>& dataset, const Labels& labels, const SearchResult& result)
    : dataset_(dataset), labels_(labels), result_(result) {}

template <class T>
void Importance<T>::add(const Context& context, const Model& model, const Dataset<T>& test,
                        std::span<const std::int32_t> rows, std::int32_t split) {
  const auto repeats = result_.options.permutation_importance;
  if (repeats == 0) return;
  if (test.rows() < 2)
    fail_usage("permutation importance shuffles the held-out rows of each split, and split {} holds out one",
               split + 1);
  if (model.trained().has_precomputed_columns()) fail_usage("a precomputed kernel has no features to shuffle");
  const auto traits = model.trained().traits();
  const auto labels = labels_of(labels_, rows);
  const auto metric = *result_.options.score;
  const TestScore score(context, labels, metric, traits.log_odds && model.has_probabilities());
  Random random(result_.seed, first_stream + static_cast<std::uint64_t>(split));
  Shuffles shuffles(static_cast<std::size_t>(repeats));
  for (auto& shuffle : shuffles) {
    shuffle.resize(rows.size());
    std::iota(shuffle.begin(), shuffle.end(), 0);
    random.shuffle(std::span(shuffle));
  }
  const auto predictions = model.predict(context, test);
  const auto plain = unstack(model, predictions, test.rows(), score.columns());
  const double before = score(plain.values, plain.classes).front();
  const bool sums = traits.sums && !pipeline::mixes_features(model.pipeline());
  auto drops = sums ? scores_of_linear(context, model, test, predictions, shuffles, score, before)
                    : scores_of_any(context, model, test, shuffles, score);
  for (double& drop : drops) drop = info(metric).larger_is_better ? before - drop : drop - before;
  drops_.push_back(std::move(drops));
}

template <class T>
std::vector<FeatureImportance> Importance<T>::finish() const {
  std::vector<FeatureImportance> result;
  for (std::int64_t j = 0; j < dataset_.features() && !drops_.empty(); ++j) {
    std::vector<double> drops;
    for (const auto& of_split : drops_) drops.push_back(of_split[static_cast<std::size_t>(j)]);
    result.push_back({j, dataset_.feature_name(j), summarise(drops)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.drop.mean > b.drop.mean; });
  return result;
}

template class Importance<float>;
template class Importance<double>;

}  // namespace sheaf::engine
