// Searches of any family, nested ones and studies of stability.
#include "core.hpp"

namespace sheaf::r {
namespace {

using Rcpp::_;
using Rcpp::List;

SearchSpace space_of(const ModelOptions& options, const Settings& settings) {
  SearchSpace space(options);
  for (const auto& row : settings) name_argument(row, [&] { set_parameter(space, row.option, row.text); });
  return space;
}

/// Several models by their names; options and values to try are those of each model that has them.
SearchSpace space_of_several(const std::string& names, const PipelineOptions& pipeline, const Settings& options,
                             const Settings& tried) {
  auto space = space_of_models(names, pipeline);
  for (const auto* settings : {&options, &tried})
    for (const auto& row : *settings) name_argument(row, [&] { set_parameter_of_models(space, row.option, row.text); });
  return space;
}

/// A column for each axis. Values of names are the names themselves; NA: the point's model does not have the parameter.
List points_of(const SearchResult& result, std::span<const std::int32_t> places) {
  List columns;
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    const auto& axis = result.axes[a];
    std::vector<double> numbers;
    Rcpp::CharacterVector names;
    for (const auto place : places) {
      const double value = result.points[static_cast<std::size_t>(place)][a];
      const bool absent = value == SearchAxis::absent;
      numbers.push_back(absent ? NA_REAL : value);
      if (!axis.names.empty()) names.push_back(absent ? NA_STRING : Rf_mkCharCE(axis.text(value).c_str(), CE_UTF8));
    }
    if (axis.names.empty())
      columns[axis.name] = numbers;
    else
      columns[axis.name] = names;
  }
  return columns;
}

/// A matrix of points x splits for each metric.
List scores_of(const SearchResult& result, const SearchLevel& level) {
  List matrices;
  for (const auto metric : result.metrics) {
    std::vector<double> scores;
    for (const auto& model : level.models) scores.push_back(model.score(metric));
    matrices[std::string(info(metric).name)] = matrix_of(scores, std::ssize(level.points), result.splits);
  }
  return matrices;
}

std::vector<double> sizes_of(const SearchResult& result, const SearchLevel& level) {
  std::vector<double> sizes;
  for (std::size_t p = 0; p < level.points.size(); ++p) sizes.push_back(result.size(level, p));
  return sizes;
}

/// The columns of a data frame: the models that were compared, best first.
List models_of(const SearchResult& result) {
  std::vector<std::string> names, steps;
  std::vector<double> means, deviations, differences, low, high;
  std::vector<int> points;
  std::vector<bool> dropped;
  for (const auto& row : result.leaderboard()) {
    const auto& model = result.models[static_cast<std::size_t>(row.model)];
    names.push_back(model.candidate.name);
    steps.push_back(describe_steps(model.candidate.pipeline));
    means.push_back(row.score.mean);
    deviations.push_back(row.place < 0 ? NA_REAL : row.score.standard_deviation);
    differences.push_back(row.difference);
    low.push_back(row.has_interval ? row.low : NA_REAL);
    high.push_back(row.has_interval ? row.high : NA_REAL);
    points.push_back(model.points);
    dropped.push_back(row.place < 0);
  }
  return List::create(_["model"] = names, _["mean"] = means, _["sd"] = deviations, _["difference"] = differences,
                      _["low"] = low, _["high"] = high, _["points"] = points, _["dropped"] = dropped,
                      _["steps"] = steps);
}

/// The columns of a data frame: the members of the stack.
List stack_of(const SearchResult& result) {
  std::vector<std::string> names;
  for (const auto& point : result.stack->all.members) names.push_back(result.model_of(point)->candidate.name);
  return List::create(_["model"] = names, _["weight"] = result.stack->all.weights);
}

/// One row for each outer fold or resample: what it chose, and the scores of that on its rows.
List outer_of(const SearchResult& result) {
  std::vector<std::int32_t> places;
  for (const auto& fold : result.outer) places.push_back(fold.level.points[fold.level.chosen.chosen]);
  List columns = points_of(result, places);
  for (const auto metric : result.metrics) {
    std::vector<double> scores;
    for (const auto& fold : result.outer) scores.push_back(fold.scores.score(metric));
    columns["score:" + std::string(info(metric).name)] = scores;
  }
  std::vector<double> sizes;
  for (const auto& fold : result.outer) sizes.push_back(fold.scores.size);
  columns["size"] = sizes;
  return columns;
}

/// The columns of a data frame of features, and the mean weights as features x decision values.
List stability_list(const SearchResult& result) {
  std::vector<std::string> names;
  std::vector<int> indices;
  std::vector<double> frequency, rank, weights, signs;
  for (const auto& feature : result.stability) {
    names.push_back(feature.name);
    indices.push_back(static_cast<int>(feature.index) + 1);
    frequency.push_back(feature.frequency);
    rank.push_back(feature.median_rank);
    for (std::int32_t c = 0; c < result.columns; ++c) {
      const auto place = static_cast<std::size_t>(c);
      weights.push_back(place < feature.mean_weight.size() ? feature.mean_weight[place] : NA_REAL);
      signs.push_back(place < feature.sign_agreement.size() ? feature.sign_agreement[place] : NA_REAL);
    }
  }
  const auto count = std::ssize(result.stability);
  return List::create(_["feature"] = names, _["index"] = indices, _["frequency"] = frequency, _["median_rank"] = rank,
                      _["mean_weight"] = matrix_of(weights, count, result.columns),
                      _["sign_agreement"] = matrix_of(signs, count, result.columns));
}

List held_out_list(const SearchResult& result) {
  const auto& held = *result.held_out;
  const auto count = static_cast<std::int64_t>(held.size());
  const auto columns = count > 0 ? std::ssize(held.probabilities) / count : 0;
  return List::create(_["split"] = from_one(held.splits), _["row"] = from_one(held.rows),
                      _["truth"] = from_one(held.truth), _["class"] = from_one(held.classes), _["number"] = held.values,
                      _["decisions"] = matrix_of(held.decisions, count, held.columns),
                      _["probabilities"] = matrix_of(held.probabilities, count, columns));
}

List result_list(const Rcpp::XPtr<SearchResult>& pointer) {
  SearchResult& result = *pointer;
  const auto& level = result.level;
  std::vector<std::string> axes, titles;
  for (const auto& axis : result.axes) {
    axes.push_back(axis.name);
    titles.push_back(axis.title);
  }
  const auto& score = info(*result.options.score);
  List answer =
      List::create(_["title"] = result.title, _["levels"] = result.class_names, _["axes"] = axes, _["titles"] = titles,
                   _["score"] = std::string(score.name), _["score_title"] = std::string(score.title),
                   _["larger_is_better"] = score.larger_is_better, _["splits"] = result.splits,
                   _["warnings"] = result.warnings, _["notes"] = result.notes);
  if (!level.points.empty()) {
    answer["points"] = points_of(result, level.points);
    answer["scores"] = scores_of(result, level);
    answer["sizes"] = sizes_of(result, level);
    answer["best"] = static_cast<int>(level.chosen.best) + 1;
    answer["chosen"] = static_cast<int>(level.chosen.chosen) + 1;
  }
  if (!result.models.empty()) answer["models"] = models_of(result);
  if (result.stack) answer["stack"] = stack_of(result);
  if (!result.outer.empty()) {
    answer["outer"] = outer_of(result);
    answer["stability"] = stability_list(result);
    answer["overall"] = Rcpp::NumericVector::create(_["estimate"] = result.overall.value, _["low"] = result.overall.low,
                                                    _["high"] = result.overall.high);
    answer["chance"] = result.chance.values;
    const std::vector<std::int32_t> place{result.best_overall};
    answer["best_overall"] = points_of(result, place);
  }
  if (result.held_out) answer["held_out"] = held_out_list(result);
  // The model is part of the result, which lives as long as this pointer to it.
  if (result.model)
    answer["model"] = describe_model(Rcpp::XPtr<Model>(&*result.model, false, R_NilValue, pointer), true);
  answer["pointer"] = pointer;
  return answer;
}

}  // namespace
}  // namespace sheaf::r

