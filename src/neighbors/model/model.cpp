// Training, prediction and leaving one out.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "core/fail.hpp"
#include "data/labels.hpp"
#include "data/predictions.hpp"
#include "data/row_subset.hpp"
#include "neighbors/model/decide.hpp"
#include "neighbors/model/weights.hpp"

namespace sheaf {
namespace {

using neighbors::Voters;
using neighbors::VoteRule;

std::vector<std::int32_t> rows_with_weight(std::span<const float> weights, std::int64_t rows) {
  if (!weights.empty() && std::ssize(weights) != rows)
    fail("there are {} row weights for {} rows", weights.size(), rows);
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < rows; ++i)
    if (weights.empty() || weights[static_cast<std::size_t>(i)] > 0) places.push_back(i);
  return places;
}

template <class Value>
std::vector<Value> some_of(const std::vector<Value>& values, std::span<const std::int32_t> places) {
  std::vector<Value> result;
  if (values.empty()) return result;
  for (const auto place : places) result.push_back(values[static_cast<std::size_t>(place)]);
  return result;
}

Labels labels_for(const Target& target, const std::string& source, std::int64_t rows, const KnnOptions& options) {
  return make_labels(target, source, rows, takes_numbers(options, target), "--labels");
}

Voters voters_of(const KnnModel& model) {
  return {static_cast<std::int32_t>(model.class_names.size()), model.classes, model.values, model.row_weights};
}

/// The same memory; its owner must outlive it.
Matrix<double> borrowed(const Matrix<double>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&x))
    return DenseMatrix<double>{dense->rows, dense->columns,
                               Array<double>::over(dense->values.data(), dense->values.size())};
  const auto& sparse = std::get<SparseMatrix<double>>(x);
  return SparseMatrix<double>{sparse.rows, sparse.columns,
                              Array<std::int64_t>::over(sparse.offsets.data(), sparse.offsets.size()),
                              Array<std::int32_t>::over(sparse.indices.data(), sparse.indices.size()),
                              Array<double>::over(sparse.values.data(), sparse.values.size())};
}

Dataset<double> training_rows(const KnnModel& model) {
  Dataset<double> dataset;
  dataset.source = "the model";
  dataset.x = borrowed(model.x);
  return dataset;
}

/// The features that the model knows, in double. The dataset must outlive it.
template <class T>
Dataset<double> queries_for(const Context& context, const KnnModel& model, const Dataset<T>& dataset) {
  Dataset<double> queries;
  queries.source = dataset.source;
  queries.feature_names = dataset.feature_names;
  if constexpr (std::is_same_v<T, double>)
    queries.x = borrowed(dataset.x);
  else
    queries.x = convert_precision<double>(dataset.x, context.threads());
  if (dataset.features() <= model.features) return queries;
  std::vector<std::int64_t> known(static_cast<std::size_t>(model.features));
  std::iota(known.begin(), known.end(), 0);
  return take_features(queries, known, context.threads());
}

/// Decision values of one setting, and the classes they choose.
Predictions predictions_of(const KnnModel& model, const neighbors::Decisions& decisions, std::size_t setting) {
  Predictions result;
  result.rows = decisions.queries;
  result.columns = static_cast<std::int32_t>(decisions.columns);
  const auto order = neighbors::label_order(model.class_names);
  for (std::int64_t i = 0; i < result.rows; ++i) {
    const auto values = decisions.of(i, setting);
    result.decisions.insert(result.decisions.end(), values.begin(), values.end());
    if (!model.is_regression()) result.classes.push_back(neighbors::choose_class(values, order));
  }
  return result;
}

Labels labels_of(const KnnModel& model) {
  Labels labels;
  labels.class_names = model.class_names;
  labels.classes = model.classes;
  labels.values = model.values;
  labels.rows = model.rows();
  return labels;
}

}  // namespace

bool takes_numbers(const KnnOptions& options, const Target& target) {
  if (options.labels != LabelKind::automatic) return options.labels == LabelKind::numbers;
  return !target.looks_like_classes();
}

