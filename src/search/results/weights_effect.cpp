#include "search/results/weights_effect.hpp"

#include <algorithm>

#include "search/results/held_out.hpp"

namespace sheaf::engine {
namespace {

constexpr std::int32_t most_splits = 10;  // beyond which leaving out one row at a time would train a model for each

/// Squared errors are means over the rows.
void add_score(const std::optional<Score>& more, Score& sum) {
  if (!more || more->rows == 0) return;
  const auto rows = sum.rows + more->rows;
  sum.squared_error =
      (sum.squared_error * static_cast<double>(sum.rows) + more->squared_error * static_cast<double>(more->rows)) /
      static_cast<double>(rows);
  sum.correct += more->correct;
  sum.rows = rows;
}

}  // namespace

template <class T>
std::optional<FeatureWeightsEffect> weights_effect(const Context& context, const Dataset<T>& dataset, const Plan& plan,
                                                   const SearchResult& result) {
  if (!result.model || !result.model->without_feature_weights(context)) return std::nullopt;
  FeatureWeightsEffect sum;
  const auto splits = std::min(plan.splits(), most_splits);
  const Stage stage(context.progress(), "comparing without weights", splits);
  for (std::int32_t k = 0; k < splits; ++k) {
    context.check_stop();
    const auto number = plan.inner_split(0, k);
    const Model model = train_on_split(context, dataset, plan, number, result, result.chosen());
    const auto test = take_rows(dataset, plan.test_rows(number), context.threads());
    const auto plain = model.without_feature_weights(context);
    const auto with = model.predict(context, test);
    const auto without = plain->predict(context, test);
    const auto all = model.trained().traits().decisive_rows;
    const auto effect = compare_without_weights(model.deciding_rows(context, test, all), with, without);
    sum.rows += effect.rows;
    sum.neighbours += effect.neighbours;
    sum.kept += effect.kept;
    sum.changed += effect.changed;
    add_score(model.score(with, test.target), sum.with);
    add_score(model.score(without, test.target), sum.without);
    context.progress().advance(1);
  }
  return sum;
}

template std::optional<FeatureWeightsEffect> weights_effect(const Context&, const Dataset<float>&, const Plan&,
                                                            const SearchResult&);
template std::optional<FeatureWeightsEffect> weights_effect(const Context&, const Dataset<double>&, const Plan&,
                                                            const SearchResult&);

}  // namespace sheaf::engine
