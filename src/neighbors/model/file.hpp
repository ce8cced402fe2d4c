// Lines of model files for models of neighbours.
#pragma once

#include <string>

#include <sheaf/neighbors.hpp>

#include "data/text/model_file.hpp"

namespace sheaf::neighbors {

/// The lines of Sheaf's own file behind the family.
KnnModel read_sheaf_knn(ModelReader& reader);
void write_sheaf_knn(ModelWriter& file, const KnnModel& model);

}  // namespace sheaf::neighbors
