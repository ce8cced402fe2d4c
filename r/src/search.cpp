// Searches of any family, nested ones and studies of stability.
#include <sheaf/bindings/search.hpp>

#include "core.hpp"

namespace sheaf::r {
namespace {

/// A matrix of points x splits for each metric.
bindings::List scores_of(const SearchResult& result) {
  bindings::List matrices;
  for (const auto metric : result.metrics)
    matrices.add(std::string(info(metric).name), bindings::scores_matrix(result, metric));
  return matrices;
}

std::vector<double> sizes_of(const SearchResult& result) {
  std::vector<double> sizes;
  for (std::size_t p = 0; p < result.level.points.size(); ++p) sizes.push_back(result.size(result.level, p));
  return sizes;
}

Rcpp::List result_list(const Rcpp::XPtr<SearchResult>& pointer) {
  SearchResult& result = *pointer;
  const auto& level = result.level;
  const auto& score = info(*result.options.score);
  bindings::List list;
  list.add("title", result.title).add("levels", result.class_names).add("splits", std::int32_t{result.splits});
  list.add("axes", bindings::column_of(result.axes, [](const auto& axis) { return axis.name; }));
  list.add("titles", bindings::column_of(result.axes, [](const auto& axis) { return axis.title; }));
  list.add("score", score.name).add("score_title", score.title).add("larger_is_better", score.larger_is_better);
  list.add("warnings", result.warnings).add("notes", result.notes);
  if (!level.points.empty()) {
    list.add("points", bindings::points_table(result, level.points));
    list.add("scores", scores_of(result)).add("sizes", sizes_of(result));
    list.add("best", bindings::Place{static_cast<std::int64_t>(level.chosen.best)});
    list.add("chosen", bindings::Place{static_cast<std::int64_t>(level.chosen.chosen)});
  }
  if (!result.models.empty()) list.add("models", bindings::leaderboard_table(result));
  if (result.stack) list.add("stack", bindings::stack_table(result));
  if (!result.outer.empty())
    list.add("outer", bindings::outer_table(result)).add("stability", bindings::stability_of(result));
  if (result.held_out) list.add("held_out", bindings::held_out_of(result));
  auto answer = to_r(list);
  // The model is part of the result, which lives as long as this pointer to it.
  if (result.model)
    answer["model"] = describe_model(Rcpp::XPtr<Model>(&*result.model, false, R_NilValue, pointer), true);
  answer["pointer"] = pointer;
  return answer;
}

}  // namespace
}  // namespace sheaf::r

using namespace sheaf::r;
namespace bindings = sheaf::bindings;

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
  const auto tried = several
                         ? bindings::space_of_several(kind, options.pipeline, settings_of(settings), settings_of(space))
                         : bindings::space_of(model_options(kind, settings), settings_of(space));
  if (!folds.empty()) {
    options.splits = sheaf::custom_splits(folds);
    options.split = sheaf::SplitKind::custom;
  }
  options.row_weights = row_weights_of(weights, rows.count());
  options.refit = refit;
  options.full = !study;
  sheaf::SearchResult result;
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    result = bindings::search(context, dataset, tried, options);
  });
  return result_list(Rcpp::XPtr<sheaf::SearchResult>(new sheaf::SearchResult(std::move(result))));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_findings(const Rcpp::List& control, SEXP x, const Rcpp::List& about) {
  const auto rows = rows_of(x, about);
  bindings::Value found;
  run_on(surroundings_of(control), rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    found = bindings::findings_table(context, dataset);
  });
  return to_r(found);
}

// [[Rcpp::export(rng = false)]]
std::string core_search_html(SEXP pointer) {
  const Rcpp::XPtr<sheaf::SearchResult> result(pointer);
  return sheaf::search_html(*result);
}

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_metrics() { return to_r(bindings::metrics_table()); }

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