using namespace sheaf::r;

// `folds`: the split that tests each row, from 0; empty: as the settings say. `study`: no search over all rows.
// `refit`: train the chosen model, and warn of what may mislead in the data; else points are scored and no more.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_search(const Rcpp::List& control, SEXP x, const Rcpp::List& about, const std::string& kind,
                       const Rcpp::CharacterMatrix& settings, const Rcpp::CharacterMatrix& space,
                       const Rcpp::CharacterMatrix& search_settings, const Rcpp::CharacterMatrix& pipeline,
                       const std::vector<int>& folds, const Rcpp::RObject& weights, bool refit, bool study) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, about);
  sheaf::SearchOptions options;
  set_options(options, settings_of(search_settings));
  options.pipeline = sheaf::default_pipeline();
  set_options(options.pipeline, settings_of(pipeline));
  const bool several = kind == sheaf::automatic_model || kind.find(',') != std::string::npos;
  const auto tried = several ? space_of_several(kind, options.pipeline, settings_of(settings), settings_of(space))
                             : space_of(model_options(kind, settings), settings_of(space));
  if (!folds.empty()) {
    options.splits = sheaf::custom_splits(folds);
    options.split = sheaf::SplitKind::custom;
  }
  const auto count = std::visit([](const auto& input) { return input.rows; }, rows.input);
  options.row_weights = row_weights_of(weights, count);
  options.refit = refit;
  options.full = !study;
  sheaf::SearchResult result;
  run(surroundings, [&](const sheaf::Context& context) {
    const auto dataset = make(surroundings, context, rows);
    std::visit(
        [&](const auto& one) {
          result = sheaf::search(context, one, tried, options);
          if (!refit) return;
          for (const auto& finding : sheaf::data_findings(context, one))
            (finding.level == sheaf::Finding::Level::warning ? result.warnings : result.notes)
                .push_back(finding.message);
        },
        dataset);
  });
  return result_list(Rcpp::XPtr<sheaf::SearchResult>(new sheaf::SearchResult(std::move(result))));
}

