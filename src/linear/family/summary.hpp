// Summaries of linear models, elastic nets and generalised linear models.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

ModelSummary model_summary(const LinearModel& model, std::int64_t rows);
std::string model_summary_json(const LinearModel& model, std::int64_t rows);

/// Requires a model with a GlmTraining. `shape`: of the training data.
ModelSummary glm_summary(const LinearModel& model, std::string shape);
std::string glm_json(const LinearModel& model, std::int64_t rows);

/// The largest weights of each decision value.
SummaryTable largest_weights_table(const LinearModel& model);

}  // namespace sheaf
