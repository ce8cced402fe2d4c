// Summaries of models of neighbours.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/neighbors.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

ModelSummary model_summary(const KnnModel& model, std::int64_t rows);
std::string model_summary_json(const KnnModel& model, std::int64_t rows);

}  // namespace sheaf
