// Searches, nested ones and studies: how they are run, and their results as tables.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/bindings/datasets.hpp>
#include <sheaf/bindings/settings.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

inline SearchResult search(const Context& context, const AnyDataset& dataset, const SearchSpace& space,
                           const SearchOptions& options) {
  return std::visit([&](const auto& one) { return sheaf::search(context, one, space, options); }, dataset);
}

/// A column for each axis; an entry is missing if the point's model does not have the parameter. Values of names are
/// the names themselves.
inline List points_table(const SearchResult& result, std::span<const std::int32_t> places) {
  List table;
  table.is_table = true;
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    const auto& axis = result.axes[a];
    const auto value = [&](std::int32_t place) { return result.points[static_cast<std::size_t>(place)][a]; };
    if (axis.names.empty())
      table.add(axis.name, column_of(places, [&](std::int32_t place) {
                  return value(place) == SearchAxis::absent ? std::nullopt : std::optional(value(place));
                }));
    else
      table.add(axis.name, column_of(places, [&](std::int32_t place) {
                  return value(place) == SearchAxis::absent ? std::nullopt : std::optional(axis.text(value(place)));
                }));
  }
  return table;
}

/// Points x splits.
inline Matrix scores_matrix(const SearchResult& result, Metric metric) {
  const auto& level = result.level;
  return {column_of(level.models, [&](const auto& model) { return model.score(metric); }), std::ssize(level.points),
          result.splits};
}

/// Points x splits, one after another: whether training reached its tolerance.
inline std::vector<bool> converged(const SearchResult& result) {
  return column_of(result.level.models, [](const auto& model) {
    return std::all_of(model.fits.begin(), model.fits.end(), [](const auto& fit) { return fit.converged; });
  });
}

/// The models that were compared, best first; an entry is missing if there is none. Without rows if one model alone was
/// searched.
inline Value leaderboard_table(const SearchResult& result) {
  const auto rows = result.models.empty() ? std::vector<LeaderboardRow>() : result.leaderboard();
  const auto model = [&](const LeaderboardRow& row) -> const auto& {
    return result.models[static_cast<std::size_t>(row.model)];
  };
  const auto known = [](bool is_known, double value) { return is_known ? std::optional(value) : std::nullopt; };
  return Table(rows)
      .column("model", [&](const auto& row) { return model(row).candidate.name; })
      .column("mean", [](const auto& row) { return row.score.mean; })
      .column("sd", [&](const auto& row) { return known(row.place >= 0, row.score.standard_deviation); })
      .column("difference", &LeaderboardRow::difference)
      .column("low", [&](const auto& row) { return known(row.has_interval, row.low); })
      .column("high", [&](const auto& row) { return known(row.has_interval, row.high); })
      .column("points", [&](const auto& row) { return static_cast<std::int32_t>(model(row).points); })
      .column("dropped", [](const auto& row) { return row.place < 0; })
      .column("steps", [&](const auto& row) { return describe_steps(model(row).candidate.pipeline); });
}

/// The members of the stack; none: there is no stack.
inline Value stack_table(const SearchResult& result) {
  if (!result.stack) return {};
  const auto& all = result.stack->all;
  List table;
  table.is_table = true;
  table.add("model", column_of(all.members, [&](const auto& point) { return result.model_of(point)->candidate.name; }));
  return table.add("weight", all.weights);
}

/// One row for each outer fold or resample: what it chose, the scores of that on its rows, as `score:NAME`, and its
/// size.
inline List outer_table(const SearchResult& result) {
  const auto places =
      column_of(result.outer, [](const auto& fold) { return fold.level.points[fold.level.chosen.chosen]; });
  auto table = points_table(result, places);
  for (const auto metric : result.metrics)
    table.add("score:" + std::string(info(metric).name),
              column_of(result.outer, [&](const auto& fold) { return fold.scores.score(metric); }));
  return table.add("size", column_of(result.outer, [](const auto& fold) { return double(fold.scores.size); }));
}

/// The features that some resample chose, with mean weights and agreement of signs as features x decision values.
inline List stability_of(const SearchResult& result) {
  const auto& features = result.stability;
  const auto by_column = [&](const auto& member) {
    Matrix matrix{{}, std::ssize(features), result.columns};
    for (const auto& feature : features)
      for (std::size_t c = 0; c < static_cast<std::size_t>(result.columns); ++c)
        matrix.values.push_back(c < member(feature).size() ? member(feature)[c]
                                                           : std::numeric_limits<double>::quiet_NaN());
    return matrix;
  };
  using Feature = std::decay_t<decltype(features.front())>;
  return List()
      .add("feature", column_of(features, [](const Feature& one) { return one.name; }))
      .add("index", Places(column_of(features, [](const Feature& one) { return std::int64_t{one.index}; })))
      .add("frequency", column_of(features, [](const Feature& one) { return one.frequency; }))
      .add("median_rank", column_of(features, [](const Feature& one) { return one.median_rank; }))
      .add("mean_weight", by_column([](const Feature& one) -> const auto& { return one.mean_weight; }))
      .add("sign_agreement", by_column([](const Feature& one) -> const auto& { return one.sign_agreement; }))
      .add("overall", std::vector<double>{result.overall.value, result.overall.low, result.overall.high})
      .add("chance", result.chance.values);
}

/// Predictions for held-out rows; none: they were not kept.
inline Value held_out_of(const SearchResult& result) {
  if (!result.held_out) return {};
  const auto& held = *result.held_out;
  const auto count = static_cast<std::int64_t>(held.size());
  const auto columns = count > 0 ? std::ssize(held.probabilities) / count : 0;
  return List()
      .add("split", Places(held.splits))
      .add("row", Places(held.rows))
      .add("class", Places(held.classes))
      .add("decisions", Matrix{held.decisions, count, held.columns})
      .add("probabilities", Matrix{held.probabilities, count, columns});
}

/// The metrics that Sheaf computes.
inline Value metrics_table() {
  return Table(metrics())
      .column("name", [](const MetricInfo& row) { return row.name; })
      .column("title", [](const MetricInfo& row) { return row.title; })
      .column("larger_is_better", &MetricInfo::larger_is_better)
      .column("regression", &MetricInfo::regression);
}

}  // namespace sheaf::bindings
