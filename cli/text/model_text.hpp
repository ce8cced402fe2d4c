// Models of any family in words and in JSON.
#pragma once

#include <string>

#include <sheaf/model.hpp>

#include "text/linear_text.hpp"
#include "text/neighbors_text.hpp"
#include "text/svm_text.hpp"

namespace sheaf::cli {

inline std::string model_text(const Model& model, const std::string& source, std::int64_t rows) {
  if (model.neighbors() != nullptr) return knn_text(*model.neighbors(), source, rows);
  return model.svm() != nullptr ? svm_text(*model.svm(), source, rows) : linear_text(*model.linear(), source, rows);
}
inline std::string model_json(const Model& model, const std::string& path, std::int64_t rows) {
  if (model.neighbors() != nullptr) return knn_json(*model.neighbors(), path, rows);
  return model.svm() != nullptr ? svm_json(*model.svm(), path, rows) : linear_json(*model.linear(), path, rows);
}

}  // namespace sheaf::cli
