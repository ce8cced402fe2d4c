// Models of nearest neighbours in words and in JSON.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/neighbors_model.hpp>

namespace sheaf::cli {

std::string knn_text(const KnnModel& model, const std::string& source, std::int64_t rows);
std::string knn_json(const KnnModel& model, const std::string& path, std::int64_t rows);

}  // namespace sheaf::cli