// [[Rcpp::export(rng = false)]]
std::string core_search_html(SEXP pointer) {
  const Rcpp::XPtr<sheaf::SearchResult> result(pointer);
  return sheaf::search_html(*result);
}

// [[Rcpp::export(rng = false)]]
Rcpp::DataFrame core_metrics() {
  std::vector<std::string> names, titles;
  std::vector<bool> larger, regression;
  for (const auto& row : sheaf::metrics()) {
    names.emplace_back(row.name);
    titles.emplace_back(row.title);
    larger.push_back(row.larger_is_better);
    regression.push_back(row.regression);
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["name"] = names, _["title"] = titles, _["larger_is_better"] = larger,
                                 _["regression"] = regression, _["stringsAsFactors"] = false);
}

// Names of the parameters that a search of this kind of model varies.
// [[Rcpp::export(rng = false)]]
std::vector<std::string> core_axes(const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& row : sheaf::parameters_of(sheaf::find_model_kind(kind).options))
    if (row.list || row.use == sheaf::ParameterUse::search) names.push_back(row.name);
  return names;
}

// The model of a search that names none, but some options or a grid.
// [[Rcpp::export(rng = false)]]
std::string core_default_model(const Rcpp::CharacterMatrix& settings, const Rcpp::CharacterMatrix& space) {
  std::vector<std::string> names;
  for (const auto& rows : {settings_of(settings), settings_of(space)})
    for (const auto& row : rows) names.push_back(row.option);
  return sheaf::default_model(names);
}
