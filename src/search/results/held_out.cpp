#include "search/results/held_out.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <sheaf/solvers/profile.hpp>

#include "core/fail.hpp"
#include "search/plan/make_search.hpp"
#include "search/results/importance.hpp"
#include "search/results/stack.hpp"

namespace sheaf::engine {

template <class T>
Model train_on_split(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t split,
                     const SearchResult& result, const Point& point) {
  if (result.is_stack(point)) return train_stack(context, dataset, plan, split, result);
  const auto rows = plan.table({split}, context.threads()).training_rows(result.options.row_weights);
  auto options = result.options;
  options.row_weights.clear();
  for (const auto row : rows)
    if (!result.options.row_weights.empty())
      options.row_weights.push_back(result.options.row_weights[static_cast<std::size_t>(row)]);
  const auto train = take_rows(dataset, rows, context.threads());
  const auto* compared = result.model_of(point);
  if (compared != nullptr) options.pipeline = compared->candidate.pipeline;
  const auto& space = compared != nullptr ? compared->candidate.space : result.space;
  return refit_model(context, *make_search(context, train, space, options), result.own_point(point));
}

namespace {

constexpr std::int32_t most_parts = 200;  // of all splits, each of which something is learnt without

}  // namespace

void append_predictions(const Labels& labels, std::int32_t split, std::span<const std::int32_t> rows,
                        const Predictions& predictions, std::span<const double> decisions, HeldOutPredictions& all) {
  for (const auto row : rows) {
    all.splits.push_back(split);
    all.rows.push_back(row);
    for (std::int32_t target = 0; target < labels.targets && labels.regression(); ++target)
      all.values.push_back(labels.value(row, target));
    if (!labels.regression()) all.truth.push_back(labels.classes[static_cast<std::size_t>(row)]);
  }
  all.columns = labels.columns();
  require(decisions.size() == rows.size() * static_cast<std::size_t>(all.columns), "decision values of other classes");
  all.decisions.insert(all.decisions.end(), decisions.begin(), decisions.end());
  all.classes.insert(all.classes.end(), predictions.classes.begin(), predictions.classes.end());
  all.probabilities.insert(all.probabilities.end(), predictions.probabilities.begin(), predictions.probabilities.end());
}

namespace {

/// Whether held-out rows are predicted by the models of outer folds. A calibration or a threshold is for the final
/// model: decision values of models of other families have another scale.
bool predicts_by_outer_models(const Plan& plan, const SearchResult& result) {
  const bool learns = result.options.calibrate || result.options.threshold;
  return plan.outer_folds() > 0 && !(learns && result.model && result.models.size() > 1);
}

template <class T>
void predict_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels, const Plan& plan,
                      SearchResult& result) {
  HeldOutPredictions all;
  const bool nested = predicts_by_outer_models(plan, result);
  const auto splits = nested ? plan.outer_folds() : plan.splits();
  Importance<T> importance(dataset, labels, result);
  const Stage stage(context.progress(), "predicting held-out rows", splits);
  for (std::int32_t k = 0; k < splits; ++k) {
    context.check_stop();
    const auto number = nested ? plan.outer_split(k) : plan.inner_split(0, k);
    const auto tests = plan.test_rows(number);
    const auto& point = nested ? result.point(result.outer[static_cast<std::size_t>(k)].level,
                                              result.outer[static_cast<std::size_t>(k)].level.chosen.chosen)
                               : result.chosen();
    const auto model = train_on_split(context, dataset, plan, number, result, point);
    const auto test = take_rows(dataset, tests, context.threads());
    const auto predictions = model.predict(context, test, model.has_probabilities());
    append_predictions(labels, k, tests, predictions, model.class_decisions(predictions), all);
    importance.add(context, model, test, tests, k);
    context.progress().advance(1);
  }
  // Models of outer folds may be of several families, not all of which have probabilities.
  if (all.probabilities.size() != all.size() * labels.class_names.size()) all.probabilities.clear();
  result.held_out = std::move(all);
  result.importance = importance.finish();
}

}  // namespace

