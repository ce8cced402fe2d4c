// The selection of a pipeline, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <sheaf/pipeline.hpp>

namespace sheaf::pipeline {

/// A selection by states: `binning` as selection_binning() has it.
inline nlohmann::ordered_json selection_step_json(const PipelineOptions& pipeline, const BinningOptions& binning) {
  using Json = nlohmann::ordered_json;
  return {{"criterion", pipeline.select},
          {"counts", pipeline.counts},
          {"binning", to_string(*binning.method)},
          {"bins", binning.bins > 0 ? Json(binning.bins) : Json()},
          {"automatic", has_automatic_bins(pipeline.binning)}};
}

}  // namespace sheaf::pipeline
