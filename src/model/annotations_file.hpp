// Lines of a model file about annotations of features.
#pragma once

#include <sheaf/dataset.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

void write_annotations(ModelWriter& file, const Annotations& annotations);
/// None if the next line does not begin them.
Annotations read_annotations(ModelReader& reader);

}  // namespace sheaf
