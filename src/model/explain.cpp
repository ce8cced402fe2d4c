// What each feature adds to the decision values of a linear model, and which rows decide in a model of neighbours.
#include <algorithm>
#include <cmath>

#include <sheaf/linear.hpp>
#include <sheaf/model.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "pipeline/origins.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t rows_at_once = 4096;  // that the pipeline copies

template <class T>
double stored_value(const Matrix<T>& x, std::int64_t row, std::int64_t feature) {
  return std::visit(
      [&](const auto& m) -> double {
        double found = 0;
        if constexpr (requires { m.offsets; }) {
          const auto* begin = m.indices.data() + m.offsets[row];
          const auto* end = m.indices.data() + m.offsets[row + 1];
          const auto* at = std::find(begin, end, feature);
          if (at != end) found = static_cast<double>(m.values[at - m.indices.data()]);
        } else {
          found = static_cast<double>(m.values[row * m.columns + feature]);
        }
        return found;
      },
      x);
}

/// Adds what several features of the model come to for the feature that they come from.
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

class Explainer {
 public:
  /// `reference`: the features of the reference row as the model sees them; empty: all 0.
  Explainer(const LinearModel& model, const Pipeline& pipeline, std::vector<double> reference, std::size_t most)
      : model_(model),
        origins_(pipeline::origins(pipeline, model.features)),
        reference_(std::move(reference)),
        most_(most) {}

  /// How many explanations a row has.
  std::int64_t each() const { return std::max<std::int64_t>(std::ssize(model_.target_names), 1); }

  /// Row i of `prepared` and `dataset`; `target` of several.
  template <class T>
  Explanation operator()(const Matrix<T>& prepared, const Matrix<T>& dataset, std::int64_t i,
                         std::int64_t target) const {
    Explanation result;
    result.column = each() > 1 ? static_cast<std::int32_t>(target) : largest_column(prepared, i);
    if (model_.bias > 0) result.intercept = model_.bias * model_.weight(model_.features, result.column);
    for (std::size_t j = 0; j < reference_.size(); ++j)
      result.intercept += reference_[j] * model_.weight(static_cast<std::int64_t>(j), result.column);
    std::vector<Contribution> list;
    for_features(prepared, i, [&](std::int64_t j, double value) {
      const double reference = reference_.empty() ? 0 : reference_[static_cast<std::size_t>(j)];
      const double amount = (value - reference) * model_.weight(j, result.column);
      if (amount != 0) list.push_back({origins_[static_cast<std::size_t>(j)], 0, amount});
    });
    merge(list);
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.amount) > std::abs(b.amount); });
    for (auto k = list.size(); k-- > most_;) result.rest += list[k].amount;
    list.resize(std::min(list.size(), most_));
    result.decision = result.intercept + result.rest;
    for (auto& one : list) {
      one.value = stored_value(dataset, i, one.feature);
      result.decision += one.amount;
    }
    result.largest = std::move(list);
    return result;
  }

 private:
  template <class T, class Work>
  void for_features(const Matrix<T>& x, std::int64_t i, const Work& work) const {
    std::visit(
        [&](const auto& m) {
          pipeline::for_row(m, i, [&](std::int64_t j, T value) {
            if (j < model_.features) work(j, static_cast<double>(value));
          });
        },
        x);
  }

  template <class T>
  std::int32_t largest_column(const Matrix<T>& x, std::int64_t i) const {
    if (model_.columns == 1) return 0;
    std::vector<double> sums;
    sums.reserve(static_cast<std::size_t>(model_.columns));
    for (std::int32_t c = 0; c < model_.columns; ++c)
      sums.push_back(model_.bias > 0 ? model_.bias * model_.weight(model_.features, c) : 0);
    for_features(x, i, [&](std::int64_t j, double value) {
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += value * model_.weight(j, static_cast<std::int32_t>(c));
    });
    return static_cast<std::int32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  }

  const LinearModel& model_;
  std::vector<std::int64_t> origins_;
  std::vector<double> reference_;
  std::size_t most_;
};