template <class T>
KnnModel train_knn(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                   std::span<const float> row_weights) {
  const auto labels = labels_for(dataset.target, dataset.source, dataset.rows(), options);
  neighbors::check_options(options, labels.regression());
  const auto rows = rows_with_weight(row_weights, dataset.rows());
  if (options.rule == LocalRule::votes && options.k > std::ssize(rows))
    fail_usage("{}: {} neighbours are to decide, but there are {} rows", dataset.source, options.k, rows.size());
  KnnModel model;
  model.rule = options.rule;
  model.k = options.k;
  model.vote = options.vote;
  model.distance = options.distance;
  model.weighting = options.weighting;
  model.lambda = options.lambda;
  model.distance.weights = neighbors::learn_weights(context, dataset, labels, rows, options);
  model.class_names = labels.class_names;
  model.features = dataset.features();
  model.feature_names = dataset.feature_names;
  model.x = some_rows<double>(dataset.x, rows);
  model.classes = some_of(labels.classes, rows);
  model.values = some_of(labels.values, rows);
  model.row_weights = some_of(std::vector<float>(row_weights.begin(), row_weights.end()), rows);
  // Values and weights that cannot be are refused now rather than at the first prediction.
  const auto kept = training_rows(model);
  static_cast<void>(
      neighbors::make_row_pair(context, kept, static_cast<const Dataset<double>*>(nullptr), model.distance));
  return model;
}

template <class T>
Predictions predict_knn(const Context& context, const KnnModel& model, const Dataset<T>& dataset, bool probabilities) {
  check_feature_names(model.feature_names, dataset.feature_names, dataset.source);
  if (probabilities && !model.has_probabilities())
    fail_usage("only votes for classes have probabilities: their shares");
  const auto training = training_rows(model);
  const auto queries = queries_for(context, model, dataset);
  neighbors::Decisions decisions;
  if (model.rule == LocalRule::votes) {
    NeighborOptions options;
    options.distance = model.distance;
    options.k = model.k;
    const VoteRule rule{model.k, model.vote};
    decisions = neighbors::decide_by_votes(context, voters_of(model), {&rule, 1},
                                           find_neighbors(context, training, options, &queries));
  } else {
    KnnOptions options;
    options.rule = model.rule;
    std::vector<std::int32_t> all(static_cast<std::size_t>(model.rows()));
    std::iota(all.begin(), all.end(), 0);
    const neighbors::LocalSetting setting{model.k, model.lambda};
    decisions = neighbors::decide_by_costs(context, options, model.distance.weights, {&setting, 1}, training,
                                           labels_of(model), all, queries.x);
  }
  auto result = predictions_of(model, decisions, 0);
  if (probabilities) result.probabilities = result.decisions;
  return result;
}

std::optional<Score> score_of(const KnnModel& model, const Predictions& predictions, const Target& target) {
  return score_predictions(model.is_regression() ? nullptr : &model.class_names, predictions, target);
}

std::vector<std::string> warnings_of(const KnnModel& model) {
  if (model.rule == LocalRule::votes) return {};
  std::vector<std::int64_t> counts(model.class_names.size(), 0);
  for (const auto c : model.classes) ++counts[static_cast<std::size_t>(c)];
  std::vector<std::string> warnings;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] < model.k)
      warnings.push_back(fmt::format("class {} has {} rows, fewer than the {} neighbours that are to span its {}",
                                     model.class_names[c], counts[c], model.k,
                                     model.rule == LocalRule::hyperplane ? "hyperplane" : "convex hull"));
  return warnings;
}

template <class T>
std::vector<LeaveOneOut> leave_one_out(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                                       std::span<const std::int64_t> ks, std::span<const Vote> votes) {
  if (options.rule != LocalRule::votes) fail_usage("leaving one out is for votes; search over folds instead");
  const auto labels = labels_for(dataset.target, dataset.source, dataset.rows(), options);
  std::vector<VoteRule> rules;
  for (const auto vote : votes)
    for (const auto k : ks) rules.push_back({k, vote});
  if (rules.empty()) return {};
  NeighborOptions near;
  near.distance = options.distance;
  near.distance.weights = neighbors::learn_weights(context, dataset, labels, {}, options);
  near.k = *std::max_element(ks.begin(), ks.end());
  const Voters voters{static_cast<std::int32_t>(labels.class_names.size()), labels.classes, labels.values, {}};
  const auto decisions = neighbors::decide_by_votes(context, voters, rules, find_neighbors(context, dataset, near));
  KnnModel names;
  names.class_names = labels.class_names;
  std::vector<LeaveOneOut> result;
  for (std::size_t r = 0; r < rules.size(); ++r)
    result.push_back(
        {rules[r].k, rules[r].vote, *score_of(names, predictions_of(names, decisions, r), dataset.target)});
  return result;
}

#define SHEAF_KNN(T)                                                                                         \
  template KnnModel train_knn(const Context&, const Dataset<T>&, const KnnOptions&, std::span<const float>); \
  template Predictions predict_knn(const Context&, const KnnModel&, const Dataset<T>&, bool);                \
  template std::vector<LeaveOneOut> leave_one_out(const Context&, const Dataset<T>&, const KnnOptions&,      \
                                                  std::span<const std::int64_t>, std::span<const Vote>);
SHEAF_KNN(float)
SHEAF_KNN(double)
#undef SHEAF_KNN

}  // namespace sheaf
