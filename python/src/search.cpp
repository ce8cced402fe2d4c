// Searches: a grid on the caller's own splits, models compared, and studies over resamples.
#include <sheaf/bindings/search.hpp>

#include <optional>

#include "core.hpp"

namespace sheaf::python {
namespace {

using Rows = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

std::vector<std::int64_t> numbers_of(const Rows& rows) { return {rows.data(), rows.data() + rows.size()}; }

/// Pairs of training and test rows.
using RowLists = std::vector<std::pair<Rows, Rows>>;

Splits splits_of(const RowLists& splits, std::int64_t rows) {
  std::vector<TrainTestRows> lists;
  for (const auto& [train, test] : splits) lists.push_back({numbers_of(train), numbers_of(test)});
  return custom_splits(rows, lists);
}

SearchResult run_search(const Surroundings& surroundings, const AnyDataset& dataset, const SearchSpace& space,
                        const SearchOptions& options) {
  SearchResult result;
  run(surroundings, [&](const Context& context) { result = bindings::search(context, dataset.any, space, options); });
  return result;
}

/// Every point of the space on every split, without a final model: the caller chooses, and trains what it chose.
SearchResult search_grid(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& model,
                         const Texts& space, const Texts& pipeline, const RowLists& splits, const py::object& weights,
                         const std::string& score, bool keep_decisions) {
  SearchOptions options;
  bindings::set_options(options.pipeline, settings_of(pipeline));
  options.splits = splits_of(splits, dataset.rows());
  options.split = SplitKind::custom;
  options.row_weights = row_weights_of(weights, dataset.rows());
  options.score = parse_metric(score);
  options.strategy = Strategy::grid;
  options.refit = false;
  options.keep_decisions = keep_decisions;
  return run_search(surroundings, dataset, bindings::space_of(model, settings_of(space)), options);
}

/// Models by their names, with settings as for `sheaf search`; steps before them follow from the data. `splits`: in
/// place of folds. What may mislead in the data is among the warnings and notes.
SearchResult search_models(const Surroundings& surroundings, const AnyDataset& dataset, const std::string& names,
                           const Texts& settings, const std::optional<RowLists>& splits, const py::object& weights) {
  SearchOptions options;
  options.pipeline = default_pipeline();
  bindings::set_options(options, settings_of(settings));
  if (splits) {
    options.splits = splits_of(*splits, dataset.rows());
    options.split = SplitKind::custom;
  }
  options.row_weights = row_weights_of(weights, dataset.rows());
  return run_search(surroundings, dataset, space_of_models(names, options.pipeline), options);
}

/// A study of which features are chosen: `settings` as for `sheaf study`.
SearchResult study(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& model,
                   const Texts& space, const Texts& settings, const py::object& weights) {
  SearchOptions options;
  bindings::set_options(options, settings_of(settings));
  options.full = false;
  options.row_weights = row_weights_of(weights, dataset.rows());
  return run_search(surroundings, dataset, bindings::space_of(model, settings_of(space)), options);
}

/// Decision values (test rows x columns) and predicted classes of one point on one split.
py::tuple held_out(const SearchResult& result, std::size_t point, std::size_t split) {
  const auto& model = result.level.models.at(point * static_cast<std::size_t>(result.splits) + split);
  const auto rows = std::ssize(model.decisions) / result.columns;
  return py::make_tuple(array_of(model.decisions, rows, result.columns), to_python(model.predicted));
}

/// The mean score of the chosen models on the outer folds; None: there are no outer folds.
std::optional<double> nested_score(const SearchResult& result) {
  if (result.outer.empty()) return std::nullopt;
  return result.outer_summary(*result.options.score).mean;
}

}  // namespace

void add_search(py::module_& module) {
  py::class_<SearchResult>(module, "SearchResult")
      .def("points",
           [](const SearchResult& result) { return records_of(bindings::points_table(result, result.level.points)); })
      .def("scores",
           [](const SearchResult& result, const std::string& metric) {
             return to_python(bindings::scores_matrix(result, parse_metric(metric)));
           })
      .def("converged", [](const SearchResult& result) { return to_python(bindings::converged(result)); })
      .def("held_out", &held_out)
      .def("stability", [](const SearchResult& result) { return to_python(bindings::stability_of(result)); })
      .def("leaderboard", [](const SearchResult& result) { return to_python(bindings::leaderboard_table(result)); })
      .def("nested_score", &nested_score)
      .def("stack", [](const SearchResult& result) { return to_python(bindings::stack_table(result)); })
      .def("take_model", [](SearchResult& result) { return std::move(result.model).value(); })
      .def_property_readonly("score",
                             [](const SearchResult& result) { return std::string(info(*result.options.score).name); })
      .def_property_readonly("chosen", [](const SearchResult& result) { return result.level.chosen.chosen; })
      .def_property_readonly("steps",
                             [](const SearchResult& result) { return describe_steps(result.options.pipeline); })
      .def("html", [](const SearchResult& result) { return search_html(result); })
      .def_readonly("warnings", &SearchResult::warnings)
      .def_readonly("notes", &SearchResult::notes);
  module.def("findings", [](const Surroundings& surroundings, const AnyDataset& dataset) {
    bindings::Value found;
    run(surroundings, [&](const Context& context) { found = bindings::findings_table(context, dataset.any); });
    return records_of(found);
  });
  module.def("search_grid", &search_grid);
  module.def("search_models", &search_models);
  module.def("study", &study);
  module.def("metric", [](const std::string& name) {
    const auto& row = info(parse_metric(name));
    return py::make_tuple(std::string(row.name), row.larger_is_better);
  });
}

}  // namespace sheaf::python
