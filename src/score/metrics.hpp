// The table of metrics: one row each. A row holds its name and the function that computes it from the statistics of a
// model's test rows.
#pragma once

#include <span>

#include <sheaf/scores.hpp>

#include "score/statistics.hpp"

namespace sheaf::score {

/// The parts of Statistics, one bit each. Predicted classes are counted with every other part of classes.
enum class Need : unsigned { classes = 1, true_ranks = 2, probabilities = 4, rankings = 8, errors = 16, survival = 32 };

struct MetricRow {
  MetricInfo info;
  Need need;
  double (*value)(const Statistics&);
};

const MetricRow& metric_row(Metric metric);

}  // namespace sheaf::score