std::vector<Part> parts_of(const HeldOutPredictions& found) {
  const auto splits = *std::max_element(found.splits.begin(), found.splits.end()) + 1;
  std::vector<Part> parts(static_cast<std::size_t>(std::min(splits, most_parts)));
  std::vector<std::set<std::int32_t>> rows(parts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto part = static_cast<std::size_t>(found.splits[i]) % parts.size();
    parts[part].entries.push_back(i);
    rows[part].insert(found.rows[i]);
  }
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!rows[part].contains(found.rows[i])) parts[part].others.push_back(i);
  return parts;
}

bool can_learn_without_parts(const HeldOutPredictions& found, const std::vector<Part>& parts, std::size_t classes) {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    std::set<std::int32_t> seen;
    for (const auto i : part.others) seen.insert(found.truth[i]);
    return seen.size() == classes;
  });
}

DecidedRows rows_of(const HeldOutPredictions& found, std::span<const std::size_t> entries) {
  DecidedRows rows;
  const auto columns = static_cast<std::size_t>(found.columns);
  for (const auto i : entries) {
    for (std::size_t c = 0; c < columns; ++c) rows.decisions.push_back(found.decisions[i * columns + c]);
    rows.classes.push_back(found.truth[i]);
  }
  return rows;
}

namespace {

DecidedRows all_rows(const HeldOutPredictions& found) { return {found.decisions, found.truth}; }

void calibrate(const std::vector<Part>& parts, bool without_parts, SearchResult& result) {
  auto& found = *result.held_out;
  const auto learn = [&](const DecidedRows& rows) {
    return learn_calibration(*result.options.calibrate, rows.decisions, found.columns, rows.classes);
  };
  const auto classes = result.class_names.size();
  found.probabilities.clear();
  if (without_parts) found.probabilities.resize(found.size() * classes);
  for (const auto& part : parts) {
    if (!without_parts) break;
    const auto values = learn(rows_of(found, part.others)).probabilities(rows_of(found, part.entries).decisions);
    for (std::size_t k = 0; k < part.entries.size(); ++k)
      std::copy_n(&values[k * classes], classes, &found.probabilities[part.entries[k] * classes]);
  }
  if (result.model) result.model->set_calibration(learn(all_rows(found)));
}

void choose_thresholds(const std::vector<Part>& parts, bool without_parts, SearchResult& result) {
  auto& found = *result.held_out;
  const auto positive = result.positive;
  const auto value = [&](double decision) { return positive == 0 ? decision : -decision; };
  const auto choose = [&](const DecidedRows& rows) {
    std::vector<double> values;
    std::vector<std::uint8_t> flags;
    for (const double decision : rows.decisions) values.push_back(value(decision));
    for (const auto truth : rows.classes) flags.push_back(truth == positive ? 1 : 0);
    return choose_threshold(*result.options.threshold, values, flags);
  };
  if (without_parts) found.by_threshold.resize(found.size());
  for (const auto& part : parts) {
    if (!without_parts) break;
    const auto threshold = choose(rows_of(found, part.others));
    for (const auto i : part.entries)
      found.by_threshold[i] = value(found.decisions[i]) >= threshold.value ? positive : 1 - positive;
  }
  if (result.model) result.model->set_threshold(choose(all_rows(found)));
}

}  // namespace

template <class T>
void use_held_out(const Context& context, const Dataset<T>& dataset, const Labels& labels, const Plan& plan,
                  SearchResult& result) {
  predict_held_out(context, dataset, labels, plan, result);
  const auto& options = result.options;
  if (!options.calibrate && !options.threshold) return;
  const auto parts = parts_of(*result.held_out);
  const bool without_parts = can_learn_without_parts(*result.held_out, parts, labels.class_names.size());
  if (options.calibrate) calibrate(parts, without_parts, result);
  if (options.threshold) choose_thresholds(parts, without_parts, result);
  if (!without_parts)
    result.notes.emplace_back(
        "the held-out rows of some split are all there are of a class, so that nothing says how good the calibration "
        "or the threshold is on rows that it was not learnt on; take more folds");
}

template Model train_on_split(const Context&, const Dataset<float>&, const Plan&, std::int32_t, const SearchResult&,
                              const Point&);
template Model train_on_split(const Context&, const Dataset<double>&, const Plan&, std::int32_t, const SearchResult&,
                              const Point&);
template void use_held_out(const Context&, const Dataset<float>&, const Labels&, const Plan&, SearchResult&);
template void use_held_out(const Context&, const Dataset<double>&, const Labels&, const Plan&, SearchResult&);

}  // namespace sheaf::engine
