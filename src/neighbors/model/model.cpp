// Training, prediction, the rows that predictions rest on, and leave-one-out.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>

#include "core/fail.hpp"
#include "data/borrowed.hpp"
#include "data/checks/row_weights.hpp"
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
  check_row_weights(weights, rows);
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

Dataset<double> training_rows(const KnnModel& model) {
  Dataset<double> dataset;
  dataset.source = "the model";
  dataset.x = borrowed(model.x);
  return dataset;
}

/// Further features, which are 0.
void widen(std::int64_t features, Matrix<double>& x) {
  if (auto* sparse = std::get_if<SparseMatrix<double>>(&x)) {
    sparse->columns = features;
    return;
  }
  auto& narrow = std::get<DenseMatrix<double>>(x);
  DenseMatrix<double> wide{narrow.rows, features, Array<double>(narrow.rows * features)};
  std::fill(wide.values.begin(), wide.values.end(), 0.0);
  for (std::int64_t i = 0; i < narrow.rows; ++i)
    std::copy_n(narrow.values.data() + i * narrow.columns, narrow.columns, wide.values.data() + i * features);
  narrow = std::move(wide);
}

/// The features that the model uses, in double. The dataset must outlive it.
template <class T>
Dataset<double> queries_for(const Context& context, const KnnModel& model, const Dataset<T>& dataset) {
  Dataset<double> queries;
  queries.source = dataset.source;
  queries.feature_names = dataset.feature_names;
  if constexpr (std::is_same_v<T, double>)
    queries.x = borrowed(dataset.x);
  else
    queries.x = convert_precision<double>(dataset.x, context.threads());
  if (dataset.features() < model.features && model.rule != LocalRule::votes) widen(model.features, queries.x);
  if (dataset.features() <= model.features) return queries;
  std::vector<std::int64_t> known(static_cast<std::size_t>(model.features));
  std::iota(known.begin(), known.end(), 0);
  return take_features(queries, known, context.threads());
}

Labels labels_of(const KnnModel& model) {
  Labels labels;
  labels.class_names = model.class_names;
  labels.classes = model.classes;
  labels.values = model.values;
  labels.rows = model.rows();
  return labels;
}

std::vector<std::int32_t> all_rows(const KnnModel& model) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(model.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Predictions for queries by the model's rule and setting.
neighbors::Decisions decide(const Context& context, const KnnModel& model, const Dataset<double>& training,
                            const Dataset<double>& queries) {
  if (model.rule == LocalRule::votes) {
    NeighborOptions options;
    options.distance = model.distance;
    options.k = model.k;
    const VoteRule rule{model.k, model.vote};
    return neighbors::decide_by_votes(context, voters_of(model), {&rule, 1},
                                      find_neighbors(context, training, options, &queries));
  }
  KnnOptions options;
  options.rule = model.rule;
  options.kernel = model.kernel;
  options.tolerance = model.tolerance;
  const auto all = all_rows(model);
  const neighbors::LocalSetting setting{model.k, model.lambda, model.cost, model.gamma};
  const auto labels = labels_of(model);
  if (trains_svms(model.rule))
    return neighbors::decide_by_svms(context, options, model.distance.weights, {&setting, 1}, training, labels,
                                     {all, model.row_weights, model.centres}, neighbors::Asked<double>{queries.x, {}});
  return neighbors::decide_by_costs(context, options, model.distance.weights, {&setting, 1}, training, labels, all,
                                    neighbors::Asked<double>{queries.x, {}});
}

/// Decision values of one setting, and the classes they choose.
Predictions predictions_of(const KnnModel& model, const neighbors::Decisions& decisions, std::size_t setting) {
  Predictions result;
  result.rows = decisions.queries;
  result.columns = static_cast<std::int32_t>(decisions.columns);
  const auto order = neighbors::label_order(model.class_names);
  const neighbors::OrderedChoice choose{order.data(), static_cast<std::int32_t>(order.size())};
  for (std::int64_t i = 0; i < result.rows; ++i) {
    const auto values = decisions.of(i, setting);
    result.decisions.insert(result.decisions.end(), values.begin(), values.end());
    if (!model.is_regression()) result.classes.push_back(choose(values.data()));
  }
  return result;
}

}  // namespace

bool takes_numbers(const KnnOptions& options, const Target& target) {
  if (options.labels != LabelKind::automatic) return options.labels == LabelKind::numbers;
  return !target.looks_like_classes();
}

