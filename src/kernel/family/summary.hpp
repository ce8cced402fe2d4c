// Summaries of SVMs.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/solvers/svm.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

ModelSummary model_summary(const SvmModel& model, std::int64_t rows);
std::string model_summary_json(const SvmModel& model, std::int64_t rows);

}  // namespace sheaf
