// Models of any family in words and in JSON.
#pragma once

#include <string>

#include <sheaf/model.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

namespace sheaf::cli {

std::string linear_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string linear_json(const LinearModel& model, const std::string& path, std::int64_t rows);

/// Requires a model with a GlmTraining.
std::string glm_text(const LinearModel& model, const std::string& source, std::int64_t rows);
std::string glm_json(const LinearModel& model, const std::string& path, std::int64_t rows);

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows);
std::string svm_json(const SvmModel& model, const std::string& path, std::int64_t rows);
/// How many kernel values sharing saved; empty if nothing was computed or shared.
std::string counts_text(const KernelCounts& counts);

std::string knn_text(const KnnModel& model, const std::string& source, std::int64_t rows);
std::string knn_json(const KnnModel& model, const std::string& path, std::int64_t rows);

inline std::string model_text(const Model& model, const std::string& source, std::int64_t rows) {
  if (model.get_if<KnnModel>() != nullptr) return knn_text(*model.get_if<KnnModel>(), source, rows);
  if (model.get_if<SvmModel>() != nullptr) return svm_text(*model.get_if<SvmModel>(), source, rows);
  return model.get_if<LinearModel>()->glm ? glm_text(*model.get_if<LinearModel>(), source, rows)
                                          : linear_text(*model.get_if<LinearModel>(), source, rows);
}
inline std::string model_json(const Model& model, const std::string& path, std::int64_t rows) {
  if (model.get_if<KnnModel>() != nullptr) return knn_json(*model.get_if<KnnModel>(), path, rows);
  if (model.get_if<SvmModel>() != nullptr) return svm_json(*model.get_if<SvmModel>(), path, rows);
  return model.get_if<LinearModel>()->glm ? glm_json(*model.get_if<LinearModel>(), path, rows)
                                          : linear_json(*model.get_if<LinearModel>(), path, rows);
}

}  // namespace sheaf::cli