template <class T>
KnnModel train_knn(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                   std::span<const float> row_weights, bool in_place) {
  const auto labels = labels_for(dataset.target, dataset.source, dataset.rows(), options);
  neighbors::check_options(options, labels.regression());
  neighbors::check_values(context, dataset, options.distance, options.rule != LocalRule::votes);
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
  model.kernel = options.kernel;
  model.cost = options.cost;
  model.gamma = neighbors::gamma_of(options, dataset.features());
  model.tolerance = options.tolerance;
  model.distance.weights = neighbors::learn_weights(context, dataset, labels, rows, options);
  model.class_names = labels.class_names;
  model.features = dataset.features();
  model.feature_names = dataset.feature_names;
  if constexpr (std::is_same_v<T, double>)
    if (in_place && std::ssize(rows) == dataset.rows()) model.x = borrowed(dataset.x);
  if (model.rows() == 0) model.x = some_rows<double>(dataset.x, rows);
  model.classes = some_of(labels.classes, rows);
  model.values = some_of(labels.values, rows);
  model.row_weights = some_of(std::vector<float>(row_weights.begin(), row_weights.end()), rows);
  if (options.rule == LocalRule::falk_svm)
    model.centres = neighbors::learn_centres(context, options, model.distance.weights, dataset, rows);
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
  neighbors::check_values(context, dataset, model.distance, model.rule != LocalRule::votes);
  const auto training = training_rows(model);
  const auto queries = queries_for(context, model, dataset);
  const auto decisions = decide(context, model, training, queries);
  auto result = predictions_of(model, decisions, 0);
  if (probabilities) result.probabilities = result.decisions;
  if (decisions.unconverged > 0)
    result.warnings.push_back(
        fmt::format("{} local SVMs did not reach their tolerance; scale the features, or take a smaller cost",
                    decisions.unconverged));
  return result;
}

std::optional<Score> score_of(const KnnModel& model, const Predictions& predictions, const Target& target) {
  return score_predictions(model.is_regression() ? nullptr : &model.class_names, predictions, target);
}

