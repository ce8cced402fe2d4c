// Models of any family in words and in JSON.
#pragma once

#include <string>

#include <sheaf/linear.hpp>
#include <sheaf/model.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/svm.hpp>

namespace sheaf::cli {

std::string linear_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string linear_json(const LinearModel& model, const std::string& path, std::int64_t rows);

/// Of a model with a GlmTraining.
std::string glm_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string glm_json(const LinearModel& model, const std::string& path, std::int64_t rows);

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows);
std::string svm_json(const SvmModel& model, const std::string& path, std::int64_t rows);
/// How many kernel values sharing saved; empty if nothing was computed or shared.
std::string counts_text(const KernelCounts& counts);

std::string knn_text(const KnnModel& model, const std::string& source, std::int64_t rows);
std::string knn_json(const KnnModel& model, const std::string& path, std::int64_t rows);

inline std::string model_text(const Model& model, const std::string& source, std::int64_t rows) {
  if (model.neighbors() != nullptr) return knn_text(*model.neighbors(), source, rows);
  if (model.svm() != nullptr) return svm_text(*model.svm(), source, rows);
  return model.linear()->glm ? glm_text(*model.linear(), source, rows) : linear_text(*model.linear(), source, rows);
}
inline std::string model_json(const Model& model, const std::string& path, std::int64_t rows) {
  if (model.neighbors() != nullptr) return knn_json(*model.neighbors(), path, rows);
  if (model.svm() != nullptr) return svm_json(*model.svm(), path, rows);
  return model.linear()->glm ? glm_json(*model.linear(), path, rows) : linear_json(*model.linear(), path, rows);
}

}  // namespace sheaf::cli