/// The means of the training rows as the model sees them: the steps of the pipeline applied to a row of means. Empty if
/// they are not known, or if rows are sparse, where every absent feature would have a contribution.
template <class T>
std::vector<double> reference_row(const Context& context, const Pipeline& pipeline, const Dataset<T>& aligned,
                                  std::int64_t features) {
  const auto* rows = std::get_if<DenseMatrix<T>>(&aligned.x);
  if (rows == nullptr || rows->rows == 0 || std::ssize(pipeline.means) != rows->columns) return {};
  auto one = take_rows(aligned, std::vector<std::int32_t>{0}, 1);
  auto& x = std::get<DenseMatrix<T>>(one.change_x());
  const auto nominal = [&](std::size_t j) { return j < pipeline.levels.size() && !pipeline.levels[j].empty(); };
  for (std::size_t j = 0; j < pipeline.means.size(); ++j)
    if (!nominal(j)) x.values[static_cast<std::int64_t>(j)] = static_cast<T>(pipeline.means[j]);
  const auto prepared = apply_pipeline(context, pipeline, one);
  const auto* seen = std::get_if<DenseMatrix<T>>(&prepared.x);
  if (seen == nullptr || seen->columns < features) return {};
  const auto origins = pipeline::origins(pipeline, features);
  std::vector<double> reference(static_cast<std::size_t>(features), 0.0);
  for (std::size_t j = 0; j < reference.size(); ++j)
    if (!nominal(static_cast<std::size_t>(origins[j])))
      reference[j] = static_cast<double>(seen->values[static_cast<std::int64_t>(j)]);
  return reference;
}

}  // namespace

template <class T>
std::vector<Explanation> Model::explain(const Context& context, const Dataset<T>& dataset, std::size_t most) const {
  if (get_if<LinearModel>() == nullptr)
    fail_usage(
        "a model of the family {} has no weight for each feature, so that its predictions are no sum over features; "
        "permutation importance (sheaf search --permutation-importance) is for models of every kind",
        family());
  std::vector<std::string> warnings;
  const auto aligned = align_features(context, inputs(), dataset, warnings);
  const auto& linear = *get_if<LinearModel>();
  const Explainer explain_row(linear, pipeline_, reference_row(context, pipeline_, aligned, linear.features), most);
  const auto each = explain_row.each();
  std::vector<Explanation> result(static_cast<std::size_t>(dataset.rows() * each));
  for (std::int64_t first = 0; first < dataset.rows(); first += rows_at_once) {
    std::vector<std::int32_t> rows;
    for (auto i = first; i < std::min(first + rows_at_once, dataset.rows()); ++i)
      rows.push_back(static_cast<std::int32_t>(i));
    const auto some = take_rows(aligned, rows, context.threads());
    const auto prepared = apply_pipeline(context, pipeline_, some);
    parallel_ranges(context, std::ssize(rows), 16, [&](Range range) {
      for (auto k = range.begin * each; k < range.end * each; ++k)
        result[static_cast<std::size_t>(first * each + k)] = explain_row(prepared.x, some.x, k / each, k % each);
    });
  }
  return result;
}

template <class T>
std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context& context, const Dataset<T>& dataset,
                                                           std::int64_t most) const {
  if (get_if<KnnModel>() == nullptr)
    fail_usage("a model of the family {} keeps no rows that decide by themselves; models of neighbours do", family());
  std::vector<std::string> warnings;
  const auto aligned = align_features(context, inputs(), dataset, warnings);
  const auto prepared = apply_pipeline(context, pipeline_, aligned);
  return sheaf::deciding_rows(context.for_work(prediction_work(prepared, *this)), *get_if<KnnModel>(), prepared, most);
}

FeatureWeightsEffect compare_without_weights(const std::vector<std::vector<DecidingRow>>& lists,
                                             const Predictions& with, const Predictions& without) {
  FeatureWeightsEffect effect;
  effect.rows = with.rows;
  for (const auto& list : lists) {
    effect.neighbours += std::ssize(list);
    effect.kept +=
        std::count_if(list.begin(), list.end(), [](const auto& one) { return one.rank_without_weights > 0; });
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(with.rows); ++i)
    if (with.classes.empty() ? with.decisions[i] != without.decisions[i] : with.classes[i] != without.classes[i])
      ++effect.changed;
  return effect;
}

std::optional<Model> Model::without_feature_weights(const Context& context) const {
  if (get_if<KnnModel>() == nullptr || !get_if<KnnModel>()->has_feature_weights()) return std::nullopt;
  Model plain(sheaf::without_feature_weights(context, *get_if<KnnModel>()));
  plain.pipeline_ = pipeline_;
  plain.calibration_ = calibration_;
  plain.threshold_ = threshold_;
  return plain;
}

template std::vector<Explanation> Model::explain(const Context&, const Dataset<float>&, std::size_t) const;
template std::vector<Explanation> Model::explain(const Context&, const Dataset<double>&, std::size_t) const;
template std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context&, const Dataset<float>&,
                                                                    std::int64_t) const;
template std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context&, const Dataset<double>&,
                                                                    std::int64_t) const;

}  // namespace sheaf
