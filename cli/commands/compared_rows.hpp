// The rows that neighbors and distances compare: read, and nominal features encoded as models encode them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include <sheaf/neighbors.hpp>
#include <sheaf/pipeline.hpp>

#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

template <class T>
struct ComparedRows {
  Dataset<T> read, read_queries, aligned_queries;  ///< which those below may borrow
  Dataset<T> dataset;
  std::optional<Dataset<T>> others;

  const Dataset<T>* queries() const { return others ? &*others : nullptr; }
};

/// The weight of a nominal feature is that of each of its levels.
inline void spread_weights(const Pipeline& pipeline, std::vector<double>& weights) {
  for (const auto& step : pipeline.steps)
    if (const auto* encode = std::get_if<EncodeStep>(&step); encode != nullptr && !weights.empty()) {
      std::vector<double> spread;
      for (const auto& column : encode->columns) spread.push_back(weights[static_cast<std::size_t>(column.feature)]);
      weights = std::move(spread);
    }
}

/// `queries`, `weights`: files; empty: none. Weights are read into `distance`.
template <class T>
ComparedRows<T> read_compared_rows(const Common& common, const Context& context, const std::string& input,
                                   const std::string& queries, const std::string& weights, ReadOptions reading,
                                   DistanceOptions& distance) {
  ComparedRows<T> rows;
  rows.read = read_table<T>(common, context, input, reading);
  if (!weights.empty()) distance.weights = read_feature_weights(weights, rows.read.features());
  reading.features = std::max(reading.features, rows.read.features());
  if (!queries.empty()) rows.read_queries = read_table<T>(common, context, queries, reading);
  const auto pipeline = learn_pipeline(context, rows.read, {});
  rows.dataset = apply_pipeline(context, pipeline, rows.read);
  spread_weights(pipeline, distance.weights);
  if (queries.empty()) return rows;
  const bool nominal = needs_pipeline(rows.read, {}) || needs_pipeline(rows.read_queries, {});
  const bool named = !rows.read.feature_names.empty() && !rows.read_queries.feature_names.empty();
  if (!nominal && !named) {
    rows.others = rows.read_queries.borrowed();
    return rows;
  }
  std::vector<std::string> warnings;
  rows.aligned_queries = align_features(context, pipeline, rows.read_queries, warnings);
  rows.others = apply_pipeline(context, pipeline, rows.aligned_queries);
  if (!common.quiet()) warn(warnings);
  return rows;
}

}  // namespace sheaf::cli
