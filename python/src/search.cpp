// Searches: a grid on the caller's own splits, models compared, and studies over resamples.
#include <algorithm>
#include <limits>
#include <optional>

#include "core.hpp"

namespace sheaf::python {
namespace {

using Rows = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

SearchSpace space_of(const ModelOptions& options, const Settings& settings) {
  SearchSpace space(options);
  for (const auto& [name, text] : settings) set_parameter(space, name, text);
  return space;
}

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
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { result = search(context, one, space, options); }, dataset.any);
  });
  return result;
}

/// Every point of the space on every split, without a final model: the caller chooses, and trains what it chose.
SearchResult search_grid(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& model,
                         const Settings& space, const Settings& pipeline, const RowLists& splits,
                         const py::object& weights, const std::string& score, bool keep_decisions) {
  SearchOptions options;
  set_options(options.pipeline, pipeline);
  options.splits = splits_of(splits, dataset.rows());
  options.split = SplitKind::custom;
  options.row_weights = row_weights_of(weights, dataset.rows());
  options.score = parse_metric(score);
  options.strategy = Strategy::grid;
  options.refit = false;
  options.keep_decisions = keep_decisions;
  return run_search(surroundings, dataset, space_of(model, space), options);
}

/// Models by their names, with settings as for `sheaf search`; steps before them follow from the data. `splits`: in
/// place of folds. What may mislead in the data is among the warnings and notes.
SearchResult search_models(const Surroundings& surroundings, const AnyDataset& dataset, const std::string& names,
                           const Settings& settings, const std::optional<RowLists>& splits, const py::object& weights) {
  SearchOptions options;
  options.pipeline = default_pipeline();
  set_options(options, settings);
  if (splits) {
    options.splits = splits_of(*splits, dataset.rows());
    options.split = SplitKind::custom;
  }
  options.row_weights = row_weights_of(weights, dataset.rows());
  const auto space = space_of_models(names, options.pipeline);
  SearchResult result;
  run(surroundings, [&](const Context& context) {
    std::visit(
        [&](const auto& one) {
          result = search(context, one, space, options);
          for (const auto& finding : data_findings(context, one))
            (finding.level == Finding::Level::warning ? result.warnings : result.notes).push_back(finding.message);
        },
        dataset.any);
  });
  return result;
}

/// A study of which features are chosen: `settings` as for `sheaf study`.
SearchResult study(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& model,
                   const Settings& space, const Settings& settings, const py::object& weights) {
  SearchOptions options;
  set_options(options, settings);
  options.full = false;
  options.row_weights = row_weights_of(weights, dataset.rows());
  return run_search(surroundings, dataset, space_of(model, space), options);
}

/// Points x axes, in the order of the axes. Values of names are the names themselves.
py::list points_of(const SearchResult& result) {
  py::list points;
  for (const auto place : result.level.points) {
    const auto& point = result.points[static_cast<std::size_t>(place)];
    py::dict row;
    for (std::size_t a = 0; a < result.axes.size(); ++a) {
      const auto& axis = result.axes[a];
      if (point[a] == SearchAxis::absent) continue;
      if (axis.names.empty())
        row[py::str(axis.name)] = point[a];
      else
        row[py::str(axis.name)] = axis.names[static_cast<std::size_t>(point[a]) - 1];
    }
    points.append(std::move(row));
  }
  return points;
}

/// Points x splits.
py::array_t<double> scores_of(const SearchResult& result, const std::string& metric) {
  const auto wanted = parse_metric(metric);
  std::vector<double> scores;
  for (const auto& model : result.level.models) scores.push_back(model.score(wanted));
  return array_of(scores, std::ssize(result.level.points), result.splits);
}

/// Points x splits: whether training reached its tolerance.
py::array_t<bool> converged(const SearchResult& result) {
  py::array_t<bool> all({static_cast<py::ssize_t>(result.level.points.size()), py::ssize_t{result.splits}});
  auto* one = all.mutable_data();
  for (const auto& model : result.level.models)
    *one++ = std::all_of(model.fits.begin(), model.fits.end(), [](const auto& fit) { return fit.converged; });
  return all;
}

/// Decision values (test rows x columns) and predicted classes of one point on one split.
py::tuple held_out(const SearchResult& result, std::size_t point, std::size_t split) {
  const auto& model = result.level.models.at(point * static_cast<std::size_t>(result.splits) + split);
  const auto rows = std::ssize(model.decisions) / result.columns;
  return py::make_tuple(array_of(model.decisions, rows, result.columns), array_of(model.predicted));
}

