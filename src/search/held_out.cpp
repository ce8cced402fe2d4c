#include "search/held_out.hpp"

#include <sheaf/profile.hpp>

#include "search/family.hpp"

namespace sheaf::engine {
namespace {

template <class T>
Model train_on(const Context& context, const Dataset<T>& train, std::span<const std::int32_t> rows,
               const SearchResult& result, const Point& point) {
  auto options = result.options;
  options.row_weights.clear();
  for (const auto row : rows)
    if (!result.options.row_weights.empty())
      options.row_weights.push_back(result.options.row_weights[static_cast<std::size_t>(row)]);
  return make_family(context, train, result.family, options)->refit(context, point);
}

void append(const Labels& labels, std::int32_t split, std::span<const std::int32_t> rows,
            const Predictions& predictions, HeldOutPredictions& all) {
  for (const auto row : rows) {
    all.splits.push_back(split);
    all.rows.push_back(row);
    if (labels.regression())
      all.values.push_back(labels.values[static_cast<std::size_t>(row)]);
    else
      all.truth.push_back(labels.classes[static_cast<std::size_t>(row)]);
  }
  all.columns = predictions.columns;
  all.classes.insert(all.classes.end(), predictions.classes.begin(), predictions.classes.end());
  all.decisions.insert(all.decisions.end(), predictions.decisions.begin(), predictions.decisions.end());
  all.probabilities.insert(all.probabilities.end(), predictions.probabilities.begin(), predictions.probabilities.end());
}

}  // namespace

template <class T>
HeldOutPredictions predict_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                                    const Plan& plan, const SearchResult& result) {
  HeldOutPredictions all;
  const bool nested = plan.outer_folds() > 0;
  const auto splits = nested ? plan.outer_folds() : plan.splits();
  const Stage stage(context.progress(), "predicting held-out rows", splits);
  for (std::int32_t k = 0; k < splits; ++k) {
    context.check_stop();
    const auto number = nested ? plan.outer_split(k) : plan.inner_split(0, k);
    const auto rows = plan.table({number}, context.threads()).training_rows(result.options.row_weights);
    const auto tests = plan.test_rows(number);
    const auto& point = nested ? result.point(result.outer[static_cast<std::size_t>(k)].level,
                                              result.outer[static_cast<std::size_t>(k)].level.chosen.chosen)
                               : result.chosen();
    const auto train = take_rows(dataset, rows, context.threads());
    const auto model = train_on(context, train, rows, result, point);
    const auto predictions =
        model.predict(context, take_rows(dataset, tests, context.threads()), model.has_probabilities());
    append(labels, k, tests, predictions, all);
    context.progress().advance(1);
  }
  return all;
}

template HeldOutPredictions predict_held_out(const Context&, const Dataset<float>&, const Labels&, const Plan&,
                                             const SearchResult&);
template HeldOutPredictions predict_held_out(const Context&, const Dataset<double>&, const Labels&, const Plan&,
                                             const SearchResult&);

}  // namespace sheaf::engine
