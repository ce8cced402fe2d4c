// Lines of a model file on the training dataset and the pipeline, before the lines of the family:
//
//     label outcome                   if the label has a name
//     positive sick                   if there are two classes
//     trained-on 3                    features, with their means and spreads
//     means 41.2 0 2.31
//     spreads 9.8 0 1.1
//     pipeline 2
//     inputs 3
//     input-names yes
//     input age
//     ...
//     nominal 1
//     levels 2 3                      the second input has three levels
//     level red
//     ...
//     step impute 0
//     fill 41.5 0 2.25
//     step scale standard
//     shift 40.1 0.3 2.2
//     factor 0.1 2 1
//
// Other steps: "encode N" with a line "column INPUT LEVEL ..." for each feature that comes out, "transform log1p",
// "take N" with the features that stay. Positions count from 1.
#pragma once

#include <utility>

#include <sheaf/pipeline.hpp>

#include "data/text/model_file.hpp"

namespace sheaf::pipeline {

/// Unknown properties are not written.
void write_pipeline(ModelWriter& file, const Pipeline& pipeline);
/// And the number of features that come out, -1 without steps. A file without lines of a pipeline gives one without
/// steps.
std::pair<Pipeline, std::int64_t> read_pipeline(ModelReader& reader);

}  // namespace sheaf::pipeline