/// Columns of the comparison of models, best first; NaN: there is none. Without rows if one model alone was searched.
py::dict leaderboard_of(const SearchResult& result) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> names, steps;
  std::vector<double> means, deviations, differences, low, high;
  std::vector<std::int64_t> points;
  py::list dropped;
  const auto rows = result.models.empty() ? std::vector<LeaderboardRow>() : result.leaderboard();
  for (const auto& row : rows) {
    const auto& model = result.models[static_cast<std::size_t>(row.model)];
    names.push_back(model.candidate.name);
    steps.push_back(describe_steps(model.candidate.pipeline));
    means.push_back(row.score.mean);
    deviations.push_back(row.place < 0 ? none : row.score.standard_deviation);
    differences.push_back(row.difference);
    low.push_back(row.has_interval ? row.low : none);
    high.push_back(row.has_interval ? row.high : none);
    points.push_back(model.points);
    dropped.append(row.place < 0);
  }
  py::dict columns;
  columns["model"] = names;
  columns["mean"] = array_of(means);
  columns["standard_deviation"] = array_of(deviations);
  columns["difference"] = array_of(differences);
  columns["low"] = array_of(low);
  columns["high"] = array_of(high);
  columns["points"] = array_of(points);
  columns["dropped"] = dropped;
  columns["steps"] = steps;
  return columns;
}

/// Pairs of the members' names and weights; None: there is no stack.
std::optional<std::vector<std::pair<std::string, double>>> stack_of(const SearchResult& result) {
  if (!result.stack) return std::nullopt;
  std::vector<std::pair<std::string, double>> members;
  for (std::size_t m = 0; m < result.stack->all.members.size(); ++m)
    members.emplace_back(result.model_of(result.stack->all.members[m])->candidate.name, result.stack->all.weights[m]);
  return members;
}

/// The mean score of the chosen models on the outer folds; None: there are no outer folds.
std::optional<double> nested_score(const SearchResult& result) {
  if (result.outer.empty()) return std::nullopt;
  return result.outer_summary(*result.options.score).mean;
}

py::list stability_of(const SearchResult& result) {
  py::list features;
  for (const auto& feature : result.stability) {
    py::dict row;
    row["index"] = feature.index;
    row["frequency"] = feature.frequency;
    row["median_rank"] = feature.median_rank;
    row["mean_weight"] = feature.mean_weight;
    row["sign_agreement"] = feature.sign_agreement;
    features.append(std::move(row));
  }
  return features;
}

/// The metrics that Sheaf computes itself, by all their names, and whether larger values are better.
py::dict metric_table() {
  py::dict table;
  for (const auto& row : metrics()) {
    py::dict entry;
    entry["larger_is_better"] = row.larger_is_better;
    entry["regression"] = row.regression;
    entry["probabilities"] = row.probabilities;
    entry["least_classes"] = row.least_classes;
    table[py::str(std::string(row.name))] = std::move(entry);
  }
  return table;
}

}  // namespace

void add_search(py::module_& module) {
  py::class_<SearchResult>(module, "SearchResult")
      .def("points", &points_of)
      .def("scores", &scores_of)
      .def("converged", &converged)
      .def("held_out", &held_out)
      .def("stability", &stability_of)
      .def("overall_stability",
           [](const SearchResult& result) {
             return py::make_tuple(result.overall.value, result.overall.low, result.overall.high);
           })
      .def("stability_by_chance", [](const SearchResult& result) { return result.chance.values; })
      .def("leaderboard", &leaderboard_of)
      .def("nested_score", &nested_score)
      .def("stack", &stack_of)
      .def("take_model", [](SearchResult& result) { return std::move(result.model).value(); })
      .def_property_readonly("score",
                             [](const SearchResult& result) { return std::string(info(*result.options.score).name); })
      .def_property_readonly("chosen", [](const SearchResult& result) { return result.level.chosen.chosen; })
      .def_property_readonly("steps",
                             [](const SearchResult& result) { return describe_steps(result.options.pipeline); })
      .def("html", [](const SearchResult& result) { return search_html(result); })
      .def_readonly("warnings", &SearchResult::warnings)
      .def_readonly("notes", &SearchResult::notes);
  module.def("search_grid", &search_grid);
  module.def("search_models", &search_models);
  module.def("study", &study);
  module.def("metrics", &metric_table);
}

}  // namespace sheaf::python
