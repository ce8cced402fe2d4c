// What model files say of models of neighbours.
#pragma once

#include <string>

#include <sheaf/neighbors.hpp>

#include "data/text/model_reader.hpp"

namespace sheaf::neighbors {

/// The lines of Sheaf's own file behind the family.
KnnModel read_sheaf_knn(ModelReader& reader);
std::string format_sheaf_knn(const KnnModel& model);

}  // namespace sheaf::neighbors