std::vector<std::string> warnings_of(const KnnModel& model) {
  if (model.rule == LocalRule::votes) return {};
  if (trains_svms(model.rule)) {
    if (model.rows() >= model.k) return {};
    return {fmt::format("there are {} rows, fewer than the {} neighbours of a local SVM; each is trained on all rows",
                        model.rows(), model.k)};
  }
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

namespace {

using DecidingLists = std::vector<std::vector<DecidingRow>>;

DecidingLists voting_rows(const Context& context, const KnnModel& model, const Dataset<double>& training,
                          const Dataset<double>& queries) {
  NeighborOptions options;
  options.distance = model.distance;
  options.k = model.k;
  const auto lists = find_neighbors(context, training, options, &queries);
  const auto k = static_cast<std::size_t>(lists.k);
  DecidingLists result(static_cast<std::size_t>(lists.queries));
  for (std::size_t q = 0; q < result.size(); ++q) {
    const auto distances = std::span(lists.distances).subspan(q * k, k);
    double sum = 0;
    for (std::size_t n = 0; n < k; ++n) {
      const auto row = static_cast<std::size_t>(lists.indices[q * k + n]);
      const double vote = neighbors::vote_of(model.vote, distances.data(), static_cast<std::int64_t>(n), model.k) *
                          (model.row_weights.empty() ? 1.0 : static_cast<double>(model.row_weights[row]));
      sum += vote;
      result[q].push_back({static_cast<std::int64_t>(row), distances[n], vote});
    }
    for (auto& one : result[q]) one.vote /= sum;
  }
  return result;
}

/// The nearest of some training rows, for some queries.
void put_nearest(const Context& context, const KnnModel& model, std::span<const std::int32_t> rows,
                 const Matrix<double>& queries, std::span<const std::int32_t> of_queries, DecidingLists& result) {
  if (rows.empty() || of_queries.empty()) return;
  const auto& weights = model.distance.weights;
  const auto own = neighbors::weighted_rows(context, model.x, rows, weights, "the model");
  const auto asked = neighbors::weighted_rows(context, queries, of_queries, weights, "the queries");
  const auto lists = neighbors::nearest_rows(context, own, &asked, std::min<std::int64_t>(model.k, std::ssize(rows)));
  for (std::size_t q = 0; q < of_queries.size(); ++q)
    for (std::int64_t n = 0; n < lists.k; ++n) {
      const auto at = q * static_cast<std::size_t>(lists.k) + static_cast<std::size_t>(n);
      result[static_cast<std::size_t>(of_queries[q])].push_back({rows[static_cast<std::size_t>(lists.indices[at])],
                                                                 std::sqrt(lists.distances[at]),
                                                                 std::numeric_limits<double>::quiet_NaN()});
    }
}

/// FaLK-SVM: the rows nearest to the centre, in the order of their distance to the query.
DecidingLists rows_around_centres(const Context& context, const KnnModel& model, const Matrix<double>& queries) {
  const auto& weights = model.distance.weights;
  const auto own = neighbors::weighted_rows(context, model.x, weights, "the model");
  const auto asked = neighbors::weighted_rows(context, queries, weights, "the queries");
  const auto nearest = neighbors::nearest_rows(context, own, &asked, 1);
  std::vector<std::int32_t> centres;
  for (const auto row : nearest.indices) centres.push_back(model.centres[static_cast<std::size_t>(row)]);
  const auto middle = neighbors::weighted_rows(context, own.x, centres, {}, "the model");
  const auto lists = neighbors::nearest_rows(context, own, &middle, std::min(model.k, model.rows()));
  const auto& x = std::get<DenseMatrix<double>>(own.x);
  const auto& points = std::get<DenseMatrix<double>>(asked.x);
  DecidingLists result(centres.size());
  for (std::size_t q = 0; q < result.size(); ++q) {
    for (std::int64_t n = 0; n < lists.k; ++n) {
      const auto row = lists.indices[q * static_cast<std::size_t>(lists.k) + static_cast<std::size_t>(n)];
      double squares = 0;
      for (std::int64_t j = 0; j < x.columns; ++j) {
        const double apart =
            x.values[row * x.columns + j] - points.values[static_cast<std::int64_t>(q) * x.columns + j];
        squares += apart * apart;
      }
      result[q].push_back({row, std::sqrt(squares), std::numeric_limits<double>::quiet_NaN()});
    }
    std::stable_sort(result[q].begin(), result[q].end(),
                     [](const auto& a, const auto& b) { return a.distance < b.distance; });
  }
  return result;
}

}  // namespace

KnnModel without_feature_weights(const Context& context, const KnnModel& model) {
  KnnModel plain;
  plain.rule = model.rule;
  plain.k = model.k;
  plain.vote = model.vote;
  plain.distance = model.distance;
  plain.distance.weights.clear();
  plain.lambda = model.lambda;
  plain.kernel = model.kernel;
  plain.cost = model.cost;
  plain.gamma = model.gamma;
  plain.tolerance = model.tolerance;
  plain.class_names = model.class_names;
  plain.features = model.features;
  plain.feature_names = model.feature_names;
  plain.x = borrowed(model.x);
  plain.classes = model.classes;
  plain.values = model.values;
  plain.row_weights = model.row_weights;
  if (model.rule == LocalRule::falk_svm) {
    KnnOptions options;
    options.k = model.k;
    plain.centres = neighbors::learn_centres(context, options, {}, training_rows(model), all_rows(model));
  }
  return plain;
}

namespace {

/// The training rows that determine the prediction of each row of the dataset.
template <class T>
DecidingLists rows_that_decide(const Context& context, const KnnModel& model, const Dataset<T>& dataset) {
  const auto training = training_rows(model);
  const auto queries = queries_for(context, model, dataset);
  DecidingLists result(static_cast<std::size_t>(queries.rows()));
  if (queries.rows() == 0) return result;
  if (model.rule == LocalRule::votes) return voting_rows(context, model, training, queries);
  if (model.rule == LocalRule::falk_svm) return rows_around_centres(context, model, queries.x);
  const bool by_class = !trains_svms(model.rule);
  const auto predicted = by_class ? predict_knn(context, model, dataset).classes : std::vector<std::int32_t>();
  for (std::int32_t c = 0; c < (by_class ? static_cast<std::int32_t>(model.class_names.size()) : 1); ++c) {
    std::vector<std::int32_t> members, asked;
    for (std::int32_t i = 0; i < model.rows(); ++i)
      if (!by_class || model.classes[static_cast<std::size_t>(i)] == c) members.push_back(i);
    for (std::int32_t q = 0; q < queries.rows(); ++q)
      if (!by_class || predicted[static_cast<std::size_t>(q)] == c) asked.push_back(q);
    put_nearest(context, model, members, queries.x, asked, result);
  }
  return result;
}

/// The place of each row in the other list of the same query.
void put_ranks(const DecidingLists& others, DecidingLists& lists) {
  for (std::size_t q = 0; q < lists.size(); ++q) {
    std::map<std::int64_t, std::int64_t> ranks;
    for (std::size_t n = 0; n < others[q].size(); ++n) ranks[others[q][n].row] = static_cast<std::int64_t>(n) + 1;
    for (auto& one : lists[q]) {
      const auto found = ranks.find(one.row);
      one.rank_without_weights = found == ranks.end() ? 0 : found->second;
    }
  }
}

}  // namespace

template <class T>
std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const KnnModel& model,
                                                    const Dataset<T>& dataset, std::int64_t most) {
  auto result = rows_that_decide(context, model, dataset);
  if (model.has_feature_weights())
    put_ranks(rows_that_decide(context, without_feature_weights(context, model), dataset), result);
  else
    put_ranks(result, result);
  for (auto& list : result)
    if (std::ssize(list) > most) list.resize(static_cast<std::size_t>(most));
  return result;
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

#define SHEAF_KNN(T)                                                                                               \
  template KnnModel train_knn(const Context&, const Dataset<T>&, const KnnOptions&, std::span<const float>, bool); \
  template Predictions predict_knn(const Context&, const KnnModel&, const Dataset<T>&, bool);                      \
  template std::vector<std::vector<DecidingRow>> deciding_rows(const Context&, const KnnModel&, const Dataset<T>&, \
                                                               std::int64_t);                                      \
  template std::vector<LeaveOneOut> leave_one_out(const Context&, const Dataset<T>&, const KnnOptions&,            \
                                                  std::span<const std::int64_t>, std::span<const Vote>);
SHEAF_KNN(float)
SHEAF_KNN(double)
#undef SHEAF_KNN

}  // namespace sheaf
